"""One context: what the model saw, section by section, and every candidate with its reason."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from hitherto import Recipe
from hitherto.assemble.material import result_hash
from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.http.service import Subject
from hitherto.deliver.inspector.anatomy import Anatomy, CandidateEntry, anatomy
from hitherto.deliver.inspector.views import Page, is_piece, looking, page
from hitherto.errors import NotFound
from hitherto.store import codec
from hitherto.store.protocol import Blobs, StoredSnapshot
from hitherto.types import Context, Json, StoredTurn

if TYPE_CHECKING:
    from hitherto import Hitherto

router = APIRouter(route_class=Page, include_in_schema=False)

View = Literal["sections", "candidates", "text", "messages", "json"]
Show = Literal["all", "in", "out"]
VIEWS: tuple[View, ...] = get_args(View)
LISTED = 100
"""Candidates of one page."""
RECENT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOut:
    """A context in the list: what was asked, of whom, and how it was answered."""

    snapshot: StoredSnapshot
    body: dict[str, Any]
    message: str
    persona: str


async def given_out(subject: Subject, kept: Sequence[StoredSnapshot]) -> list[GivenOut]:
    """The snapshots with their messages, unless these were forgotten."""
    bodies: list[dict[str, Any]] = [json.loads(one.body) for one in kept]
    names = [_message_name(body) for body in bodies]
    texts = Blobs(hashes=tuple(name for name in names if name))
    said = (await subject.memory.user_store(subject.user).read(texts))[texts]
    return [
        GivenOut(snapshot=one, body=body, message=said.get(name, ""), persona=(body.get("persona") or [None])[0] or "")
        for one, body, name in zip(kept, bodies, names, strict=True)
    ]


def _message_name(body: dict[str, Any]) -> str:
    """The content hash of the message, by its place in the list of blobs."""
    place, blobs = body.get("message"), body.get("blobs", [])
    return str(blobs[place][0]) if isinstance(place, int) and place < len(blobs) else ""


@router.get(f"{ROOT}/context")
async def context(
    request: Request,
    user: str | None = None,
    snapshot: str = "",
    turn: str = "",
    view: View = "sections",
    show: Show = "all",
    section: str = "",
    start: Annotated[int, Query(ge=0, le=100_000)] = 0,
    q: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """The context of a snapshot, or the one behind a turn; with neither, the list of stored ones."""
    subject = await looking(request, user)
    if not snapshot and not turn:
        kept = await subject.memory.snapshots(user=subject.user, limit=RECENT)
        rows = await given_out(subject, kept)
        wanted = q.casefold()
        found_rows = [row for row in rows if wanted in f"{row.message} {row.persona}".casefold()]
        return page(request, "contexts.html", user=subject.user, rows=found_rows, most=RECENT, q=q)
    found = (
        await of_snapshot(subject.memory, user=subject.user, snapshot=snapshot)
        if snapshot
        else await of_turn(subject.memory, user=subject.user, turn=turn)
    )
    made = anatomy(found.context)
    ranked = sorted(made.entries, key=lambda entry: -entry.item.score if entry.parts else 0.0)
    wanted = [entry for entry in ranked if _wanted(entry, show=show, section=section)]
    return page(
        request,
        "context_piece.html" if is_piece(request) else "context.html",
        user=subject.user,
        found=found,
        made=made,
        view=view,
        views=VIEWS,
        show=show,
        section=section,
        sections=_sections(made),
        entries=wanted[start : start + LISTED],
        count=len(wanted),
        start=start,
        listed=LISTED,
        here_is={"snapshot": snapshot, "turn": turn},
        as_json=codec.text(found.context, indent=2) if view == "json" else "",
        as_messages=codec.text(_chat(found.context.system, found.context.messages), indent=2)
        if view == "messages"
        else "",
    )


def _chat(system: str, messages: list[dict[str, Json]]) -> list[dict[str, Json]]:
    return [{"role": "system", "content": system}, *messages]


def _wanted(entry: CandidateEntry, *, show: Show, section: str) -> bool:
    if section and entry.item.section != section:
        return False
    return show == "all" or entry.item.included == (show == "in")


def _sections(made: Anatomy) -> list[tuple[str, str, int, int]]:
    """Each section that has candidates: id, name, how many are in, how many there are."""
    counted: dict[str, tuple[str, int, int]] = {}
    for entry in made.entries:
        name, included, count = counted.get(entry.item.section, (entry.name, 0, 0))
        counted[entry.item.section] = (name, included + entry.item.included, count + 1)
    return [(section, *rest) for section, rest in counted.items()]


# Searches what a user said, what is remembered, and the contexts that were given out.


FOUND = 30


@router.get(f"{ROOT}/search")
async def search(request: Request, user: str | None = None, q: Annotated[str, Query(max_length=500)] = "") -> Response:
    """Turns, memories, episodes and summaries by meaning and words; contexts by their message."""
    subject = await looking(request, user)
    found: dict[str, Any] = {"hits": [], "origins": {}, "contexts": []}
    if q.strip():
        found["hits"] = hits = await subject.memory.search(user=subject.user, query=q, limit=FOUND)
        first = sorted({hit.sources[0] for hit in hits if hit.sources})
        found["origins"] = {turn.id: turn for turn in await subject.memory.turns(user=subject.user, ids=first)}
        kept = await given_out(subject, await subject.memory.snapshots(user=subject.user, limit=RECENT))
        found["contexts"] = [one for one in kept if q.casefold() in one.message.casefold()]
    return page(request, "search.html", user=subject.user, q=q, **found)


# --- the context that a turn was answered from: the stored one, replayed, or one reassembled as of then
# --------------------

LOOKED_BACK = 20
"""Turns before an answer among which its question is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedContext:
    """A context and its origin. `exact` says that its bytes are those that were sent; None if none were stored."""

    context: Context
    exact: bool | None
    question: StoredTurn | None = None
    answer: StoredTurn | None = None

    @property
    def how(self) -> str:
        if self.exact is None:
            return "Nothing was kept of what the model saw here: assembled again, knowing only what was known then."
        if self.exact:
            return "Replayed from its snapshot, byte for byte what was sent."
        return "Replayed from its snapshot, but not with the bytes that were sent: see the warnings."


async def of_snapshot(memory: "Hitherto", *, user: str, snapshot: str) -> TracedContext:
    """The context that was stored under this id."""
    context = await memory.replay(user=user, snapshot=snapshot)
    (stored,) = await memory.snapshots(user=user, ids=[snapshot])
    return TracedContext(
        context=context, exact=json.loads(stored.body)["result"] == result_hash(context.system, context.messages)
    )


async def of_turn(memory: "Hitherto", *, user: str, turn: str, recipe: Recipe | None = None) -> TracedContext:
    """The context behind a turn: an answer's own, or the one that a message was or would have been answered from."""
    found = await memory.turns(user=user, ids=[turn])
    if not found:
        raise NotFound
    one = found[0]
    question = one if one.role == "user" else await _question(memory, user, one)
    answer = one if one.role == "assistant" else await _answer(memory, user, one)
    if recipe is None and answer is not None and answer.snapshot:
        kept = await memory.snapshots(user=user, ids=[answer.snapshot])
        if kept and kept[0].full:
            replayed = await of_snapshot(memory, user=user, snapshot=answer.snapshot)
            return TracedContext(context=replayed.context, exact=replayed.exact, question=question, answer=answer)
    if question is None:
        raise NotFound
    context = await as_of(memory, user=user, turn=question, recipe=recipe)
    return TracedContext(context=context, exact=None, question=question, answer=answer)


async def as_of(memory: "Hitherto", *, user: str, turn: StoredTurn, recipe: Recipe | None = None) -> Context:
    """A message's context assembled again, knowing only what was known then."""
    return await memory.context(
        user=user,
        turn=turn.id,
        persona=turn.persona,
        lane=turn.lane,
        recipe=recipe,
        at=turn.at,
        known=turn.seq,
        keep=False,
    )


async def _question(memory: "Hitherto", user: str, answer: StoredTurn) -> StoredTurn | None:
    """The message that an answer followed, of the same persona and lane."""
    before = await memory.turns(user=user, before=answer.place, limit=LOOKED_BACK)
    fitting = [turn for turn in before if turn.role == "user" and _together(turn, answer)]
    return fitting[-1] if fitting else None


async def _answer(memory: "Hitherto", user: str, question: StoredTurn) -> StoredTurn | None:
    """The answer that followed a message before the next one."""
    for turn in await memory.turns(user=user, after=question.place, limit=LOOKED_BACK):
        if _together(turn, question):
            return turn if turn.role == "assistant" else None
    return None


def _together(one: StoredTurn, other: StoredTurn) -> bool:
    return (one.persona, one.lane) == (other.persona, other.lane)
