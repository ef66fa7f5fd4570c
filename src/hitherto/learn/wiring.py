"""The services of the work, put together: with a model where one is configured, by rules otherwise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hitherto.ingest.record import Indexer
from hitherto.learn.cost import Caps, Meter
from hitherto.learn.notes import Detail, PlainReader, Reader
from hitherto.learn.people import Alike
from hitherto.learn.readers.asking import Asker, Limits
from hitherto.learn.readers.model import ModelReader
from hitherto.learn.readers.rules import RuleReader
from hitherto.learn.services import Numbers, Pace, Receipts, Services, Vectors

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
    """What of a recipe the work goes by."""

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


@dataclass(frozen=True, slots=True)
class Models:
    """What reads for an engine; a model is kept, because connecting to one costs time."""

    plain: PlainReader
    reader: Reader | None = None
    asker: Asker | None = None
    pace: Pace = "pause"
    meter: Meter = field(default_factory=lambda: Meter(Caps()))

    async def close(self) -> None:
        """Ends the connections to the model."""
        if self.asker is not None:
            await self.asker.close()

    @classmethod
    def of(
        cls,
        model: object,
        *,
        stems: Stems,
        seconds: float = 60.0,
        pace: Pace = "pause",
        caps: Caps | None = None,
    ) -> "Models":
        """By this model (or an `Asker` with limits of its own), or by rules where it is None."""
        plain, meter = RuleReader(), Meter(caps or Caps())
        if model is None:
            return cls(plain, pace=pace, meter=meter)
        asker = model if isinstance(model, Asker) else Asker(model, Limits(seconds=seconds))
        return cls(plain, ModelReader(asker), asker, pace=pace, meter=meter)


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
