"""Token counts: exact where the vocabulary is at hand, never too low where it is not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from splintr import Tokenizer as Vocabulary

from hitherto.errors import InvalidInput
from hitherto.tokens import CALL, ESTIMATES, EXACT, MESSAGE, families, tokenizer
from hitherto.types import Media, Thinking, ToolCall, ToolReturn
from tests import eval_data

STAND_INS = {
    "llama": ("llama2", "llama3"),
    "mistral": ("mistral_v1", "mistral_v3"),
    "deepseek": ("deepseek_v3",),
    "qwen": ("qwen2", "qwen3"),
    "gemini": ("gemma2", "gemma3"),
    "kimi": ("kimi_k2",),
    "glm": ("glm4",),
    "phi": ("phi4",),
}
"""Open vocabularies by which a family's upper estimate is checked."""


@pytest.mark.parametrize(
    ("family", "text", "tokens"),
    [
        ("o200k", "Hello, world!", 4),
        ("cl100k", "Hello, world!", 4),
        ("o200k", "", 0),
        ("o200k", "お誕生日おめでとう", 8),
        ("cl100k", "お誕生日おめでとう", 9),
        ("o200k", "antidisestablishmentarianism", 6),
        ("cl100k", "antidisestablishmentarianism", 6),
        ("o200k", "2 + 2 = 4", 7),
        ("cl100k", "2 + 2 = 4", 7),
        ("o200k", "<|endoftext|>", 7),
    ],
)
def test_known_counts(family: str, text: str, tokens: int) -> None:
    assert tokenizer(family).count(text) == tokens


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o-mini", "o200k"),
        ("openai:gpt-5", "o200k"),
        ("o3-mini", "o200k"),
        ("gpt-4-turbo", "cl100k"),
        ("gpt-3.5-turbo", "cl100k"),
        ("anthropic:claude-sonnet-4", "claude"),
        ("google/gemini-2.5-pro", "gemini"),
        ("O200K", "o200k"),
        ("meta-llama/Llama-3.3-70B", "llama"),
    ],
)
def test_a_model_name_gives_its_family(name: str, family: str) -> None:
    found = tokenizer(name)
    assert found.family == family
    assert found.warning is None


def test_a_family_is_loaded_once() -> None:
    assert tokenizer("o200k") is tokenizer("o200k")
    assert tokenizer() is tokenizer("o200k")


def test_only_what_a_context_may_show_again_is_remembered() -> None:
    counter = tokenizer("o200k")
    remembered = counter._counted  # pyright: ignore[reportPrivateUsage]
    remembered.clear()
    assert counter.turn("a turn is counted when it is written") == counter.count_uncached(
        "a turn is counted when it is written"
    )
    assert not remembered
    assert counter.count("- a line of a context") == counter.count_uncached("- a line of a context")
    assert len(remembered) == 1


def test_an_unknown_family_is_estimated_and_warned_about() -> None:
    found = tokenizer("martian-9000")
    assert not found.exact
    assert "martian-9000" in str(found.warning)
    assert found.count("Hello, world!") >= 1.7 * 4


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_family_is_a_clear_error(name: str) -> None:
    with pytest.raises(InvalidInput, match="o200k"):
        tokenizer(name)


@pytest.mark.parametrize("family", families())
@given(text=st.text())
def test_counting_survives_anything_and_estimates_are_upper(family: str, text: str) -> None:
    counting = tokenizer(family)
    assert counting.count(text) >= (1 if text else 0)
    if family in ESTIMATES:
        assert counting.count(text) >= tokenizer("o200k").count(text)


@pytest.mark.parametrize(
    "text",
    ["\ud800", "a\udfffb", "\x00", "\u0301" * 50_000, " " * 500_000, "a" * 500_000, "<|im_start|>" * 999],
)
@pytest.mark.parametrize("family", ["o200k", "claude"])
def test_hostile_text_is_counted(family: str, text: str) -> None:
    assert tokenizer(family).count(text) > 0


@pytest.mark.parametrize("family", sorted(STAND_INS))
def test_an_estimate_is_above_the_real_count(family: str, seed: int) -> None:
    texts = random.Random(seed).sample(eval_data.texts("attacks"), 1_000)
    counting = tokenizer(family)
    for name in STAND_INS[family]:
        vocabulary = Vocabulary.from_pretrained(name)
        real = [len(vocabulary.encode_ordinary(text)) for text in texts]
        low = sum(counting.count(text) < tokens for text, tokens in zip(texts, real, strict=True))
        assert low <= 0.02 * len(texts)
        assert sum(map(counting.count, texts)) > 1.1 * sum(real)


def test_parts_are_counted_with_what_surrounds_them() -> None:
    counting = tokenizer("o200k")
    call = ToolCall(id="c1", name="weather", args='{"city": "Lisbon"}')
    answer = ToolReturn(id="c1", name="weather", content="sunny")
    count = counting.count
    assert counting.part(call) == CALL + count("c1") + count("weather") + count('{"city": "Lisbon"}')
    assert counting.part(answer) == MESSAGE + CALL + count("c1") + count("weather") + count("sunny")
    assert counting.part(Thinking(text="hm")) == MESSAGE + count("hm")
    assert counting.part(Media(media_type="image/png", url="x", caption="a boat")) == count("a boat")
    assert counting.turn("hi", [call, answer]) == count("hi") + counting.part(call) + counting.part(answer)


def test_every_exact_family_counts_with_its_own_vocabulary() -> None:
    text = "Die Straßenbahn fährt um 7:45 Uhr, 안녕하세요."
    for family, vocabulary in EXACT.items():
        assert tokenizer(family).count(text) == len(Vocabulary.from_pretrained(vocabulary).encode_ordinary(text))


VOCABULARIES = {family: Vocabulary.from_pretrained(name) for family, name in EXACT.items()}
PIECES = [
    "<|endoftext|>",
    "<s>",
    "[INST]",
    "<start_of_turn>",
    "<｜User｜>",
    "<|",
    "|>",
    "<",
    "|",
    "endoftext",
    "im_start",
    " ",
    "\n",
]


@pytest.mark.parametrize("family", EXACT)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=9)))
def test_a_control_token_in_a_text_is_counted_as_the_text_it_is(family: str, parts: list[str]) -> None:
    text = "".join(parts).encode("utf-8", "replace").decode()
    assert tokenizer(family).count_uncached(text) == len(VOCABULARIES[family].encode_ordinary(text))
