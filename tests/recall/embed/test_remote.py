"""An embedder behind an endpoint: by name, with its own dimension, and never in the way of an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from hitherto import Hitherto, Turn
from hitherto.errors import ServiceError
from hitherto.recall.embed import open_embedder
from hitherto.recall.embed.static import static_embedder


class Endpoint(HTTPServer):
    """OpenAI's shape of embeddings, made by the static table; `down` answers with an error."""

    down = False

    @property
    def name(self) -> str:
        return f"openai:some-model@http://127.0.0.1:{self.server_port}/v1"


class Answer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        assert isinstance(server, Endpoint)
        self.send_response(503 if server.down else 200)
        self.end_headers()
        vectors = static_embedder().embed(asked["input"])
        self.wfile.write(json.dumps({"data": [{"embedding": row.tolist()} for row in vectors]}).encode())

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_name_opens_it_with_the_dimension_of_the_model(endpoint: Endpoint) -> None:
    embedder = open_embedder(endpoint.name)
    assert (embedder.dimension, embedder.at_once) == (256, False)
    assert embedder.embed(["one", "two"] * 50).shape == (100, 256)


def test_an_endpoint_that_is_down_is_named(endpoint: Endpoint) -> None:
    endpoint.down = True
    with pytest.raises(ServiceError, match="some-model"):
        open_embedder(endpoint.name)


async def test_a_turn_without_a_vector_is_found_by_its_words(endpoint: Endpoint, tmp_path: Path) -> None:
    async with Hitherto(tmp_path, embedder=endpoint.name) as memory:
        await memory.record(Turn(user="ana", role="user", text="The ferry leaves at nine", persona="kai", lane="trip"))
        await memory.reindex(user="ana")
        said = Turn(user="ana", role="user", text="Lea moved to Lisbon", persona="kai", lane="trip")
        [new] = await memory.record(said)
        [hit, *_] = await memory.search(user="ana", query="Where did Lea move?", kinds=["turn"])
        assert hit.id == new
        assert hit.score == sum(hit.parts.values())
        assert new in [hit.id for hit in await memory.search(user="ana", query="Lisbon", persona="kai", lane="trip")]
        assert new not in [hit.id for hit in await memory.search(user="ana", query="Lisbon", persona="mia")]
        assert new not in [hit.id for hit in await memory.search(user="ana", query="Lisbon", lane="thesis")]


async def test_recall_goes_on_without_it_and_says_so(endpoint: Endpoint, tmp_path: Path) -> None:
    async with Hitherto(tmp_path, embedder=endpoint.name) as memory:
        await memory.record([Turn(user="ana", role="user", text=f"Lea moved to Lisbon, part {n}") for n in range(3)])
        await memory.remember(user="ana", text="Lea lives in Lisbon")
        await memory.reindex(user="ana")
        assert "dense" in (await memory.search(user="ana", query="Where is Lea?"))[0].parts
        endpoint.down = True
        hits = await memory.search(user="ana", query="Did Lea leave Lisbon?")
        assert {hit.kind for hit in hits} == {"turn", "memory"}
        context = await memory.context(user="ana", message="Is Lisbon good for Lea?", recipe="recall")
        [problem] = [text for text in context.warnings if "full text" in text]
        assert "some-model" in problem
        assert any(item.text.endswith("Lea lives in Lisbon") and item.included for item in context.items)
