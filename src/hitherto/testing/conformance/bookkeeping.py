"""What stands beside the log: cursors, the lease, snapshots, blobs, notes, counts."""

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import (
    Blobs,
    Change,
    Counts,
    CurrentLease,
    Cursor,
    Cursors,
    Lease,
    Note,
    Notes,
    SnapshotList,
    SnapshotsById,
    Store,
    StoredSnapshot,
)
from hitherto.testing.conformance.expect import ids
from hitherto.testing.drafts import moment, put, row_draft, turn_draft

ANA = UserKey("default", "ana")


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
