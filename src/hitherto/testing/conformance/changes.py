"""Writing: one counter, one lock, all or nothing, and only one's own."""

import asyncio

from hitherto.errors import Conflict, Fenced
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import (
    NOTHING,
    Answers,
    Change,
    Counts,
    CurrentLease,
    Cursor,
    Cursors,
    Decide,
    Head,
    Lease,
    Log,
    Matches,
    Note,
    Notes,
    RecordList,
    SnapshotList,
    Store,
    Traces,
    TurnList,
    TurnsById,
    Vector,
    Window,
)
from hitherto.testing.drafts import always, failing, ids, moment, put, row_draft, turn_draft

ANA = UserKey("default", "ana")
EMPTY_QUERIES = (
    Window(limit=9),
    TurnList(limit=9),
    RecordList(noun="memory", limit=9),
    Matches(stems=("fox",), target="turn"),
    Traces(embedder="static", after=0, limit=9),
    Log(limit=9),
    Cursors(),
    SnapshotList(limit=9),
    Notes(prefix=""),
)


class WritingConformance:
    async def test_an_unknown_user_is_empty(self, store: Store) -> None:
        user = store.user(UserKey("default", "nobody"))
        answers = await user.read(Head(), CurrentLease(), Counts(), *EMPTY_QUERIES)
        assert answers[Head()] == 0
        assert answers[CurrentLease()] is None
        assert (answers[Counts()].turns, dict(answers[Counts()].records), answers[Counts()].snapshots) == (
            0,
            {},
            0,
        )
        assert [answers[query] for query in EMPTY_QUERIES] == [()] * len(EMPTY_QUERIES)
        assert UserKey("default", "nobody") not in await store.catalog.users()

    async def test_entries_are_counted_in_the_order_of_the_change(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1"),), records=(row_draft("m1"),)))
        written = await put(
            user,
            Change(
                turns=(turn_draft("t2"), turn_draft("t3")),
                records=(row_draft("m2"), row_draft("m3")),
                retire=("t1", "m1"),
                retired_at=moment(1),
            ),
        )
        assert (written.turns, written.records, written.head) == ((3, 4), (5, 6), 8)
        answers = await user.read(Head(), log := Log(after=6, limit=9))
        assert answers[Head()] == 8
        assert [(entry.seq, entry.op, entry.id) for entry in answers[log]] == [
            (7, "retire", "t1"),
            (8, "retire", "m1"),
        ]

    async def test_retiring_what_is_not_there_is_no_entry(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1"),)))
        written = await put(user, Change(retire=("t1", "nobody", "t1"), retired_at=moment(1)))
        assert written.head == 2

    async def test_a_change_may_write_two_versions_at_once(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(records=(row_draft("m1", "tea"), row_draft("m1", "coffee", version=2))))
        answers = await user.read(live := RecordList(noun="memory", limit=9))
        assert [(row.text, row.version) for row in answers[live]] == [("coffee", 2)]

    async def test_deciding_on_nothing_writes_nothing(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1"),)))
        written = await user.write(always(NOTHING))
        assert (written.turns, written.records, written.head) == ((), (), 1)

    async def test_a_decision_sees_what_is_stored(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1", "fox"),)))
        window = Window(limit=9)
        seen: list[tuple[int, list[str]]] = []

        def decide(answers: Answers) -> Change:
            seen.append((answers[Head()], [turn.text for turn in answers[window]]))
            return Change(turns=(turn_draft("t2"),))

        await user.write(decide, Head(), window)
        assert set(map(repr, seen)) == {repr((1, ["fox"]))}

    async def test_a_decision_that_fails_writes_nothing(self, store: Store) -> None:
        user = store.user(ANA)

        def refuse(_: Answers) -> Change:
            raise Conflict("no")

        with failing(Conflict):
            await user.write(refuse)
        await put(user, Change(turns=(turn_draft("t1"),)))
        with failing(Conflict):
            await user.write(refuse)
        assert (await user.read(Head()))[Head()] == 1

    async def test_a_change_is_whole_or_not_at_all(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1"),)))
        doubled = Change(
            turns=(turn_draft("t2"), turn_draft("t1", "same version again")),
            notes=(Note(name="n", body="1"),),
            cursors=(Cursor(step="extract", position=5),),
        )
        with failing(Conflict):
            await put(user, doubled)
        notes = Notes(names=("n",))
        answers = await user.read(Head(), Cursors(), notes, turns := TurnList(limit=9))
        assert (answers[Head()], answers[Cursors()], answers[notes]) == (1, (), ())
        assert [turn.text for turn in answers[turns]] == ["hello there"]

    async def test_concurrent_writers_number_without_gaps(self, store: Store) -> None:
        user = store.user(ANA)
        names = [f"t{n}" for n in range(40)]

        def unless_there(name: str) -> Decide:
            def decide(answers: Answers) -> Change:
                if answers[once := TurnsById(ids=(name,))]:
                    raise Conflict(f"{once} is there")
                return Change(turns=(turn_draft(name),))

            return decide

        results = await asyncio.gather(
            *(store.user(ANA).write(unless_there(name), TurnsById(ids=(name,))) for name in names * 2),
            return_exceptions=True,
        )
        assert sum(isinstance(result, Conflict) for result in results) == len(names)
        answers = await user.read(Head(), turns := TurnList(limit=99))
        assert answers[Head()] == len(names)
        assert [turn.seq for turn in answers[turns]] == list(range(1, len(names) + 1))
        assert sorted(ids(answers[turns])) == sorted(names)

    async def test_a_lost_fence_discards_the_step(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(lease=Lease(holder="a", fence=1, expires=moment(1))))
        await put(user, Change(lease=Lease(holder="b", fence=2, expires=moment(2))))

        def step(answers: Answers) -> Change:
            lease = answers[CurrentLease()]
            if lease is None or lease.fence != 1:
                raise Fenced
            return Change(turns=(turn_draft("t1"),))

        with failing(Fenced):
            await user.write(step, CurrentLease())
        answers = await user.read(CurrentLease(), Head())
        assert answers[CurrentLease()] == Lease(holder="b", fence=2, expires=moment(2))
        assert answers[Head()] == 0

    async def test_users_do_not_see_each_other(self, store: Store) -> None:
        ana, bob, other = ANA, UserKey("default", "bob"), UserKey("other", "ana")
        vector = Vector(embedder="static", data=b"\x01")
        for key in (ana, bob, other):
            text = f"fox of {key.tenant} {key.user}"
            drafts = Change(turns=(turn_draft("t1", text, vector=vector),), records=(row_draft("m1", text),))
            await put(store.user(key), drafts)
        for key in (ana, bob, other):
            texts = (
                Window(limit=9),
                TurnsById(ids=("t1",)),
                RecordList(noun="memory", limit=9),
            )
            found = Matches(stems=("fox",), target="turn")
            traces = Traces(embedder="static", after=0, limit=9)
            answers = await store.user(key).read(found, traces, *texts)
            for query in texts:
                assert [one.text for one in answers[query]] == [f"fox of {key.tenant} {key.user}"]
            assert (len(answers[found]), len(answers[traces])) == (1, 1)

    async def test_any_name_of_a_user_will_do(self, store: Store) -> None:
        names = ["a/b", "../../etc/passwd", ".", "", "x" * 500, "日本 🦊", "a b;'--", "con", "A/B", "a\\b"]
        for name in names:
            await put(store.user(UserKey("default", name)), Change(turns=(turn_draft("t1", name),)))
        for name in names:
            answers = await store.user(UserKey("default", name)).read(turns := TurnList(limit=9))
            assert [turn.text for turn in answers[turns]] == [name]
        assert {key.user for key in await store.catalog.users()} >= set(names)

    async def test_two_batches_of_queries_may_repeat_a_query(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1"),)))
        answers = await user.read(Head(), Head(), Window(limit=1), Window(limit=1))
        assert answers[Head()] == 1
        assert ids(answers[Window(limit=1)]) == ["t1"]
