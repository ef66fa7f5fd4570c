"""The published contract, on both stores."""

from hitherto.testing import StoreConformance


class TestStores(StoreConformance):
    """Runs on the fixture `store`, which is each backend in turn."""
