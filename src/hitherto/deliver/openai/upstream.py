"""The server that answers: its address, its key, and one pool of connections.

Headers and queries pass in both directions, but for those that belong to one connection or hold a secret of one side.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import httpx
from fastapi import Request

from hitherto.deliver.openai.places import Said, spoken
from hitherto.deliver.untrusted import Raw, child, integer, mapping, objects, storable, text
from hitherto.errors import ServiceError
from hitherto.settings import Settings
from hitherto.types import ToolCall

PLAIN: Final = "no-memory/"
"""A model id that begins so is passed on without it and without any memory."""
CONNECT_SECONDS: Final = 5.0
IDLE_SECONDS: Final = 60.0
"""How long a connection that is not used is kept: people take longer than a few seconds to answer, and a new connection would
cost them a handshake."""
MOST_HELD: Final = 64 * 1024
"""Bytes of a stream that wait for a client that reads slowly."""
PREPARING: Final = 3
"""At the same time: while one waits for its message to be durable, another's context is assembled."""
PATIENCE: Final = 0.5
"""Seconds that what can wait waits at most for requests that have no first word yet."""

_CONNECTION: Final = frozenset(
    {
        "connection", "content-encoding", "content-length", "date", "expect", "host", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "proxy-connection", "server", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers that are about one connection."""
_OURS: Final = frozenset(
    {"accept-encoding", "authorization", "content-type", "cookie", "forwarded", "x-api-key", "x-real-ip"}
)
_OURS_BEGIN: Final = ("x-hitherto-", "x-forwarded-")
_THEIRS: Final = frozenset({"alt-svc", "set-cookie", "strict-transport-security", "x-request-id"})
"""What an upstream server says to us alone. Our own request id is in the answer already."""
_STRANGE: Final = ("access-control-", "cf-")


async def together(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The same bytes, those in one piece that came while the last piece was handed on: each that is handed on passes every
    layer of the service, and when many streams run, that is most of what the processor does."""
    held, more, room, ended = bytearray(), asyncio.Event(), asyncio.Event(), False

    async def read() -> None:
        nonlocal ended
        try:
            async for piece in pieces:
                held.extend(piece)
                more.set()
                if len(held) > MOST_HELD:
                    room.clear()
                    await room.wait()
        finally:
            ended = True
            more.set()

    reading = asyncio.create_task(read())
    try:
        last = False
        while not last:
            await more.wait()
            more.clear()
            last = ended
            if held:
                piece = bytes(held)
                held.clear()
                room.set()
                yield piece
        await reading
    finally:
        reading.cancel()
        await asyncio.wait([reading])


class UpstreamFailed(ServiceError):
    """The upstream server could not be reached."""

    @property
    def shape(self) -> dict[str, Any]:
        """As an event in a stream that has begun."""
        return {"error": {"message": str(self), "type": "upstream_error", "param": None, "code": "upstream_error"}}


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a request that the upstream server is sent."""
    return {
        name: value
        for name, value in headers.items()
        if name not in _CONNECTION and name not in _OURS and not name.startswith(_OURS_BEGIN)
    }


def handed_back(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of the upstream server's answer that the client is sent."""
    kept = {
        name: value
        for name, value in headers.items()
        if name not in _CONNECTION and name not in _THEIRS and not name.startswith(_STRANGE)
    }
    named = headers.get("x-request-id")
    return kept if named is None else {**kept, "x-upstream-request-id": named}


class Upstream:
    """An OpenAI-compatible server."""

    def __init__(self, settings: Settings) -> None:
        assert settings.upstream is not None, "only made with one"
        key = settings.upstream_key.get_secret_value() if settings.upstream_key else None
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        timeout = httpx.Timeout(settings.upstream_seconds, connect=CONNECT_SECONDS)
        limits = httpx.Limits(max_connections=settings.upstream_streams, keepalive_expiry=IDLE_SECONDS)
        self._client = httpx.AsyncClient(
            base_url=settings.upstream.rstrip("/"), headers=headers, timeout=timeout, limits=limits
        )
        self._free = settings.upstream_streams
        self._slots = asyncio.Semaphore(PREPARING)
        self._queued = 0
        self._nobody_queued = asyncio.Event()
        self._nobody_queued.set()

    @staticmethod
    def of(request: Request) -> "Upstream":
        upstream: object = request.app.state.upstream
        assert isinstance(upstream, Upstream), "create_app puts it there together with the routes"
        return upstream

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await self._client.aclose()

    @asynccontextmanager
    async def preparing(self) -> AsyncGenerator[None]:
        """Requests are prepared one after the other, in the order they came: all at once, every one of them would be as late as
        the last."""
        self._queued += 1
        self._nobody_queued.clear()
        try:
            await self._slots.acquire()
        finally:
            self._queued -= 1
            if not self._queued:
                self._nobody_queued.set()
        try:
            yield
        finally:
            self._slots.release()

    async def burst_over(self) -> None:
        """Waits while requests queue to be prepared: storing an answer whose words are out already would delay their first."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._nobody_queued.wait()

    def take(self) -> bool:
        """Whether one more request may be passed on; who may gives back."""
        if self._free:
            self._free -= 1
            return True
        return False

    def give(self) -> None:
        self._free += 1

    async def send(
        self, request: Request, path: str, *, body: dict[str, Any] | None = None, content: bytes | None = None
    ) -> httpx.Response:
        """The answer's head to this request, with the client's headers and query; its body is still to be read."""
        headers = passed_on(request.headers)
        if content is not None and (kind := request.headers.get("content-type")) is not None:
            headers["content-type"] = kind
        query = request.url.query
        try:
            made = self._client.build_request(
                request.method,
                f"{path}?{query}" if query else path,
                json=body,
                content=content or None,
                headers=headers,
            )
            return await self._client.send(made, stream=True)
        except httpx.TransportError as error:
            raise self.broken(error) from error

    def broken(self, error: httpx.TransportError) -> UpstreamFailed:
        return UpstreamFailed(f"The upstream server failed: {type(error).__name__}.")


# --- its answers, read while they pass: the text and the tool calls that will be recorded ----------------------------------
#
# A stream is handed on as it comes, byte for byte; reading it beside that must survive whatever it holds.

_CALLS: Final = ("function_call", "custom_tool_call")
_WORDS: Final = {"response.output_text.delta": "output_text", "response.refusal.delta": "refusal"}


class Answer:
    """An answer as it builds up. One of a stream that broke off is what was heard until then.

    `items` are the upstream server's ids of it and of its parts, each with what it stands for: the words, a call, or nothing
    that was said.
    """

    __slots__ = ("_arguments", "_buffer", "_calls", "_item", "_texts", "items")

    def __init__(self) -> None:
        self._buffer = b""
        self._texts: list[str] = []
        self._item: str | None = None
        self._calls: dict[object, tuple[str, str]] = {}
        self._arguments: dict[object, list[str]] = {}
        self.items: dict[str, dict[str, str | bool]] = {}

    @property
    def said(self) -> Said | None:
        """The answer so far; None if it holds neither words nor whole calls."""
        calls = tuple(
            ToolCall(id=link, name=name, args="".join(self._arguments[place]) or "{}")
            for place, (link, name) in self._calls.items()
            if _is_json("".join(self._arguments[place]) or "{}")
        )
        words = spoken(storable("".join(self._texts)))
        return Said("assistant", words, calls) if words or calls else None

    def feed(self, chunk: bytes) -> None:
        """The next bytes of a stream of events."""
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self.event(_parsed(line[5:]))

    def event(self, event: Raw) -> None:
        """One event of either API."""
        kind = text(event, "type") or ""
        if kind.startswith("response."):
            self._response_event(kind, event)
        else:
            self._delta(child(_first(event), "delta"))

    def whole(self, body: Raw) -> None:
        """An answer that came in one piece."""
        self._delta(child(_first(body), "message"))
        if text(body, "object") == "response":
            self._named(body)
            for item in objects(body, "output"):
                self._item_done(item, words=True)

    def _delta(self, delta: Raw) -> None:
        for key in ("content", "refusal"):
            if isinstance(words := delta.get(key), str):
                self._texts.append(words)
        for number, call in enumerate(objects(delta, "tool_calls")):
            place = integer(call, "index")
            custom = child(call, "custom")
            given = json.dumps({"input": custom.get("input")}) if custom else child(call, "function").get("arguments")
            self._call(number if place is None else place, call, custom or child(call, "function"), given)

    def _call(self, place: object, call: Raw, function: Raw, given: object) -> None:
        link, name = self._calls.get(place, ("", ""))
        self._calls[place] = (text(call, "id") or link, text(function, "name") or name)
        self._arguments.setdefault(place, []).append(given if isinstance(given, str) else "")

    def _response_event(self, kind: str, event: Raw) -> None:
        if kind in _WORDS and isinstance(words := event.get("delta"), str):
            self._words(text(event, "item_id"), words)
        elif kind == "response.output_item.done":
            self._item_done(child(event, "item"), words=False)
        elif kind in ("response.completed", "response.incomplete"):
            self._named(child(event, "response"))

    def _words(self, item: str | None, words: str) -> None:
        if self._texts and item != self._item:
            self._texts.append("\n\n")
        self._item = item
        self._texts.append(words)

    def _named(self, response: Raw) -> None:
        if (name := text(response, "id")) is not None:
            self.items[name] = {}

    def _item_done(self, item: Raw, *, words: bool) -> None:
        """A part of an answer that is complete. Its words are taken unless they were heard already, as they came."""
        kind, name = text(item, "type"), text(item, "id")
        if kind in _CALLS:
            link = text(item, "call_id") or name or ""
            custom = kind == "custom_tool_call"
            given = json.dumps({"input": item.get("input")}) if custom else item.get("arguments")
            self._call(link, {"id": link}, item, given)
            part: dict[str, str | bool] = {"call": link}
        else:
            said = [piece for piece in objects(item, "content") if text(piece, "type") in _WORDS.values()]
            told = any(part.get("words") for part in self.items.values())
            part = {"words": True} if said and not told else {}
            for piece in said if words else ():
                self._words(name, text(piece, "text") or text(piece, "refusal") or "")
        if name is not None:
            self.items[name] = part


def _first(body: Raw) -> Raw:
    """The first of the answers that were asked for (`n`): a piece of a stream may belong to any of them."""
    for choice in objects(body, "choices"):
        if not integer(choice, "index"):
            return choice
    return {}


def _parsed(data: bytes) -> Raw:
    try:
        return mapping(json.loads(data))
    except (ValueError, RecursionError):
        return {}


def _is_json(value: str) -> bool:
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True
