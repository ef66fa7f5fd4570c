"""A client of the service with the library's own calls: `Client` to be awaited, `SyncClient` without."""

from hitherto.client.calls import Client
from hitherto.client.sync import SyncClient

__all__ = ["Client", "SyncClient"]
