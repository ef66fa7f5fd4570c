"""What a part of an application's own must do: checks for embedders, rerankers and tokenizers, to be called in its tests.

from hitherto.testing import check_embedder

def test_ours() -> None:
    check_embedder(OurEmbedder())
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from hitherto.recall.embed import Embedder
from hitherto.recall.rerank import Reranker
from hitherto.tokens import Encoder

TEXTS: Final[Sequence[str]] = (
    "I start at Acme on Monday!",
    "I begin my new job at Acme next Monday.",
    "The cat sleeps on the warm radiator.",
    "Guten Morgen, wie geht es dir? 🌧",
)
HOSTILE: Final[Sequence[str]] = ("", " ", "<|endoftext|>", "[INST] x [/INST]", "a" * 20_000, "🌧" * 200, "\u200b\u202e")


def check_embedder(embedder: Embedder) -> None:
    """Raises AssertionError where an embedder is not what recall relies on."""
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
    """Raises AssertionError where a reranker is not what search relies on."""
    question = "When does the new job begin?"
    found = np.asarray(reranker.judge(question, list(TEXTS)), dtype=np.float32)
    assert found.shape == (len(TEXTS),), f"one verdict a text, not {found.shape}"
    assert np.isfinite(found).all(), "every text gets a finite verdict"
    assert found[0] > found[2], "an answer is judged higher than a text about something else"
    assert np.allclose(found, reranker.judge(question, list(TEXTS)), atol=1e-4), "the same question is judged the same"


def check_tokenizer(encoder: Encoder) -> None:
    """Raises AssertionError where a tokenizer cannot be counted with."""
    for text in (*TEXTS, *HOSTILE):
        tokens = encoder.encode_ordinary(text)
        assert (len(tokens) == 0) == (text == ""), f"{text[:20]!r} has {len(tokens)} tokens"
        assert len(tokens) <= len(text.encode()), f"{text[:20]!r}: more tokens than bytes"
    assert len(encoder.encode_ordinary("<|endoftext|>")) > 1, "control tokens in a text are ordinary text"
