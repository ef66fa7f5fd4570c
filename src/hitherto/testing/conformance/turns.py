"""Turns: written whole, read in the conversation's order, never changed."""

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import ANY, Change, Store, TurnList, TurnsById, TurnsBySeq, Window
from hitherto.testing.drafts import ids, moment, put, turn_draft
from hitherto.types import Media, StoredTurn, Thinking, ToolCall, ToolReturn

ANA = UserKey("default", "ana")


class TurnConformance:
    async def test_a_turn_comes_back_as_it_was_written(self, store: Store) -> None:
        user = store.user(ANA)
        draft = turn_draft(
            "t1",
            "Zürich, 日本語 🦊 'quoted' \"double\" -- ; % \\ and\nlines",
            at=moment(1.000001),
            role="assistant",
            persona="nikita",
            lane="topic:1:2",
            conversation="telegram:chat:1",
            speaker="Nikita",
            reply_to="t0",
            origin="tool",
            parts=(
                ToolCall(id="c1", name="weather", args='{"city": "Zürich"}'),
                ToolReturn(id="c1", name="weather", content="sunny ☀"),
                Thinking(text="hm"),
                Media(media_type="image/png", url="https://example.org/a.png", caption="a fox"),
            ),
            snapshot="snap-1",
            session="s9",
            position=3,
            number=17,
        )
        written = await put(user, Change(turns=(draft,)))
        answers = await user.read(query := TurnsById(ids=("t1",)))
        assert written.turns == (1,)
        assert answers[query] == (
            StoredTurn(
                seq=1,
                place=1,
                id="t1",
                version=1,
                role="assistant",
                text=draft.text,
                at=draft.at,
                recorded_at=draft.recorded_at,
                retired=None,
                persona="nikita",
                lane="topic:1:2",
                conversation="telegram:chat:1",
                speaker="Nikita",
                reply_to="t0",
                origin="tool",
                parts=draft.parts,
                snapshot="snap-1",
                session="s9",
                position=3,
                number=17,
                tokens=draft.tokens,
                family="o200k",
            ),
        )

    async def test_long_and_empty_texts_come_back(self, store: Store) -> None:
        user = store.user(ANA)
        long = "wörd " * 200_000
        drafts = (turn_draft("long", long, stems=("wörd",)), turn_draft("empty", "", stems=()))
        await put(user, Change(turns=drafts))
        answers = await user.read(query := TurnList(limit=10))
        assert [turn.text for turn in answers[query]] == [long, ""]

    async def test_the_window_is_the_newest_turns_oldest_first(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=tuple(turn_draft(f"t{n}") for n in range(1, 8))))
        three, before = Window(limit=3), Window(limit=3, before=6)
        answers = await user.read(three, before)
        assert ids(answers[three]) == ["t5", "t6", "t7"]
        assert ids(answers[before]) == ["t3", "t4", "t5"]

    async def test_the_window_tells_personas_and_lanes_apart(self, store: Store) -> None:
        user = store.user(ANA)
        await put(
            user,
            Change(
                turns=(
                    turn_draft("root"),
                    turn_draft("n-root", persona="nikita"),
                    turn_draft("n-lane", persona="nikita", lane="a"),
                    turn_draft("m-lane", persona="max", lane="a"),
                    turn_draft("lane", lane="a"),
                )
            ),
        )
        expected = {
            Window(limit=9): ["root", "n-root", "n-lane", "m-lane", "lane"],
            Window(limit=9, persona=None): ["root", "lane"],
            Window(limit=9, persona=None, lane=None): ["root"],
            Window(limit=9, persona="nikita"): ["n-root", "n-lane"],
            Window(limit=9, persona="nikita", lane=None): ["n-root"],
            Window(limit=9, persona="nikita", lane="a"): ["n-lane"],
            Window(limit=9, persona=ANY, lane="a"): ["n-lane", "m-lane", "lane"],
            Window(limit=9, persona="nobody"): [],
        }
        answers = await user.read(*expected)
        assert {query: ids(answers[query]) for query in expected} == expected

    async def test_a_revision_keeps_its_place_and_the_past_keeps_the_old_text(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1", "first"), turn_draft("t2", "second"))))
        revision = turn_draft("t1", "first, better", version=2, place=1, at=moment(5))
        written = await put(user, Change(turns=(revision,)))
        now, then = Window(limit=9), Window(limit=9, known=2)
        history, past = TurnsById(ids=("t1",), history=True), TurnsById(ids=("t1",), known=2)
        answers = await user.read(now, then, history, past)
        assert written.turns == (3,)
        assert [(turn.text, turn.seq, turn.place) for turn in answers[now]] == [
            ("first, better", 3, 1),
            ("second", 2, 2),
        ]
        assert [turn.text for turn in answers[then]] == ["first", "second"]
        assert [(turn.version, turn.retired) for turn in answers[history]] == [(1, 3), (2, None)]
        assert [turn.text for turn in answers[past]] == ["first"]

    async def test_a_retired_turn_is_hidden_from_then_on(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1"), turn_draft("t2"))))
        written = await put(user, Change(retire=("t1",), retired_at=moment(9)))
        queries = (
            Window(limit=9),
            TurnList(limit=9),
            TurnsById(ids=("t1", "t2")),
            TurnsBySeq(seqs=(1, 2)),
            Window(limit=9, known=2),
            TurnList(limit=9, known=2),
            TurnsById(ids=("t1", "t2"), known=2),
            TurnsBySeq(seqs=(1, 2), known=2),
            TurnsById(ids=("t1", "t2"), history=True),
        )
        answers = await user.read(*queries)
        assert written.head == 3
        assert [ids(answers[query]) for query in queries] == [["t2"]] * 4 + [["t1", "t2"]] * 5

    async def test_what_came_later_is_not_known_before(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1"), turn_draft("t2"))))
        queries = (
            Window(limit=9, known=1),
            TurnList(limit=9, known=1),
            TurnsById(ids=("t1", "t2"), known=1),
            TurnsById(ids=("t1", "t2"), known=1, history=True),
            TurnsBySeq(seqs=(1, 2), known=1),
        )
        answers = await user.read(*queries)
        assert [ids(answers[query]) for query in queries] == [["t1"]] * 5

    async def test_turns_by_id_and_seq_follow_the_conversation(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("a"), turn_draft("b"), turn_draft("c"))))
        await put(user, Change(turns=(turn_draft("a", "again", version=2, place=1),)))
        by_id = TurnsById(ids=("c", "nobody", "a", "c"))
        by_seq = TurnsBySeq(seqs=(4, 3, 1, 99))
        answers = await user.read(by_id, by_seq, nothing := TurnsById(ids=()))
        assert ids(answers[by_id]) == ["a", "c"]
        assert [turn.seq for turn in answers[by_seq]] == [4, 3]
        assert answers[nothing] == ()

    async def test_the_turn_list_continues_and_filters(self, store: Store) -> None:
        user = store.user(ANA)
        await put(
            user,
            Change(
                turns=tuple(
                    turn_draft(
                        f"t{n}",
                        at=moment(n),
                        session="odd" if n % 2 else "even",
                        persona="nikita" if n > 3 else None,
                        lane="a" if n in (2, 5) else None,
                    )
                    for n in range(1, 7)
                )
            ),
        )
        await put(user, Change(turns=(turn_draft("t2", "again", version=2, place=2, at=moment(2), session="even"),)))
        expected = {
            TurnList(limit=2): ["t1", "t2"],
            TurnList(limit=2, after=2): ["t3", "t4"],
            TurnList(limit=9, after=6): [],
            TurnList(limit=9, session="odd"): ["t1", "t3", "t5"],
            TurnList(limit=9, session="even", after=2): ["t4", "t6"],
            TurnList(limit=9, persona="nikita"): ["t4", "t5", "t6"],
            TurnList(limit=9, persona="nikita", lane="a"): ["t5"],
            TurnList(limit=9, lane="a"): ["t5"],
            TurnList(limit=9, lane="a", known=6): ["t2", "t5"],
            TurnList(limit=9, persona=None, lane=None): ["t1", "t2", "t3"],
            TurnList(limit=9, since=moment(3), until=moment(5)): ["t3", "t4"],
            TurnList(limit=3, known=6): ["t1", "t2", "t3"],
        }
        answers = await user.read(*expected)
        assert {query: ids(answers[query]) for query in expected} == expected
