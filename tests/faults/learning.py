"""A conversation that gives every step of the work something to do, and everything that the work made of it."""

from hitherto.ingest import sessions
from hitherto.ingest.record import prepare, record
from hitherto.ingest.validation import turns
from hitherto.store.protocol import Log, Store, UserKey
from hitherto.testing import FakeClock
from hitherto.types import Turn
from tests.faults.mortal import services

TALK = [
    "I love jazz. I need to call the bank tomorrow.",
    "I'll send you the recipe tonight. Yesterday I went to the opera.",
    "My sister Maria is a painter. I live in Austin.",
    "What does Maria like to paint?",
    "Mostly boats. I love jazz.",
    "I called the bank, all done. I moved to Denver.",
    "Nice to hear that about the bank and Denver.",
    "We decided to take the train. I'm allergic to peanuts.",
    "I work at Acme. I moved to Denver. Remind me to water the plants on Friday.",
    "I'll remind you on Friday.",
]


async def say(store: Store, key: UserKey, clock: FakeClock, lines: list[str], *, first: int = 0) -> None:
    """Records lines under ids of their own, the user's and the persona's in turn."""
    for place, text in enumerate(lines, start=first):
        role = "assistant" if place % 2 else "user"
        turn = Turn(key.user, role, text, id=f"t{place}", persona="coach", at=clock())
        prepared = prepare(turns([turn], now=clock()), indexer=services().indexer, new_id=lambda: "never")
        await record(store.user(key), prepared, rule=sessions.Rule(), now=clock())
        clock.tick(minutes=1)


async def effects(store: Store, key: UserKey) -> list[tuple[object, ...]]:
    """Everything the work wrote, in every version, without the times at which it happened to."""
    log = Log(limit=100_000)
    entries = (await store.user(key).read(log))[log]
    rows = [entry.row for entry in entries if entry.row is not None]
    gone = [entry.id for entry in entries if entry.op == "retire"]
    written: list[tuple[object, ...]] = [
        (row.noun, row.id, row.version, row.text, row.status, row.sources) for row in rows
    ]
    ended: list[tuple[object, ...]] = [("retired", name) for name in gone]
    return sorted(written, key=repr) + sorted(ended, key=repr)
