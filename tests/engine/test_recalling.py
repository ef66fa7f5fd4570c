"""Recall through the engine, on both stores: what the recipes ask of it, and messages that nobody would write."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hitherto import Hitherto, Turn
from hitherto.recall.embed.static import static_embedder
from hitherto.recall.vectors import Vectors
from hitherto.tokens import tokenizer
from hitherto.types import Context, Item
from tests.engine.conftest import FakeClock

TALK = (
    "My sister Lea moved to Lisbon in March",
    "The bakery near the tram stop opens at six",
    "I am training for the marathon in October",
    "Our cat Miso knocked over the fern again",
    "The quarterly report is due on Friday",
    "Please always answer in Spanish",
    "Dinner with Tom was at the Korean place",
    "The landlord will fix the boiler next week",
)


async def tell(memory: Hitherto, clock: FakeClock, *texts: str, **fields: str) -> list[str]:
    turns = [
        Turn(user="ana", role="user", text=text, at=clock() - timedelta(days=30) + timedelta(minutes=n), **fields)  # pyright: ignore[reportArgumentType] -- only text fields are passed
        for n, text in enumerate(texts)
    ]
    return await memory.record(turns)


def shown(context: Context, *sections: str) -> list[Item]:
    return [item for item in context.items if item.included and item.section in sections]


MIXED = (
    "I bought new running shoes in Leeds yesterday",
    "mañana llevo a mis perros al veterinario",
    "Gestern habe ich die Heizungen im Keller repariert",
    "Could you remind me of the dentist on Friday?",
    "mi hermana cocinó lentejas para todos",
    "Die Katzen schlafen immer auf dem Fensterbrett",
)


@pytest.mark.parametrize(
    ("question", "turn"),
    [
        ("where was the running shoe bought?", 0),
        ("¿a dónde va el perro?", 1),
        ("welche Heizung wurde repariert?", 2),
        ("¿quién cocinaba una lenteja?", 4),
        ("wo schläft die Katze?", 5),
    ],
)
async def test_a_conversation_in_several_languages_is_found_in_each(
    store_url: str, clock: FakeClock, question: str, turn: int
) -> None:
    """Words of each turn are stemmed by its own language, and those of a question by the question's."""
    async with Hitherto(store_url, clock=clock) as memory:
        ids = await tell(memory, clock, *MIXED)
        assert (await memory.search(user="ana", query=question))[0].id == ids[turn]


class Renamed:
    """The static embedder under a version of its own: what another one indexed has no vector for it."""

    name, at_once, trust = "renamed", True, 0.7

    def __init__(self, version: str) -> None:
        self._inner = static_embedder()
        self.version, self.dimension = version, self._inner.dimension

    def embed(self, texts: Sequence[str], *, purpose: str = "passage") -> Vectors:
        del purpose
        return self._inner.embed(texts)


BAD = {
    "one character": "x",
    "a full stop": ".",
    "emoji": "🙂🙂🙂🔥",
    "stop words": "and the of to a in is it",
    "Cyrillic": "где живёт моя сестра",
    "Chinese": "我的妹妹住在哪里",
    "Arabic": "أين تعيش أختي",
    "SQL": "'; DROP TABLE turns; -- \" OR 1=1",
    "FTS operators": 'NEAR(lea lisbon, 2) AND (bakery OR NOT "tram*") ^marathon col:val -fern + {x}',
    "a wildcard": "*",
    "quotes": '"""""',
    "zero width": "\u200b\u200d\ufeff",
    "100 KB": "sister bakery marathon fern report " * 3_000,
    "100 KB in one word": "x" * 100_000,
}


@pytest.mark.req("R2.5")
@pytest.mark.parametrize("query", BAD.values(), ids=BAD)
async def test_no_query_is_too_odd(memory: Hitherto, clock: FakeClock, query: str) -> None:
    await tell(memory, clock, *TALK)
    hits = await memory.search(user="ana", query=query, limit=3)
    assert len(hits) <= 3
    assert all(hit.score == pytest.approx(sum(hit.parts.values()), abs=1e-4) for hit in hits)
    assert (await memory.search(user="ana", query="Where did Lea move?", limit=1))[0].text == TALK[0]


async def test_an_odd_message_still_gets_a_context(memory: Hitherto, clock: FakeClock) -> None:
    await tell(memory, clock, *TALK)
    for message in (text for name, text in BAD.items() if len(text) < 1_000 and name != "zero width"):
        built = await memory.context(user="ana", message=message)
        assert not built.warnings
        assert built.tokens > tokenizer().count(message)


@pytest.mark.req("R2.5", "R2.13")
async def test_another_user_is_never_found(memory: Hitherto, clock: FakeClock) -> None:
    await tell(memory, clock, *TALK)
    await memory.record(Turn(user="bob", role="user", text="My sister Lea moved to Oslo"))
    hits = await memory.search(user="bob", query="Where did Lea move?")
    assert [hit.text for hit in hits] == ["My sister Lea moved to Oslo"]


async def test_a_memory_points_at_its_turns(memory: Hitherto, clock: FakeClock) -> None:
    ids = await tell(memory, clock, *TALK)
    await memory.remember(user="ana", text="Lea lives in Lisbon", sources=(ids[0],))
    hits = await memory.search(user="ana", query="Where does Lea live?", limit=4)
    assert [hit.sources for hit in hits if hit.kind == "memory"] == [(ids[0],)]
    assert (ids[0],) in [hit.sources for hit in hits if hit.kind == "turn"], "the memory does not hide the turn"


async def test_many_memories_leave_room_for_the_turns(memory: Hitherto, clock: FakeClock) -> None:
    ids = await tell(memory, clock, *TALK)
    for n in range(30):
        await memory.remember(user="ana", text=f"Ana has a cousin number {n} who moved somewhere")
    hits = await memory.search(user="ana", query="Where did my sister Lea move to?", limit=5)
    assert ids[0] in [hit.id for hit in hits]


@pytest.mark.req("R2.2")
async def test_a_semantic_entry_is_found_with_its_fields(memory: Hitherto, clock: FakeClock) -> None:
    stored = await memory.remember(user="ana", text="Ana loves Lisbon", category="PLACE", importance=2)
    [hit] = await memory.search(user="ana", query="Lisbon", kinds=["memory"])
    [held] = await memory.memories(user="ana")
    assert (hit.id, held.category, held.importance, held.at) == (stored.id, "PLACE", 2, clock())
    assert held.accessed_at is None
    context = await memory.context(user="ana", message="Shall we go to Lisbon?")
    clock.tick(minutes=1)
    await memory.record(Turn(user="ana", role="assistant", text="To Lisbon, yes!", snapshot=context.snapshot))
    [held] = await memory.memories(user="ana")
    assert (held.version, held.accessed_at) == (stored.version, clock())


@pytest.mark.req("R2.3")
async def test_an_episode_is_found_with_its_fields(memory: Hitherto) -> None:
    fields: dict[str, Any] = {"outcome": "PARTIAL", "tone": "tense", "topics": ("boiler",), "session": "s-1"}
    await memory.add("episode", user="ana", text="Argued with the landlord about the boiler", **fields)
    [hit] = await memory.search(user="ana", query="boiler", kinds=["episode"])
    [episode] = await memory.episodes(user="ana")
    assert hit.kind == "episode"
    assert (episode.outcome, episode.tone, episode.topics, episode.session) == ("PARTIAL", "tense", ("boiler",), "s-1")


@pytest.mark.req("R2.4")
async def test_a_story_is_found_and_shown_by_its_paragraph(memory: Hitherto, clock: FakeClock) -> None:
    about = ("harbour", "vineyard", "glacier", "theatre", "orchard", "lighthouse")
    parts = [" ".join(f"The {topic} was quiet, as visitor {n} wrote." for n in range(35)) for topic in about]
    [story, *_] = await tell(memory, clock, "\n\n".join(parts), *TALK)
    await tell(memory, clock, *(f"Something else, number {n}" for n in range(40)))
    [best, *_] = await memory.search(user="ana", query="Who wrote about the glacier?", kinds=["turn"])
    assert best.id == story
    context = await memory.context(user="ana", message="Who wrote about the glacier?", at=clock() + timedelta(days=3))
    [line] = [item for item in shown(context, "long_term") if item.id == story]
    assert "glacier" in line.text
    assert "vineyard" not in line.text
    assert tokenizer().count(line.text) <= 520
    assert (await memory.replay(user="ana", snapshot=context.snapshot)).system == context.system


@pytest.mark.req("R2.5")
async def test_the_recall_recipe_thresholds_boosts_and_keeps_five(memory: Hitherto, clock: FakeClock) -> None:
    for how in ("slowly", "uphill", "barefoot", "at night", "with Tom", "on Sundays", "in the rain", "before work"):
        await memory.remember(user="ana", text=f"Ana trains for the marathon {how}", at=clock() - timedelta(days=60))
    fresh = await memory.remember(user="ana", text="Ana trains for the marathon with music", at=clock())
    await memory.remember(user="ana", text="The fern needs water", at=clock())
    context = await memory.context(user="ana", message="Ana trains for the marathon", recipe="recall", at=clock())
    kept = [item for item in shown(context, "memories") if item.kind == "memory"]
    assert len(kept) == 5
    assert kept[0].id == fresh.id, "younger than seven days: 1.2 times"
    assert kept[0].parts["recency"] == 1.2
    assert {item.reason for item in context.items if item.text.endswith("fern needs water")} == {"below threshold"}


@pytest.mark.req("R2.5", "R2.14")
async def test_what_was_said_often_ranks_above_what_faded(memory: Hitherto, clock: FakeClock) -> None:
    long_ago = clock() - timedelta(days=100)
    faint = await memory.remember(user="ana", text="Ana trains on the river path", importance=0, at=long_ago)
    grown = await memory.remember(user="ana", text="Ana trains on the river road", importance=2, at=long_ago)
    context = await memory.context(user="ana", message="Ana trains on the river", recipe="recall")
    order = [item.id for item in shown(context, "memories") if item.kind == "memory"]
    assert order == [grown.id, faint.id]


@pytest.mark.req("R2.6")
@pytest.mark.parametrize("greeting", ["hi!", "hey, good morning", "👋"])
async def test_a_greeting_recalls_what_last_time_was_about(memory: Hitherto, clock: FakeClock, greeting: str) -> None:
    ids = await tell(memory, clock, *TALK, *(f"Something else entirely, number {n}" for n in range(30)))
    await memory.add(
        "summary",
        user="ana",
        kind="session",
        key="session:s-last",
        session="s-last",
        text="Ana talked about her marathon training in October",
        at=clock() - timedelta(days=2),
    )
    context = await memory.context(user="ana", message=greeting)
    assert ids[2] in [item.id for item in shown(context, "long_term")]


@pytest.mark.req("R2.6")
async def test_a_brief_question_is_no_greeting(memory: Hitherto, clock: FakeClock) -> None:
    ids = await tell(memory, clock, *TALK, *(f"Something else entirely, number {n}" for n in range(30)))
    text = "Something else entirely was said, with numbers: number three, number four, number five"
    await memory.add(
        "summary", user="ana", kind="session", key="session:s-last", session="s-last", text=text, at=clock()
    )
    context = await memory.context(user="ana", message="Any marathon?", at=clock() + timedelta(days=2))
    assert shown(context, "long_term")[0].id == ids[2]


@pytest.mark.req("R2.4")
async def test_long_answers_leave_room_for_others(memory: Hitherto, clock: FakeClock) -> None:
    topics = ("harbour", "piano", "garden", "tax form", "football", "opera", "bread", "volcano", "chess")
    talk = [f"{f'We went on about the {one} for a while. ' * 25} The boiler near the {one} is old." for one in topics]
    ids = await tell(memory, clock, *talk, "The boiler is what keeps me awake", *(f"Thing {n}" for n in range(20)))
    context = await memory.context(user="ana", message="What about the boiler?")
    held = shown(context, "long_term")
    assert sum(item.id in ids[:9] for item in held) >= 4
    assert all("The boiler near the" in item.text for item in held if item.id in ids[:9])


@pytest.mark.req("R2.5")
async def test_a_lone_memory_that_answers_stands_before_turns_that_do_not(memory: Hitherto, clock: FakeClock) -> None:
    await tell(memory, clock, *(f"The weather was fine on the way to place number {n}" for n in range(30)))
    dog = await memory.remember(user="ana", text="Ana's dog is called Rex")
    [best, *_] = await memory.search(user="ana", query="What is the dog called?")
    assert best.id == dog.id
    assert best.parts["lexical"] > 0
    assert best.parts["dense"] > 0


@pytest.mark.req("R2.5")
async def test_what_another_embedder_indexed_is_found_by_its_words(store_url: str, clock: FakeClock) -> None:
    async with Hitherto(store_url, clock=clock, embedder=Renamed("one")) as memory:
        ids = await tell(memory, clock, *TALK)
        note = await memory.remember(user="ana", text="Ana runs marathons in the rain")
    async with Hitherto(store_url, clock=clock, embedder=Renamed("two")) as memory:
        hits = await memory.search(user="ana", query="marathon")
        assert {ids[2], note.id} <= {hit.id for hit in hits}
        context = await memory.context(user="ana", message="the marathon, please", recipe="recall")
        assert note.id in [item.id for item in shown(context, "memories")], "its threshold is for what has a vector"
        assert not await memory.search(user="ana", query="marathon", kinds=["episode"])


@pytest.mark.req("R3.5")
async def test_the_personas_blend_to_the_number(memory: Hitherto, clock: FakeClock) -> None:
    both = ("person:lea",)
    await memory.remember(user="ana", text="Lea likes Lisbon", entities=both, at=clock() - timedelta(days=14))
    await memory.remember(user="ana", text="Lea likes the trams in Lisbon", entities=both, at=clock())
    await memory.remember(user="ana", text="Tom likes Lisbon", entities=("person:tom",), at=clock())
    context = await memory.context(user="ana", message="likes Lisbon", recipe="personas", at=clock())
    found = {item.text: item for item in context.items if item.kind == "memory" and "similarity" in item.parts}
    old = next(item for text, item in found.items() if "Lea likes Lisbon" in text)
    other = next(item for text, item in found.items() if "Tom" in text)
    assert old.parts["recency"] == pytest.approx(0.15), "half of 30 % after 14 days"
    assert old.parts["frequency"] == pytest.approx(0.3), "in most candidates"
    assert other.parts["frequency"] == pytest.approx(0.15)
    assert old.score == pytest.approx(sum(old.parts.values()))


@pytest.mark.req("R4.7")
async def test_another_lane_is_heard_only_when_it_is_named(memory: Hitherto, clock: FakeClock) -> None:
    await memory.remember(user="ana", text="The ferry leaves at nine", lane="trip")
    await tell(memory, clock, "We take the early ferry with the bikes", lane="trip")
    await tell(memory, clock, "The ferry simulation is in the second chapter", lane="thesis")

    async def said(message: str) -> str:
        context = await memory.context(user="ana", lane="thesis", message=message, recipe="lanes")
        return " ".join(item.text for item in shown(context, "memories", "recent", "long_term"))

    assert "early ferry" not in await said("what about the ferry?")
    assert "leaves at nine" not in await said("what about the ferry?")
    assert "early ferry" in await said("what about the ferry of the trip?")
    assert "leaves at nine" in await said("what about the ferry of the trip?")


@pytest.mark.req("R0.7")
async def test_standing_requests_are_found_whatever_the_message_says(memory: Hitherto, clock: FakeClock) -> None:
    ids = await tell(memory, clock, *TALK, *(f"Something else entirely, number {n}" for n in range(60)))
    hits = await memory.search(user="ana", query="How do I repot a fern?", limit=5, kinds=["turn"])
    [request] = [hit for hit in hits if hit.id == ids[5]]
    assert request.parts["standing"] > 0


async def test_a_turn_is_found_by_another_word_for_it(memory: Hitherto, clock: FakeClock) -> None:
    ids = await tell(memory, clock, *TALK, "My physician is called Lee", *(f"Nothing of note, {n}" for n in range(20)))
    [hit, *_] = await memory.search(user="ana", query="Which doctor do I see?", limit=3, kinds=["turn"])
    assert hit.id == ids[len(TALK)]
    assert hit.parts["related"] > 0


class Strict:
    """A reranker that knows one right text."""

    def __init__(self, right: str) -> None:
        self._right = right
        self.seen: list[str] = []

    def judge(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen = [question, *texts]
        return np.array([9.0 if self._right in text else -11.0 for text in texts], dtype=np.float32)


async def test_a_second_look_reorders_what_a_search_found(store_url: str, clock: FakeClock) -> None:
    strict = Strict("fern")
    async with Hitherto(store_url, reranker=strict, clock=clock) as memory:
        await tell(memory, clock, *TALK, *(f"The bakery sells bread number {n}" for n in range(20)), speaker="Ana")
        query = "When does the bakery open?"
        async with Hitherto(store_url, clock=clock) as plain:
            before = await plain.search(user="ana", query=query, limit=40, kinds=["turn"])
        found = await memory.search(user="ana", query=query, limit=40, kinds=["turn"])
        [was] = [place for place, hit in enumerate(before) if "fern" in hit.text]
        [now] = [place for place, hit in enumerate(found) if "fern" in hit.text]
        assert now < was / 2, "none of its words were asked for, but the verdict on it is the best"
        assert found[now].parts["reranked"] > 0
        assert all(sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-5) for hit in found)
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
        assert strict.seen[0] == "When does the bakery open?"
        assert {f"Ana: {text}" for text in TALK} < set(strict.seen[1:]), "more are looked at than are wanted"
        strict.seen.clear()
        await memory.context(user="ana", message="When does the bakery open?")
        assert not strict.seen, "a context waits for no second look"


async def test_what_the_persona_or_a_tool_says_is_no_standing_request(memory: Hitherto, clock: FakeClock) -> None:
    await tell(memory, clock, *TALK[:5])
    await memory.record(
        [
            Turn(user="ana", role="assistant", text="Always check the lid of the jar", at=clock()),
            Turn(user="ana", role="tool", text="Never use the old endpoint again", at=clock()),
        ]
    )
    hits = await memory.search(user="ana", query="When does the bakery open?", limit=20, explain=True)
    assert len(hits) == 7
    assert not [hit.text for hit in hits if "standing" in hit.parts]


@pytest.mark.req("R0.7")
async def test_what_has_ended_is_found_only_when_the_past_is_asked_about(memory: Hitherto, clock: FakeClock) -> None:
    ended = clock() - timedelta(days=10)
    await memory.remember(
        user="ana", text="Ana lives in Porto", valid_from=clock() - timedelta(days=900), valid_to=ended
    )
    await memory.remember(user="ana", text="Ana lives in Lisbon", valid_from=ended)

    async def found(query: str) -> set[str]:
        return {hit.text for hit in await memory.search(user="ana", query=query, kinds=["memory"])}

    assert await found("Where does Ana live?") == {"Ana lives in Lisbon"}
    assert "Ana lives in Porto" in await found("Where did Ana live before?")
    assert "Ana lives in Porto" in await found(f"Where in {(ended - timedelta(days=100)).year} does Ana live?")
    context = await memory.context(user="ana", message="Where does Ana live?")
    stale = [item for item in context.items if "Porto" in item.text]
    assert stale
    assert all(not item.included and item.reason.startswith("stale") for item in stale)


_WORDS = """green black white yellow oolong mint ginger lemon rose jasmine smoked iced sweet bitter cold hot morning evening
winter summer autumn spring Monday Friday office garden kitchen train hotel festival birthday wedding cheap costly loose
bagged Indian Chinese Kenyan Japanese"""


@pytest.mark.req("R0.7")
async def test_long_term_memory_has_its_groups_and_at_most_thirty(memory: Hitherto, clock: FakeClock) -> None:
    for word in _WORDS.split():
        await memory.remember(user="ana", text=f"{word} tea")
    await memory.add("episode", user="ana", text="A day of tea by the sea")
    await memory.remember(user="ana", text="Brewed tea for Ana", subject="persona")
    context = await memory.context(user="ana", message="tea by the sea, brewed for Ana", at=clock(), recipe="companion")
    assert len(shown(context, "long_term")) == 30
    block = context.system.partition("[LONG-TERM MEMORY]")[2]
    assert "User facts:" in block
    assert "Relationship episodes:" in block
