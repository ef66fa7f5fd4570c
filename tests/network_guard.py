"""Tests talk to this machine only.

An audit hook sees every connection and name lookup that Python code makes, however a library got its
socket. It stays for the life of the process, so `conftest.py` installs it once.
"""

from __future__ import annotations

import ipaddress
import sys
from typing import cast

_ADDRESS_ARGUMENT = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1, "socket.getaddrinfo": 0}


class NetworkBlockedError(RuntimeError):
    """A test reached for another machine. Not an OSError: no client may take it for a network fault."""


def is_local(address: object) -> bool:
    """Loopback addresses, unix socket paths and "whatever the socket is connected to" (None) are local."""
    if isinstance(address, str | bytes) and address[:1] in ("/", "\0", b"/", b"\0"):
        return True
    host = cast("tuple[object, ...]", address)[0] if isinstance(address, tuple) else address
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is None or host in ("", "localhost", "0.0.0.0", "::"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


def _guard(event: str, arguments: tuple[object, ...]) -> None:
    position = _ADDRESS_ARGUMENT.get(event)
    if position is not None and not is_local(arguments[position]):
        raise NetworkBlockedError(f"a test tried to reach {arguments[position]!r} ({event}); only loopback is allowed")


def install() -> None:
    sys.addaudithook(_guard)
