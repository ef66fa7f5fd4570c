"""The classifier of sentences: the weights that are committed, and lines as people write them."""

import numpy as np
import pytest

from hitherto.learn.readers import classifier as module
from hitherto.learn.readers.classifier import BUCKETS, KINDS, ClassifiedLine, checksum, classifier, pieces
from hitherto.recall.embed.static import static_embedder


def test_the_committed_weights_are_those_that_the_module_names() -> None:
    assert checksum() == module.VERSION
    assert 100_000 < module.WEIGHTS.stat().st_size < 300_000


def test_the_weights_were_trained_for_the_embedder_that_is_bundled() -> None:
    with np.load(module.WEIGHTS) as table:
        assert bytes(table["embedder"]).decode() == static_embedder().version, "run scripts/train_classifier.py"


@pytest.mark.parametrize(
    "text",
    [
        "im allergic to penicillin",
        "my niece leela is getting married in june",
        "soy alérgica a las nueces",
        "ich wohne seit märz in leipzig",
        "je travaille comme infirmier à Lyon",
        "meu irmão mora em Recife",
    ],
)
def test_what_a_friend_would_note_is_worth_a_note(text: str) -> None:
    assert classifier().judge([ClassifiedLine(text=text)])[0].worth > 0.5


@pytest.mark.parametrize("text", ["ok", "lol", "thanks!", "haha yes", "good night", "gracias!", "na gut", "😂😂"])
def test_small_talk_is_not(text: str) -> None:
    assert classifier().judge([ClassifiedLine(text=text)])[0].worth < 0.5


def test_a_batch_is_judged_as_each_line_alone() -> None:
    lines = [
        ClassifiedLine(text=text)
        for text in ("i live in hackney", "", " ", "lol", "x" * 5_000, "\ud800 odd", "日本語です")
    ]
    together = classifier().judge(lines)
    for line, judged in zip(lines, together, strict=True):
        [alone] = classifier().judge([line])
        assert alone.worth == pytest.approx(judged.worth, abs=1e-4)
        assert set(alone.kinds) == set(KINDS)


def test_every_line_has_pieces_of_its_own() -> None:
    starts, buckets = pieces([ClassifiedLine(text="a"), ClassifiedLine(text=""), ClassifiedLine(text="bc de")])
    assert list(starts) == sorted(set(starts.tolist()))
    assert int(buckets.min()) >= 0
    assert int(buckets.max()) < BUCKETS
