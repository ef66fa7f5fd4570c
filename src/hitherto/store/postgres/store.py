"""The store on a PostgreSQL server: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`."""

from collections.abc import Callable

from hitherto.errors import StoreError
from hitherto.store.catalog import UserKey, mark_sealed, refuse_sealed
from hitherto.store.postgres import backup as backups
from hitherto.store.postgres import scrubbing
from hitherto.store.postgres.catalog import PostgresCatalog
from hitherto.store.postgres.connections import Connections
from hitherto.store.postgres.failures import clear_errors
from hitherto.store.postgres.inspection import inspect
from hitherto.store.postgres.migrations import distributed, migrate
from hitherto.store.postgres.sending import Connection
from hitherto.store.postgres.user import PostgresUserStore
from hitherto.store.protocol import Health, Scrubbed

POOL_SIZE = 10
PATIENCE = 10.0


class PostgresStore:
    """Many users' memories in one database.

    `pool_size` is the number of connections of this process; `patience` the seconds that a call waits for a
    free connection, for a user's lock, or for a server that is being restarted. `is_sealed` says that whoever opens it
    seals users' texts and has the keys.
    """

    def __init__(
        self, url: str, *, pool_size: int = POOL_SIZE, patience: float = PATIENCE, is_sealed: bool = False
    ) -> None:
        self._connections = Connections(url, pool_size=pool_size, patience=patience)
        self._catalog = PostgresCatalog(self._connections)
        self._is_sealed = is_sealed

    @property
    def catalog(self) -> PostgresCatalog:
        return self._catalog

    async def open(self) -> None:
        async with await self._connections.connect() as connection:
            with clear_errors(self._connections.settings):
                await migrate(connection)
                self._connections.sharded = bool(await distributed(connection))
        await self._connections.open()
        try:
            await (mark_sealed if self._is_sealed else refuse_sealed)(self._catalog)
        except StoreError:
            await self.close()
            raise

    async def close(self) -> None:
        await self._connections.close()

    def user(self, key: UserKey) -> PostgresUserStore:
        return PostgresUserStore(self._connections, key)

    async def health(self) -> Health:
        async def work(connection: Connection) -> Health:
            return await inspect(connection)

        try:
            return await self._connections.persist(work)
        except StoreError as error:
            return Health(backend="postgresql", version="unknown", schema=0, users=0, bytes=0, problems=(str(error),))

    async def backup(self, target: str, *, progress: Callable[[int, int], None] | None = None) -> int:
        async with await self._connections.connect() as connection:
            with clear_errors(self._connections.settings):
                return await backups.save(connection, target, progress=progress)

    async def scrub(self, *, progress: Callable[[int, int], None] | None = None) -> Scrubbed:
        async with await self._connections.connect() as connection:
            with clear_errors(self._connections.settings):
                return await scrubbing.scrub(connection, progress=progress)

    async def restore_backup(self, source: str) -> int:
        """Fills this empty database from a folder that `backup` wrote; the number of users."""
        async with await self._connections.connect() as connection:
            with clear_errors(self._connections.settings):
                return await backups.load(connection, source)
