"""For tests of applications and of stores: a clock to move, drafts to write, and the contract of a store."""

from hitherto.testing.checks import (
    chat_faults,
    check_embedder,
    check_reader,
    check_reranker,
    check_section,
    check_tokenizer,
)
from hitherto.testing.conformance import StoreConformance
from hitherto.testing.drafts import START, FakeClock, always, moment, put, row_draft, turn_draft, words

__all__ = [
    "START",
    "FakeClock",
    "StoreConformance",
    "always",
    "chat_faults",
    "check_embedder",
    "check_reader",
    "check_reranker",
    "check_section",
    "check_tokenizer",
    "moment",
    "put",
    "row_draft",
    "turn_draft",
    "words",
]
