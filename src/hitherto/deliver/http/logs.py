"""Logs as JSON lines. They hold ids, codes and times: never a message, a name or a value that a client sent."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime

LOG = logging.getLogger("hitherto.http")


class JsonLines(logging.Formatter):
    """One object a line. An error is its type and where it came from; its message may hold content and stays out."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = type(record.exc_info[1]).__name__
            line["trace"] = places(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, default=str)


def places(error: BaseException) -> list[str]:
    """Where an error passed through, innermost last, without any text of it."""
    return [f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in traceback.extract_tb(error.__traceback__)]


def configure(level: str) -> None:
    """Sends everything that is logged in this process to stderr as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
