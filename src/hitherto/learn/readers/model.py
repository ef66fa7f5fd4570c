"""The reader that asks a model: one question for a passage, one for the end of a session that was read before.

What comes back is a list of notes in short names. Numbers become ids and turns here, and what cannot be meant is dropped and
counted; whether anything was said at all is checked where notes are decided on.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, get_args
from zoneinfo import ZoneInfo

from hitherto.clock import day_bounds
from hitherto.errors import HithertoError, InvalidInput, MissingExtra
from hitherto.learn.notes import (
    Cost,
    FactKind,
    FactNote,
    FactOp,
    LaneSection,
    LoopNote,
    LoopOp,
    Method,
    Owner,
    Passage,
    PersonNote,
    Reading,
    Scene,
    SentenceNote,
    Sitting,
    SittingNotes,
    ThoughtNote,
)
from hitherto.learn.readers import prompt
from hitherto.learn.verify import folded, moment
from hitherto.text.names import slug
from hitherto.types import EntityType, LoopKind, Outcome, Quote, StoredTurn

MOST: Final = 120
"""How many notes of one answer are looked at."""
LONGEST: Final = 600
"""Characters of one note's text: a rolling summary may come in one."""
_QUOTE: Final = re.compile(r"^\s*(?:line\s*|#)?(\d{1,4})\s*[.:)\-]*\s+(.*)$", re.IGNORECASE | re.DOTALL)
_KNOWN: Final = re.compile(r"^\s*\[?([mlr]\d{1,4})\]?\b")
_REF: Final = re.compile(r"\b[ml]\d{1,4}\b")
_CLOCK: Final = re.compile(r"\b\d{1,2}:\d{2}\b")
_REFS: Final = 12
"""How many known facts one note may end."""
SENTENCES: Final = re.compile(r"(?<=[^.\s]{3}[.!?。！？])\s+")
_SECTIONS: Final[Mapping[str, LaneSection]] = {"decision": "decisions", "outcome": "outcomes"}
_USERS: Final = frozenset(("user", "the_user"))


# Asking a model for a structured answer, within limits, or saying clearly that it gave none.
#
# PydanticAI is imported when a model is first asked: it is an extra, and takes a second to load. A model may be anything that
# it takes (`openai:…`, a model object), several of them to fall back on in order, or `http://host:port/v1#name` for a server
# that speaks OpenAI's protocol. Nothing is retried for long here: the step that asked is tried again later.

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.models import Model


class ModelFailed(HithertoError):
    """The model gave no usable answer; the step is tried again later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one question may cost."""

    seconds: float = 60.0
    requests: int = 3
    answer_tokens: int = 6_000
    corrections: int = 1
    """How often the model is told what was wrong with its answer."""


@dataclass(slots=True)
class Asker:
    """One model, or several to fall back on."""

    model: object
    limits: Limits = field(default_factory=Limits)
    _agent: "Agent[None, Any] | None" = None
    _known: "Model | str | None" = None
    _clients: list["AsyncOpenAI"] = field(default_factory=list["AsyncOpenAI"])

    async def close(self) -> None:
        """Ends the connections to servers that were named by their address; asked again, they are opened again."""
        clients, self._clients, self._known = self._clients, [], None
        self._agent = None
        for client in clients:
            await client.close()

    async def ask(self, question: str, *, instructions: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Cost]:
        """The model's answer and what it cost, or ModelFailed whatever went wrong with it."""
        agent = self._asked(schema)
        from pydantic_ai.exceptions import AgentRunError, FallbackExceptionGroup, UserError
        from pydantic_ai.usage import UsageLimits

        limits = UsageLimits(request_limit=self.limits.requests, output_tokens_limit=self.limits.answer_tokens)
        try:
            async with asyncio.timeout(self.limits.seconds):
                result = await agent.run(question, instructions=instructions, usage_limits=limits)
        except TimeoutError as error:
            raise ModelFailed(f"the model did not answer within {self.limits.seconds:g} seconds") from error
        except (AgentRunError, FallbackExceptionGroup, UserError, OSError) as error:
            raise ModelFailed(f"the model gave no usable answer: {type(error).__name__}: {error}"[:500]) from error
        usage = result.usage
        lists = [name for name, of in schema["properties"].items() if of["type"] == "array"]
        if any(not isinstance(result.output.get(name), list) for name in lists):
            raise ModelFailed(f"the model's answer does not fit: {', '.join(lists)} should be a list")
        cost = Cost(calls=usage.requests, asked=usage.input_tokens, answered=usage.output_tokens)
        return cast("dict[str, Any]", result.output), cost

    def _asked(self, schema: Mapping[str, Any]) -> "Agent[None, Any]":
        """The agent; every question has the same form of answer."""
        if self._agent is None:
            try:
                from pydantic_ai import Agent, NativeOutput, StructuredDict
                from pydantic_ai.settings import ModelSettings
            except ImportError as error:
                raise MissingExtra("a model needs the extra: pip install 'hitherto[pydantic-ai]'") from error
            if self._known is None:
                self._known = open_model(self.model, self._clients)
            answer = StructuredDict(dict(schema), name="notes")
            self._agent = Agent(
                self._known,
                output_type=NativeOutput(answer) if self._clients else answer,
                retries=self.limits.corrections,
                model_settings=ModelSettings(
                    max_tokens=self.limits.answer_tokens, timeout=self.limits.seconds, temperature=0.0
                ),
            )
        return self._agent


def check_model(model: object) -> None:
    """Raises InvalidInput for what cannot be the name of a model, before anybody waits for an answer."""
    if isinstance(model, str):
        if ":" not in model and model != "test":
            raise InvalidInput(f"model={model!r} does not say whose: write openai:{model}, or http://…/v1#{model}")
    elif isinstance(model, Sequence):
        for one in cast(Sequence[object], model):
            check_model(one)
    elif isinstance(model, (bool, int, float, bytes)):
        raise InvalidInput(f"model={model!r} is neither a name, nor a PydanticAI model, nor several of them")


def open_model(model: object, clients: list["AsyncOpenAI"]) -> "Model":
    """The model, before it is asked anything; ModelFailed if its provider is unknown, or lacks its key or its package."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    try:
        return infer_model(_model(model, clients))
    except (UserError, ImportError) as error:
        raise ModelFailed(f"the model {model!r} cannot be used: {error}"[:500]) from error


def _model(model: object, clients: list["AsyncOpenAI"]) -> "Model | str":
    """What PydanticAI takes: a name, a model, or several with a fallback between them."""
    from pydantic_ai.models import Model

    if isinstance(model, Model):
        return cast("Model", model)
    if isinstance(model, str):
        return _served(model, clients) if model.startswith(("http://", "https://")) else model
    if isinstance(model, Sequence) and model:
        from pydantic_ai.models.fallback import FallbackModel

        first, *others = (_model(one, clients) for one in cast(Sequence[object], model))
        return FallbackModel(first, *others)
    raise InvalidInput(f"model={model!r} is neither a name, nor a PydanticAI model, nor several of them")


def _served(url: str, clients: list["AsyncOpenAI"]) -> "Model":
    """The model behind an OpenAI-compatible server, such as `http://127.0.0.1:8080/v1#qwen`."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    base, _, name = url.partition("#")
    client = AsyncOpenAI(base_url=base, api_key="none", max_retries=0)
    clients.append(client)
    return OpenAIChatModel(name or "default", provider=OpenAIProvider(openai_client=client))


_IN_LANGUAGE: Final = (
    "Write what you note in {language}, whatever language the lines are in. Quotes and names stay as they stand there."
)


class Respondent(Protocol):
    """What gives a structured answer to a question, and says what it cost."""

    async def ask(
        self, question: str, *, instructions: str, schema: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Cost]: ...


@dataclass(frozen=True, slots=True)
class ModelReader:
    asker: Respondent
    language: str | None = None
    """The language that notes are written in; without one, that of the lines."""

    @property
    def method(self) -> Method:
        return "model"

    async def read(self, passage: Passage) -> Reading:
        instructions, question = prompt.reading(passage)
        answer, cost = await self._ask(instructions, question)
        found = _Answer(answer, prompt.of_passage(passage), passage.scene)
        closing = found.sitting(cost=None) if passage.sitting is not None else None
        return Reading(
            facts=tuple(found.facts()),
            loops=tuple(found.loops()),
            people=tuple(found.people()),
            rolling=tuple(found.rolling()),
            sitting=closing if closing is not None and (closing.summary or closing.mattered) else None,
            method="model",
            dropped=found.dropped,
            cost=cost,
        )

    async def close(self, sitting: Sitting) -> SittingNotes:
        instructions, question = prompt.closing(sitting)
        answer, cost = await self._ask(instructions, question)
        return _Answer(answer, prompt.of_sitting(sitting), sitting.scene).sitting(cost=cost)

    async def _ask(self, instructions: str, question: str) -> tuple[list[Mapping[str, Any]], Cost]:
        if self.language is not None:
            instructions = f"{instructions.rstrip()}\n{_IN_LANGUAGE.format(language=self.language)}\n"
        answer, cost = await self.asker.ask(question, instructions=instructions, schema=prompt.SCHEMA)
        notes = answer.get("notes")
        if not isinstance(notes, list):
            raise ModelFailed("the model's answer holds no list of notes")
        listed = cast("list[object]", notes)[:MOST]
        return [cast("Mapping[str, Any]", one) for one in listed if isinstance(one, dict)], cost


class _Answer:
    """The notes of one answer, with the numbers of its question."""

    def __init__(self, notes: Sequence[Mapping[str, Any]], numbers: prompt.Numbered, scene: Scene) -> None:
        self._notes, self._numbers, self._scene = notes, numbers, scene
        self.dropped: Counter[str] = Counter()

    def facts(self) -> Iterator[FactNote]:
        for note in self._of("fact"):
            op = _one_of(_text(note, "op") or "new", FactOp, "new")
            refs = self._refs(note, self._numbers.memories)
            text = _text(note, "text")
            if not refs and (op in ("same", "over") or not text):
                self.dropped["unknown"] += 1
                continue
            names = _names(_text(note, "who"))
            quotes = self._quotes(note)
            lines = {line.turn.id: line.turn for line in self._numbers.lines.values()}
            of_persona = slug(self._scene.persona) in {slug(name) for name in names}
            told = [lines[quote.turn] for quote in quotes if quote.turn in lines]
            flag = _text(note, "flag").lower()
            yield FactNote(
                op=op if refs or op == "new" else "new",
                ref=refs[0] if refs else None,
                also=tuple(refs[1:]),
                text=text,
                about=tuple(names),
                subject="persona" if of_persona and "user" not in {turn.role for turn in told} else "user",
                kind=_one_of(_text(note, "kind"), FactKind, "fact"),
                importance=_level(note.get("imp")),
                private="private" in flag,
                standing="standing" in flag,
                quotes=quotes,
                valid_to=self._until(_text(note, "due"), text, told),
            )

    def loops(self) -> Iterator[LoopNote]:
        for note in self._of("loop"):
            ref = next(iter(self._refs(note, self._numbers.loops)), None)
            text = _text(note, "text")
            op = _one_of(_text(note, "op") or ("open" if ref is None else "same"), LoopOp, "open")
            if ref is None and (op != "open" or not text):
                self.dropped["unknown"] += 1
                continue
            yield LoopNote(
                op=op,
                ref=ref,
                text=text,
                kind=_one_of(_text(note, "kind"), LoopKind, "topic"),
                owner=self._owner(_text(note, "who")),
                due=moment(_text(note, "due"), zone=self._scene.zone),
                private="private" in _text(note, "flag").lower(),
                quotes=self._quotes(note),
            )

    def people(self) -> Iterator[PersonNote]:
        for note in self._of("person"):
            names = _names(_text(note, "who"))
            if names:
                yield PersonNote(
                    name=names[0][:80],
                    kind=_one_of(_text(note, "kind"), EntityType, "person"),
                    what=_text(note, "text")[:200],
                    aliases=tuple(name[:80] for name in names[1:8]),
                    not_same_as=tuple(_names(_text(note, "ref"))),
                    quotes=self._quotes(note),
                )

    def rolling(self) -> Iterator[SentenceNote]:
        """What is to be kept in mind, sentence by sentence, so that one that cannot stand takes no other along. One without a
        quote rests on the known note that says it."""
        for note in self.sentences("now"):
            for text in SENTENCES.split(note.text):
                yield SentenceNote(text=text, quotes=note.quotes or self._said_by(text))

    def sentences(self, kind: str) -> Iterator[SentenceNote]:
        for note in self._of(kind):
            if _text(note, "text"):
                yield SentenceNote(text=_text(note, "text"), quotes=self._quotes(note))

    def sitting(self, *, cost: Cost | None) -> SittingNotes:
        lane: dict[LaneSection, list[SentenceNote]] = {}
        for note in self._of("point"):
            section = _SECTIONS.get(_text(note, "kind").lower().rstrip("s"))
            if section is not None:
                lane.setdefault(section, []).append(SentenceNote(text=_text(note, "text"), quotes=self._quotes(note)))
        nothing: Mapping[str, Any] = {}
        tone = next(self._of("tone"), nothing)
        ended = _text(tone, "kind").upper()
        outcomes: Mapping[str, Outcome] = {word: word for word in get_args(Outcome)}
        refs = ((self._refs(note, self._numbers.loops)[:1], _text(note, "text")) for note in self._of("thought"))
        return SittingNotes(
            summary=tuple(self.sentences("sum"))[:3],
            mattered=tuple(self.sentences("point"))[:8],
            tone=_text(tone, "text")[:40],
            outcome=outcomes.get(ended),
            day=tuple(self.sentences("day"))[:3],
            lane={name: tuple(entries) for name, entries in lane.items()},
            thoughts=tuple(ThoughtNote(ref="".join(ref), text=text) for ref, text in refs if text)[:2],
            method="model",
            dropped=self.dropped,
            cost=cost,
        )

    def _of(self, kind: str) -> Iterator[Mapping[str, Any]]:
        return (note for note in self._notes if _text(note, "k").lower() == kind)

    def _refs(self, note: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
        named = note.get("ref")
        text = "; ".join(map(str, cast("list[object]", named))) if isinstance(named, list) else _text(note, "ref")
        return list(dict.fromkeys(str(known[one].id) for one in _REF.findall(text.lower())[:_REFS] if one in known))

    def _until(self, due: str, text: str, told: Sequence[StoredTurn]) -> datetime | None:
        """The end of the last day of what then ends by itself. What was said on that day or later has happened, unless it names
        a later hour of the day."""
        last = moment(due, zone=self._scene.zone, hour=0)
        if last is None or not told:
            return None
        zone, said = ZoneInfo(self._scene.zone), max(turn.at for turn in told)
        day = last.astimezone(zone).date()
        hours = (moment(f"{day} {clock}", zone=self._scene.zone) for clock in _CLOCK.findall(f"{due} {text}"))
        if last <= said and not any(hour is not None and hour > said for hour in hours):
            return None
        return day_bounds(day, self._scene.zone)[1]

    def _said_by(self, text: str) -> tuple[Quote, ...]:
        """The quotes of the known note that says most of a sentence."""
        words = set(folded(text).split())
        notes = (self._numbers.sentences, self._numbers.loops, self._numbers.memories)
        shared = [(len(words & set(folded(one.text).split())), one.quotes) for known in notes for one in known.values()]
        best = max(shared, key=lambda one: one[0], default=(0, ()))
        return best[1] if 2 * best[0] >= len(words) > 0 else ()

    def _quotes(self, note: Mapping[str, Any]) -> tuple[Quote, ...]:
        given = note.get("q")
        texts = cast("list[object]", given) if isinstance(given, list) else [given] if isinstance(given, str) else []
        return tuple(quote for text in texts[:6] if isinstance(text, str) for quote in self._quoted(text))

    def _quoted(self, text: str) -> Iterator[Quote]:
        """The words of a line, or those that a known note rests on."""
        known = _KNOWN.match(text)
        if known:
            for where in (self._numbers.memories, self._numbers.loops, self._numbers.sentences):
                if known[1] in where:
                    yield from where[known[1]].quotes
            return
        found = _QUOTE.match(text)
        line = self._numbers.lines.get(int(found[1])) if found else None
        if found and line is not None:
            header = re.match(rf"{re.escape(line.speaker)}(?: \([^)]*\))?:\s+", found[2])  # weak models copy it along
            yield Quote(turn=line.turn.id, words=found[2][header.end() if header else 0 :].strip()[:300])
        elif self._numbers.lines and folded(text):
            yield Quote(turn="", words=text.strip()[:300])

    def _owner(self, who: str) -> Owner:
        return "persona" if slug(who.split(";", maxsplit=1)[0]) in (slug(self._scene.persona), "persona") else "user"


def _text(note: Mapping[str, Any], name: str) -> str:
    value = note.get(name)
    return " ".join(value.split())[:LONGEST] if isinstance(value, str) else ""


def _names(text: str) -> list[str]:
    return [name for part in re.split(r"[;,|]", text) if (name := part.strip(" .\"'")) and slug(name) not in _USERS]


def _level(value: object) -> int:
    try:
        return min(max(int(str(value)), 0), 3) if value is not None else 1
    except ValueError:
        return 1


def _one_of(word: str, options: Any, default: Any) -> Any:
    return word if word in get_args(options) else default
