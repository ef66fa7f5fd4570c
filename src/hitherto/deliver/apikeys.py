"""Keys to the service. The catalog holds a digest of each, never the key itself.

A key's secret has 256 random bits, so a plain hash is enough to store it: there is nothing to guess, and every request has
to be checked quickly.
"""

import hmac
import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, get_args

from hitherto.clock import Clock, bound
from hitherto.errors import InvalidInput, NotFound
from hitherto.ingest import validation as validate

if TYPE_CHECKING:
    from hitherto.store.catalog import Catalog, Document

Scope = Literal["read", "write", "forget", "admin", "operate", "metrics"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
MEANING: dict[Scope, str] = {
    "read": "contexts, searches and lists of users",
    "write": "record turns, add and change what is remembered",
    "forget": "forget turns, memories and whole users, remove what is over its time",
    "admin": "the tenant's users, personas, links, work, retention and audit log",
    "operate": "the whole installation: backups, scrubbing",
    "metrics": "the metrics page",
}
USUAL: tuple[Scope, ...] = ("read", "write", "forget")

_HOME = "@service"
_KIND = "key"
_TOKEN = re.compile(r"rck_(?P<id>[0-9a-f]{12})_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What is known about a key. One with a `user` acts for that user alone."""

    id: str
    digest: str
    tenant: str
    scopes: tuple[Scope, ...]
    user: str | None = None
    label: str = ""
    rate: float | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def is_valid(self, *, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def new_token() -> str:
    """A key in the form that its owner keeps."""
    return f"rck_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"


def digest_of(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def is_token(token: str, *, digest: str) -> bool:
    """Whether this is the token with that digest, in constant time."""
    return hmac.compare_digest(digest_of(token), digest)


def id_of(token: str) -> str | None:
    """The part of a key that names it; None for anything that is not a key."""
    found = _TOKEN.fullmatch(token)
    return found["id"] if found else None


class Keys:
    """The keys of an installation, of all its tenants."""

    def __init__(self, catalog: "Catalog", *, clock: Clock) -> None:
        self._catalog = catalog
        self._clock = clock

    async def create(
        self,
        *,
        tenant: str = "default",
        scopes: Iterable[str] = USUAL,
        user: str | None = None,
        label: str = "",
        rate: float | None = None,
        expires_at: datetime | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key and its token, which is not stored and cannot be shown again."""
        token = new_token()
        key_id = id_of(token)
        assert key_id is not None, "a new token has an id"
        key = ApiKey(
            id=key_id,
            digest=digest_of(token),
            tenant=validate.name(tenant, what="tenant"),
            scopes=_scopes(scopes, user=user),
            user=validate.optional_name(user, what="user"),
            label=label,
            rate=rate,
            created_at=self._clock(),
            expires_at=expires_at and bound(expires_at, name="expires_at"),
        )
        await self._put(key)
        return key, token

    async def all(self) -> list[ApiKey]:
        """All keys, including revoked ones, oldest first."""
        found = [_read(document) for document in await self._catalog.documents(_HOME, _KIND)]
        return sorted(found, key=lambda key: (key.created_at, key.id))

    async def any_valid(self) -> bool:
        now = self._clock()
        return any(key.is_valid(now=now) for key in await self.all())

    async def revoke(self, key_id: str) -> ApiKey:
        """From now on, this key opens nothing."""
        found = await self._catalog.documents(_HOME, _KIND, [key_id])
        if not found:
            raise NotFound(f"there is no key {key_id!r}")
        key = _read(found[0])
        if key.revoked_at is not None:
            return key
        revoked = replace(key, revoked_at=self._clock())
        await self._put(revoked)
        return revoked

    async def check(self, token: str) -> ApiKey | None:
        """The key of this token, if it exists and is valid."""
        key_id = id_of(token)
        if key_id is None:
            return None
        found = await self._catalog.documents(_HOME, _KIND, [key_id])
        if not found:
            return None
        key = _read(found[0])
        return key if is_token(token, digest=key.digest) and key.is_valid(now=self._clock()) else None

    async def _put(self, key: ApiKey) -> None:
        from hitherto.store.codec import dump  # The scopes stand in the command line's help, which loads no store.

        body = dump(key)
        await self._catalog.put(_HOME, _KIND, key.id, body, at=self._clock())


def _scopes(given: Iterable[str], *, user: str | None) -> tuple[Scope, ...]:
    wanted = set(given)
    if unknown := wanted - set(SCOPES):
        raise InvalidInput(f"there is no scope {min(unknown)!r}; use {', '.join(SCOPES)}")
    if user is not None and (wide := wanted - set(USUAL)):
        raise InvalidInput(f"a key of one user cannot have the scope {min(wide)!r}")
    if not wanted:
        raise InvalidInput("a key needs at least one scope")
    return tuple(scope for scope in SCOPES if scope in wanted)


def _read(document: "Document") -> ApiKey:
    values: dict[str, Any] = json.loads(document.body)
    for name in ("created_at", "expires_at", "revoked_at"):
        values[name] = datetime.fromisoformat(values[name]) if values[name] else None
    values["scopes"] = tuple(values["scopes"])
    return ApiKey(**values)
