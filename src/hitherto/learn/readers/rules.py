"""The reader that needs no model: notes are quotes, chosen by the classifier; summaries are extracts.

It is the fallback of every outage, so it is honest before it is clever: what it writes down was said, by whom and when, and a
typed fact is typed only where an expression is sure of it.
"""

from collections.abc import Sequence

from hitherto.learn.notes import Line, LoopNote, Method, Passage, Reading, SentenceNote, Sitting, SittingNotes
from hitherto.learn.readers import classifier as judge
from hitherto.learn.readers import extracts, loose_ends, mentions, quotes
from hitherto.learn.readers.classifier import classifier
from hitherto.learn.readers.clauses import Clause, clauses, tells
from hitherto.learn.readers.endings import endings

__all__ = ["RuleReader"]

IDLE = 0.35
"""Lines that are all less worth a note than this are small talk, and no model is asked about them."""


class RuleReader:
    """Reads passages and closes sessions by rules."""

    @property
    def method(self) -> Method:
        return "rules"

    async def read(self, passage: Passage) -> Reading:
        found = clauses(passage.new, before=passage.before)
        named = mentions.found_in(passage.scene, passage.lines, found)
        moving = loose_ends.loops(found, passage.loops, scene=passage.scene, mentions=named)
        return Reading(
            facts=(
                *endings(found, passage.memories, moving=moving, loops=passage.loops),
                *quotes.facts(found, passage.scene, named, passage.memories),
            ),
            loops=tuple(moving),
            people=named.notes(),
            rolling=self._rolling(passage, found, moving) if passage.characters else (),
            sitting=await self.close(passage.sitting) if passage.sitting is not None else None,
        )

    def _rolling(
        self, passage: Passage, found: Sequence[Clause], moving: Sequence[LoopNote]
    ) -> tuple[SentenceNote, ...]:
        return extracts.rolling(passage, found, moving)

    async def close(self, sitting: Sitting) -> SittingNotes:
        found = clauses(sitting.lines)
        return extracts.closed(sitting, found, loose_ends.loops(found, sitting.loops, scene=sitting.scene))

    def small_talk(self, lines: Sequence[Line]) -> bool:
        """Whether nothing in these lines is worth a reading. What somebody says of themselves in a sentence may be."""
        said = [line for line in lines if line.text.strip()]
        if any(line.turn.role == "user" and tells(line.text) for line in said):
            return False
        seen = [judge.ClassifiedLine(text=line.text, persona=line.turn.role == "assistant") for line in said]
        return all(one.worth < IDLE for one in classifier().judge(seen))
