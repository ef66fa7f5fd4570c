"""For tests of applications and of stores: a clock to move, drafts to write, and the contract of a store."""

from hitherto.testing.chat import chat_faults
from hitherto.testing.clock import START, FakeClock
from hitherto.testing.conformance import StoreConformance
from hitherto.testing.drafts import always, moment, put, row_draft, turn_draft, words
from hitherto.testing.parts import check_embedder, check_reranker, check_tokenizer

__all__ = [
    "START",
    "FakeClock",
    "StoreConformance",
    "always",
    "chat_faults",
    "check_embedder",
    "check_reranker",
    "check_tokenizer",
    "moment",
    "put",
    "row_draft",
    "turn_draft",
    "words",
]
