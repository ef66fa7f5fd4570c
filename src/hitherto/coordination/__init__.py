"""What may stand beside the database to save time between processes. `connect` is the one place that knows what there is."""

from pathlib import Path
from urllib.parse import urlsplit

from hitherto.coordination.local import DEADLINE, Coordination, LocalCoordination
from hitherto.errors import InvalidInput


def connect(url: str | None, *, memory: str, deadline: float = DEADLINE) -> Coordination:
    """The Redis at that URL for the memory at that place; with none, a process is alone."""
    if url is None:
        return LocalCoordination()
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise InvalidInput("what stands beside the database is a Redis: redis://…, rediss://… or unix://…")
    from hitherto.coordination.redis import RedisCoordination

    return RedisCoordination(url, memory=place(memory), deadline=deadline)


def place(memory: str) -> str:
    """The memory's place as every process that shares it writes it: a folder's whole path, a database without how to log
    in. Two processes that write it differently do not find each other, which costs them time only."""
    if "://" not in memory:
        return str(Path(memory).absolute())
    parts = urlsplit(memory)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}"
