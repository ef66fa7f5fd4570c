"""A client of the service with the library's own calls: `Client` for `await`, `SyncClient` without."""

from hitherto.client.client import Client, SyncClient

__all__ = ["Client", "SyncClient"]
