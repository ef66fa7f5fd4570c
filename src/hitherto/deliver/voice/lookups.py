"""Looking something up during a call: the one tool that a voice agent is given.

What is said in a call is the platform's own short-term memory, and the prompt already holds what matters of the rest. So
the tool is for the question nobody could foresee. It reads and never writes, and each call has a limited number of
look-ups, because every one is silence on the line. The platform says who is calling, never an argument that its model fills
in.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from hitherto.assemble.render import bounded, indented
from hitherto.clock import local
from hitherto.deliver.voice.transcripts import Call, Utterance
from hitherto.recipes.titles import NOTICE
from hitherto.safety.markup import safe
from hitherto.types import Hit, ToolReturn

TOOL: Final = "recall_memory"
"""The tool's name on every platform."""
HITS: Final = 5
LONGEST_QUERY: Final = 1_000
_LONGEST: Final = 400
"""Characters of one result; an answer has to be heard, not read."""

NOTHING: Final = "Nothing about that is remembered."
TOO_LATE: Final = "The memory did not answer in time. Go on without it."
ENOUGH: Final = "Enough was looked up in this call. Go on with what you know."
UNKNOWN: Final = f"There is no such tool; the memory has {TOOL} with a query."

_WINDOW: Final = timedelta(hours=1)
_MOST_CALLS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A platform's call of the tool. `id` tells answers apart if a platform asks several questions at once."""

    caller: str | None
    call: str | None
    query: str | None
    id: str = ""
    tool: str = TOOL


class Allowance:
    """How many look-ups a call has; for a call identified by its caller alone, the count restarts after an hour."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._used: OrderedDict[str, tuple[datetime, int]] = OrderedDict()

    def take(self, call: str, *, now: datetime) -> bool:
        began, used = self._used.get(call, (now, 0))
        if now - began >= _WINDOW:
            began, used = now, 0
        if used >= self._most:
            return False
        self._used[call] = (began, used + 1)
        self._used.move_to_end(call)
        while len(self._used) > _MOST_CALLS:
            self._used.popitem(last=False)
        return True


def result_text(hits: Sequence[Hit], *, zone: str) -> str:
    """The results as data: dated, short, and with nothing in them that could pass for a marker or an address."""
    if not hits:
        return NOTHING
    lines = [f"- ({local(hit.at, zone):%Y-%m-%d}) {indented(safe(bounded(hit.text, _LONGEST)))}" for hit in hits]
    return "\n".join([NOTICE, "[LOOKED UP]", *lines, "[/LOOKED UP]"])


def without_own_answers(call: Call) -> Call:
    """The call without what memory itself answered in it: that is not news, and is not learnt again."""
    return replace(call, said=tuple(_emptied(one) for one in call.said))


def _emptied(said: Utterance) -> Utterance:
    own = [part for part in said.parts if isinstance(part, ToolReturn) and part.name == TOOL]
    if not own:
        return said
    return replace(said, parts=tuple(replace(part, content="") if part in own else part for part in said.parts))
