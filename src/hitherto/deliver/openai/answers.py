"""Answers of the upstream server, read while they pass: the text and the tool calls that will be recorded.

A stream is handed on as it comes, byte for byte; reading it beside that must survive whatever it holds.
"""

import json

from hitherto.deliver.openai.recognise import Said
from hitherto.deliver.untrusted import Raw, child, integer, mapping, objects, storable, text
from hitherto.types import ToolCall


class Heard:
    """An answer as it builds up. One of a stream that broke off is what was heard until then."""

    __slots__ = ("_arguments", "_buffer", "_calls", "_texts")

    def __init__(self) -> None:
        self._buffer = b""
        self._texts: list[str] = []
        self._calls: dict[object, tuple[str, str]] = {}
        self._arguments: dict[object, list[str]] = {}

    @property
    def said(self) -> Said | None:
        """The answer so far; None if it holds neither words nor whole calls."""
        calls = tuple(
            ToolCall(id=link, name=name, args="".join(self._arguments[place]) or "{}")
            for place, (link, name) in self._calls.items()
            if _is_json("".join(self._arguments[place]) or "{}")
        )
        words = storable("".join(self._texts))
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
            for choice in objects(event, "choices")[:1]:
                self._delta(child(choice, "delta"))

    def whole(self, body: Raw) -> None:
        """An answer that came in one piece."""
        for choice in objects(body, "choices")[:1]:
            self._delta(child(choice, "message"))
        for item in objects(body, "output"):
            self._item(item)

    def _delta(self, delta: Raw) -> None:
        if isinstance(words := delta.get("content"), str):
            self._texts.append(words)
        for number, call in enumerate(objects(delta, "tool_calls")):
            place = integer(call, "index")
            self._call(number if place is None else place, call, child(call, "function"))

    def _call(self, place: object, call: Raw, function: Raw) -> None:
        link, name = self._calls.get(place, ("", ""))
        self._calls[place] = (text(call, "id") or link, text(function, "name") or name)
        given = function.get("arguments")
        self._arguments.setdefault(place, []).append(given if isinstance(given, str) else "")

    def _response_event(self, kind: str, event: Raw) -> None:
        if kind == "response.output_text.delta" and isinstance(words := event.get("delta"), str):
            self._texts.append(words)
        elif kind == "response.output_item.done" and text(child(event, "item"), "type") == "function_call":
            self._item(child(event, "item"))

    def _item(self, item: Raw) -> None:
        if text(item, "type") == "function_call":
            link = text(item, "call_id") or text(item, "id") or ""
            self._call(link, {"id": link}, item)
        for piece in objects(item, "content"):
            if text(piece, "type") == "output_text" and isinstance(words := piece.get("text"), str):
                self._texts.append(words)


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
