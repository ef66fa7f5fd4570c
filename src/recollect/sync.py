"""The same Recollect without `await`: each call runs on an event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from recollect.engine import Recollect as Async

P = ParamSpec("P")
R = TypeVar("R")


def _sync(
    method: Callable[Concatenate[Async, P], Awaitable[R]],
) -> Callable[Concatenate["Recollect", P], R]:
    @wraps(method)
    def call(self: "Recollect", *args: P.args, **kwargs: P.kwargs) -> R:
        return self.run(cast(Coroutine[Any, Any, R], method(self.engine, *args, **kwargs)))

    return call
