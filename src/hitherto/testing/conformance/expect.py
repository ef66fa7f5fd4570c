"""Asking for an error without a test framework: the suite must run under any."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Protocol


@contextmanager
def failing(error: type[Exception]) -> Generator[None]:
    """Passes when its block raises `error`."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"nothing raised {error.__name__}")


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


def ids(found: Sequence[_HasId]) -> list[str]:
    return [one.id for one in found]
