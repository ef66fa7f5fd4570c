"""MCP over HTTP, at `/mcp`, behind the same layers as every other path: the key says whose memory it is.

Every request stands alone (no MCP session is kept), so any process of the service can answer any of them.
"""

from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import cast

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route

from hitherto.deliver.http.service import Channels
from hitherto.deliver.http.subjects import caller_of, subject_of
from hitherto.deliver.mcp import Need, Owner, server
from hitherto.errors import AccessDenied

PATH = "/mcp"


def mount(app: FastAPI) -> AbstractAsyncContextManager[None]:
    """Adds the path; what comes back must run as long as the application does."""
    made = server(by_key)
    # A page in a browser cannot send our key, so the name it reached us by says nothing.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    made.streamable_http_app(stateless_http=True, json_response=True, transport_security=security)
    manager = made.session_manager
    # No stream to listen on: without sessions nothing would ever come, and each would hold a turn for as long as it is open.
    endpoint = StreamableHTTPASGIApp(manager)
    app.router.routes.append(Route(PATH, endpoint=endpoint, methods=["POST"], include_in_schema=False))
    return manager.run()


def by_key(request: object, need: Need) -> Owner:
    """The user of the key, or the one the gateway acts for."""
    if not isinstance(request, Request):
        raise AccessDenied
    asked = cast(Request, request)
    subject = subject_of(asked, user=None, scope=need)
    forgot = partial(Channels.of(asked).forgot, tenant=caller_of(asked).tenant, user=subject.user)
    return Owner(memory=subject.memory, user=subject.user, forgot=forgot)
