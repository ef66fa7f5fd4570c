"""OpenAI's Agents SDK: a session that is kept in a user's memory.

    session = AgentsSession(memory, user="ana", session_id="support-1")
    await Runner.run(agent, "yes", session=session)

Every item of a run is a turn in the lane that the session names, so it can be found, summarised and forgotten like any other.
Which kind of item a turn was is in its id, so that it comes back as that kind. Reasoning and what a provider's own tools did on
its side belong to one answer and are not kept.
"""

import json
from typing import Any, Final, cast
from uuid import uuid4

from agents import TResponseInputItem
from agents.memory import SessionABC, SessionSettings

from hitherto import Hitherto, ToolCall, ToolReturn, Turn
from hitherto.deliver.openai.formats import STATED, said_in
from hitherto.types import Media, Role, StoredTurn

Item = dict[str, Any]
MARK: Final = "agents:"
FILE: Final = "file_id:"
"""Before the id of a file that the provider keeps, in the place of an address."""
MOST: Final = 100_000


class AgentsSession(SessionABC):
    """The turns of one persona in one lane, as a session."""

    session_settings: SessionSettings | None = None

    def __init__(self, memory: Hitherto, *, user: str, session_id: str, persona: str | None = None) -> None:
        self.session_id = session_id
        self._memory = memory
        self._user = user
        self._persona = persona

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = [item for turn in await self._turns() for item in _items(turn)]
        return cast("list[TResponseInputItem]", items if limit is None else items[max(0, len(items) - limit) :])

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        called: dict[str, str] = {}
        turns = [turn for item in items if (turn := self._turn(cast(Item, item), called)) is not None]
        if turns:
            await self._memory.record(turns)

    async def pop_item(self) -> TResponseInputItem | None:
        turns = await self._turns()
        if not turns:
            return None
        await self._memory.forget(user=self._user, turn=turns[-1].id)
        return cast(TResponseInputItem, _items(turns[-1])[-1])

    async def clear_session(self) -> None:
        """Forgets this session's turns. Those of other personas in the same lane stay."""
        turns = await self._turns()
        everybodys = await self._memory.turns(user=self._user, lane=self.session_id, limit=MOST)
        if turns and len(everybodys) == len(turns):
            await self._memory.forget(user=self._user, lane=self.session_id)
            return
        for turn in turns:
            await self._memory.forget(user=self._user, turn=turn.id)

    async def _turns(self) -> list[StoredTurn]:
        found = await self._memory.turns(user=self._user, lane=self.session_id, limit=MOST)
        return [turn for turn in found if turn.persona == self._persona]

    def _turn(self, item: Item, called: dict[str, str]) -> Turn | None:
        kind, stated = str(item.get("type") or "message"), item.get("role") in STATED
        said = said_in({**item, "role": "user"} if stated else item, called=called)
        if said is None:
            return None
        role: Role = "system" if stated else said.role
        if item.get("role") == "developer":
            kind = "developer"
        pieces = iter(_attached(item))
        parts = tuple(_whole(part, next(pieces)) if isinstance(part, Media) else part for part in said.parts)
        if "output" in item and not isinstance(item["output"], str):
            # Structured output stays what it was, as JSON.
            parts = tuple(
                ToolReturn(id=part.id, name=part.name, content=json.dumps(item["output"], ensure_ascii=False))
                if isinstance(part, ToolReturn)
                else part
                for part in parts
            )
            kind += ":json"
        return Turn(
            self._user,
            role,
            said.text,
            id=f"{MARK}{kind}:{uuid4().hex}",
            persona=self._persona,
            lane=self.session_id,
            parts=parts or None,
        )


def _attached(item: Item) -> list[Item]:
    content = cast("list[Item]", item["content"] if isinstance(item.get("content"), list) else [])
    return [piece for piece in content if piece.get("type") in ("input_image", "input_file", "input_audio")]


def _whole(part: Media, piece: Item) -> Media:
    """What was attached, with its address, bytes or id: the session has to give it back."""
    held = piece.get("image_url") or piece.get("file_url") or piece.get("file_data")
    url = held or (FILE + piece["file_id"] if piece.get("file_id") else part.url)
    return Media(media_type=part.media_type, url=str(url), caption=piece.get("filename") or part.caption)


def _piece(part: Media) -> Item:
    picture, kept = part.media_type.startswith("image/"), part.url.startswith(FILE)
    held: Item = {"file_id": part.url.removeprefix(FILE)}
    if not kept and picture:
        held = {"image_url": part.url}
    elif not kept:
        held = (
            {"file_data": part.url, "filename": part.caption}
            if part.url.startswith("data:")
            else {"file_url": part.url}
        )
    return {"type": "input_image", **held, "detail": "auto"} if picture else {"type": "input_file", **held}


def _items(turn: StoredTurn) -> list[Item]:
    kind = turn.id.removeprefix(MARK).rpartition(":")[0] if turn.id.startswith(MARK) else ""
    found: list[Item] = []
    shown = [_piece(part) for part in turn.parts if isinstance(part, Media)]
    if shown:
        words = [{"type": "input_text", "text": turn.text}] if turn.text else []
        found.append({"role": turn.role, "content": [*words, *shown]})
    elif turn.text:
        found.append({"role": "developer" if kind == "developer" else turn.role, "content": turn.text})
    for part in turn.parts:
        if isinstance(part, ToolCall):
            found.append(_call(part, kind))
        elif isinstance(part, ToolReturn):
            structured = kind.endswith(":json")
            output = json.loads(part.content) if structured else part.content
            name = kind.removesuffix(":json") or "function_call_output"
            found.append({"type": name, "call_id": part.id, "output": output})
    return found


def _call(part: ToolCall, kind: str) -> Item:
    if kind == "custom_tool_call":
        return {"type": kind, "call_id": part.id, "name": part.name, "input": json.loads(part.args)["input"]}
    if kind == part.name:  # One of the provider's own, which was kept whole.
        return json.loads(part.args)
    return {"type": "function_call", "call_id": part.id, "name": part.name, "arguments": part.args}
