"""What the layers must know about a path before its route is found: one table, first match wins."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

ROOT = "/inspect"
SIGN_IN = f"{ROOT}/sign-in"
STATIC = f"{ROOT}/static/"
LIVE = f"{ROOT}/live"
COOKIE = "hitherto_key"
"""The cookie that holds a browser's key: no script can read it, no other site can send it, and only the pages receive it,
so the API cannot be called through somebody's browser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How requests to a path are admitted, queued and answered."""

    key: Literal["required", "cookie", "signature", "none"] = "required"
    """`cookie`: a page, which a browser may open with its cookie. `signature`: a webhook that authenticates itself in its
    route."""
    turn: Literal["queued", "stream", "none"] = "queued"
    """`none`: costs the store a moment at most, or is limited elsewhere. `stream`: lasts as long as its client takes."""
    body: Literal["whole", "stream"] = "whole"
    """Whether the body is read before the request takes its turn, or piece by piece by its route."""
    errors: Literal["own", "openai"] = "own"
    """Which shape of errors its clients read."""

    @property
    def is_open(self) -> bool:
        """Whether it can be reached without a key of ours."""
        return self.key in ("none", "signature")


_FREE = Policy(key="none", turn="none")
_CALLED = Policy(key="signature", turn="none")
_REPORTED = Policy(key="signature")
_OPENAI = Policy(turn="none", errors="openai")
_OPENAI_NAMES = (
    "assistants", "audio", "batches", "chat", "completions", "containers", "conversations", "embeddings", "evals", "files",
    "fine_tuning", "images", "models", "moderations", "organization", "realtime", "responses", "threads", "uploads",
    "vector_stores", "videos",
)  # fmt: skip
"""What OpenAI's own clients ask for: they read errors in OpenAI's shape."""

TABLE: tuple[tuple[str, Policy], ...] = (
    ("/healthz", _FREE),
    ("/readyz", _FREE),
    ("/docs", _FREE),
    ("/openapi.json", _FREE),
    ("/", _FREE),
    (SIGN_IN, _FREE),
    (f"{STATIC}**", _FREE),
    (LIVE, Policy(key="cookie", turn="none")),
    (ROOT, Policy(key="cookie")),
    (f"{ROOT}/**", Policy(key="cookie")),
    ("/v1/telegram/webhook", _REPORTED),
    ("/v1/voice/elevenlabs/post-call", _REPORTED),
    ("/v1/voice/elevenlabs/initiation", _CALLED),
    ("/v1/voice/elevenlabs/tool", _CALLED),
    ("/v1/voice/vapi", _CALLED),
    ("/v1/voice/retell", _CALLED),
    *((f"/v1/{name}{rest}", _OPENAI) for name in _OPENAI_NAMES for rest in ("", "/**")),
    ("/v1/users/*/import", Policy(turn="stream", body="stream")),
    ("/v1/users/*/export", Policy(turn="stream")),
    ("**", Policy()),
)
"""`*` is one segment of a path, `**` the rest of it. A phone call does not wait: whoever calls gets an answer at once."""

_EXACT = {pattern: policy for pattern, policy in TABLE if "*" not in pattern}
_PATTERNS = tuple((pattern, policy) for pattern, policy in TABLE if "*" in pattern)


def policy(path: str) -> Policy:
    """The policy of a path."""
    found = _EXACT.get(path)
    return found if found is not None else _matched(path)


@lru_cache(maxsize=1_024)
def _matched(path: str) -> Policy:
    return next(policy for pattern, policy in _PATTERNS if _matches(path, pattern))


def _matches(path: str, pattern: str) -> bool:
    if pattern.endswith("**"):
        return path.startswith(pattern.removesuffix("**"))
    steps, wanted = path.split("/"), pattern.split("/")
    return len(steps) == len(wanted) and all(want in ("*", step) for step, want in zip(steps, wanted, strict=True))
