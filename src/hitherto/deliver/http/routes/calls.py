"""Which routes reach which call of the library, and the routes derived from a call's declaration alone.

Tests check library, service, command line and client against this table.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field, create_model

from hitherto.calls import Declaration, calls_of, wrapped
from hitherto.calls import Route as Declared
from hitherto.deliver.http.models import MaybeMoment, MaybeName, Name, Strict, Text, given, reply
from hitherto.deliver.http.service import Subject, Tenancy, of_existing_user, of_tenant, of_user

Route = tuple[str, str]

_RECORDS = ("memories", "episodes", "loops", "thoughts", "summaries", "entities", "slots")
_KINDS: Mapping[str, tuple[str, ...]] = {
    "GET": (*_RECORDS, "sessions"),
    "POST": _RECORDS,
    "PATCH": (*_RECORDS, "sessions"),
    "DELETE": (*_RECORDS, "turns"),
}
"""What `{kind}` in a path stands for: a session is neither added nor forgotten by itself."""
_PROSE = ("text", "message", "query")
MOST_NAMES = 1_000


def _spelt(route: Declared) -> tuple[Route, ...]:
    if "kind" not in route.placeholders:
        return ((route.method, route.path),)
    return tuple((route.method, route.path.replace("{kind}", kind)) for kind in _KINDS[route.method])


def routes_of(engine: type) -> Mapping[str, tuple[Route, ...]]:
    """The routes of each of the engine's calls that has any."""
    return {
        name: tuple(spelt for route in call.routes for spelt in _spelt(route))
        for name, call in calls_of(engine).items()
        if call.routes
    }


WITHOUT_CALL: Mapping[Route, str] = {
    ("GET", "/metrics"): "counts of the service itself",
    ("POST", "/v1/telegram/webhook"): "a channel, through record",
    ("POST", "/v1/voice/elevenlabs/initiation"): "a channel, through context",
    ("POST", "/v1/voice/elevenlabs/post-call"): "a channel, through record",
    ("POST", "/v1/voice/elevenlabs/tool"): "a channel, through search",
    ("POST", "/v1/voice/vapi"): "a channel",
    ("POST", "/v1/voice/retell"): "a channel",
}
"""Routes that are not calls of the library, and what they are for."""


def router(engine: type) -> APIRouter:
    """The routes of every engine call whose declaration names a permission."""
    made = APIRouter()
    for call in calls_of(engine).values():
        for route in call.routes:
            if route.needs is not None:
                _add(made, call, route)
    return made


def _add(router: APIRouter, call: Declaration, route: Declared) -> None:
    kind: Any = call.answer if call.answers is None else wrapped(_title(call), call.answers, call.answer)
    router.add_api_route(
        route.path,
        _endpoint(call, route, kind),
        methods=[route.method],
        response_model=kind,
        name=call.name if route is call.routes[0] else f"{call.name}_all",
        description=call.summary,
        tags=["users" if "user" in route.placeholders else "tenant"],
    )


def _endpoint(call: Declaration, route: Declared, kind: Any) -> Callable[..., Awaitable[Response]]:
    """A function with the call's signature, as FastAPI reads it."""
    takes = _taken(call, route)
    by_query = route.query or route.method == "GET"

    async def endpoint(**values: Any) -> Response:
        subject: Subject | Tenancy = values.pop("subject")
        body: Strict | None = values.pop("body", None)
        arguments = values | (given(body) if body is not None else {})
        if "id" in route.placeholders:
            arguments[route.id] = arguments.pop("id")
        if isinstance(subject, Subject):
            arguments["user"] = subject.user
        positional = [arguments.pop(p.name) for p in call.parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        answer = await getattr(subject.memory, call.name)(*positional, **arguments)
        return reply(answer if call.answers is None else kind(**{call.answers: answer}), kind)

    parameters = [_parameter("subject", _subject(route))]
    if "id" in route.placeholders:
        parameters.append(_parameter("id", Name))
    if by_query:
        parameters += [_parameter(name, Annotated[hint, Query()], default) for name, (hint, default) in takes.items()]
    elif takes:
        fields: dict[str, Any] = {name: (hint, default) for name, (hint, default) in takes.items()}
        parameters.append(_parameter("body", create_model(f"{_title(call)}Request", __base__=Strict, **fields)))
    setattr(endpoint, "__signature__", inspect.Signature(parameters))  # noqa: B010 -- functions have no such field for the type checker
    endpoint.__name__ = call.name
    return endpoint


def _taken(call: Declaration, route: Declared) -> dict[str, tuple[Any, Any]]:
    """The arguments that are not in the path, with their types in requests."""
    hints = get_type_hints(call.method)
    in_path = {route.id if name == "id" else name for name in route.placeholders} | {"user"}
    return {
        parameter.name: (
            _asked(parameter.name, hints[parameter.name]),
            ... if parameter.default is parameter.empty else parameter.default,
        )
        for parameter in call.parameters
        if parameter.name not in in_path
    }


def _asked(name: str, hint: Any) -> Any:
    """The type of an argument in a request: bounded, without NUL, times with a zone."""
    if hint is str:
        return Text if name in _PROSE else Name
    if hint == str | None:
        return MaybeName
    if hint in (datetime, datetime | None):
        return MaybeMoment
    if get_origin(hint) is Sequence:
        return Annotated[list[Name], Field(min_length=1, max_length=MOST_NAMES)]
    if any(get_origin(one) is Sequence for one in get_args(hint)):
        return Annotated[list[Name] | None, Field(max_length=MOST_NAMES)]
    return hint


def _subject(route: Declared) -> Any:
    assert route.needs is not None, "only such routes are derived"
    if "user" not in route.placeholders:
        return of_tenant(route.needs)
    return of_user(route.needs) if route.new_user else of_existing_user(route.needs)


def _parameter(name: str, hint: Any, default: Any = ...) -> inspect.Parameter:
    usual = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual, annotation=hint)


def _title(call: Declaration) -> str:
    return call.name.title().replace("_", "")
