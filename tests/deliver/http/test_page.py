"""The requests on the page for callers are sent, and answered as the page says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from hitherto.deliver.http.problems import BrokenRequest
from hitherto.deliver.http.routes.calls import WITHOUT_CALL
from hitherto.errors import HithertoError
from tests.architecture.source import ROOT
from tests.deliver.http.running import Running
from tests.docs.blocks import Block, find_blocks

PAGE = (ROOT / "docs" / "http.md").read_text("utf-8")
ANYTHING = "…"


def matches(expected: Any, given: Any) -> bool:
    """Whether what the page shows is in the answer: an ellipsis stands for anything, fields may be left out."""
    if expected == ANYTHING:
        return given is not None
    if isinstance(expected, Mapping):
        fields = cast("Mapping[str, Any]", expected)
        return all(name in given and matches(value, given[name]) for name, value in fields.items())
    if isinstance(expected, list):
        entries = cast("list[Any]", expected)
        return len(entries) == len(given) and all(map(matches, entries, given))
    return expected == given


async def test_the_requests_of_the_page(embedded: Running) -> None:
    blocks: list[Block] = [block for block in find_blocks(PAGE) if block.language in ("http", "json")]
    assert sum(block.language == "http" for block in blocks) >= 12
    async with embedded.http(await embedded.key()) as http:
        given: Any = None
        for block in blocks:
            if block.language == "json":
                assert matches(json.loads(block.text), given), f"line {block.line}: {given}"
                continue
            line, _, body = block.text.partition("\n")
            method, path = line.split(" ", 1)
            answer = await http.request(method, path, json=json.loads(body) if body.strip() else None)
            given = answer.json() if answer.content else None


def test_matching_notices_what_is_missing() -> None:
    assert matches({"a": "…", "b": [1]}, {"a": 2, "b": [1], "c": 3})
    assert not matches({"a": 1}, {"a": 2})
    assert not matches({"a": 1}, {})
    assert not matches([1], [1, 2])


def test_every_channel_and_every_error_of_the_service_is_on_the_page() -> None:
    channels = [path for (_, path), why in WITHOUT_CALL.items() if why.startswith("a channel")]
    assert [path for path in channels if f"`POST {path}`" not in PAGE] == []
    named = {cls.kind() for cls in _subclasses(HithertoError) if f"`{cls.kind()}`" in PAGE}
    assert {"not_found", "conflict", "rate_limited", "overloaded", "too_large", BrokenRequest.kind()} <= named


def _subclasses(cls: type[HithertoError]) -> list[type[HithertoError]]:
    return [cls, *(found for below in cls.__subclasses__() for found in _subclasses(below))]
