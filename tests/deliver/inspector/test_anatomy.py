"""A context taken apart: nothing lost, nothing invented, and redacted when it has to be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest

from hitherto import demo
from hitherto.assemble.material import OVER_BUDGET, SHORTENED
from hitherto.deliver.blocks import blocks_of
from hitherto.deliver.inspector.anatomy import NAMES, anatomy, redacted, why
from hitherto.deliver.inspector.views import standalone
from hitherto.recipes import book
from hitherto.sync import Hitherto
from hitherto.types import Item


@pytest.fixture(scope="module")
def memory(story: Path) -> Iterator[Hitherto]:
    with demo.open_memory(story, clock=lambda: demo.NOW) as opened:
        yield opened


@pytest.mark.parametrize("recipe", book.names())
def test_the_layers_are_the_system_text(memory: Hitherto, recipe: str) -> None:
    context = memory.context(user="ana", persona="nikita", message="yes", recipe=recipe, keep=False)
    assert "".join(block.text for block in blocks_of(context.system)) == context.system
    made = anatomy(context)
    assert made.system_bytes == len(context.system.encode())
    assert {layer.section for layer in made.layers} <= NAMES.keys()
    assert sum(layer.tokens for layer in (*made.layers, *made.tail)) + made.message_tokens == context.tokens
    assert sum(layer.share for layer in made.layers) == pytest.approx(100, abs=1)
    shown = {item.section for item in context.items if item.included and item.section not in ("working", "message")}
    assert shown <= {layer.section for layer in (*made.layers, *made.tail)}
    told = [*made.messages, *({"content": layer.text} for layer in made.tail)]
    assert {str(message["content"]) for message in context.messages[:-1]} <= {str(one["content"]) for one in told} | {
        "\n\n".join(layer.text for layer in made.tail)
    }


@pytest.mark.parametrize("recipe", book.names())
def test_the_stable_beginning_is_what_the_hash_covers(memory: Hitherto, recipe: str) -> None:
    first = memory.context(user="ana", persona="nikita", message="yes", recipe=recipe, keep=False)
    second = memory.context(user="ana", persona="nikita", message="the flights?", recipe=recipe, keep=False)
    assert first.prefix_hash == second.prefix_hash
    stable = [layer.stable for layer in anatomy(first).layers]
    assert stable == sorted(stable, reverse=True)
    assert stable[0]
    again = anatomy(second)
    assert [layer.text for layer in anatomy(first).layers if layer.stable] == [
        layer.text for layer in again.layers if layer.stable
    ]
    if not again.tail:
        prefix = "".join(
            block.text for block, is_stable in zip(blocks_of(first.system), stable, strict=True) if is_stable
        )
        assert blake2b(prefix.encode(), digest_size=16).hexdigest() == first.prefix_hash


@pytest.mark.parametrize(
    ("included", "reason", "words"),
    [
        (True, "", "in"),
        (True, SHORTENED, "in, but shortened to fit"),
        (False, OVER_BUDGET, "out: the budget of its section was used up by better ones"),
        (False, "over the limit of 5", "out: its section takes 5 at most, and better ones were there"),
        (False, "duplicate of m1 in loops", "out: m1 says the same in loops already"),
        (False, "duplicate of turn t1 in working", "out: t1 says the same in working already"),
        (False, "beyond the last 30 turns", "out: older than the last 30 turns, which is all the recipe shows"),
        (False, "something new", "out: something new"),
    ],
)
def test_reasons_in_words(included: bool, reason: str, words: str) -> None:
    item = Item(section="loops", kind="loop", id="x", text="x", tokens=1, included=included, reason=reason)
    assert why(item) == words


def test_every_reason_the_demo_gives_has_words(memory: Hitherto) -> None:
    for recipe in book.names():
        context = memory.context(user="ana", persona="nikita", message="yes", recipe=recipe, keep=False)
        for item in context.items:
            assert item.included or why(item) != f"out: {item.reason}", item.reason


@pytest.mark.parametrize("recipe", book.names())
def test_redacting_leaves_no_word(memory: Hitherto, recipe: str) -> None:
    context = memory.context(user="ana", persona="nikita", message="yes, Mukesh agreed", recipe=recipe, keep=False)
    masked = redacted(context)
    said = " ".join([masked.system, *(str(message["content"]) for message in masked.messages)])
    said += " ".join(f"{item.text} {item.id} {' '.join(item.sources)} {item.reason}" for item in masked.items)
    told = set(re.findall(r"[^\W\d_]{3,}", context.system + " ".join(item.text for item in context.items)))
    structure = set(
        re.findall(
            r"[^\W\d_]{3,}", " ".join(re.findall(r"\[/?[A-Z —-]+\]|Boundaries:|Response style:", context.system))
        )
    )
    reasons = {
        "said",
        "another",
        "persona",
        "duplicate",
        "shown",
        "question",
        "answer",
        "without",
        "its",
        "with",
        "below",
        "threshold",
        "over",
        "the",
        "limit",
        "budget",
        "beyond",
        "last",
        "turns",
        *NAMES,
        "long",
        "term",
        "longer",
    }
    left = {word for word in told - structure - reasons if re.search(rf"\b{re.escape(word)}\b", said)}
    assert left == set()
    assert [item.tokens for item in masked.items] == [item.tokens for item in context.items]
    assert [item.parts for item in masked.items] == [item.parts for item in context.items]
    page = standalone(context, redact=True)
    assert not re.search("Mukesh|Nikita|NIKITA|Lisbon|sat-0", page)


def test_the_page_holds_all_it_needs(memory: Hitherto) -> None:
    page = standalone(memory.context(user="ana", persona="nikita", message="yes", keep=False))
    assert "Mukesh" in page
    assert not re.search(r"<script|<link|(?:src|href|action)=|url\(|@import", page)
