"""What any store must do, as plain test classes.

Inherit `StoreConformance` in a test class, beside a fixture `store` that yields an opened, empty store:

    class TestMyStore(StoreConformance):
        ...

The methods are coroutines, so run them under a plugin for async tests.
"""

from recollect.testing.conformance.bookkeeping import BookkeepingConformance
from recollect.testing.conformance.catalog import CatalogConformance
from recollect.testing.conformance.erasing import ErasingConformance
from recollect.testing.conformance.log import LogConformance
from recollect.testing.conformance.records import RecordConformance
from recollect.testing.conformance.search import SearchConformance
from recollect.testing.conformance.turns import TurnConformance
from recollect.testing.conformance.writing import WritingConformance

__all__ = ["StoreConformance"]


class StoreConformance(
    TurnConformance,
    RecordConformance,
    SearchConformance,
    LogConformance,
    WritingConformance,
    BookkeepingConformance,
    ErasingConformance,
    CatalogConformance,
):
    """The whole contract of `recollect.store.base`."""
