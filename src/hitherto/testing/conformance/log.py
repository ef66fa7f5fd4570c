"""The log: every write in order, and restoring it elsewhere; and what stands beside it: cursors, the lease, snapshots, blobs,
notes, counts.
"""

from hitherto.ids import erased_name
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import (
    Blobs,
    Change,
    Counts,
    CurrentLease,
    Cursor,
    Cursors,
    Erasure,
    Head,
    Lease,
    Log,
    LogEntry,
    Matches,
    Note,
    Notes,
    RecordList,
    RecordsByEntity,
    RecordsById,
    RecordsBySource,
    SnapshotList,
    SnapshotsById,
    Store,
    StoredSnapshot,
    TurnsById,
    UserStore,
    Window,
)
from hitherto.testing.drafts import ids, moment, put, row_draft, turn_draft

ANA = UserKey("default", "ana")
COPY = UserKey("default", "copy")
EVERYTHING = Log(limit=1_000)


async def _log(user: UserStore) -> tuple[LogEntry, ...]:
    return (await user.read(EVERYTHING))[EVERYTHING]


async def _fill(user: UserStore) -> None:
    await put(user, Change(turns=(turn_draft("t1", "one fox"), turn_draft("t2", "two foxes", at=moment(2)))))
    await put(user, Change(records=(row_draft("m1", "likes fox", sources=("t1",), entities=("person:ana",)),)))
    await put(user, Change(turns=(turn_draft("t1", "one hound", version=2, place=1, at=moment(3)),)))
    await put(user, Change(records=(row_draft("m1", "likes hound", version=2, recorded_at=moment(4)),)))
    await put(user, Change(retire=("t2",), retired_at=moment(5)))


class LogConformance:
    async def test_the_log_tells_everything_in_order(self, store: Store) -> None:
        user = store.user(ANA)
        await _fill(user)
        entries = await _log(user)
        assert [(entry.seq, entry.op, entry.id, entry.at) for entry in entries] == [
            (1, "turn", "t1", moment()),
            (2, "turn", "t2", moment(2)),
            (3, "record", "m1", moment()),
            (4, "turn", "t1", moment(3)),
            (5, "record", "m1", moment(4)),
            (6, "retire", "t2", moment(5)),
        ]
        assert [entry.turn.retired if entry.turn else None for entry in entries] == [
            4,
            6,
            None,
            None,
            None,
            None,
        ]
        assert [entry.row.retired if entry.row else None for entry in entries] == [
            None,
            None,
            5,
            None,
            None,
            None,
        ]
        assert [entry.stems for entry in entries][:3] == [("one", "fox"), ("two", "foxes"), ("likes", "fox")]

    async def test_the_log_continues(self, store: Store) -> None:
        user = store.user(ANA)
        await _fill(user)
        answers = await user.read(part := Log(after=2, limit=3))
        assert [entry.seq for entry in answers[part]] == [3, 4, 5]

    async def test_a_restored_log_is_the_same_memory(self, store: Store) -> None:
        user, copy = store.user(ANA), store.user(COPY)
        await _fill(user)
        entries = await _log(user)
        await copy.restore(entries)
        assert await _log(copy) == entries
        queries = (
            Head(),
            Window(limit=9),
            Window(limit=9, known=3),
            RecordList(noun="memory", limit=9),
            RecordsByEntity(noun="memory", refs=("person:ana",), limit=9, known=4),
            RecordsBySource(turns=("t1",), history=True),
            Matches(stems=("hound", "fox"), target="turn"),
            Matches(stems=("hound", "fox"), target="record"),
        )
        original, restored = await user.read(*queries), await copy.read(*queries)
        assert [restored[query] for query in queries] == [original[query] for query in queries]
        assert (await put(copy, Change(turns=(turn_draft("t3"),)))).turns == (7,)

    async def test_restoring_again_changes_nothing(self, store: Store) -> None:
        user, copy = store.user(ANA), store.user(COPY)
        await _fill(user)
        entries = await _log(user)
        await copy.restore(entries)
        await copy.restore(entries)
        await copy.restore(entries[2:4])
        assert await _log(copy) == entries

    async def test_restoring_as_the_log_grows_follows_it(self, store: Store) -> None:
        user, copy = store.user(ANA), store.user(COPY)
        await put(user, Change(turns=(turn_draft("t1", "fox"),), records=(row_draft("m1", "fox"),)))
        await copy.restore(await _log(user))
        again = turn_draft("t1", "hound", version=2, place=1)
        await put(user, Change(turns=(again,), retire=("m1",), retired_at=moment(6)))
        answers = await user.read(rest := Log(after=2, limit=9))
        await copy.restore(answers[rest])
        assert await _log(copy) == await _log(user)
        answers = await copy.read(window := Window(limit=9), memory := RecordsById(ids=("m1",)))
        assert [turn.text for turn in answers[window]] == ["hound"]
        assert answers[memory] == ()

    async def test_a_restored_erasure_erases(self, store: Store) -> None:
        user, copy = store.user(ANA), store.user(COPY)
        await put(user, Change(turns=(turn_draft("t1", "fox"), turn_draft("t2", "hound"))))
        await copy.restore(await _log(user))
        await put(user, Change(erase=Erasure(turns=("t1",)), retired_at=moment(1)))
        entries = await _log(user)
        await copy.restore(entries)
        assert [(entry.seq, entry.op, entry.id) for entry in entries] == [
            (2, "turn", "t2"),
            (3, "erase", erased_name("t1")),
        ]
        assert await _log(copy) == entries
        answers = await copy.read(turns := TurnsById(ids=("t1", "t2"), history=True))
        assert ids(answers[turns]) == ["t2"]


class BookkeepingConformance:
    async def test_cursors_are_kept_by_step(self, store: Store) -> None:
        user = store.user(ANA)
        extract = Cursor(
            step="extract",
            position=7,
            due=moment(3),
            attempts=2,
            error="timeout: 日本",
            parked=True,
            body={"fields": [1, None, {"a": 0.5}], "text": "ü"},
        )
        await put(user, Change(cursors=(Cursor(step="rolling"), extract)))
        await put(user, Change(cursors=(Cursor(step="rolling", position=4),)))
        answers = await user.read(Cursors())
        assert answers[Cursors()] == (extract, Cursor(step="rolling", position=4))

    async def test_the_newest_lease_counts(self, store: Store) -> None:
        user = store.user(ANA)
        for fence in (1, 2):
            await put(user, Change(lease=Lease(holder=f"w{fence}", fence=fence, expires=moment(fence))))
        answers = await user.read(CurrentLease())
        assert answers[CurrentLease()] == Lease(holder="w2", fence=2, expires=moment(2))

    async def test_snapshots_are_found_and_listed(self, store: Store) -> None:
        user = store.user(ANA)
        minutes = {"a": 1, "c": 2, "b": 2, "d": 3}
        snapshots = {
            name: StoredSnapshot(id=name, at=moment(minute), known=minute, body=f'{{"n": "{name}"}}')
            for name, minute in minutes.items()
        }
        await put(user, Change(snapshots=tuple(snapshots.values())))
        short = StoredSnapshot(id="a", at=moment(1), known=1, body="{}", full=False)
        await put(user, Change(snapshots=(short,)))
        queries = (SnapshotList(limit=9), SnapshotList(limit=2), SnapshotList(limit=9, before=moment(2)))
        by_id = SnapshotsById(ids=("b", "nobody", "a"))
        answers = await user.read(by_id, *queries)
        assert [ids(answers[query]) for query in queries] == [["d", "b", "c", "a"], ["d", "b"], ["a"]]
        assert {found.id: found for found in answers[by_id]} == {"a": short, "b": snapshots["b"]}

    async def test_blobs_are_kept_by_hash(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(blobs={"h1": "persona 🦊", "h2": ""}))
        await put(user, Change(blobs={"h1": "persona 🦊", "h3": "x" * 100_000}))
        answers = await user.read(blobs := Blobs(hashes=("h1", "h2", "h3", "h4")))
        assert dict(answers[blobs]) == {"h1": "persona 🦊", "h2": "", "h3": "x" * 100_000}

    async def test_notes_are_kept_by_name(self, store: Store) -> None:
        user = store.user(ANA)
        notes = (
            Note(name="voice:nikita", body="hello", expires=moment(9)),
            Note(name="voice:max", body="hi"),
            Note(name="voice_x", body="no"),
            Note(name="key:%_1", body="once"),
        )
        await put(user, Change(notes=notes))
        await put(user, Change(notes=(Note(name="voice:max", body="hi again"),)))
        expected = {
            Notes(names=("key:%_1", "nobody")): ["once"],
            Notes(prefix="voice:"): ["hi again", "hello"],
            Notes(prefix="voice:n"): ["hello"],
            Notes(names=("key:%_1",), prefix="voice_"): ["once", "no"],
            Notes(prefix="%"): [],
            Notes(): [],
        }
        answers = await user.read(*expected)
        assert {query: [note.body for note in answers[query]] for query in expected} == expected
        assert answers[Notes(prefix="voice:n")] == (notes[0],)

    async def test_counts_are_of_what_is_visible(self, store: Store) -> None:
        user = store.user(ANA)
        await put(
            user,
            Change(
                turns=tuple(turn_draft(f"t{n}") for n in range(3)),
                records=(row_draft("m1"), row_draft("m2"), row_draft("l1", noun="loop")),
                snapshots=(StoredSnapshot(id="s", at=moment(), known=1, body="{}"),),
            ),
        )
        await put(user, Change(records=(row_draft("m1", version=2),), retire=("t1", "l1"), retired_at=moment(1)))
        count = (await user.read(Counts()))[Counts()]
        assert (count.turns, dict(count.records), count.snapshots) == (2, {"memory": 2}, 1)
        assert count.bytes > 0
