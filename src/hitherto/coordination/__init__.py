"""What may stand beside the database to save time between processes. `connect` is the one place that knows the options."""

from pathlib import Path
from urllib.parse import urlsplit

from hitherto.coordination.local import DEADLINE, Coordination, LocalCoordination
from hitherto.errors import InvalidInput


def connect(url: str | None, *, memory: str, deadline: float = DEADLINE) -> Coordination:
    """The Redis at that URL for the memory at that place; without a URL, a process is on its own."""
    if url is None:
        return LocalCoordination()
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise InvalidInput("redis must be a Redis URL: redis://…, rediss://… or unix://…")
    from hitherto.coordination.redis import RedisCoordination

    return RedisCoordination(url, memory=place(memory), deadline=deadline)


def place(memory: str) -> str:
    """The memory's place in the form that all its processes share: a folder's full path, or a database without credentials.
    Processes that write it differently do not find each other, which only costs them time."""
    if "://" not in memory:
        return str(Path(memory).absolute())
    parts = urlsplit(memory)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}"
