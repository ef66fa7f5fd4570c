"""Authentication. Every path but the open ones needs a valid key, whether or not the route exists.

A checked key is trusted for a moment, so that a busy client costs one look-up per second; a key revoked in another process
keeps working for as long.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, unquote

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from hitherto.deliver.apikeys import SCOPES, ApiKey, Keys, is_token
from hitherto.deliver.apikeys import Scope as Permission
from hitherto.deliver.http import paths
from hitherto.deliver.http.problems import BrokenRequest, send_error
from hitherto.deliver.http.telemetry import Metrics
from hitherto.errors import AccessDenied, HithertoError, NotFound, NotPermitted, RateLimited

ACTING_AS = b"x-hitherto-user"
"""A gateway that holds a key for many users names the one it acts for; the request is then limited to that user."""
RUN_KEY = "run"
MOST_KEPT = 100_000
MOST_BELIEVED = 10_000

Now = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request, and what they may do. With a `user`, only that user's memory exists for them."""

    key: str
    tenant: str
    scopes: frozenset[Permission]
    user: str | None = None
    rate: float | None = None

    def acting_as(self, user: str) -> "Caller":
        if self.user not in (None, user):
            raise NotFound
        return replace(self, user=user)

    def must(self, scope: Permission) -> None:
        """Requires this scope."""
        if scope not in self.scopes:
            raise NotPermitted(f"This key may not do that: it needs the scope {scope!r}.")


@dataclass(slots=True)
class Bucket:
    level: float
    at: float


class Buckets:
    """The rate limits of one process. Several processes each get their share of the rate, because requests spread over them."""

    def __init__(self, *, rate: float, burst: int, share: int = 1, now: Now = time.monotonic) -> None:
        self._rate = rate
        self._burst = max(1.0, burst / share)
        self._share = share
        self._now = now
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, name: str, *, rate: float | None = None) -> None:
        """Takes one token, or raises RateLimited with the time until there is one. A rate of 0 sets no limit."""
        per_second = (self._rate if rate is None else rate) / self._share
        if per_second <= 0:
            return
        now = self._now()
        bucket = self._buckets.get(name) or Bucket(level=self._burst, at=now)
        level = min(self._burst, bucket.level + (now - bucket.at) * per_second)
        allowed = level >= 1
        self._buckets[name] = Bucket(level=level - 1 if allowed else level, at=now)
        self._buckets.move_to_end(name)
        while len(self._buckets) > MOST_KEPT:
            self._buckets.popitem(last=False)
        if not allowed:
            raise RateLimited(retry_after=(1 - level) / per_second)


class Doorman:
    """Identifies callers by their tokens."""

    def __init__(self, keys: Keys, *, run_key: str | None = None, seconds: float, now: Now = time.monotonic) -> None:
        self._keys = keys
        self._run_key = run_key
        self._seconds = seconds
        self._now = now
        self._believed: OrderedDict[str, tuple[float, Caller]] = OrderedDict()

    async def caller(self, headers: Mapping[bytes, bytes], *, page: bool = False) -> Caller:
        """The sender of these headers, or AccessDenied. A page's caller may hold the key in a cookie."""
        caller = await self.known(token_of(headers) or (token_in_cookie(headers) if page else ""))
        acting = headers.get(ACTING_AS)
        return caller if acting is None else caller.acting_as(_named(acting))

    async def known(self, token: str) -> Caller:
        """The owner of this key, or AccessDenied."""
        if not token:
            raise AccessDenied
        return self._remembered(token) or await self._looked_up(token)

    def _remembered(self, token: str) -> Caller | None:
        until, caller = self._believed.get(token, (0.0, None))
        return caller if self._now() < until else None

    async def _looked_up(self, token: str) -> Caller:
        self._believed.pop(token, None)
        if self._run_key is not None and is_token(token, digest=self._run_key):
            caller = Caller(key=RUN_KEY, tenant="default", scopes=frozenset(SCOPES))
        else:
            key = await self._keys.check(token)
            if key is None:
                raise AccessDenied
            caller = _caller(key)
        self._believed[token] = (self._now() + self._seconds, caller)
        while len(self._believed) > MOST_BELIEVED:
            self._believed.popitem(last=False)
        return caller


class Gate:
    """The layer that admits callers: known ones, and not too often."""

    def __init__(self, app: ASGIApp, *, doorman: Doorman, buckets: Buckets, metrics: Metrics) -> None:
        self._app = app
        self._doorman = doorman
        self._buckets = buckets
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        policy = paths.policy(scope["path"]) if scope["type"] == "http" else None
        if policy is not None and not policy.is_open:
            page = policy.key == "cookie"
            try:
                caller = await self._doorman.caller(_headers(scope), page=page)
                scope["state"]["caller"] = caller
                self._buckets.take(caller.key, rate=caller.rate)
            except HithertoError as error:
                if isinstance(error, RateLimited):
                    self._metrics.refused.labels("rate").inc()
                if page and isinstance(error, AccessDenied):
                    await _to_sign_in(scope)(scope, receive, send)
                    return
                await send_error(error, scope, send)
                return
        await self._app(scope, receive, send)


def _headers(scope: Scope) -> Mapping[bytes, bytes]:
    """The headers. One that identifies the caller may occur only once, because proxies might disagree about which of two
    counts."""
    for name in (ACTING_AS, b"authorization", b"x-api-key"):
        if sum(given == name for given, _ in scope["headers"]) > 1:
            raise BrokenRequest(f"The header {name.decode()} is there more than once.")
    return dict(scope["headers"])


def _named(user: bytes) -> str:
    """The user that a gateway names. Bytes that are not percent-encoded UTF-8 would make two names one."""
    try:
        return unquote(user.decode("ascii"), errors="strict")
    except UnicodeDecodeError:
        raise BrokenRequest(f"The header {ACTING_AS.decode()} is not percent-encoded UTF-8.") from None


def token_of(headers: Mapping[bytes, bytes]) -> str:
    kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return token.strip() if kind.lower() == "bearer" else headers.get(b"x-api-key", b"").decode("latin-1")


def _caller(key: ApiKey) -> Caller:
    return Caller(key=key.id, tenant=key.tenant, scopes=frozenset(key.scopes), user=key.user, rate=key.rate)


def token_in_cookie(headers: Mapping[bytes, bytes]) -> str:
    """The key in a browser's cookie; empty if there is none."""
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return ""
    return jar[paths.COOKIE].value if paths.COOKIE in jar else ""


def _to_sign_in(scope: Scope) -> Response:
    """Sends a browser to the sign-in page and back; a script's request gets the same as a header."""
    wanted = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
    where = paths.SIGN_IN if scope["method"] != "GET" else f"{paths.SIGN_IN}?next={quote(wanted, safe='')}"
    if any(name == b"hx-request" for name, _ in scope["headers"]):
        return Response(status_code=200, headers={"HX-Redirect": where})
    return RedirectResponse(where, status_code=303)
