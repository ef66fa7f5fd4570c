"""What belongs to no single user: who has a store, the tenant's documents, and hints of who has work due."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Final, Protocol

from hitherto.clock import EPOCH
from hitherto.errors import StoreUnavailable


@dataclass(frozen=True, slots=True)
class UserKey:
    """A user's identity: the tenant and the application's own id. Stores file it under `digest`."""

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
    """The keys that encrypt users' memories, by the users' digests."""

    def __call__(self, digest: str, *, create: bool = False) -> bytes:
        """KeyDestroyed when there is none, unless one is to be created."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One version of a tenant's document: a persona, a recipe, an API key, a link. `about` is the user that it is about, in
    the words of its kind, if it is about one."""

    name: str
    version: int
    body: str
    recorded_at: datetime
    about: str | None = None


class Catalog(Protocol):
    """What belongs to no single user. It holds no user's content."""

    async def documents(self, tenant: str, kind: str, names: Sequence[str] | None = None) -> tuple[Document, ...]:
        """The newest versions of these documents, or of all of that kind, by name; a deleted one is missing."""
        ...

    async def last(
        self, tenant: str, kind: str, *, limit: int, before: str | None = None, about: str | None = None
    ) -> tuple[Document, ...]:
        """The newest versions of the last documents by name, in falling order: before a name, about a user."""
        ...

    async def versions(self, tenant: str, kind: str, name: str) -> tuple[Document, ...]:
        """Every version of one document, oldest first."""
        ...

    async def kinds(self) -> tuple[tuple[str, str], ...]:
        """Every (tenant, kind) that has documents, in order (doctor, copy)."""
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
        """A new version, unless the newest has this body already. `expected` is the newest version the caller saw
        (0 for none); another one is a Conflict."""
        ...

    async def delete(self, tenant: str, kind: str, name: str) -> bool:
        """Removes all versions of a document; False when there was none."""
        ...

    async def hint(self, dues: Mapping[UserKey, datetime | None]) -> None:
        """Notes when these users have work due next (None: nothing). Only a hint: losing one costs a delay."""
        ...

    async def due(self, *, now: datetime, limit: int) -> tuple[UserKey, ...]:
        """Users whose hint is due, the longest waiting first."""
        ...

    async def users(self, tenant: str | None = None, *, readable: bool = False) -> tuple[UserKey, ...]:
        """Every user that has a store (the slow sweep, doctor, copy). One that is damaged is an error, or with `readable` left
        out and logged, for whoever works for the others."""
        ...


# A database says that its texts are sealed, so that nobody who opens it without the keys takes them for words, or writes plain
# ones beside them. A user's file needs no such mark: encrypted as a whole, it cannot be read at all.

_SEALED_TENANT: Final = ""
SEALED: Final = "sealed"
"""The kind of the one document that belongs to the store itself: a copy of the memory has its own, or none."""


async def mark_sealed(catalog: Catalog) -> None:
    await catalog.put(_SEALED_TENANT, SEALED, SEALED, "{}", at=EPOCH)


async def refuse_sealed(catalog: Catalog) -> None:
    """For whoever has no keys."""
    if await catalog.documents(_SEALED_TENANT, SEALED):
        raise StoreUnavailable(
            "this memory is encrypted: give its master key (HITHERTO_MASTER_KEY_FILE) and its folder of keys (HITHERTO_KEYS)"
        )
