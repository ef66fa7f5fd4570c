"""The work after the turn, in the order in which it is done for a user: the one table of its steps."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Protocol, TypeVar, cast, get_args

from hitherto.errors import HithertoError, InvalidInput, MissingExtra
from hitherto.ingest.record import Indexer
from hitherto.learn import close, curate, embed, extract, loops, retain, summaries
from hitherto.learn.cost import Caps, Meter
from hitherto.learn.notes import Detail, Method, Passage, PlainReader, Reader, Reading, Sitting, SittingNotes
from hitherto.learn.people import Alike
from hitherto.learn.readers.model import Asker, Limits, ModelFailed, ModelReader, check_model
from hitherto.learn.services import Numbers, Pace, Receipts, Services, Vectors
from hitherto.plugins import fitting, plugin, unknown
from hitherto.work.worker import Step

STEPS: tuple[Step[Services], ...] = (
    extract.STEP,
    loops.STEP,
    *summaries.STEPS,
    close.STEP,
    extract.REVISIONS,
    embed.STEP,
    curate.STEP,
    retain.STEP,
)


# Builds the services of background work: with a model if one is configured, by rules otherwise.

T = TypeVar("T")
Stems = Callable[[str], Sequence[str]]


class _Summaries(Protocol):
    @property
    def rolling_every(self) -> int: ...
    @property
    def rolling_chars(self) -> int: ...
    @property
    def spine_messages(self) -> int: ...
    @property
    def detail(self) -> Detail: ...


class _Compaction(Protocol):
    @property
    def messages(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def hours(self) -> float: ...
    @property
    def keep(self) -> int: ...


class _Sessions(Protocol):
    @property
    def gap_minutes(self) -> float: ...


class _Loops(Protocol):
    @property
    def fade_days(self) -> float: ...


class Recipe(Protocol):
    """The part of a recipe that background work uses."""

    @property
    def summaries(self) -> _Summaries: ...
    @property
    def compaction(self) -> _Compaction: ...
    @property
    def sessions(self) -> _Sessions: ...
    @property
    def loops(self) -> _Loops: ...


def numbers(recipe: Recipe) -> Numbers:
    return Numbers(
        rolling_every=recipe.summaries.rolling_every,
        rolling_chars=recipe.summaries.rolling_chars,
        spine_messages=recipe.summaries.spine_messages,
        gap_minutes=recipe.sessions.gap_minutes,
        compact_messages=recipe.compaction.messages,
        compact_tokens=recipe.compaction.tokens,
        compact_hours=recipe.compaction.hours,
        compact_keep=recipe.compaction.keep,
        fade_days=recipe.loops.fade_days,
        detail=recipe.summaries.detail,
    )


def open_reader(reader: str | Reader) -> Reader:
    """The reader of that name, which an installed package declares, or this one."""
    if not isinstance(reader, str):
        return fitting("reader", reader)
    made = plugin("reader", reader)
    if made is None:
        raise unknown("reader", reader, ())
    return cast(Reader, made)


@dataclass(frozen=True, slots=True)
class Checked:
    """An application's own reader: whatever it raises becomes one named error, so that its step is retried."""

    reader: Reader

    @property
    def method(self) -> Method:
        return self.reader.method

    async def read(self, passage: Passage) -> Reading:
        return _given(await _tried(self.reader.read(passage), self.reader), Reading)

    async def close(self, sitting: Sitting) -> SittingNotes:
        return _given(await _tried(self.reader.close(sitting), self.reader), SittingNotes)


async def _tried(reading: Awaitable[T], reader: Reader) -> T:
    try:
        return await reading
    except HithertoError:
        raise
    except Exception as error:
        raise ModelFailed(
            f"the reader {type(reader).__name__} failed: {type(error).__name__}: {error}"[:500]
        ) from error


def _given(answer: T, kind: type[T]) -> T:
    if not isinstance(answer, kind):
        raise ModelFailed(f"the reader returned {type(answer).__name__}, not {kind.__name__}")
    return answer


@dataclass(frozen=True, slots=True)
class Models:
    """The readers of an engine; a model is kept, because connecting to one takes time."""

    reader: Reader | None = None
    asker: Asker | None = None
    pace: Pace = "pause"
    meter: Meter = field(default_factory=lambda: Meter(Caps()))

    @property
    def plain(self) -> PlainReader:
        """The rules. Their lists take a sixth of the time of importing everything, and a process without a worker needs
        none."""
        from hitherto.learn.readers.rules import RuleReader

        return RuleReader()

    def check_installed(self) -> None:
        """Raises MissingExtra if the reader could not even be asked."""
        if self.asker is not None and find_spec("pydantic_ai") is None:
            raise MissingExtra(f"model={self.asker.model!r} needs an extra: pip install 'hitherto[pydantic-ai]'")

    async def close(self) -> None:
        """Ends the connections to the model."""
        if self.asker is not None:
            await self.asker.close()

    @classmethod
    def of(
        cls,
        model: object,
        *,
        reader: str | Reader | None = None,
        stems: Stems,
        seconds: float = 60.0,
        language: str | None = None,
        pace: Pace = "pause",
        caps: Caps | None = None,
    ) -> "Models":
        """With this model (or an `Asker` with limits of its own) or reader, or by rules if there is neither; a model writes
        notes in `language`, or in that of the conversation."""
        meter = Meter(caps or Caps())
        if pace not in get_args(Pace):
            raise InvalidInput(f"pace={pace!r} is not one of {', '.join(get_args(Pace))}")
        if reader is not None:
            if model is not None:
                raise InvalidInput("pass either model= or reader=, not both: a reader reads instead of a model")
            return cls(Checked(open_reader(reader)), pace=pace, meter=meter)
        if model is None:
            return cls(pace=pace, meter=meter)
        asker = model if isinstance(model, Asker) else Asker(model, Limits(seconds=seconds))
        check_model(asker.model)
        return cls(ModelReader(asker, language), asker, pace=pace, meter=meter)


def services(
    models: Models,
    *,
    indexer: Indexer,
    recipe: Recipe,
    alike: Alike,
    personas: Mapping[str, str],
    vectors: Vectors | None = None,
    receipts: Receipts | None = None,
    tenant: str = "",
    capped: str | None = None,
) -> Services:
    return Services(
        indexer=indexer,
        plain=models.plain,
        model=models.reader,
        alike=alike,
        pace=models.pace,
        meter=models.meter,
        tenant=tenant,
        capped=capped,
        numbers=numbers(recipe),
        personas=personas,
        vectors=vectors,
        receipts=receipts,
    )
