"""What keeps a memory in order: vectors that are missing, receipts that grow old, hints, workers beside an application."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from hitherto import Hitherto, Turn
from hitherto.recall.embed.static import static_embedder
from hitherto.recall.vectors import Vectors
from hitherto.store.protocol import Change, Log, Untraced, UserKey
from hitherto.store.sqlite.layout import Layout
from hitherto.testing import FakeClock
from hitherto.text.analyser import ANALYSER_VERSION, asked_stems, stems
from tests.engine.talking import Talk


class Slow:
    """The static embedder, as if it were too slow to run while recording."""

    name, version, at_once, trust = "slow", "slow-1", False, 0.5

    def __init__(self) -> None:
        self._inner = static_embedder()
        self.dimension = self._inner.dimension
        self.texts = 0

    def embed(self, texts: Sequence[str], *, purpose: str = "passage") -> Vectors:
        del purpose
        self.texts += len(texts)
        return np.asarray(self._inner.embed(texts), dtype=np.float32)


async def test_a_slow_embedder_works_behind_the_answer(store_url: str, clock: FakeClock) -> None:
    slow = Slow()
    async with Hitherto(store_url, clock=clock, embedder=slow) as memory:
        await memory.record([Turn("ana", "user", f"I painted boat number {n}.") for n in range(100)])
        assert slow.texts == 0, "recording does not wait for it"
        await memory.settle(user="ana")
        hits = await memory.search(user="ana", query="a ship in watercolours")
        assert any("dense" in hit.parts for hit in hits)
        done = slow.texts
        await memory.settle(user="ana")
        assert slow.texts <= done + 1, "once is enough"


async def test_another_embedder_makes_its_vectors_step_by_step(store_url: str, clock: FakeClock) -> None:
    async with Hitherto(store_url, clock=clock) as memory:
        await memory.record([Turn("ana", "user", f"I painted boat number {n}.") for n in range(70)])
        assert (await memory.reindex())["ana"] == 0
    seen: list[tuple[int, int]] = []
    async with Hitherto(store_url, clock=clock, embedder=Slow()) as memory:
        found = await memory.reindex(user="ana", progress=lambda done, total: seen.append((done, total)))
        assert found == {"ana": 70}
        assert seen[-1][0] <= seen[-1][1]
        assert len(seen) >= 2
        assert await memory.reindex() == {"ana": 0}, "what is there is not made again"


async def test_a_quick_embedder_leaves_nothing_behind(memory: Hitherto, talk: Talk) -> None:
    await talk.exchange(["I live in Austin.", "Lovely.", "I love jazz.", "Me too."])
    await talk.settle()
    store = memory._user("ana")  # pyright: ignore[reportPrivateUsage] -- there is no call that tells
    query = Untraced(embedder=f"{static_embedder().version}:{ANALYSER_VERSION}", limit=10)
    assert (await store.read(query))[query] == ()


async def test_stems_of_another_version_are_found_meanwhile_and_written_anew(
    store_url: str, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [
        "Mi abuela me dejó sus máquinas de coser.",
        "Los vecinos ensayan con la batería.",
        "昨日、猫を動物病院に連れて行った。",
    ]

    def as_english(text: str) -> list[str]:
        return asked_stems(text)[1] or stems(text)

    async def places(memory: Hitherto) -> list[int]:
        asked = ["¿qué máquina dejó la abuela?", "un vecino que ensaya", "猫の病院"]
        best = [await memory.search(user="ana", query=query, limit=1, kinds=("turn",)) for query in asked]
        return [said.index(hits[0].text) for hits in best if hits and "lexical" in hits[0].parts]

    with monkeypatch.context() as earlier:
        earlier.setattr("hitherto.parts.stems", as_english)
        earlier.setattr("hitherto.recall.search.ANALYSER_VERSION", "1")
        async with Hitherto(store_url, clock=clock) as memory:
            await memory.record([Turn("ana", "user", text) for text in said])
    async with Hitherto(store_url, clock=clock) as memory:
        assert await places(memory) == [0, 1, 2]
        await memory.settle(user="ana")
        assert await places(memory) == [0, 1, 2]
        store = memory._user("ana")  # pyright: ignore[reportPrivateUsage] -- there is no call that tells
        query = Log(after=0, limit=3)
        assert [list(entry.stems) for entry in (await store.read(query))[query]] == [stems(text) for text in said]


@pytest.mark.req("R1.6")
async def test_receipts_keep_their_texts_for_a_month_and_for_a_thousand(
    memory: Hitherto, clock: FakeClock, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hitherto.learn.retain.NEWEST", 3)
    await talk.user_says("I live in Austin.")
    old = [(await memory.context(user="ana", persona="coach", message=f"old {n}")).snapshot for n in range(3)]
    clock.tick(days=31)
    for n in range(2):
        clock.tick(minutes=1)
        await memory.context(user="ana", persona="coach", message=f"new {n}")
    await memory.flush()
    await talk.user_says("Hello again.")
    clock.tick(days=2)
    await talk.settle()
    receipts = {snapshot.id: snapshot for snapshot in await memory.snapshots(user="ana")}
    assert sum(not receipts[name].full for name in old) == 2, "three are among the newest: two new and one old"
    thin = next(name for name in old if not receipts[name].full)
    assert "Austin" not in receipts[thin].body
    assert "old" not in receipts[thin].body
    for snapshot in receipts.values():
        if snapshot.full:
            replayed = await memory.replay(user="ana", snapshot=snapshot.id)
            assert "Memory blocks" in replayed.system
            assert not replayed.warnings or "forgotten" not in str(replayed.warnings)


async def test_recording_tells_the_workers_after_the_answer(store_url: str, clock: FakeClock) -> None:
    async with Hitherto(store_url, clock=clock) as memory:
        worker = await memory.worker()
        assert await worker.visit_due() == 0
        await memory.record([Turn("ana", "user", "I live in Austin."), Turn("bo", "user", "I live in Rome.")])
        await asyncio.sleep(0.3)
        assert await worker.visit_due() == 2
        assert [m.quotes[0].words for m in await memory.memories(user="ana")] == ["I live in Austin."]
        assert await worker.visit_due() == 0
        clock.tick(minutes=31)
        assert await worker.visit_due() == 2, "the end of the silence was noted"
        assert [s.status for s in await memory.sessions(user="ana")] == ["closed"]


async def test_the_sweep_finds_what_nobody_told_of(store_url: str, clock: FakeClock) -> None:
    async with Hitherto(store_url, clock=clock) as memory:
        await memory.record(Turn("ana", "user", "I live in Austin."))
        await asyncio.sleep(0.2)
        await memory.catalog.hint({UserKey("default", "ana"): None})
        worker = await memory.worker()
        assert await worker.visit_due() == 0
        assert await worker.sweep() > 0
        assert [m.quotes[0].words for m in await memory.memories(user="ana")] == ["I live in Austin."]


async def test_a_user_who_cannot_be_read_keeps_nobody_waiting(tmp_path: Path, clock: FakeClock) -> None:
    async with Hitherto(tmp_path / "m", clock=clock) as memory:
        await memory.record([Turn("ana", "user", "I live in Austin."), Turn("bo", "user", "I live in Rome.")])
    Layout(tmp_path / "m").user(UserKey("default", "ana").digest).write_bytes(b"no database " * 1_000)
    async with Hitherto(tmp_path / "m", clock=clock) as memory:
        worker = await memory.worker()
        assert await worker.visit_due() == 1
        assert [m.quotes[0].words for m in await memory.memories(user="bo")] == ["I live in Rome."]
        await memory.catalog.hint({UserKey("default", "ana"): clock(), UserKey("default", "bo"): clock()})
        assert await worker.visit_due() == 1, "also when the name is known, and only the file is not"
        assert await memory.catalog.due(now=clock(), limit=9) == ()
        clock.tick(seconds=11)
        assert await memory.catalog.due(now=clock(), limit=9) == (UserKey("default", "ana"),), "tried again later"
        await memory.record(Turn("bo", "user", "I love tea."))
        await (await memory.worker()).sweep()
        assert "I love tea." in [m.quotes[0].words for m in await memory.memories(user="bo")], "nor in the slow round"


async def test_work_goes_on_beside_an_application(tmp_path: Path) -> None:
    async with Hitherto(tmp_path / "m", work=True) as memory:
        await memory.record(Turn("ana", "user", "I live in Austin."))
        async with asyncio.timeout(20):
            while not await memory.memories(user="ana"):  # noqa: ASYNC110 -- another process might do the work
                await asyncio.sleep(0.05)
    async with Hitherto(tmp_path / "m") as memory, memory.working(idle=0.05):
        await memory.record(Turn("ana", "user", "I love jazz."))
        async with asyncio.timeout(20):
            while len(await memory.memories(user="ana")) < 2:  # noqa: ASYNC110 -- another process might do the work
                await asyncio.sleep(0.05)


@pytest.mark.req("R3.7")
async def test_a_failing_step_is_parked_shown_and_retried(
    store_url: str, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hitherto.errors import StoreUnavailable
    from hitherto.learn.readers.rules import RuleReader

    async with Hitherto(store_url, clock=clock) as memory:
        talk = Talk(memory, clock)
        await talk.exchange(["I live in Austin.", "Oh nice.", "I love jazz.", "So do I."])
        with monkeypatch.context() as broken:

            def fail(*_: object) -> None:
                raise StoreUnavailable("the summariser is out of ink")

            broken.setattr(RuleReader, "_rolling", fail)
            for _ in range(10):
                await memory.settle(user="ana")
                clock.tick(minutes=1)
            state = await memory.progress(user="ana", persona="coach")
            assert state.last_rolling_error is not None
            assert (state.last_rolling_error.reason, state.last_rolling_error.detail) == (
                "StoreUnavailable", "the summariser is out of ink",
            )  # fmt: skip
            assert state.last_rolling_attempt is not None
            assert state.last_rolling_success is None
            for _ in range(10):
                clock.tick(hours=1)
                await memory.settle(user="ana")
            assert "rolling:coach" in [cursor.step for cursor in (await memory.work_status(user="ana")).parked]
            assert len(await memory.memories(user="ana")) == 2, "other steps went on"
        assert await memory.retry(user="ana") >= 1
        await memory.settle(user="ana")
        state = await memory.progress(user="ana", persona="coach")
        assert state.last_rolling_error is None
        assert "jazz" in state.rolling_summary


async def test_an_audit_sees_what_is_wrong(memory: Hitherto, clock: FakeClock, talk: Talk) -> None:
    await talk.user_says("I live in Austin.", "I moved to Denver.")
    await talk.settle()
    for text in ("Plays the cello on Sundays", "Plays the cello on Sundays", "Plays the cello on Sundays now"):
        await memory.remember(user="ana", text=text)
    await memory.remember(user="ana", text="Owns a kite", source="shadow_extraction", sources=("gone",))
    found = await memory.audit(user="ana")
    assert (found.duplicate.count, found.near_duplicate.count) == (2, 0)
    assert (found.stale.count, found.quarantined.count, found.secret.count) == (1, 0, 0)
    [unsupported] = found.unsupported.examples
    assert (await memory.history(user="ana", id=unsupported))[0].text == "Owns a kite"
    assert found.unsupported.rate == 1 / found.memories


async def test_a_catalog_hint_is_only_a_hint(memory: Hitherto, talk: Talk) -> None:
    await talk.user_says("I live in Austin.")
    await talk.settle()
    store = memory._user("ana")  # pyright: ignore[reportPrivateUsage] -- the log itself is what must be untouched
    before = await memory.head(user="ana")
    await memory.catalog.hint({UserKey("default", "ana"): None})
    await store.write(lambda _: Change())
    assert await memory.head(user="ana") == before
