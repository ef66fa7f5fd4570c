"""Erasing: gone from every answer, and never returning."""

from hitherto.ids import erased_name
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import (
    Blobs,
    Change,
    Counts,
    Erasure,
    Head,
    Log,
    Matches,
    Note,
    Notes,
    RecordsByEntity,
    RecordsById,
    RecordsByKey,
    RecordsBySeq,
    RecordsBySource,
    SnapshotsById,
    Store,
    StoredSnapshot,
    Traces,
    TurnsById,
    TurnsBySeq,
    Untraced,
    Vector,
    Window,
)
from hitherto.testing.drafts import ids, moment, put, row_draft, turn_draft

ANA = UserKey("default", "ana")


class ErasingConformance:
    async def test_what_is_erased_is_in_no_answer(self, store: Store) -> None:
        user = store.user(ANA)
        vector = Vector(embedder="static", data=b"\x01\x02")
        await put(
            user,
            Change(
                turns=(
                    turn_draft("t1", "secret fox", vector=vector),
                    turn_draft("t2", "plain fox", vector=vector),
                ),
                records=(
                    row_draft("m1", "secret", key="k", entities=("person:x",), sources=("t1",), vector=vector),
                    row_draft("m2", "plain", key="k", entities=("person:x",), sources=("t1",), vector=vector),
                ),
                snapshots=(StoredSnapshot(id="s1", at=moment(), known=1, body="{}"),),
                blobs={"h1": "secret", "h2": "plain"},
                notes=(Note(name="n1", body="secret"), Note(name="n2", body="plain")),
            ),
        )
        await put(
            user,
            Change(
                turns=(turn_draft("t1", "secret hound", version=2, place=1),),
                records=(row_draft("m1", "secret", version=2, key="k"),),
            ),
        )
        written = await put(
            user,
            Change(
                erase=Erasure(turns=("t1", "nobody"), records=("m1",), snapshots=("s1",), blobs=("h1",), notes=("n1",)),
                retired_at=moment(8),
            ),
        )
        assert written.head == 8
        expected = {
            Window(limit=9): ["t2"],
            Window(limit=9, known=4): ["t2"],
            TurnsById(ids=("t1", "t2"), history=True): ["t2"],
            TurnsBySeq(seqs=(1, 2, 5), known=2): ["t2"],
            RecordsById(ids=("m1", "m2"), history=True): ["m2"],
            RecordsBySeq(seqs=(3, 4, 6), known=4): ["m2"],
            RecordsByKey(noun="memory", keys=("k",), known=4): ["m2"],
            RecordsByEntity(noun="memory", refs=("person:x",), limit=9, known=4): ["m2"],
            RecordsBySource(turns=("t1",), history=True): ["m2"],
            SnapshotsById(ids=("s1",)): [],
        }
        answers = await user.read(*expected)
        assert {query: ids(answers[query]) for query in expected} == expected
        blobs, notes = Blobs(hashes=("h1", "h2")), Notes(prefix="n")
        words = Matches(stems=("secret", "fox", "plain"), target="turn")
        facts = Matches(stems=("secret", "plain"), target="record")
        traces, untraced = Traces(embedder="static", after=0, limit=9), Untraced(embedder="static", limit=9)
        answers = await user.read(blobs, notes, words, facts, traces, untraced, Counts(), log := Log(limit=99))
        assert dict(answers[blobs]) == {"h2": "plain"}
        assert [note.name for note in answers[notes]] == ["n2"]
        assert [match.seq for match in answers[words]] == [2]
        assert [match.seq for match in answers[facts]] == [4]
        assert [trace.seq for trace in answers[traces]] == [2, 4]
        assert answers[untraced] == ()
        assert (answers[Counts()].turns, dict(answers[Counts()].records)) == (1, {"memory": 1})
        assert [(entry.seq, entry.op, entry.id, entry.at) for entry in answers[log]] == [
            (2, "turn", "t2", moment()),
            (4, "record", "m2", moment()),
            (7, "erase", erased_name("t1"), moment(8)),
            (8, "erase", erased_name("m1"), moment(8)),
        ]

    async def test_a_retirement_of_what_was_erased_is_gone_too(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1"),)))
        await put(user, Change(retire=("t1",), retired_at=moment(1)))
        await put(user, Change(erase=Erasure(turns=("t1",)), retired_at=moment(2)))
        answers = await user.read(log := Log(limit=9), Head())
        assert [(entry.seq, entry.op) for entry in answers[log]] == [(3, "erase")]
        assert answers[Head()] == 3

    async def test_statistics_forget_what_was_erased(self, store: Store) -> None:
        user, fresh = store.user(ANA), store.user(UserKey("default", "fresh"))
        kept = tuple(turn_draft(f"k{n}", f"fox number {n}") for n in range(4))
        gone = tuple(turn_draft(f"g{n}", "fox " * 9) for n in range(3))
        await put(user, Change(turns=(*kept, *gone)))
        await put(user, Change(erase=Erasure(turns=tuple(draft.id for draft in gone)), retired_at=moment(1)))
        await put(fresh, Change(turns=kept))
        query = Matches(stems=("fox", "2"), target="turn")
        assert (await user.read(query))[query] == (await fresh.read(query))[query]

    async def test_erasing_and_writing_may_be_one_change(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1", "secret"),), records=(row_draft("s1", "about the secret"),)))
        again = row_draft("s1", "about nothing", version=2)
        erase = Erasure(turns=("t1",))
        written = await put(user, Change(records=(again,), erase=erase, retired_at=moment(1)))
        assert (written.records, written.head) == ((3,), 4)
        answers = await user.read(rows := RecordsById(ids=("s1",)))
        assert [row.text for row in answers[rows]] == ["about nothing"]

    async def test_an_erased_id_may_be_written_anew(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1", "secret"),)))
        await put(user, Change(erase=Erasure(turns=("t1",)), retired_at=moment(1)))
        await put(user, Change(turns=(turn_draft("t1", "plain"),)))
        answers = await user.read(turns := TurnsById(ids=("t1",), history=True))
        assert [(turn.seq, turn.text) for turn in answers[turns]] == [(3, "plain")]

    async def test_wiping_removes_the_user_alone(self, store: Store) -> None:
        bob = UserKey("default", "bob")
        for key in (ANA, bob):
            await put(store.user(key), Change(turns=(turn_draft("t1"),), notes=(Note(name="n", body="1"),)))
        ana, held = store.user(ANA), store.user(ANA)
        await held.read(Head())
        await ana.wipe()
        for user in (ana, held, store.user(ANA)):
            answers = await user.read(Head(), window := Window(limit=9), notes := Notes(prefix=""))
            assert (answers[Head()], answers[window], answers[notes]) == (0, (), ())
        assert await store.catalog.users() == (bob,)
        assert (await store.user(bob).read(Head()))[Head()] == 1

    async def test_a_wiped_user_starts_afresh(self, store: Store) -> None:
        user, held = store.user(ANA), store.user(ANA)
        await put(held, Change(turns=(turn_draft("t1"), turn_draft("t2"))))
        await user.wipe()
        await user.wipe()
        assert (await put(held, Change(turns=(turn_draft("t3"),)))).turns == (1,)
        answers = await user.read(window := Window(limit=9))
        assert ids(answers[window]) == ["t3"]
        assert await store.catalog.users() == (ANA,)
