"""A client of the service with the library's own calls: `Client` to be awaited, `SyncClient` without."""

from recollect.client.calls import Client
from recollect.client.sync import SyncClient

__all__ = ["Client", "SyncClient"]
