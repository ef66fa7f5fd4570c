"""Library, service, client and command line cover each other: one table, and nothing outside of it."""

from __future__ import annotations

import inspect

import pytest

from hitherto import Hitherto
from hitherto.calls import calls_of as declared
from hitherto.client import Client, SyncClient
from hitherto.deliver.cli.commands import COMMANDS
from hitherto.deliver.http import create_app
from hitherto.deliver.http.routes.calls import WITHOUT_CALL, routes_of
from hitherto.settings import Settings
from tests.architecture.source import ROOT

CALLS = routes_of(Hitherto)
IN_PROCESS = {name: call.reason for name, call in declared(Hitherto).items() if call.reason is not None}
LIFE = {"open", "close"}
ELSEWHERE: dict[str, set[str]] = {"backup": {"progress"}, "reindex": {"progress"}, "scrub": {"progress"}}
"""Arguments that make no sense from afar."""


def calls_of(cls: type) -> dict[str, inspect.Signature]:
    members = inspect.getmembers(cls, inspect.isfunction)
    return {name: inspect.signature(call) for name, call in members if not name.startswith("_")}


def test_every_call_of_the_library_has_a_route() -> None:
    assert calls_of(Hitherto).keys() == CALLS.keys() | IN_PROCESS.keys()
    assert CALLS.keys() & IN_PROCESS.keys() == set()


def test_every_route_is_of_a_call() -> None:
    described = create_app(Hitherto("unopened"), Settings()).openapi()["paths"]
    there = {(method.upper(), path) for path, methods in described.items() for method in methods}
    named = {route for routes in CALLS.values() for route in routes}
    assert there == named | WITHOUT_CALL.keys()


def test_the_client_has_every_call() -> None:
    assert calls_of(Client).keys() == CALLS.keys() | LIFE
    assert CALLS.keys() - set(dir(SyncClient)) == set()


def test_the_client_takes_the_same_arguments() -> None:
    ours, theirs = calls_of(Client), calls_of(Hitherto)
    for name in ours:
        expected = [(p.name, p.kind) for p in theirs[name].parameters.values() if p.name not in ELSEWHERE.get(name, ())]
        assert [(p.name, p.kind) for p in ours[name].parameters.values()] == expected, name


@pytest.mark.parametrize("call", CALLS)
def test_the_page_shows_every_call_with_its_route_and_command(call: str) -> None:
    commands = [f"`{command.name}`" for command in COMMANDS if call in command.calls]
    method, path = CALLS[call][0]
    row = f"| `{call}` | `{method} {path}` | {', '.join(commands)} |"
    assert row in (ROOT / "docs" / "http.md").read_text("utf-8"), f"run `make docs`: {row}"
