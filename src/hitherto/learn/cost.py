"""What learning costs: questions, tokens and notes of each day and step, kept beside a user's log, and the caps on them.

Days are UTC's, because bills are. The counts of a reading are written in its own transaction.
"""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, cast

from hitherto.learn.notes import Cost
from hitherto.store.protocol import Note, Notes, UserStore

PREFIX: Final = "cost:"
KEPT: Final = timedelta(days=400)
NOTHING: Final = Cost()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """One step's costs of one day. `kept` counts notes by what they did, `dropped` by why they were left out."""

    day: date
    step: str
    calls: int = 0
    asked: int = 0
    answered: int = 0
    kept: Mapping[str, int] = field(default_factory=dict[str, int])
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])


def today(now: datetime) -> date:
    return now.astimezone(UTC).date()


def total(costs: Iterable[Cost | None]) -> Cost:
    found = [cost for cost in costs if cost is not None]
    return Cost(
        calls=sum(cost.calls for cost in found),
        asked=sum(cost.asked for cost in found),
        answered=sum(cost.answered for cost in found),
    )


def asked_for(now: datetime) -> Notes:
    return Notes(names=(PREFIX + today(now).isoformat(),))


def added(
    before: tuple[Note, ...],
    *,
    step: str,
    now: datetime,
    cost: Cost | None,
    kept: Mapping[str, int],
    dropped: Mapping[str, int],
) -> tuple[Note, ...]:
    """The day's note with these costs added; none if there is nothing to add."""
    spent = cost or NOTHING
    if not (spent.calls or kept or dropped):
        return ()
    body: dict[str, Any] = json.loads(before[0].body) if before else {}
    old = cast(dict[str, Any], body.get(step, {}))
    body[step] = {
        "calls": int(old.get("calls", 0)) + spent.calls,
        "asked": int(old.get("asked", 0)) + spent.asked,
        "answered": int(old.get("answered", 0)) + spent.answered,
        "kept": dict(Counter(cast(dict[str, int], old.get("kept", {}))) + Counter(kept)),
        "dropped": dict(Counter(cast(dict[str, int], old.get("dropped", {}))) + Counter(dropped)),
    }
    day = today(now)
    expires = datetime(day.year, day.month, day.day, tzinfo=UTC) + KEPT
    return (Note(name=PREFIX + day.isoformat(), body=json.dumps(body, sort_keys=True), expires=expires),)


async def spent(store: UserStore, *, since: date | None = None) -> list[Spent]:
    """What a user's learning has cost, by day and step, newest day first."""
    query = Notes(prefix=PREFIX)
    found = (await store.read(query))[query]
    days = [(date.fromisoformat(note.name.removeprefix(PREFIX)), note.body) for note in found]
    return [
        Spent(day=day, step=step, **counts)
        for day, body in sorted(days, reverse=True)
        if since is None or day >= since
        for step, counts in sorted(json.loads(body).items())
    ]


async def tokens_today(store: UserStore, *, now: datetime) -> int:
    query = asked_for(now)
    found = (await store.read(query))[query]
    counts = json.loads(found[0].body).values() if found else ()
    return sum(int(step["asked"]) + int(step["answered"]) for step in counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Tokens a day that may go to and come from a model, for one user and for a whole tenant; None sets no cap."""

    user: int | None = None
    tenant: int | None = None


class Meter:
    """Whether a model may still be asked today. A tenant's total is counted in this process and occasionally recomputed
    from its users' own counts, so that several processes stay near the cap together."""

    AGAIN: Final = timedelta(minutes=10)

    def __init__(self, caps: Caps) -> None:
        self.caps = caps
        self.totals: Counter[str] = Counter()
        """What this process has spent since it started: calls, tokens asked and answered, notes kept and dropped."""
        self._tenants: dict[str, tuple[date, datetime, int]] = {}
        self._run, self._counts = "", Counter[str]()

    def asked(self, tenant: str, cost: Cost | None) -> None:
        """Counts a question that was answered."""
        spent = cost or NOTHING
        self.totals.update({"calls": spent.calls, "asked": spent.asked, "answered": spent.answered})
        if tenant in self._tenants:
            day, at, total = self._tenants[tenant]
            self._tenants[tenant] = (day, at, total + spent.asked + spent.answered)

    def noted(self, run: str, *, kept: Mapping[str, int], dropped: Mapping[str, int]) -> None:
        """Counts the outcome of a run's notes; repeated calls for the same run count once."""
        counts = Counter({f"kept {name}": n for name, n in kept.items()})
        counts.update({f"dropped {name}": n for name, n in dropped.items()})
        self.totals.update(counts)
        if run == self._run:
            self.totals.subtract(self._counts)
        self._run, self._counts = run, counts

    async def over(
        self, tenant: str, store: UserStore, *, now: datetime, everyone: Callable[[], Awaitable[list[UserStore]]]
    ) -> str | None:
        """Which cap is reached ("user", "tenant"), or None."""
        if self.caps.user is not None and await tokens_today(store, now=now) >= self.caps.user:
            return "user"
        if self.caps.tenant is None:
            return None
        day, at, total = self._tenants.get(tenant, (date.min, now, 0))
        if day != today(now) or now - at > self.AGAIN:
            total = sum([await tokens_today(each, now=now) for each in await everyone()])
            self._tenants[tenant] = (today(now), now, total)
        return "tenant" if total >= self.caps.tenant else None
