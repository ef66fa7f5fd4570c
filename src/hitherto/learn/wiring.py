"""The services of the work, put together: with a model where one is configured, by rules otherwise."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from hitherto.ingest.record import Indexer
from hitherto.learn.candidates import Stems
from hitherto.learn.llm.asking import Asker
from hitherto.learn.llm.extractor import ModelExtractor
from hitherto.learn.llm.summariser import ModelSummariser
from hitherto.learn.rules.extractor import RuleExtractor
from hitherto.learn.rules.summariser import RuleSummariser
from hitherto.learn.services import Alike, Detail, Extractor, Numbers, Receipts, Services, Summariser, Vectors


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
    """What reads and summarises for an engine; with a model it is kept, because connecting to one costs time."""

    stems: Stems
    extractor: Extractor
    summariser: Summariser
    plain_extractor: RuleExtractor
    plain_summariser: RuleSummariser
    asker: Asker | None = None

    async def close(self) -> None:
        """Ends the connections to the model."""
        if self.asker is not None:
            await self.asker.close()

    @classmethod
    def of(cls, model: object, *, stems: Stems) -> "Models":
        """By this model (or an `Asker` with limits of its own), or by rules where it is None."""
        reading, summing = RuleExtractor(), RuleSummariser(stems)
        if model is None:
            return cls(stems, reading, summing, reading, summing)
        asker = model if isinstance(model, Asker) else Asker(model)
        return cls(
            stems,
            ModelExtractor(asker=asker, stems=stems),
            ModelSummariser(asker=asker, stems=stems, rules=summing),
            reading,
            summing,
            asker,
        )


def services(
    models: Models,
    *,
    indexer: Indexer,
    recipe: Recipe,
    alike: Alike,
    personas: Mapping[str, str],
    similarity: Callable[[str, str], float] | None = None,
    vectors: Vectors | None = None,
    receipts: Receipts | None = None,
) -> Services:
    return Services(
        indexer=indexer,
        extractor=models.extractor,
        summariser=models.summariser,
        plain_extractor=models.plain_extractor,
        plain_summariser=models.plain_summariser,
        alike=alike,
        numbers=numbers(recipe),
        similarity=similarity,
        personas=personas,
        vectors=vectors,
        receipts=receipts,
    )
