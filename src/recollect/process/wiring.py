"""The services of the work, put together: with a model where one is configured, by rules otherwise."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from recollect.ingest.record import Indexer
from recollect.process.rules.extractor import RuleExtractor
from recollect.process.rules.summariser import RuleSummariser
from recollect.process.services import Alike, Detail, Numbers, Services


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


def by_rules(
    *,
    indexer: Indexer,
    recipe: Recipe,
    alike: Alike,
    personas: Mapping[str, str],
    similarity: Callable[[str, str], float] | None = None,
) -> Services:
    """Services that need no model."""

    def stems(text: str) -> Sequence[str]:
        return indexer.stems(text)

    return Services(
        indexer=indexer,
        extractor=RuleExtractor(),
        summariser=RuleSummariser(stems),
        alike=alike,
        numbers=numbers(recipe),
        similarity=similarity,
        personas=personas,
    )
