"""Words that nobody else uses, planted in one user's memory and looked for everywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock

PERSONA = "nikita"


def canary(number: int) -> str:
    """A name that is in no dictionary, and whose stem is itself."""
    letters = "bcdfghklmnprtvz"
    return "zq" + "".join(letters[number // 15**place % 15] + "a" for place in range(3)) + "quokk"


async def live(memory: Hitherto, clock: FakeClock, user: str, word: str) -> None:
    """A short life with the word in every kind of place: turns, memories, loops, thoughts, summaries, snapshots, state."""
    said = [
        ("user", "Hello, I live in Austin and I love hiking in the rain."),
        ("user", f"My sister is called {word.title()}. I'll call {word.title()} tomorrow."),
        ("assistant", f"I'll ask you about {word.title()} tomorrow, I promise."),
        ("user", "I work at Acme as a nurse."),
        ("assistant", "That is a good place to work."),
        ("user", f"{word.title()} moved to Lisbon last week. I promise to visit {word.title()} in June."),
    ]
    for number, (role, text) in enumerate(said):
        await memory.record(
            Turn(
                user=user,
                role="user" if role == "user" else "assistant",
                text=text,
                id=f"{user}-{number}",
                persona=PERSONA,
            )
        )
        clock.tick(seconds=20)
    asked = await memory.context(user=user, persona=PERSONA, message=f"what about {word.title()}?")
    await memory.record(
        Turn(
            user=user,
            role="user",
            text=f"what about {word.title()}?",
            id=f"{user}-asked",
            persona=PERSONA,
        )
    )
    await memory.record(
        Turn(
            user=user,
            role="assistant",
            text=f"{word.title()} is well.",
            id=f"{user}-told",
            persona=PERSONA,
            snapshot=asked.snapshot,
        )
    )
    clock.tick(minutes=45)
    await memory.settle(user=user)
    await memory.context(user=user, persona=PERSONA, message="so?")
    await memory.flush()


async def shown(memory: Hitherto, user: str, *, query: str) -> str:
    """All that any read path shows of a user, for this question; asked for at once, as clients do."""

    async def exported() -> list[str]:
        return [line async for line in memory.export(user=user)]

    async def replayed() -> list[object]:
        return [await memory.replay(user=user, snapshot=s.id) for s in await memory.snapshots(user=user)]

    parts: list[object] = await asyncio.gather(
        memory.turns(user=user),
        memory.memories(user=user, status=None),
        memory.loops(user=user, status=None),
        memory.summaries(user=user),
        memory.thoughts(user=user),
        memory.episodes(user=user),
        memory.entities(user=user),
        memory.sessions(user=user),
        memory.search(user=user, query=query, explain=True),
        memory.state(user=user, persona=PERSONA),
        memory.user(user),
        memory.work_status(user=user),
        memory.snapshots(user=user),
        memory.audit(user=user),
        memory.events(user=user),
        exported(),
        replayed(),
    )
    return repr(parts)


def files_with(words: Iterable[str], *folders: Path) -> list[str]:
    """Where a word stands, in whatever case."""
    wanted = [word.casefold().encode() for word in words]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if _holds(path.read_bytes().lower(), wanted)]


def _holds(content: bytes, words: Iterable[bytes]) -> bool:
    return any(word in content for word in words)
