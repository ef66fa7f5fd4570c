"""What the layers must know of the inspector's pages: where they are, how their callers show their key, and where somebody
without one is sent. The pages themselves are in `deliver/inspector`.

A browser holds the key in a cookie that no script can read, that no other site can send, and that only the pages get: the
API never sees it, so it cannot be called by way of somebody's browser.
"""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

ROOT = "/inspect"
SIGN_IN = f"{ROOT}/sign-in"
STATIC = f"{ROOT}/static/"
LIVE = f"{ROOT}/live"
COOKIE = "hitherto_key"


def is_page(path: str) -> bool:
    return path == ROOT or path.startswith(f"{ROOT}/")


def is_open(path: str) -> bool:
    """What is shown to anybody: the way in, and files that say nothing of anybody."""
    return path in ("/", SIGN_IN) or path.startswith(STATIC)


def needs_no_turn(path: str) -> bool:
    """Files of the package, and streams: they are open for long and ask the store for little."""
    return path == LIVE or is_open(path)


def token_in(headers: Mapping[bytes, bytes]) -> str:
    """The key in the cookie; empty when there is none."""
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""


def to_sign_in(scope: Scope) -> Response:
    """Sends a browser to the way in, and from there back; a request of a script on the page gets the same as a header."""
    wanted = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
    where = SIGN_IN if scope["method"] != "GET" else f"{SIGN_IN}?next={quote(wanted, safe='')}"
    if any(name == b"hx-request" for name, _ in scope["headers"]):
        return Response(status_code=200, headers={"HX-Redirect": where})
    return RedirectResponse(where, status_code=303)
