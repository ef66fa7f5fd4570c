"""Paths of the service, and what of a call's arguments goes into a request."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote


def of_user(user: str, *rest: str) -> str:
    return "/".join(["/v1/users", quoted(user), *map(quoted, rest)])


def quoted(name: str) -> str:
    return quote(name, safe="")


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are given."""
    return {name: value for name, value in values.items() if value is not None}
