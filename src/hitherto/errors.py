"""One error tree. A class's docstring is its default message; HTTP status and exit codes are mapped at the edge."""

import re
from collections.abc import Iterable
from difflib import get_close_matches


def near(wrong: str, right: Iterable[str]) -> str:
    """The nearest valid value, as the end of a message."""
    found = get_close_matches(wrong, [*right], n=1, cutoff=0.5)
    return f" (did you mean {found[0]!r}?)" if found else ""


class HithertoError(Exception):
    """Something went wrong in Hitherto."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip())

    @classmethod
    def kind(cls) -> str:
        """The error's name in answers: `ImpossibleBudget` is `impossible_budget`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


class InvalidInput(HithertoError):
    """A value given by the caller cannot be used."""


class NotFound(HithertoError):
    """There is no such thing for this user."""


class Conflict(HithertoError):
    """The same id was used before with other content."""


class InvalidRecipe(InvalidInput):
    """A recipe has an unknown field or an impossible value."""


class PersonaTooLarge(InvalidInput):
    """The persona's text is over its cap; shorten it or raise the cap in the recipe."""


class ImpossibleBudget(HithertoError):
    """Persona, message, reserve and wrapping alone exceed the total; nothing was sent."""


class StoreError(HithertoError):
    """The store could not answer."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or opened; try again later."""


class StoreClosed(StoreUnavailable):
    """The memory is not open: use it inside `with` or `async with`, or call open() first."""


class StoreReadOnly(StoreError):
    """The data folder cannot be written to."""


class StoreFull(StoreError):
    """There is no space left for the data; nothing of this call was stored."""


class StoreCorrupt(StoreError):
    """A data file is damaged; restore it from a backup."""


class KeyDestroyed(StoreError):
    """The key of this user was destroyed; what was encrypted with it cannot be read any more."""


class SchemaMismatch(StoreError):
    """The data was written by a newer version of Hitherto; upgrade before opening it."""


class Fenced(StoreError):
    """Another worker has taken over this user's work; the step's result was discarded."""


class MissingExtra(HithertoError):
    """An optional part is not installed."""


class AccessDenied(HithertoError):
    """A valid key is needed: send it as `Authorization: Bearer …`."""


class NotPermitted(HithertoError):
    """This key may not do that."""


class TooLarge(InvalidInput):
    """The request is larger than the service accepts; send less at once."""


class TooSlow(HithertoError):
    """The request took too long to arrive."""


class Busy(HithertoError):
    """Too much is going on; try again in a moment."""

    def __init__(self, message: str | None = None, *, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds to wait before trying again."""


class RateLimited(Busy):
    """This key has sent too many requests; wait before the next."""


class Overloaded(Busy):
    """The service has as much to do as it can; try again in a moment."""


class ServiceError(HithertoError):
    """The service could not be reached, or returned an unexpected response."""
