"""MCP over HTTP, at `/mcp`, behind the same layers as every other path: the key says whose memory it is.

Every request is independent (no MCP session is kept), so any process of the service can answer any of them.
"""

from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import cast
from urllib.parse import urlsplit

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hitherto.deliver.http.service import Channels, Service, caller_of, subject_of
from hitherto.deliver.mcp import Need, Owner, server
from hitherto.errors import AccessDenied, NotPermitted
from hitherto.settings import Settings

PATH = "/mcp"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def mount(app: FastAPI) -> AbstractAsyncContextManager[None]:
    """Adds the path; what it returns must run as long as the application does."""
    made = server(by_key)
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # Checked before, with our own names.
    made.streamable_http_app(stateless_http=True, json_response=True, transport_security=security)
    manager = made.session_manager
    # There is no stream to listen on: without sessions nothing would ever arrive, and each stream would hold a turn while
    # it is open.
    endpoint = Named(StreamableHTTPASGIApp(manager), settings=cast(Service, app.state.service).settings)
    app.router.routes.append(Route(PATH, endpoint=endpoint, methods=["POST"], include_in_schema=False))
    return manager.run()


class Named:
    """The layer that serves only requests addressed to one of the service's own names. A page in a browser can make a name
    of its own resolve to this machine (DNS rebinding), and would otherwise be served as if it came from here.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self._app = app
        given = {name.strip().lower() for name in (settings.mcp_hosts or "").split(",") if name.strip()}
        self._names = given | LOOPBACK if given or settings.host in LOOPBACK else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        host, origin = _name(f"//{request.headers.get('host', '')}"), request.headers.get("origin")
        if self._names is not None and host not in self._names:
            raise NotPermitted(
                f"This service does not answer to the name {host!r}; HITHERTO_MCP_HOSTS lists its names."
            )
        if origin is not None and _name(origin) not in (self._names or {host}):
            raise NotPermitted("Pages of other sites may not call this service.")
        await self._app(scope, receive, send)


def _name(address: str) -> str:
    """The host of an address, without its port."""
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def by_key(request: object, need: Need) -> Owner:
    """The user of the key, or the one the gateway acts for."""
    if not isinstance(request, Request):
        raise AccessDenied
    asked = cast(Request, request)
    subject = subject_of(asked, user=None, scope=need)
    forgot = partial(Channels.of(asked).forgot, tenant=caller_of(asked).tenant, user=subject.user)
    return Owner(memory=subject.memory, user=subject.user, forgot=forgot)
