"""Summaries by a model. Every sentence names the lines that it rests on; one without support is dropped, and a summary
with none left is made by rules instead. The spine is a list of what is known already and needs no model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field

from hitherto.learn.candidates import Stems
from hitherto.learn.llm import prompt
from hitherto.learn.llm.asking import Asker
from hitherto.learn.llm.support import Said, harmless, supported
from hitherto.learn.rules.summariser import RuleSummariser, sectioned
from hitherto.learn.services import Task
from hitherto.learn.summarising import LANE_TITLES, Digest
from hitherto.types import Json, Outcome, StoredTurn, Support

A = TypeVar("A", bound=BaseModel)
Words = Annotated[str, Field(max_length=60)]


class Sentence(BaseModel):
    text: Annotated[str, Field(max_length=400)]
    lines: Annotated[list[int], Field(max_length=40)] = []


Sentences = Annotated[list[Sentence], Field(max_length=20)]


class Rolling(BaseModel):
    """The conversation so far, the newest last, at most six sentences."""

    sentences: Sentences = []


class Session(BaseModel):
    """What happened (one to three sentences), what mattered, what stays open, who promised what, who was mentioned."""

    summary: Sentences = []
    what_mattered: Sentences = []
    open_loops: Sentences = []
    commitments: Sentences = []
    people: Annotated[list[Words], Field(max_length=20)] = []
    tone: Words = "neutral"
    outcome: Outcome = "SUCCESS"
    topics: Annotated[list[Words], Field(max_length=8)] = []


class Daily(BaseModel):
    """The day in one to three sentences, and its key moments in order."""

    summary: Sentences = []
    key_moments: Sentences = []


class Lane(BaseModel):
    """Goals and open questions, decisions, facts, outcomes (what was tried, what failed), pending actions."""

    goals: Sentences = []
    decisions: Sentences = []
    facts: Sentences = []
    outcomes: Sentences = []
    pending: Sentences = []


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummariser:
    asker: Asker
    stems: Stems
    rules: RuleSummariser

    async def __call__(self, task: Task) -> Digest:
        said = _said(task)
        if task.kind == "spine" or not said:
            return self.rules.digest(task)
        ask = _Question(self.asker, said, stems=self.stems, zone=task.zone)
        match task.kind:
            case "rolling":
                digest = _rolling(ask.kept((await ask(Rolling)).sentences), limit=task.characters)
            case "session" | "chat":
                digest = _session(await ask(Session), ask, rules=self.rules.digest(task))
            case "daily":
                digest = _daily(await ask(Daily), ask)
            case "lane":
                found = await ask(Lane)
                digest = sectioned(
                    [(name, title, ask.kept(getattr(found, name))) for name, title in LANE_TITLES.items()]
                )
        return replace(digest, method="model") if digest.sentences else self.rules.digest(task)


class _Question:
    """One question about some lines, and the check of its answer."""

    def __init__(self, asker: Asker, said: Sequence[Said], *, stems: Stems, zone: str) -> None:
        self._asker, self._said, self._stems, self._zone = asker, said, stems, zone

    async def __call__(self, answer: type[A]) -> A:
        return await self._asker.ask(
            prompt.block(self._said),
            instructions=f"{prompt.SUMMARISING}\nThe answer: {answer.__doc__}",
            answer=answer,
        )

    def kept(self, sentences: Iterable[Sentence]) -> list[Support]:
        """The sentences that the lines they name support, each once."""
        found: dict[str, Support] = {}
        for one in sentences:
            named = [self._said[n - 1] for n in dict.fromkeys(one.lines) if 1 <= n <= len(self._said)]
            text = " ".join(one.text.split())
            if harmless(text) and supported(text, named, stems=self._stems, zone=self._zone):
                sources = tuple(dict.fromkeys(source for line in named for source in line.sources))
                found.setdefault(text.casefold(), Support(text=text, sources=sources))
        return list(found.values())

    def named(self, words: Iterable[str]) -> list[str]:
        """Those of these words that some line holds."""
        whole = " ".join(line.text for line in self._said).lower()
        return [word for word in dict.fromkeys(words) if word.strip() and word.lower() in whole and harmless(word)]


def _said(task: Task) -> list[Said]:
    """What was summarised before, then the turns; both can be named."""
    before = task.previous.sentences if task.previous and task.kind in ("rolling", "lane") else ()
    at = task.turns[0].at if task.turns else None
    earlier = [Said(text=s.text, at=at, sources=s.sources, speaker="Earlier") for s in before] if at else []
    turns = [turn for turn in task.turns if turn.role in ("user", "assistant") and turn.text.strip()]
    return [*earlier, *(_line(turn, task) for turn in turns)]


def _line(turn: StoredTurn, task: Task) -> Said:
    speaker = turn.speaker or ("User" if turn.role == "user" else task.persona)
    return Said(text=turn.text, at=turn.at, sources=(turn.id,), speaker=speaker)


def _rolling(kept: Sequence[Support], *, limit: int) -> Digest:
    """The newest sentences that fit, in their order."""
    chosen: list[Support] = []
    for one in reversed(kept):
        if sum(len(other.text) + 1 for other in chosen) + len(one.text) <= limit:
            chosen.insert(0, one)
    return _told(chosen)


def _session(found: Session, ask: _Question, *, rules: Digest) -> Digest:
    """The model's words where they hold, the rules' where it said nothing that does."""
    told, mattered = ask.kept(found.summary)[:3], ask.kept(found.what_mattered)
    opened, promised = ask.kept(found.open_loops), ask.kept(found.commitments)
    parts: Mapping[str, list[Support]] = {
        "what_mattered": mattered, "open_loops": opened, "commitments": promised,
    }  # fmt: skip
    detail: dict[str, Json] = {name: [one.text for one in entries] for name, entries in parts.items()}
    tone = found.tone if found.tone.isascii() and harmless(found.tone) else rules.tone
    detail |= {"one_liner": told[0].text if told else "", "people": list[Json](ask.named(found.people)), "tone": tone}
    whole = _told(told)
    if not told:
        return whole
    return replace(
        whole,
        sentences=tuple(dict.fromkeys((*told, *mattered, *opened, *promised))),
        detail=detail,
        outcome=found.outcome,
        tone=tone,
        topics=tuple(ask.named(found.topics)) or rules.topics,
    )


def _daily(found: Daily, ask: _Question) -> Digest:
    told, moments = ask.kept(found.summary)[:3], ask.kept(found.key_moments)
    whole = _told(told or moments[:2])
    detail: dict[str, Json] = {"summary": whole.text, "key_moments": [one.text for one in moments]}
    return replace(whole, sentences=tuple(dict.fromkeys((*whole.sentences, *moments))), detail=detail)


def _told(parts: Sequence[Support]) -> Digest:
    return Digest(text=" ".join(one.text for one in parts), sentences=tuple(parts))
