"""A database says that its texts are sealed, so that nobody who opens it without the keys takes them for words, or writes plain
ones beside them. A user's file needs no such mark: encrypted as a whole, it cannot be read at all."""

from typing import Final

from hitherto.clock import EPOCH
from hitherto.errors import StoreUnavailable
from hitherto.store.catalog import Catalog

TENANT: Final = ""
KIND: Final = "sealed"
"""The one document that belongs to the store itself: a copy of the memory has its own, or none."""


async def put(catalog: Catalog) -> None:
    await catalog.put(TENANT, KIND, KIND, "{}", at=EPOCH)


async def refuse(catalog: Catalog) -> None:
    """For whoever has no keys."""
    if await catalog.documents(TENANT, KIND):
        raise StoreUnavailable(
            "this memory is encrypted: give its master key (HITHERTO_MASTER_KEY_FILE) and its folder of keys (HITHERTO_KEYS)"
        )
