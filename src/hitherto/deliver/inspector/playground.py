"""Try a message and a recipe: every number can be changed, the effect is shown at once, and a good result can be saved."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response

from hitherto import Recipe
from hitherto.assemble.diff import diff
from hitherto.clock import instant
from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.http.routes.contexts import recipe_of
from hitherto.deliver.http.service import subject_of
from hitherto.deliver.inspector.anatomy import anatomy
from hitherto.deliver.inspector.conversation import personas
from hitherto.deliver.inspector.views import Form, Page, form, in_zone_of, looking, page
from hitherto.errors import InvalidInput, NotPermitted
from hitherto.pages import LARGEST
from hitherto.recipes import book
from hitherto.types import StoredTurn

if TYPE_CHECKING:
    from hitherto import Hitherto

router = APIRouter(route_class=Page, include_in_schema=False)

TABLES = ("total", "groups", "history", "recall", "limits", "loops")
"""Tables of a recipe whose numbers can be changed here."""
PREFIX = "recipe."


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of a recipe: its path, such as `total.cap`, and its value."""

    path: str
    value: float | int

    @property
    def name(self) -> str:
        return self.path.partition(".")[2].replace(".", " ").replace("_", " ")

    @property
    def step(self) -> str:
        return "any" if isinstance(self.value, float) else "1"


@router.get(f"{ROOT}/playground")
async def playground(
    request: Request, user: str | None = None, recipe: str = "continuity", turn: str = "", persona: str = ""
) -> Response:
    """The form, filled with a recipe's numbers and, if a turn is named, with its message and moment."""
    subject = await looking(request, user)
    chosen = await recipe_of(recipe, subject.memory)
    asked = await _asked(subject.memory, subject.user, turn)
    newest = await subject.memory.turns(user=subject.user, before=LARGEST, limit=1)
    last = asked or (newest[-1] if newest else None)
    return page(
        request,
        "playground.html",
        user=subject.user,
        chosen=chosen,
        tables=tables(chosen),
        recipes=[one.name for one in await subject.memory.recipes()],
        personas=await personas(subject.memory, subject.user),
        message=asked.text if asked else "",
        persona=persona or (last.persona if last else "") or "",
        lane=(last.lane if last else "") or "",
        at=_soon_after(asked, last, await in_zone_of(subject)),
        known=asked.seq - 1 if asked else "",
    )


@router.post(f"{ROOT}/playground/preview")
async def preview(request: Request) -> Response:
    """The context that the form's message would get by the form's recipe, beside the recipe it started from."""
    filled = await form(request)
    subject = subject_of(request, user=filled.get("user"), scope="read")
    zone = await in_zone_of(subject)
    base = await recipe_of(filled["base"], subject.memory)
    if not filled.get("message"):
        return page(request, "preview.html", user=subject.user, made=None, changed=None, base=base, own=base)
    own = changed(base, filled)
    asked = _request(subject.user, filled, zone)
    made = await subject.memory.context(**asked, recipe=own)
    before = made if own == base else await subject.memory.context(**asked, recipe=base)
    return page(
        request,
        "preview.html",
        user=subject.user,
        made=anatomy(made),
        changed=diff(before, made),
        before=before,
        base=base,
        own=own,
    )


@router.post(f"{ROOT}/playground/save")
async def save(request: Request) -> Response:
    """Saves the form's recipe under a new name."""
    filled = await form(request)
    subject = subject_of(request, user=filled.get("user"), scope="admin")
    if request.scope["state"]["caller"].user is not None:
        raise NotPermitted("This key belongs to one user; recipes are for all of them.")
    base = await recipe_of(filled["base"], subject.memory)
    named = changed(base, filled).model_copy(update={"name": (filled.get("name") or "").strip()})
    words = f"Made from {base.name} in the inspector."
    saved = await subject.memory.define_recipe(book.check(named.model_dump() | {"description": words}))
    return page(request, "saved.html", user=subject.user, saved=saved)


def tables(recipe: Recipe) -> list[tuple[str, list[Number]]]:
    """The recipe's numbers, table by table."""
    fields = cast(Mapping[str, Any], recipe.model_dump())
    return [(name, list(_numbers(name, fields[name]))) for name in TABLES]


def changed(base: Recipe, filled: Form) -> Recipe:
    """The base recipe with the form's numbers."""
    fields = base.model_dump(mode="json")
    for _, numbers in tables(base):
        for number in numbers:
            given = filled.get(PREFIX + number.path)
            if given is not None:
                _set(fields, number.path.split("."), _read(number, given))
    if all(filled.get(PREFIX + number.path) is None for _, numbers in tables(base) for number in numbers):
        return base
    own = book.check(fields, origin=base.name)
    return base if own == base else own


def _numbers(path: str, value: object) -> Iterator[Number]:
    if isinstance(value, Mapping):
        for name, inner in cast(Mapping[str, object], value).items():
            yield from _numbers(f"{path}.{name}", inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield Number(path=path, value=value)


def _read(number: Number, given: str) -> float | int:
    try:
        return float(given) if isinstance(number.value, float) else int(given)
    except ValueError as error:
        raise InvalidInput(f"{number.path} is not a number") from error


def _set(fields: dict[str, Any], path: list[str], value: float | int) -> None:
    *above, last = path
    for name in above:
        fields = fields[name]
    fields[last] = value


async def _asked(memory: "Hitherto", user: str, turn: str) -> StoredTurn | None:
    found = await memory.turns(user=user, ids=[turn]) if turn else []
    return found[0] if found else None


def _soon_after(asked: StoredTurn | None, last: StoredTurn | None, zone: tzinfo) -> str:
    """The form's moment: the turn's own, or else a minute after the newest turn."""
    if asked is not None:
        return _written(asked.at, zone)
    return _written(last.at + timedelta(minutes=1), zone) if last else ""


def _written(at: datetime, zone: tzinfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%dT%H:%M}"


def _request(user: str, filled: Form, zone: tzinfo) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "user": user,
        "message": filled["message"],
        "persona": filled.get("persona"),
        "lane": filled.get("lane"),
        "keep": False,
    }
    if at := filled.get("at"):
        try:
            asked["at"] = instant(datetime.fromisoformat(at).replace(tzinfo=zone))
        except ValueError as error:
            raise InvalidInput("the moment is not a time") from error
    if known := filled.get("known"):
        asked["known"] = int(known) if known.isdecimal() else None
    return asked
