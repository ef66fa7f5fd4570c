"""Requests that last as long as their client takes: a user's memory that is sent in or read out, piece by piece."""


def is_import(path: str) -> bool:
    """Whether the request's body is read piece by piece, by its route."""
    return _of_user(path) == "import"


def is_stream(path: str) -> bool:
    """Whether a client that is slow makes the request slow."""
    return _of_user(path) in ("import", "export")


def _of_user(path: str) -> str | None:
    """What a path asks of a user as a whole. An id may be called `import` as well: its path is longer."""
    match path.split("/"):
        case ["", "v1", "users", _, last]:
            return last
        case _:
            return None
