"""Errors as values: what fails in the thread that writes belongs to a caller who waits in another."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failed:
    """What was raised instead of a result."""

    error: Exception


def attempt(work: Callable[[], T]) -> T | Failed:
    """The result, or whatever was raised: nothing may end a thread on whose results others wait."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - handed on to where it belongs, whatever it is
        return Failed(error)
