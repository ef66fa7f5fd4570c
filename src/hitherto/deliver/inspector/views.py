"""How pages are made: the templates, the headers of every answer, and errors as pages.

Stored text reaches a browser here, so there are three walls, one behind the other: Jinja escapes everything, a page may run
no script but the package's own files and load nothing from elsewhere, and every change needs a form token.
"""

import hmac
import unicodedata
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from hitherto import __version__
from hitherto.deliver.apikeys import Scope
from hitherto.deliver.http import problems
from hitherto.deliver.http.gate import Caller, token_in_cookie, token_of
from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.http.service import Subject, subject_of
from hitherto.deliver.inspector import anatomy, charts
from hitherto.errors import HithertoError, InvalidInput, NotFound, NotPermitted
from hitherto.safety.visible import seen_and_hidden
from hitherto.text.numbers import counted
from hitherto.types import Context, Json

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

_ZONE: ContextVar[tzinfo] = ContextVar("zone", default=UTC)
"""The zone of the user that the page is about; each request has its own."""

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
        "shown": shown,
        "excerpt": excerpt,
        "when": moment,
        "clock": clock,
        "span": span,
        "in_words": in_words,
        "count": "{:,}".format,
        "counted": counted,
        "notes_kept": notes_kept,
        "why": why,
    }
    names: dict[str, Any] = {
        "version": __version__,
        "bar": charts.bar,
        "names": anatomy.NAMES,
        "hues": anatomy.HUES,
        "linked": True,
        "zone": zone_name,
        "around": "",
    }
    made.filters.update(filters)
    made.globals.update(names)
    return made


KEPT: Final = {
    "new": "learnt",
    "same": "said again",
    "sharper": "made more exact",
    "changed": "changed",
    "over": "ended",
    "wrong": "taken back",
    "open": "opened",
    "moved": "moved",
    "done": "done",
    "missed": "missed",
    "dropped": "dropped",
}
WHY: Final = {
    "quote": "its quote does not stand in the turn",
    "name": "it names somebody who was not mentioned",
    "number": "it holds a number that was not said",
    "secret": "it holds a secret",
    "order": "it is an order, not a fact",
    "joke": "it was a joke, a condition or a question",
    "unstated": "nobody stated it",
    "unknown": "it refers to something that is not known",
    "rejected": "it was rejected before",
    "trivial": "it says nothing worth keeping",
    "empty": "it has no text",
    "closed": "the loop was closed already",
    "reader": "the reader's answer could not be used",
}


def notes_kept(notes: Mapping[str, int]) -> str:
    """The outcome of a step's notes, from learning's own counts: "fact new" and the like."""
    split = ((name.partition(" "), number) for name, number in notes.items())
    return ", ".join(f"{counted(number, noun)} {KEPT.get(op, op)}" for (noun, _, op), number in split)


def why(reason: str) -> str:
    """Why a note was left out."""
    return WHY.get(reason, reason)


def render(template: str, **values: object) -> str:
    return environment().get_template(template).render(**values)


def page(request: Request, template: str, *, status_code: int = 200, **values: object) -> HTMLResponse:
    """A whole page, or a piece of one."""
    visit = Visit.of(request)
    links = Links(str(values.get("user") or ""))
    text = render(template, visit=visit, link=links, here=request.url.path.removeprefix(ROOT).strip("/"), **values)
    return HTMLResponse(text, status_code=status_code, headers=dict(HEADERS))


def is_piece(request: Request) -> bool:
    """Whether a script on the page requests a part of it."""
    return "hx-request" in request.headers


class Page(APIRoute):
    """A route whose errors are pages."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                return _wrong(request, problems.first_of(error, request))
            except HithertoError as error:
                return _wrong(request, error)

        return handled


def _wrong(request: Request, error: HithertoError) -> Response:
    status = problems.status_of(error)
    template = "wrong_piece.html" if is_piece(request) else "wrong.html"
    return page(
        request,
        template,
        status_code=status,
        message=problems.message_of(error),
        code=status,
        user=None,
        expected=isinstance(error, InvalidInput),
    )


# Addresses of the inspector's pages. The user is in the query: an id may contain any character, a path may not.


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses for one user."""

    user: str

    def __call__(self, page: str, **query: object) -> str:
        """The address of a page; None and empty values are left out."""
        wanted = {"user": self.user, **query}
        given = [(name, str(value)) for name, value in wanted.items() if value is not None and value != ""]
        return f"{ROOT}/{page}?{urlencode(given)}" if given else f"{ROOT}/{page}"


# Stored text on a page. It is always text: escaped, with its invisible characters written out and its direction isolated.

MOST_NAMED = 4
"""Consecutive invisible characters that are named one by one."""
_TAGS = range(0xE0020, 0xE007F)
"""Tag characters: an invisible copy of ASCII, good for nothing but hiding words."""


def shown(text: str) -> Markup:
    """The text with invisible characters written out in brackets."""
    made: list[str] = []
    for seen, run in groupby(seen_and_hidden(text), key=lambda piece: piece[1]):
        words = "".join(piece for piece, _ in run)
        made.append(str(escape(words)) if seen else "".join(_written_out(words)))
    return Markup("").join(map(Markup, made))


def excerpt(text: str, length: int = 280) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split()).removeprefix("- ")
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def moment(at: datetime | None, zone: tzinfo | None = None) -> str:
    """A time as people read it, in the user's zone or in this one."""
    return "" if at is None else f"{at.astimezone(zone or _ZONE.get()):%a %d %b %Y %H:%M}"


def clock(at: datetime) -> str:
    return f"{at.astimezone(_ZONE.get()):%H:%M}"


def span(seconds: float) -> str:
    """A length of time in its largest unit."""
    for length, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {word}{'s' if count != 1 else ''}"
    return f"{int(seconds)} seconds"


def in_words(value: Json) -> str:
    """A JSON value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (None, "", [], {}):
        return "none"
    if isinstance(value, list):
        return "; ".join(map(in_words, value))
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {in_words(inner)}" for name, inner in value.items())
    return str(value)


def _written_out(hidden: str) -> Iterator[str]:
    for are_tags, run in groupby(hidden, key=lambda mark: ord(mark) in _TAGS):
        marks = "".join(run)
        if are_tags:
            said = "".join(chr(ord(mark) - 0xE0000) for mark in marks)
            yield _bracketed(f"hidden: {said}", "tag characters")
        elif len(marks) <= MOST_NAMED:
            yield from (_bracketed(f"U+{ord(mark):04X}", unicodedata.name(mark, "invisible")) for mark in marks)
        else:
            yield _bracketed(f"{len(marks)} invisible characters", f"the first is U+{ord(marks[0]):04X}")


def _bracketed(words: str, name: str) -> str:
    return f'<span class="hid" title="{escape(name.lower())}">[{escape(words)}]</span>'


# Who looks at a page: the caller that the gate admitted, and the token that their forms carry.

FIELD = "form_token"


@dataclass(frozen=True, slots=True)
class Visit:
    """A caller or, without one, somebody who has not signed in."""

    caller: Caller | None
    form_token: str

    @staticmethod
    def of(request: Request) -> "Visit":
        caller: object = request.scope.get("state", {}).get("caller")
        return Visit(caller if isinstance(caller, Caller) else None, form_token(request))

    def may(self, scope: Scope) -> bool:
        return self.caller is not None and scope in self.caller.scopes

    def may_everywhere(self, scope: Scope) -> bool:
        """Whether the key has this scope for the whole tenant."""
        return self.may(scope) and self.caller is not None and self.caller.user is None


def form_token(request: Request) -> str:
    """What this caller's forms carry. It is derived from the key, which no other site knows, and does not reveal it."""
    headers = dict(request.scope["headers"])
    token = token_of(headers) or token_in_cookie(headers)
    return hmac.new(token.encode(), b"form", sha256).hexdigest() if token else ""


async def looking(request: Request, user: str | None) -> Subject:
    """The user that a page is about, if anything is known about them."""
    subject = subject_of(request, user=user, scope="read")
    if await subject.memory.head(user=subject.user) == 0:
        raise NotFound
    await in_zone_of(subject)
    return subject


async def in_zone_of(subject: Subject) -> tzinfo:
    """From here on, this request shows times on the user's clock; returns the user's zone."""
    zone = ZoneInfo((await subject.memory.user(subject.user)).zone)
    _ZONE.set(zone)
    return zone


def zone_name() -> str:
    """The zone that times on the page are in."""
    return str(_ZONE.get())


@dataclass(frozen=True, slots=True)
class Form:
    """What a person entered into one of our forms."""

    fields: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        if name not in self.fields:
            raise InvalidInput(f"{name}: the form lacks it")
        return self.fields[name]

    def get(self, name: str) -> str | None:
        """The field, or None if it is missing or empty."""
        return self.fields.get(name) or None


async def form(request: Request) -> Form:
    """The submitted form, if it was ours: no other site can send one with its token."""
    sent = await request.form()
    given = Form({name: value for name, value in sent.multi_items() if isinstance(value, str)})
    expected = form_token(request)
    if not expected or not hmac.compare_digest(given.fields.get(FIELD, "").encode(), expected.encode()):
        raise NotPermitted("This form is not from here, or you signed in anew since; reload the page and try again.")
    return given


# The files that pages use.

STATIC: Final = Path(__file__).parent / "static"
KINDS: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""What is served, and its content type."""


def style_sheet() -> str:
    """The style sheet, for a page saved as a file."""
    return (STATIC / "inspector.css").read_text("utf-8")


def standalone(context: Context, *, redact: bool = False) -> str:
    """The page as a single file. With `redact`, nothing that anybody said or is called is in it."""
    made = anatomy.anatomy(anatomy.redacted(context) if redact else context)
    style = Markup(style_sheet())
    return render("standalone.html", made=made, style=style, redacted=redact, linked=False)
