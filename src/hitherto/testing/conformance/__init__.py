"""What any store must do, as plain test classes.

Inherit `StoreConformance` in a test class, beside a fixture `store` that yields an opened, empty store:

    class TestMyStore(StoreConformance):
        ...

The methods are coroutines, so run them under a plugin for async tests.
"""

from hitherto.testing.conformance.bookkeeping import BookkeepingConformance
from hitherto.testing.conformance.catalog import CatalogConformance
from hitherto.testing.conformance.erasing import ErasingConformance
from hitherto.testing.conformance.log import LogConformance
from hitherto.testing.conformance.records import RecordConformance
from hitherto.testing.conformance.search import SearchConformance
from hitherto.testing.conformance.turns import TurnConformance
from hitherto.testing.conformance.writing import WritingConformance

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
    """The whole contract of `hitherto.store.protocol`."""
