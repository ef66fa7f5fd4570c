"""Schemathesis over the whole description of the service, against a real server: whatever is sent, there is no server
error, and what is refused is refused in the one shape."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, Literal

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hitherto import Hitherto
from hitherto.deliver.http import create_app
from hitherto.settings import Settings
from tests import effort
from tests.deliver.http.server import Server, serving

EXAMPLES = effort.count(test=8, soak=1_000)


@schemathesis.serializer("application/x-ndjson")
def lines(context: object, value: object) -> bytes:
    """Whatever text was made up, as it is."""
    return str(value).encode("utf-8", "surrogatepass")


def operations() -> list[Any]:
    """Every operation that the service describes; describing needs no open memory."""
    description = create_app(Hitherto("unopened"), Settings()).openapi()
    api: Any = schemathesis.openapi.from_dict(description)
    found = [result.ok() for result in api.get_all_operations()]
    assert len(found) > 50, "a description without operations proves nothing"
    return found


def _of_each(fixture_name: str, config: pytest.Config) -> Literal["function", "module"]:
    """With a thousand requests each, operations make thousands of users up, and what goes through all users would then take
    longer than a client waits: each operation has a server of its own."""
    del fixture_name, config
    return "function" if effort.profile() == "soak" else "module"


@pytest.fixture(scope=_of_each)
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    folder: Path = tmp_path_factory.mktemp("fuzzed")
    secrets = ("TELEGRAM_SECRET", "VOICE_SECRET", "ELEVENLABS_SECRET", "VAPI_SECRET", "RETELL_SECRET")
    variables = {f"HITHERTO_{name}": "open-sesame" for name in secrets}
    with serving(folder, HITHERTO_RATE="0", HITHERTO_BACKUPS=str(folder / "backups"), **variables) as server:
        yield server


@pytest.mark.promise("service: made-up requests", tries=EXAMPLES)
@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.label)
@given(data=st.data())
@settings(
    max_examples=EXAMPLES,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)
def test_nothing_breaks_it(operation: Any, server: Server, data: st.DataObject) -> None:
    case: Any = data.draw(operation.as_strategy())
    answer = case.call(base_url=server.url, headers={"Authorization": f"Bearer {server.token()}"})
    assert answer.status_code < 500, (case.as_curl_command(), answer.text)
    if answer.status_code >= 400:
        assert answer.json()["error"].keys() == {"type", "message", "request_id"}
