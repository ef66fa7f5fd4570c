"""Records: versions by id, and every way to find them."""

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import (
    ANY,
    Change,
    RecordList,
    RecordsByEntity,
    RecordsById,
    RecordsByKey,
    RecordsBySeq,
    RecordsBySource,
    Row,
    Store,
)
from hitherto.testing.drafts import ids, moment, put, row_draft

ANA = UserKey("default", "ana")


class RecordConformance:
    async def test_a_record_comes_back_as_it_was_written(self, store: Store) -> None:
        user = store.user(ANA)
        draft = row_draft(
            "m1",
            "Ana starts at Acme 🎉",
            at=moment(1.000001),
            persona="nikita",
            lane="a",
            key="people|person|ana|fact|job",
            status="QUARANTINED",
            origin="user",
            sources=("t2", "t1"),
            entities=("org:acme", "person:ana"),
            due=moment(2),
            valid_from=moment(3),
            valid_to=moment(4),
            body='{"importance": 3}',
            recorded_at=moment(5),
        )
        written = await put(user, Change(records=(draft,)))
        answers = await user.read(query := RecordsById(ids=("m1",)))
        assert written.records == (1,)
        assert answers[query] == (
            Row(
                noun="memory",
                id="m1",
                text=draft.text,
                persona="nikita",
                lane="a",
                key=draft.key,
                status="QUARANTINED",
                origin="user",
                sources=("t2", "t1"),
                entities=("org:acme", "person:ana"),
                at=draft.at,
                due=moment(2),
                valid_from=moment(3),
                valid_to=moment(4),
                tokens=draft.tokens,
                family="o200k",
                body='{"importance": 3}',
                seq=1,
                version=1,
                recorded_at=moment(5),
                retired=None,
                retired_at=None,
            ),
        )

    async def test_a_new_version_ends_the_old_one(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(records=(row_draft("m1", "tea", key="k"),)))
        await put(user, Change(records=(row_draft("m1", "coffee", key="k", version=2, recorded_at=moment(7)),)))
        live, past = RecordsById(ids=("m1",)), RecordsById(ids=("m1",), known=1)
        history, both = RecordsById(ids=("m1",), history=True), RecordsBySeq(seqs=(1, 2))
        key, key_then = (
            RecordsByKey(noun="memory", keys=("k",)),
            RecordsByKey(noun="memory", keys=("k",), known=1),
        )
        listed = RecordList(noun="memory", limit=9)
        listed_then = RecordList(noun="memory", limit=9, known=1)
        answers = await user.read(live, past, history, both, key, key_then, listed, listed_then)
        for now in (live, key, listed, both):
            assert [row.text for row in answers[now]] == ["coffee"]
        for then in (past, key_then, listed_then):
            assert [row.text for row in answers[then]] == ["tea"]
        assert [(row.version, row.retired, row.retired_at) for row in answers[history]] == [
            (1, 2, moment(7)),
            (2, None, None),
        ]

    async def test_a_retired_record_is_hidden_from_then_on(self, store: Store) -> None:
        user = store.user(ANA)
        draft = row_draft("m1", key="k", entities=("person:ana",), sources=("t1",))
        await put(user, Change(records=(draft,)))
        await put(user, Change(retire=("m1",), retired_at=moment(9)))
        now = (
            RecordsById(ids=("m1",)),
            RecordsBySeq(seqs=(1,)),
            RecordsByKey(noun="memory", keys=("k",)),
            RecordList(noun="memory", limit=9),
            RecordsByEntity(noun="memory", refs=("person:ana",), limit=9),
            RecordsBySource(turns=("t1",)),
        )
        then = (
            RecordsById(ids=("m1",), known=1),
            RecordsById(ids=("m1",), history=True),
            RecordsBySeq(seqs=(1,), known=1),
            RecordsByKey(noun="memory", keys=("k",), known=1),
            RecordList(noun="memory", limit=9, known=1),
            RecordsByEntity(noun="memory", refs=("person:ana",), limit=9, known=1),
            RecordsBySource(turns=("t1",), history=True),
        )
        answers = await user.read(*now, *then)
        assert [answers[query] for query in now] == [()] * len(now)
        assert [ids(answers[query]) for query in then] == [["m1"]] * len(then)
        assert [(row.retired, row.retired_at) for row in answers[then[1]]] == [(2, moment(9))]

    async def test_the_list_is_newest_first_and_continues(self, store: Store) -> None:
        user = store.user(ANA)
        times = (1, 3, 2, 3)
        drafts = tuple(row_draft(f"m{n}", at=moment(minute)) for n, minute in enumerate(times))
        await put(user, Change(records=(*drafts, row_draft("l1", noun="loop", at=moment(8)))))
        first = RecordList(noun="memory", limit=2)
        answers = await user.read(first)
        last = answers[first][-1]
        rest = RecordList(noun="memory", limit=9, after=(last.at, last.seq))
        assert ids(answers[first]) == ["m3", "m1"]
        assert ids((await user.read(rest))[rest]) == ["m2", "m0"]

    async def test_the_list_filters(self, store: Store) -> None:
        user = store.user(ANA)
        await put(
            user,
            Change(
                records=(
                    row_draft("none", at=moment(5), key="people|a"),
                    row_draft("nikita", at=moment(4), persona="nikita", key="people|b", lane="a"),
                    row_draft("max", at=moment(3), persona="max", key="profile|a"),
                    row_draft("old", at=moment(2), persona="nikita", status="ARCHIVED"),
                    row_draft("bad", at=moment(1), status="QUARANTINED"),
                )
            ),
        )
        expected = {
            RecordList(noun="memory", limit=9): ["none", "nikita", "max", "old", "bad"],
            RecordList(noun="memory", limit=9, persona="nikita"): ["nikita", "old"],
            RecordList(noun="memory", limit=9, persona="nikita", shared=True): [
                "none",
                "nikita",
                "old",
                "bad",
            ],
            RecordList(noun="memory", limit=9, persona=None): ["none", "bad"],
            RecordList(noun="memory", limit=9, persona=ANY, lane="a"): ["nikita"],
            RecordList(noun="memory", limit=9, persona=ANY, lane=None): ["none", "max", "old", "bad"],
            RecordList(noun="memory", limit=9, statuses=("ACTIVE", "ARCHIVED")): [
                "none",
                "nikita",
                "max",
                "old",
            ],
            RecordList(noun="memory", limit=9, key_prefix="people|"): ["none", "nikita"],
            RecordList(noun="memory", limit=9, persona="max", key_prefix="people|"): [],
            RecordList(noun="episode", limit=9): [],
        }
        answers = await user.read(*expected)
        assert {query: ids(answers[query]) for query in expected} == expected

    async def test_keys_find_only_their_noun(self, store: Store) -> None:
        user = store.user(ANA)
        await put(
            user,
            Change(
                records=(
                    row_draft("m1", key="k"),
                    row_draft("s1", noun="state", key="k"),
                    row_draft("m2", key="j"),
                )
            ),
        )
        both, state = (
            RecordsByKey(noun="memory", keys=("j", "k", "x")),
            RecordsByKey(noun="state", keys=("k",)),
        )
        answers = await user.read(both, state)
        assert ids(answers[both]) == ["m1", "m2"]
        assert ids(answers[state]) == ["s1"]

    async def test_entities_find_what_names_them(self, store: Store) -> None:
        user = store.user(ANA)
        await put(
            user,
            Change(
                records=(
                    row_draft("m1", at=moment(1), entities=("person:ana", "org:acme")),
                    row_draft("m2", at=moment(2), entities=("person:ana",), persona="nikita"),
                    row_draft("m3", at=moment(3), entities=("org:acme",), status="ARCHIVED"),
                    row_draft("e1", at=moment(4), entities=("person:ana",), noun="episode"),
                )
            ),
        )
        await put(user, Change(records=(row_draft("m2", at=moment(2), version=2, persona="nikita"),)))
        expected = {
            RecordsByEntity(noun="memory", refs=("person:ana", "org:acme"), limit=9): ["m3", "m1"],
            RecordsByEntity(noun="memory", refs=("person:ana", "org:acme"), limit=1): ["m3"],
            RecordsByEntity(noun="memory", refs=("org:acme",), statuses=("ACTIVE",), limit=9): ["m1"],
            RecordsByEntity(noun="memory", refs=("person:ana",), limit=9, known=4): ["m2", "m1"],
            RecordsByEntity(noun="memory", refs=("person:ana",), persona="nikita", limit=9, known=4): ["m2"],
            RecordsByEntity(noun="memory", refs=("person:ana",), persona="nikita", shared=True, limit=9, known=4): [
                "m2",
                "m1",
            ],
            RecordsByEntity(noun="memory", refs=("person:ana",), persona="max", shared=True, limit=9, known=4): ["m1"],
            RecordsByEntity(noun="episode", refs=("person:ana",), limit=9): ["e1"],
            RecordsByEntity(noun="memory", refs=(), limit=9): [],
        }
        answers = await user.read(*expected)
        assert {query: ids(answers[query]) for query in expected} == expected

    async def test_sources_lead_to_what_rests_on_them(self, store: Store) -> None:
        user = store.user(ANA)
        await put(
            user,
            Change(
                records=(
                    row_draft("m1", sources=("t1", "t2")),
                    row_draft("l1", noun="loop", sources=("t2",)),
                    row_draft("m2", sources=("t3",)),
                )
            ),
        )
        await put(user, Change(records=(row_draft("m1", version=2, sources=("t2",)),)))
        one, two = RecordsBySource(turns=("t1",)), RecordsBySource(turns=("t1", "t2"))
        past = RecordsBySource(turns=("t1",), history=True)
        answers = await user.read(one, two, past)
        assert answers[one] == ()
        assert ids(answers[two]) == ["l1", "m1"]
        assert [(row.id, row.version) for row in answers[past]] == [("m1", 1)]
