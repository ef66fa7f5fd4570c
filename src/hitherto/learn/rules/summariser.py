"""The summariser that needs no model: extracts of what was said, each sentence with its turns."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from hitherto.learn import summarising
from hitherto.learn.salience import Line, Stems, Verbosity
from hitherto.learn.services import Detail, Task
from hitherto.learn.summarising import LANE_TITLES, Digest, Held, LaneSection
from hitherto.safety.secrets import redact
from hitherto.types import Json, StoredTurn, Summary, Support

_VERBOSITY: dict[Detail, Verbosity] = {"brief": "brief", "normal": "normal", "full": "detailed"}


class RuleSummariser:
    def __init__(self, stems: Stems) -> None:
        self._stems = stems

    async def __call__(self, task: Task) -> Digest:
        return self.digest(task)

    def digest(self, task: Task) -> Digest:
        lines = [_line(turn, task) for turn in task.turns if turn.role in ("user", "assistant") and turn.text.strip()]
        verbosity = _VERBOSITY[task.detail]
        match task.kind:
            case "rolling":
                previous = task.previous.sentences if task.previous else ()
                return summarising.rolling(lines, previous=previous, stems=self._stems, verbosity=verbosity)
            case "session" | "chat":
                return summarising.session(lines, stems=self._stems, verbosity=verbosity)
            case "daily":
                return summarising.daily(lines, stems=self._stems, verbosity=verbosity)
            case "lane":
                sections = summarising.lane(
                    lines, previous=_sections(task.previous), stems=self._stems, verbosity=verbosity
                )
                return sectioned([(name, title, sections[name]) for name, title in LANE_TITLES.items()])
            case "spine":
                held = [
                    Held(text=m.text, type=m.type, importance=m.importance, sources=m.sources)
                    for m in task.memories
                    if m.subject == "user"
                ]
                return sectioned([(name, name, entries) for name, entries in summarising.spine(held).items()])


def _line(turn: StoredTurn, task: Task) -> Line:
    speaker = turn.speaker or ("User" if turn.role == "user" else task.persona)
    return Line(id=turn.id, speaker=speaker, role=turn.role, text=_redacted(turn.text), at=turn.at, zone=task.zone)


@lru_cache(maxsize=1_024)
def _redacted(text: str) -> str:
    """Without secrets; one visit puts a turn into several summaries, so what was read is kept for a while."""
    return redact(text)


def _sections(previous: Summary | None) -> dict[LaneSection, tuple[Support, ...]] | None:
    """An earlier version's sections, each entry with the turns it rested on."""
    if previous is None:
        return None
    resting = {sentence.text: sentence for sentence in previous.sentences}
    return {name: tuple(_supports(previous.detail.get(name), resting)) for name in LANE_TITLES}


def _supports(entries: Json, resting: Mapping[str, Support]) -> list[Support]:
    return (
        [resting[entry] for entry in entries if isinstance(entry, str) and entry in resting]
        if isinstance(entries, list)
        else []
    )


def sectioned(sections: Sequence[tuple[str, str, Sequence[Support]]]) -> Digest:
    """A summary in sections (name, title, entries): the text is what a person would read, the detail what is shown."""
    detail: dict[str, Json] = {name: [entry.text for entry in entries] for name, _, entries in sections}
    shown = [f"{title}: " + " ".join(entry.text for entry in entries) for _, title, entries in sections if entries]
    sentences = tuple(entry for _, _, entries in sections for entry in entries)
    return Digest(text="\n".join(shown), sentences=sentences, detail=detail)
