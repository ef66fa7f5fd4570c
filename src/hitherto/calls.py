"""How a public call is declared: once, as a decorated method of the engine.

The table of calls, the HTTP client, the blocking twins and their stubs (`scripts/api_stubs.py`) are derived from the
method's signature, docstring and routes. If a route names the permission it needs, the service and the command line offer
the call as well.
"""

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_type_hints

from pydantic import create_model

F = TypeVar("F", bound=Callable[..., Any])

Permission = Literal["read", "write", "forget", "admin", "operate"]

USER = "/v1/users/{user}"
"""The path that everything of one user lies under."""
_DECLARED = "__hitherto_call__"


@dataclass(frozen=True, slots=True)
class Route:
    """One way to reach a call over HTTP."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    needs: Permission | None = None
    """With a permission, the service derives the route; without one, it is written by hand in `deliver/http/routes`."""
    id: str = "id"
    """The argument that `{id}` in the path stands for."""
    query: bool = False
    """Whether the arguments go into the query string although the method has a body."""
    new_user: bool = False
    """Whether the call works for a user about whom nothing has been written yet."""

    @property
    def placeholders(self) -> tuple[str, ...]:
        return tuple(re.findall(r"{(\w+)}", self.path))


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A declared call. The client uses the first route whose placeholders are all given."""

    name: str
    method: Callable[..., Any]
    routes: tuple[Route, ...] = ()
    answers: str | None = None
    """The field that holds the answer in the JSON, if the answer alone would be a bare number or string."""
    repeatable: bool = True
    """Whether a request whose answer was lost may be sent again."""
    local: tuple[str, ...] = ()
    """Arguments that only make sense in the process that opened the memory."""
    reason: str | None = None
    """Why the call exists in this process only."""

    @property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """The parameters that a remote caller may pass, without `self`."""
        given = list(inspect.signature(self.method).parameters.values())[1:]
        return tuple(parameter for parameter in given if parameter.name not in self.local)

    @property
    def answer(self) -> Any:
        """The type of the call's result."""
        return get_type_hints(self.method)["return"]

    def route(self, given: Collection[str]) -> Route:
        """The first route whose path these arguments fill."""
        for route in self.routes:
            names = {route.id if name == "id" else name for name in route.placeholders}
            if names <= set(given):
                return route
        raise TypeError(f"{self.name}() cannot be called over HTTP with these arguments")

    @property
    def summary(self) -> str:
        return inspect.getdoc(self.method) or ""


def call(
    *routes: Route, answers: str | None = None, repeatable: bool = True, local: tuple[str, ...] = ()
) -> Callable[[F], F]:
    """Declares a method as a public call that these routes reach."""

    def declared(method: F) -> F:
        name = method.__name__
        made = Declaration(name=name, method=method, routes=routes, answers=answers, repeatable=repeatable, local=local)
        setattr(method, _DECLARED, made)
        return method

    return declared


def in_process(reason: str) -> Callable[[F], F]:
    """Declares a public call that makes no sense over HTTP, and why."""

    def declared(method: F) -> F:
        setattr(method, _DECLARED, Declaration(name=method.__name__, method=method, reason=reason))
        return method

    return declared


def calls_of(cls: type) -> Mapping[str, Declaration]:
    """The calls that a class and its bases declare, in source order."""
    members = [member for base in reversed(cls.__mro__) for member in vars(base).values()]
    found = (getattr(member, _DECLARED, None) for member in members)
    return {one.name: one for one in found if isinstance(one, Declaration)}


def wrapped(name: str, field: str, answer: Any) -> Any:
    """A model with one field, for an answer that is a bare number or string."""
    fields: dict[str, Any] = {field: (answer, ...)}
    return create_model(name, **fields)
