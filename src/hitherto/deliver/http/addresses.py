"""Addresses, read letter by letter: a name in a path is the one that was meant, whatever it holds.

The server decodes a path as a whole. An encoded slash would then end a name, so that the user `ana/turns` asks for ana's
turns; and whatever is not UTF-8 would become the same mark, so that two names become one.
"""

from urllib.parse import unquote, unquote_to_bytes

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from hitherto.deliver.http.failures import BrokenRequest, send_error

_SLASH = b"%2f"
_STATE = "slashes"


class Addresses:
    """The layer that reads addresses. In a path with an encoded slash, slashes and percent signs of names stay encoded until
    its route is found."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                _read(scope)
            except UnicodeDecodeError:
                await send_error(BrokenRequest("The address is not UTF-8."), scope, send)
                return
        await self._app(scope, receive, send)


def _read(scope: Scope) -> None:
    unquote_to_bytes(scope["query_string"]).decode()
    raw: bytes = scope.get("raw_path") or b""
    unquote_to_bytes(raw).decode()
    if _SLASH in raw.lower():
        names = (unquote(name, errors="strict") for name in raw.decode().split("/"))
        scope["path"] = "/".join(name.replace("%", "%25").replace("/", "%2F") for name in names)
        scope["state"][_STATE] = True


async def whole_names(request: Request) -> None:
    """Decodes what the layer left encoded, now that the names in the path are apart."""
    if request.scope["state"].get(_STATE):
        names: dict[str, str] = request.scope["path_params"]
        for key, name in names.items():
            names[key] = name.replace("%2F", "/").replace("%25", "%")
