"""Fields that may be given as functions, which are called when somebody asks for them: what few callers look at costs the
others nothing."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

C = TypeVar("C", bound=type)
T = TypeVar("T")


class _Slot(Protocol):
    """Where a class with `__slots__` keeps one attribute."""

    def __get__(self, instance: object, owner: type | None = None, /) -> Any: ...
    def __set__(self, instance: object, value: Any, /) -> None: ...


class _Late:
    def __init__(self, slot: _Slot) -> None:
        self._slot = slot

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is None:
            return self
        found = self._slot.__get__(instance, owner)
        if callable(found):
            found = found()
            self._slot.__set__(instance, found)
        return found

    def __set__(self, instance: object, value: Any) -> None:
        self._slot.__set__(instance, value)


def late(*names: str) -> Callable[[C], C]:
    """Lets these fields of a dataclass with slots be functions of no arguments until they are read. Two threads that read one
    at once may both call it, so it had better be pure."""

    def decorated(cls: C) -> C:
        for name in names:
            setattr(cls, name, _Late(vars(cls)[name]))
        return cls

    return decorated


def later(make: Callable[[], T]) -> T:
    """A function in the place of what it makes, for such a field."""
    return cast(T, make)
