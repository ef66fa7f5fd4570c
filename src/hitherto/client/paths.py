"""Paths of the service, and what of a call's arguments goes into a request."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote


def of_user(user: str, *rest: str) -> str:
    return "/".join(["/v1/users", quoted(user), *map(quoted, rest)])


def quoted(name: str) -> str:
    """The name as one step of a path. A step of dots alone would be taken out of the address before it is sent."""
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are given."""
    return {name: value for name, value in values.items() if value is not None}
