"""What belongs to no single user: who has a store, the tenant's documents, and hints about who has work due."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Final, Protocol

from hitherto.clock import EPOCH
from hitherto.errors import StoreUnavailable


@dataclass(frozen=True, slots=True)
class UserKey:
    """A user's identity: the tenant and the application's own id. Stores file users under `digest`."""

    tenant: str
    user: str

    @property
    def digest(self) -> str:
        """128 bits in hex; the length prefix keeps ("ab", "c") and ("a", "bc") apart."""
        tenant, user = self.tenant.encode(), self.user.encode()
        return blake2b(len(tenant).to_bytes(4, "big") + tenant + user, digest_size=16).hexdigest()


KEY_BYTES: Final = 32
"""The length of a user's key: 256 random bits."""


class Keys(Protocol):
    """The keys that encrypt users' memories, by user digest."""

    def __call__(self, digest: str, *, create: bool = False) -> bytes:
        """Raises KeyDestroyed if there is no key, unless one is to be created."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One version of a tenant's document: a persona, a recipe, an API key, a link. `about` is the user it concerns, if any,
    in whatever form its kind uses."""

    name: str
    version: int
    body: str
    recorded_at: datetime
    about: str | None = None


class Catalog(Protocol):
    """What belongs to no single user. It holds no user's content."""

    async def documents(self, tenant: str, kind: str, names: Sequence[str] | None = None) -> tuple[Document, ...]:
        """The newest versions of these documents, or of all documents of that kind, by name; deleted ones are missing."""
        ...

    async def last(
        self, tenant: str, kind: str, *, limit: int, before: str | None = None, about: str | None = None
    ) -> tuple[Document, ...]:
        """The newest versions of the last documents by name, in descending order: before a name, about a user."""
        ...

    async def versions(self, tenant: str, kind: str, name: str) -> tuple[Document, ...]:
        """Every version of one document, oldest first."""
        ...

    async def kinds(self) -> tuple[tuple[str, str], ...]:
        """All (tenant, kind) pairs that have documents, in order (doctor, copy)."""
        ...

    async def put(
        self,
        tenant: str,
        kind: str,
        name: str,
        body: str,
        *,
        at: datetime,
        expected: int | None = None,
        about: str | None = None,
    ) -> Document:
        """Writes a new version, unless the newest has this body already. `expected` is the newest version the caller saw (0
        for none); if it is another one, this is a Conflict."""
        ...

    async def delete(self, tenant: str, kind: str, name: str) -> bool:
        """Removes all versions of a document; returns False if there was none."""
        ...

    async def hint(self, dues: Mapping[UserKey, datetime | None]) -> None:
        """Notes when these users have work due next (None: nothing). Only a hint: losing it costs a delay."""
        ...

    async def due(self, *, now: datetime, limit: int) -> tuple[UserKey, ...]:
        """Users whose hint is due, longest waiting first."""
        ...

    async def users(self, tenant: str | None = None, *, readable: bool = False) -> tuple[UserKey, ...]:
        """Every user that has a store (slow sweep, doctor, copy). A damaged one is an error; with `readable` it is logged
        and left out, so that the other users are served."""
        ...


# A database records that its texts are sealed, so that nobody who opens it without the keys takes them for words or writes
# plain ones beside them. A user's file needs no such mark: it is encrypted as a whole and cannot be read at all.

_SEALED_TENANT: Final = ""
SEALED: Final = "sealed"
"""The kind of the one document that belongs to the store itself; a copy of the memory has its own, or none."""


async def mark_sealed(catalog: Catalog) -> None:
    await catalog.put(_SEALED_TENANT, SEALED, SEALED, "{}", at=EPOCH)


async def refuse_sealed(catalog: Catalog) -> None:
    """For callers without keys."""
    if await catalog.documents(_SEALED_TENANT, SEALED):
        raise StoreUnavailable(
            "this memory is encrypted: give its master key (HITHERTO_MASTER_KEY_FILE) and its folder of keys (HITHERTO_KEYS)"
        )
