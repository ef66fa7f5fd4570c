"""Turns as readers see them: what may be shown of them, and who said them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from hitherto.learn.notes import Line
from hitherto.safety.quarantine import Verdicts
from hitherto.safety.secrets import redact
from hitherto.types import StoredTurn

LONGEST: Final = 2_400
"""Characters of one turn that a reader is shown: its beginning and its end."""
_MARK: Final = " […] "
_TOOL: Final = 200
_VERDICTS: Final = Verdicts()


def readable(turn: StoredTurn) -> bool:
    """Whether somebody said the turn and it still stands."""
    return turn.retired is None and turn.role in ("user", "assistant") and bool(turn.text.strip() or turn.parts)


def shown(turns: Iterable[StoredTurn], *, user: str, persona: str) -> tuple[Line, ...]:
    return tuple(
        Line(turn=turn, speaker=speaker(turn, user=user, persona=persona), text=_text(turn))
        for turn in turns
        if readable(turn)
    )


def without_orders(lines: Sequence[Line]) -> tuple[Line, ...]:
    """A summary is durable memory: what may not become a memory must not enter it through a summary either."""
    verdicts = _VERDICTS.give_orders([(line.turn.text, line.turn.origin) for line in lines])
    return tuple(replace(line, text="") if orders else line for line, orders in zip(lines, verdicts, strict=True))


def speaker(turn: StoredTurn, *, user: str, persona: str) -> str:
    return turn.speaker or (user if turn.role == "user" else persona)


def _text(turn: StoredTurn) -> str:
    described = [part for part in (_described(part) for part in turn.parts) if part]
    return " ".join(filter(None, (_short(turn.text), *described)))


@lru_cache(maxsize=1_024)
def _short(text: str) -> str:
    """Without secrets and not too long; one visit reads a turn more than once, so the result is cached for a while."""
    masked = redact(re.sub(r"[ \t]*\n\s*", "\n", text.strip()))
    if len(masked) <= LONGEST:
        return masked
    return masked[: LONGEST * 2 // 3].rstrip() + _MARK + masked[-LONGEST // 3 :].lstrip()


def _described(part: object) -> str:
    """A tool call by its name, a picture by its caption; tool output and a model's thinking are left out."""
    match getattr(part, "kind", ""):
        case "tool_call":
            return f"(calls {getattr(part, 'name', '')}: {redact(str(getattr(part, 'args', '')))[:_TOOL]})"
        case "media":
            caption = str(getattr(part, "caption", "")).strip()
            kind = str(getattr(part, "media_type", "")).partition("/")[0] or "file"
            return f"({kind}: {redact(caption)})" if caption else f"({kind})"
        case _:
            return ""
