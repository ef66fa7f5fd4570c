"""A danger is always true; a request is honoured."""

from datetime import UTC, datetime

from hitherto.assemble import select
from hitherto.types import Memory

NOW = datetime(2026, 3, 5, 18, 0, tzinfo=UTC)


def always(name: str, text: str) -> Memory:
    return Memory(id=name, text=text, at=NOW, importance=2, standing=True, origin="user")


def test_a_danger_stands_under_what_is_always_true_and_not_among_requests() -> None:
    danger = always("d", "Ana (5 March): “one EpiPen evening was enough for both of us”")
    request = always("r", "Ana (5 March): “keep it short when I am at work, please”")
    told = (danger, request)
    assert select.foundation(told, now=NOW, limit=8) == (danger,)
    assert select.standing(told, now=NOW) == (request,)
