"""The extractor that needs no model: rules over each fresh turn, in the light of the one before."""

from collections.abc import Sequence

from hitherto.learn.candidates import Said
from hitherto.learn.rules.extracting import extract
from hitherto.learn.services import Finding, Passage


class RuleExtractor:
    method = "rules"

    async def __call__(self, passages: Sequence[Passage]) -> list[Finding]:
        return [finding for passage in passages for finding in read(passage)]


def read(passage: Passage) -> list[Finding]:
    found: list[Finding] = []
    previous = ""
    for turn in passage.turns:
        if turn.id in passage.fresh:
            extraction = extract(
                Said(
                    text=turn.text,
                    role=turn.role,
                    now=turn.at,
                    zone=passage.zone,
                    speaker=turn.speaker,
                    persona=passage.persona,
                    previous=previous,
                )
            )
            found.append(
                Finding(turn=turn, memories=extraction.memories, loops=extraction.loops, outcome=extraction.outcome)
            )
        previous = turn.text
    return found
