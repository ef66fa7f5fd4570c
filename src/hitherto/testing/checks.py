"""What a part of an application's own must do: checks for embedders, rerankers, tokenizers, sections and readers, to be called
in its tests; and what a provider accepts as `messages`.

from hitherto.testing import check_embedder, check_section

def test_our_embedder() -> None:
    check_embedder(OurEmbedder())

async def test_our_section() -> None:
    await check_section(our_section)
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, cast, get_args

import numpy as np

from hitherto.assemble.sections.application import asked
from hitherto.learn.notes import (
    FactOp,
    Line,
    LoopOp,
    Method,
    Passage,
    Reader,
    Reading,
    Scene,
    Sitting,
    SittingNotes,
)
from hitherto.plugins import Moment, Section
from hitherto.recall.embed import Embedder
from hitherto.recall.rerank import Reranker
from hitherto.tokens import Encoder
from hitherto.types import Json, Loop, Memory, Persona, Profile, Quote, StoredTurn

TEXTS: Final[Sequence[str]] = (
    "I start at Acme on Monday!",
    "I begin my new job at Acme next Monday.",
    "The cat sleeps on the warm radiator.",
    "Guten Morgen, wie geht es dir? 🌧",
)
HOSTILE: Final[Sequence[str]] = ("", " ", "<|endoftext|>", "[INST] x [/INST]", "a" * 20_000, "🌧" * 200, "\u200b\u202e")


def check_embedder(embedder: Embedder) -> None:
    """Raises AssertionError if an embedder is not what recall relies on."""
    assert embedder.name, "name: what settings call it"
    assert embedder.version, "version: changes whenever the vectors do"
    made = np.asarray(embedder.embed(list(TEXTS)), dtype=np.float32)
    assert made.shape == (len(TEXTS), embedder.dimension), f"one row of `dimension` numbers a text, not {made.shape}"
    lengths = np.linalg.norm(made, axis=1)
    assert np.allclose(lengths, 1, atol=1e-2), f"vectors have length one (or zero for a text without words): {lengths}"
    again = np.asarray(embedder.embed(list(TEXTS)), dtype=np.float32)
    assert np.allclose(made, again, atol=1e-4), "the same texts give the same vectors"
    single = np.asarray(embedder.embed([TEXTS[2]]), dtype=np.float32)
    assert np.allclose(single[0], made[2], atol=1e-2), "a text's vector does not depend on what else is asked for"
    assert made[0] @ made[1] > made[0] @ made[2], "what means the same is closer than what does not"
    odd = np.asarray(embedder.embed(list(HOSTILE)), dtype=np.float32)
    assert odd.shape == (len(HOSTILE), embedder.dimension)
    assert np.isfinite(odd).all(), "every text gets finite numbers"
    assert np.asarray(embedder.embed([])).shape[0] == 0, "no texts, no rows"


def check_reranker(reranker: Reranker) -> None:
    """Raises AssertionError if a reranker is not what search relies on."""
    question = "When does the new job begin?"
    found = np.asarray(reranker.judge(question, list(TEXTS)), dtype=np.float32)
    assert found.shape == (len(TEXTS),), f"one verdict a text, not {found.shape}"
    assert np.isfinite(found).all(), "every text gets a finite verdict"
    assert found[0] > found[2], "an answer is judged higher than a text about something else"
    assert np.allclose(found, reranker.judge(question, list(TEXTS)), atol=1e-4), "the same question is judged the same"


def check_tokenizer(encoder: Encoder) -> None:
    """Raises AssertionError if a tokenizer cannot be counted with."""
    for text in (*TEXTS, *HOSTILE):
        tokens = encoder.encode_ordinary(text)
        assert (len(tokens) == 0) == (text == ""), f"{text[:20]!r} has {len(tokens)} tokens"
        assert len(tokens) <= len(text.encode()), f"{text[:20]!r}: more tokens than bytes"
    assert len(encoder.encode_ordinary("<|endoftext|>")) > 1, "control tokens in a text are ordinary text"


NOW: Final = datetime(2026, 3, 5, 18, 30, tzinfo=UTC)
SECONDS: Final = 0.25
"""What a recipe gives a section's function, unless it says otherwise."""
LINES: Final = 50
SAID: Final = (
    ("user", "I start at Acme on Monday! My sister Lea comes along to Lisbon in May."),
    ("assistant", "Congratulations! Have you booked the flights?"),
    ("user", "Not yet, I will do it tomorrow. And I no longer live in Leeds."),
    ("user", "ok"),
)


async def check_section(section: Section, *, moments: Iterable[Moment] = ()) -> None:
    """Raises AssertionError if a section's function is not what a context relies on: for an unknown user, for one who
    talks, for hostile messages, and for `moments` of your own."""
    told = _told()
    first = Moment(
        tenant="default", user="ana", persona=_PERSONA, lane=None, message="", now=NOW, profile=Profile(id="p", at=NOW)
    )
    known = replace(first, message=SAID[0][1], window=told, inputs={"plan": "gold"})
    for moment in (first, known, *(replace(known, message=text) for text in HOSTILE), *moments):
        lines = await asyncio.wait_for(asked(section, moment, LINES), timeout=SECONDS)
        again = await asyncio.wait_for(asked(section, moment, LINES), timeout=SECONDS)
        assert lines == again, "the same moment gives the same lines"
        assert all(isinstance(line.text, str) for line in lines), "a line's text is a str"
        assert not any(isinstance(line.sources, str) for line in lines), "sources is a tuple of ids, not one str"
        names = [line.id for line in lines if line.id]
        assert len(names) == len(set(names)), "every line has an id of its own, or none"


async def check_reader(reader: Reader) -> None:
    """Raises AssertionError if a reader returns notes that could not be used."""
    assert reader.method in get_args(Method), f"method is one of {', '.join(get_args(Method))}"
    told = _told()
    lines = tuple(Line(turn=turn, speaker="Ana" if turn.role == "user" else "Nikita", text=turn.text) for turn in told)
    scene = Scene(user="Ana", persona="Nikita", zone="Europe/Berlin", now=NOW)
    memory = Memory(id="m-1", at=NOW, text="Ana lives in Leeds.")
    loop = Loop(id="l-1", at=NOW, text="Book the flights to Lisbon")
    sitting = Sitting(scene=scene, lines=lines, noted=(memory,), loops=(loop,))
    full = Passage(scene=scene, before=lines[:1], new=lines[1:], memories=(memory,), loops=(loop,), sitting=sitting)
    for passage in (
        Passage(scene=scene, before=(), new=lines),
        full,
        Passage(scene=scene, before=(), new=lines[-1:], characters=0),
    ):
        reading = await reader.read(passage)
        assert isinstance(reading, Reading), f"read gives a Reading, not {type(reading).__name__}"
        _check_reading(reading, passage)
    closed = await reader.close(sitting)
    assert isinstance(closed, SittingNotes), f"close gives SittingNotes, not {type(closed).__name__}"
    for sentence in (*closed.summary, *closed.mattered, *closed.day, *closed.moments):
        _check_quotes(sentence.quotes, lines, f"the sentence {sentence.text!r}")


def _check_reading(reading: Reading, passage: Passage) -> None:
    known = {memory.id for memory in passage.memories}
    opened = {loop.id for loop in passage.loops}
    for fact in reading.facts:
        shown = f"the fact {fact.text or fact.ref!r}"
        assert fact.op in get_args(FactOp), f"{shown}: op {fact.op!r} is none of {', '.join(get_args(FactOp))}"
        assert fact.op == "new" or fact.ref in known, f"{shown}: op {fact.op!r} needs the id of a known memory as ref"
        assert fact.text or fact.op in ("same", "over", "wrong"), f"{shown}: op {fact.op!r} needs a text"
        _check_quotes(fact.quotes, passage.lines, shown)
    for loop in reading.loops:
        shown = f"the loop {loop.text or loop.ref!r}"
        assert loop.op in get_args(LoopOp), f"{shown}: op {loop.op!r} is none of {', '.join(get_args(LoopOp))}"
        assert loop.op == "open" or loop.ref in opened, f"{shown}: op {loop.op!r} needs the id of an open loop as ref"
        assert loop.text or loop.op not in ("open", "moved"), f"{shown}: op {loop.op!r} needs a text"
        _check_quotes(loop.quotes, passage.lines, shown)


def _check_quotes(quotes: Sequence[Quote], lines: Sequence[Line], what: str) -> None:
    """What is not quoted word for word is dropped where notes are decided on, so a reader should quote exactly."""
    texts = {line.turn.id: line.turn.text for line in lines}
    assert quotes, f"{what} needs a quote: the words that say it"
    for quote in quotes:
        assert quote.turn in texts, f"{what}: its quote names turn {quote.turn!r}, which was not shown"
        assert quote.words in texts[quote.turn], f"{what}: {quote.words!r} does not stand in turn {quote.turn!r}"


_PERSONA: Final = Persona(id="nikita", name="Nikita", text="You are Nikita.")


def _told() -> tuple[StoredTurn, ...]:
    return tuple(
        StoredTurn(
            seq=number,
            place=number,
            id=f"t-{number}",
            version=1,
            role="user" if role == "user" else "assistant",
            text=text,
            at=NOW,
            recorded_at=NOW,
            retired=None,
            persona="nikita",
            lane=None,
            conversation=None,
            speaker=None,
            reply_to=None,
            origin="user" if role == "user" else "assistant",
            parts=(),
            snapshot=None,
            session="s-1",
            position=number,
            number=number,
            tokens=len(text),
            family="o200k",
        )
        for number, (role, text) in enumerate(SAID, start=1)
    )


# What an OpenAI-compatible provider accepts as `messages`, strictly: for each rule there is a provider that refuses
# messages that break it.

_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,128}")
_ROLES = {"system", "developer", "user", "assistant", "tool"}


def chat_faults(messages: Sequence[Mapping[str, Json]]) -> list[str]:
    """Everything that is wrong with a list of chat messages, each with its place; nothing if it may be sent."""
    faults: list[str] = []
    waiting: dict[str, None] = {}
    for place, message in enumerate(messages):
        role = message.get("role")
        where = f"message {place} ({role})"
        if role not in _ROLES:
            faults.append(f"{where}: no such role")
        if role == "tool":
            link = message.get("tool_call_id")
            if not isinstance(link, str) or link not in waiting:
                faults.append(f"{where}: answers {link!r}, which the message before did not call")
            else:
                del waiting[link]
            if not isinstance(message.get("content"), str | list):
                faults.append(f"{where}: a tool's answer needs content")
            continue
        if waiting:
            faults.append(f"{where}: calls {', '.join(waiting)} are not answered before it")
            waiting = {}
        calls = message.get("tool_calls")
        if calls is not None:
            waiting = dict.fromkeys(_calls(calls, where, faults))
        if role == "assistant" and calls is None and not message.get("content"):
            faults.append(f"{where}: neither content nor calls")
        if role != "assistant" and not isinstance(message.get("content"), str | list):
            faults.append(f"{where}: content must be a text or a list of parts")
    if waiting:
        faults.append(f"calls {', '.join(waiting)} are never answered")
    if messages and messages[-1].get("role") not in {"user", "tool"}:
        faults.append("the last message is neither the user's nor a tool's")
    return faults


def _calls(calls: Json, where: str, faults: list[str]) -> list[str]:
    if not isinstance(calls, list) or not calls:
        faults.append(f"{where}: tool_calls must be a list of at least one")
        return []
    links: list[str] = []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or call.get("type") != "function" or not isinstance(function, dict):
            faults.append(f"{where}: a call must be of type function")
            continue
        link, name, args = call.get("id"), function.get("name"), function.get("arguments")
        if not isinstance(link, str) or not link or link in links:
            faults.append(f"{where}: the id {link!r} is missing or given twice")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            faults.append(f"{where}: {name!r} cannot be a function's name")
        if not _is_object(args):
            faults.append(f"{where}: the arguments of {name!r} are no JSON object")
        links.append(str(link))
    return links


def _is_object(args: Json) -> bool:
    try:
        return isinstance(args, str) and isinstance(cast(object, json.loads(args)), dict)
    except ValueError:
        return False
