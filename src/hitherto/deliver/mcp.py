"""A user's memory as an MCP server: search, remember, forget, context and open loops, as tools and resources.

Whose memory it is, is settled before any tool is called: by the command line for a server on stdio, by the key (or the
gateway's header) over HTTP. No tool has an argument for it, so no model can choose it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import ToolAnnotations
from pydantic import Field
from typing_extensions import TypedDict

from hitherto import __version__
from hitherto.assemble.render import indented
from hitherto.errors import HithertoError
from hitherto.recipes.titles import NOTICE
from hitherto.safety.markup import safe
from hitherto.safety.secrets import masked
from hitherto.store import codec
from hitherto.types import Json, Memory

if TYPE_CHECKING:
    from hitherto import Hitherto

INSTRUCTIONS = (
    "The memory of the person you are talking to. Search it before you say that you do not know something about them;"
    f" remember what will still matter in a month. {NOTICE}"
)
ALL: Final = 100_000
Need = Literal["read", "write", "forget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose memory a call is about."""

    memory: "Hitherto"
    user: str
    persona: str | None = None
    lane: str | None = None
    forgot: Callable[[], None] | None = None
    """Called after something was forgotten, for copies prepared outside the memory."""


Bind = Callable[[object, Need], Owner]
"""The owner of a call that needs this permission, or a HithertoError. It is given the HTTP request that the call came with,
None on stdio."""


class Found(TypedDict):
    """One hit of a search."""

    id: str
    kind: str
    text: str
    at: str


class Thread(TypedDict):
    """Something left open."""

    id: str
    kind: str
    text: str
    due: str | None


_REQUEST: ContextVar[object] = ContextVar("request", default=None)
"""The HTTP request behind the current call; a resource with a fixed address has no other way to see it."""

Query = Annotated[str, Field(description="What to look for, in plain words.", min_length=1, max_length=4_000)]
Amount = Annotated[int, Field(description="How many at most.", ge=1, le=50)]
Text = Annotated[str, Field(description="One statement, such as: Ana's sister is called Rita.", min_length=1)]


def server(bind: Bind) -> MCPServer[Any]:
    """The server, with its tools and resources bound to the owner that `bind` returns."""
    made: MCPServer[Any] = MCPServer(
        "hitherto",
        title="Hitherto",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        middleware=[_with_request],
    )
    _reading(made, bind)
    _writing(made, bind)
    _resources(made, bind)
    return made


async def _with_request(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    token = _REQUEST.set(ctx.request)
    try:
        return await call_next(ctx)
    finally:
        _REQUEST.reset(token)


def fixed(owner: Owner) -> Bind:
    """Always the same owner: for a server started for one person."""

    def bind(request: object, need: Need) -> Owner:
        return owner

    return bind


def _reading(made: MCPServer[Any], bind: Bind) -> None:
    read = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    @made.tool(annotations=read)
    async def search(query: Query, limit: Amount = 10) -> list[Found]:
        """What was said or is known about something, best first."""
        async with _bound(bind, "read") as owner:
            hits = await owner.memory.search(user=owner.user, query=query, limit=limit, persona=owner.persona)
        return [Found(id=hit.id, kind=hit.kind, text=safe(hit.text), at=hit.at.isoformat()) for hit in hits]

    @made.tool(annotations=read)
    async def context(message: Query) -> str:
        """Everything worth knowing to answer this message: the situation, recent turns, open threads, memories."""
        async with _bound(bind, "read") as owner:
            return await _context_text(owner, message)

    @made.tool(annotations=read)
    async def open_loops() -> list[Thread]:
        """Promises, questions and plans that are still open."""
        async with _bound(bind, "read") as owner:
            return await _loops(owner)


def _writing(made: MCPServer[Any], bind: Bind) -> None:
    @made.tool(annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False))
    async def remember(text: Text) -> Found:
        """Keeps a fact about the person for good. One that is known in these words is not kept twice."""
        async with _bound(bind, "write") as owner:
            known = await _twins(owner, text)
            kept = known[0] if known else await owner.memory.remember(user=owner.user, text=text, origin="assistant")
        return Found(id=kept.id, kind="memory", text=kept.text, at=kept.at.isoformat())

    @made.tool(annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False))
    async def close_loop(
        id: Annotated[str, Field(description="The id that open_loops gives.")],
        outcome: Literal["done", "not_done", "dropped"] = "done",
    ) -> str:
        """Closes an open loop, so that it is not brought up again."""
        async with _bound(bind, "write") as owner:
            open_now = {loop.id for loop in await owner.memory.loops(user=owner.user, persona=owner.persona)}
            if id not in open_now:
                raise ToolError(f"there is no open loop {id!r}")
            closed = await owner.memory.update(id, user=owner.user, status=outcome)
        return f"{outcome}: {_entry(closed.text)}"

    @made.tool(annotations=ToolAnnotations(destructive_hint=True, idempotent_hint=True, open_world_hint=False))
    async def forget(
        id: Annotated[str, Field(description="The id of a turn or memory, as search gives it.")],
        kind: Annotated[Literal["turn", "memory"], Field(description="What it is, as search says.")],
    ) -> dict[str, Json]:
        """Removes one thing and all that rests on it, for good; a memory with all that say the same in the same words. Only
        when the person asks for it."""
        async with _bound(bind, "forget") as owner:
            if kind == "turn":
                receipt = await owner.memory.forget(user=owner.user, turn=id)
            else:
                said = [one.text for one in await _memories(owner) if one.id == id]
                receipt = await owner.memory.forget(user=owner.user, memory=id)
                for twin in await _twins(owner, said[0]) if said else ():
                    await owner.memory.forget(user=owner.user, memory=twin.id)
            if owner.forgot is not None:
                owner.forgot()
        return cast("dict[str, Json]", codec.plain(receipt))


def _resources(made: MCPServer[Any], bind: Bind) -> None:
    @made.resource("hitherto://memories", mime_type="text/plain")
    async def memories() -> str:
        """What is known about the person, newest first."""
        async with _bound(bind, "read") as owner:
            found = await owner.memory.memories(user=owner.user, persona=owner.persona, limit=200)
        return "\n".join(f"- {_entry(memory.text)}" for memory in found)

    @made.resource("hitherto://loops", mime_type="text/plain")
    async def loops() -> str:
        """What is still open, most pressing first."""
        async with _bound(bind, "read") as owner:
            return "\n".join(f"- ({loop['kind']}) {indented(loop['text'])}" for loop in await _loops(owner))

    @made.resource("hitherto://context/{message}", mime_type="text/plain")
    async def context_of(message: str) -> str:
        """Everything worth knowing to answer this message."""
        async with _bound(bind, "read") as owner:
            return await _context_text(owner, message)


@asynccontextmanager
async def _bound(bind: Bind, need: Need) -> AsyncGenerator[Owner]:
    """The owner of this call. Errors are raised in words, by this class for tools and resources alike."""
    try:
        yield bind(_REQUEST.get(), need)
    except HithertoError as error:
        raise ResourceError(str(error)) from error


async def _memories(owner: Owner) -> list[Memory]:
    return await owner.memory.memories(user=owner.user, limit=ALL)


async def _twins(owner: Owner, text: str) -> list[Memory]:
    """Memories that say the same in the same words."""
    words = text.casefold().split()
    return [one for one in await _memories(owner) if one.text.casefold().split() == words]


def _entry(text: str) -> str:
    """A stored text as one entry of a list or transcript: no line of it can pass for another entry, a marker or a link."""
    return indented(safe(masked(text)))


async def _context_text(owner: Owner, message: str) -> str:
    """A context as one text: an MCP client has its own messages, so the turns come as a transcript."""
    made = await owner.memory.context(user=owner.user, message=message, persona=owner.persona, lane=owner.lane)
    turns = [
        f"{entry['role']}: {_entry(str(entry['content']))}" for entry in made.messages[:-1] if entry.get("content")
    ]
    return "\n\n".join([made.system, *(["Recent turns:\n" + "\n".join(turns)] if turns else [])])


async def _loops(owner: Owner) -> list[Thread]:
    found = await owner.memory.loops(user=owner.user, persona=owner.persona, limit=200)
    return [
        Thread(id=loop.id, kind=loop.kind, text=safe(masked(loop.text)), due=loop.due.isoformat() if loop.due else None)
        for loop in found
    ]
