"""Full text and traces: what ranking reads."""

from collections import Counter
from random import Random

from hitherto.clock import micros
from hitherto.store.catalog import UserKey
from hitherto.store.columns import Trace, score
from hitherto.store.protocol import Change, Log, Matches, Store, Traces, Untraced, Vector
from hitherto.testing.drafts import moment, put, row_draft, turn_draft

ANA = UserKey("default", "ana")


def _vector(*numbers: int, embedder: str = "static") -> Vector:
    return Vector(embedder=embedder, data=bytes(numbers))


class SearchConformance:
    async def test_scores_are_bm25_over_all_versions(self, store: Store) -> None:
        user = store.user(ANA)
        random = Random(7)
        vocabulary = [f"w{n}" for n in range(12)]
        weights = [40 / (n + 1) for n in range(12)]
        texts = [tuple(random.choices(vocabulary, weights, k=random.randint(1, 30))) for _ in range(60)]
        await put(user, Change(turns=tuple(turn_draft(f"t{n}", stems=stems) for n, stems in enumerate(texts))))
        again = turn_draft("t0", stems=("w3", "w11"), version=2, place=1)
        await put(user, Change(turns=(again,), records=(row_draft("m1", stems=("w1", "w1")),)))
        indexed = [*texts, again.stems]
        holding = Counter(stem for stems in indexed for stem in set(stems))
        query = ("w3", "w1", "w3", "w11", "unknown")
        expected = {
            seq: score(
                query,
                frequencies=Counter(stems),
                length=len(stems),
                documents=len(indexed),
                total=sum(map(len, indexed)),
                holding=holding,
            )
            for seq, stems in enumerate(indexed, start=1)
            if set(stems) & set(query)
        }
        answers = await user.read(found := Matches(stems=query, target="turn"))
        assert answers[found] == tuple(expected.items())

    async def test_the_same_words_have_the_same_score(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=tuple(turn_draft(f"t{n}", "same words") for n in range(6))))
        answers = await user.read(query := Matches(stems=("same",), target="turn"))
        assert answers[query].seqs.tolist() == [1, 2, 3, 4, 5, 6]
        assert len(set(answers[query].scores.tolist())) == 1

    async def test_every_version_matches_whosever_it_is(self, store: Store) -> None:
        user = store.user(ANA)
        await put(
            user,
            Change(
                turns=(
                    turn_draft("t1", "fox"),
                    turn_draft("t2", "fox", persona="nikita"),
                    turn_draft("t3", "fox", persona="nikita", lane="a"),
                    turn_draft("t4", "fox"),
                    turn_draft("t5", "hound"),
                ),
                records=(row_draft("m1", "fox"),),
            ),
        )
        await put(user, Change(retire=("t4",), retired_at=moment(1)))
        archived = row_draft("m1", "fox", version=2, status="ARCHIVED")
        await put(user, Change(records=(archived, row_draft("s1", "fox", noun="state", stems=()))))
        expected = {
            Matches(stems=("fox",), target="turn"): [1, 2, 3, 4],
            Matches(stems=("fox",), target="record"): [6, 8],
            Matches(stems=("hound", "fox"), target="turn"): [1, 2, 3, 4, 5],
            Matches(stems=("hound",), target="record"): [],
            Matches(stems=("wolf",), target="turn"): [],
            Matches(stems=(), target="turn"): [],
        }
        answers = await user.read(*expected)
        assert {query: answers[query].seqs.tolist() for query in expected} == expected

    async def test_stems_are_opaque(self, store: Store) -> None:
        user = store.user(ANA)
        odd = ("c++", "日本", 'say"so', "a-b", "o'clock", "üb", "*", "AND", "col:x", "🦊")
        stems = tuple(stem.lower() for stem in odd)
        await put(
            user,
            Change(turns=tuple(turn_draft(f"t{n}", stems=(stem, "and2")) for n, stem in enumerate(stems))),
        )
        queries = tuple(Matches(stems=(stem,), target="turn") for stem in stems)
        answers = await user.read(*queries)
        assert [[match.seq for match in answers[query]] for query in queries] == [[n + 1] for n in range(len(stems))]

    async def test_many_stems_are_fine(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1", "fox"),)))
        answers = await user.read(query := Matches(stems=(*(f"x{n}" for n in range(600)), "fox"), target="turn"))
        assert [match.seq for match in answers[query]] == [1]

    async def test_traces_carry_what_ranking_needs(self, store: Store) -> None:
        user = store.user(ANA)
        await put(
            user,
            Change(
                turns=(
                    turn_draft("t1", at=moment(1), persona="nikita", lane="a", speaker="Ana", vector=_vector(1, 2)),
                    turn_draft("t2"),
                ),
                records=(row_draft("m1", at=moment(2), lane="b", vector=_vector(3, 0)),),
            ),
        )
        await put(user, Change(turns=(turn_draft("t1", "new", version=2, place=1, vector=_vector(9)),)))
        answers = await user.read(
            every := Traces(embedder="static", after=0, limit=9),
            rest := Traces(embedder="static", after=1, limit=1),
            other := Traces(embedder="other", after=0, limit=9),
        )
        assert answers[every][0] == Trace(
            seq=1,
            place=1,
            noun="turn",
            id="t1",
            at=micros(moment(1)),
            role="user",
            persona="nikita",
            lane="a",
            session="session-1",
            speaker="Ana",
            vector=bytes((1, 2)),
        )
        assert answers[every][1] == Trace(
            seq=3,
            place=3,
            noun="memory",
            id="m1",
            at=micros(moment(2)),
            role=None,
            persona=None,
            lane="b",
            session=None,
            speaker=None,
            vector=bytes((3, 0)),
        )
        assert [(trace.seq, trace.place) for trace in answers[every]] == [(1, 1), (3, 3), (4, 1)]
        assert [trace.seq for trace in answers[rest]] == [3]
        assert answers[other] == ()

    async def test_what_has_no_vector_is_found_and_filled_in(self, store: Store) -> None:
        user = store.user(ANA)
        await put(
            user,
            Change(
                turns=(
                    turn_draft("t1", vector=_vector(1)),
                    turn_draft("t2"),
                    turn_draft("t3"),
                    turn_draft("t4"),
                ),
                records=(row_draft("m1", "found by its words"), row_draft("s1", noun="state", stems=())),
            ),
        )
        await put(user, Change(retire=("t3",), retired_at=moment(1)))
        missing = Untraced(embedder="static", limit=9)
        other = Untraced(embedder="other", after=1, limit=2)
        answers = await user.read(missing, other)
        assert answers[missing] == (2, 4, 5)
        assert answers[other] == (2, 4)
        await put(user, Change(vectors=((4, _vector(7)), (2, _vector(5)), (1, _vector(8)), (99, _vector(6)))))
        answers = await user.read(missing, every := Traces(embedder="static", after=0, limit=9))
        assert answers[missing] == (5,)
        assert [(trace.seq, trace.vector) for trace in answers[every]] == [
            (1, b"\x08"),
            (2, b"\x05"),
            (4, b"\x07"),
        ]

    async def test_vectors_of_two_embedders_do_not_mix(self, store: Store) -> None:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1", vector=_vector(1)),)))
        await put(user, Change(vectors=((1, _vector(2, embedder="other")),)))
        one, two = Traces(embedder="static", after=0, limit=9), Traces(embedder="other", after=0, limit=9)
        answers = await user.read(one, two)
        assert [trace.vector for trace in answers[one]] == [b"\x01"]
        assert [trace.vector for trace in answers[two]] == [b"\x02"]

    async def test_stems_that_are_written_anew_count_as_if_they_had_been_there(self, store: Store) -> None:
        changed, fresh = store.user(ANA), store.user(UserKey("default", "bo"))
        turns = (("casas", "azules"), ("casas", "casas"), (), ("mar",))
        meant = (("cas", "azul"), ("cas", "cas"), ("verd",), ())
        await put(
            changed,
            Change(
                turns=tuple(turn_draft(f"t{n}", stems=stems) for n, stems in enumerate(turns)),
                records=(row_draft("m1", stems=("casas",)), row_draft("m2", stems=("gato",))),
            ),
        )
        await put(changed, Change(stems=(*enumerate(meant, start=1), (5, ("cas",)), (6, ("gato",)), (99, ("cas",)))))
        await put(
            fresh,
            Change(
                turns=tuple(turn_draft(f"t{n}", stems=stems) for n, stems in enumerate(meant)),
                records=(row_draft("m1", stems=("cas",)), row_draft("m2", stems=("gato",))),
            ),
        )
        for target in ("turn", "record"):
            for stem in ("cas", "casas", "azul", "verd", "mar", "gato"):
                query = Matches(stems=(stem,), target=target)
                assert (await changed.read(query))[query] == (await fresh.read(query))[query]
        entries = Log(after=0, limit=9)
        assert [entry.stems for entry in (await changed.read(entries))[entries]] == [*meant, ("cas",), ("gato",)]
