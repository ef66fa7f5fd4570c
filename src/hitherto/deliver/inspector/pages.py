"""How a page is made: the templates, what every answer says to the browser, and errors as pages.

Stored text reaches a browser here, so three walls stand one behind the other: Jinja escapes everything, a page may run no
script but the package's own files and load nothing from elsewhere, and what changes something needs a token of the form.
"""

from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined

from hitherto import __version__
from hitherto.deliver.http import failures
from hitherto.deliver.http.pages import ROOT
from hitherto.deliver.inspector import anatomy, charts, shown
from hitherto.deliver.inspector.links import Links
from hitherto.deliver.inspector.visits import Visit
from hitherto.deliver.sizes import size
from hitherto.errors import HithertoError, InvalidInput

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("hitherto.deliver.inspector"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "shown": shown.shown,
        "excerpt": shown.excerpt,
        "when": shown.moment,
        "clock": shown.clock,
        "span": shown.span,
        "told": shown.told,
        "size": size,
        "count": "{:,}".format,
    }
    names: dict[str, Any] = {
        "version": __version__,
        "bar": charts.bar,
        "names": anatomy.NAMES,
        "hues": anatomy.HUES,
        "linked": True,
        "around": "",
    }
    made.filters.update(filters)
    made.globals.update(names)
    return made


def render(template: str, **values: object) -> str:
    return environment().get_template(template).render(**values)


def page(request: Request, template: str, *, status_code: int = 200, **values: object) -> HTMLResponse:
    """A whole page, or a piece of one."""
    visit = Visit.of(request)
    links = Links(str(values.get("user") or ""))
    text = render(template, visit=visit, link=links, here=request.url.path.removeprefix(ROOT).strip("/"), **values)
    return HTMLResponse(text, status_code=status_code, headers=dict(HEADERS))


def is_piece(request: Request) -> bool:
    """Whether a script on the page asks for a part of it."""
    return "hx-request" in request.headers


class Page(APIRoute):
    """A route whose errors are pages."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                return _wrong(request, failures.first_of(error))
            except HithertoError as error:
                return _wrong(request, error)

        return handled


def _wrong(request: Request, error: HithertoError) -> Response:
    status = failures.status_of(error)
    template = "wrong_piece.html" if is_piece(request) else "wrong.html"
    return page(
        request,
        template,
        status_code=status,
        message=failures.message_of(error),
        code=status,
        user=None,
        expected=isinstance(error, InvalidInput),
    )
