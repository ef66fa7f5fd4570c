"""What any store must do, as plain test classes.

Inherit `StoreConformance` in a test class, beside a fixture `store` that yields an opened, empty store:

    class TestMyStore(StoreConformance):
        ...

The methods are coroutines, so run them under a plugin for async tests.
"""

from hitherto.testing.conformance.catalog import CatalogConformance
from hitherto.testing.conformance.changes import WritingConformance
from hitherto.testing.conformance.erasure import ErasingConformance
from hitherto.testing.conformance.log import BookkeepingConformance, LogConformance
from hitherto.testing.conformance.records import RecordConformance
from hitherto.testing.conformance.search import SearchConformance
from hitherto.testing.conformance.turns import TurnConformance

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
