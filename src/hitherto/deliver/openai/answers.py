"""Answers of the upstream server, read while they pass: the text and the tool calls that will be recorded.

A stream is handed on as it comes, byte for byte; reading it beside that must survive whatever it holds.
"""

import json
from typing import Final

from hitherto.deliver.openai.places import Said
from hitherto.deliver.untrusted import Raw, child, integer, mapping, objects, storable, text
from hitherto.types import ToolCall

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
