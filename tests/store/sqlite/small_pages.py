"""Pages of a few traces, so that a short log has many borders between them."""

import pytest

from hitherto.store.sqlite import tracepages


def small_pages(patch: pytest.MonkeyPatch, *, rows: int = 7, loose: int = 3) -> None:
    patch.setattr(tracepages, "ROWS", rows)
    patch.setattr(tracepages, "LOOSE", loose)
