"""A model provider on loopback that speaks OpenAI's protocol, well or badly: what a test tells it to."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

Mood = Literal["well", "429", "500", "503", "prose", "half", "html", "empty", "huge", "foreign", "hang", "drop"]
BAD: tuple[Mood, ...] = ("429", "500", "503", "prose", "half", "html", "empty", "huge", "foreign", "hang", "drop")
_FRESH = re.compile(r"^(\d+) (?:[\w ]+(?: \([^)]*\))?: )?I love (\w+)\.$", re.MULTILINE)


@dataclass(slots=True)
class Provider:
    """Answers by its mood; `asked` counts the questions."""

    mood: Mood = "well"
    asked: int = 0
    url: str = ""
    began: asyncio.Event = field(default_factory=asyncio.Event)
    prompts: list[str] = field(default_factory=list[str])
    answer: dict[str, Any] | None = None
    """What it says when it is well; by default the loves that the new lines state."""
    delay: float = 0.0
    """How many seconds it thinks."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await self._request(reader):
                self.asked += 1
                self.began.set()
                prompt = "\n".join(str(message.get("content")) for message in request["messages"])
                self.prompts.append(prompt)
                if self.mood == "hang":
                    await asyncio.sleep(3600)
                if self.mood == "drop":
                    break
                await asyncio.sleep(self.delay)
                writer.write(self._response(prompt))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader) -> dict[str, Any] | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            return None
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length[1]) if length else 0)
        return json.loads(body)

    def _response(self, prompt: str) -> bytes:
        match self.mood:
            case "429" | "500" | "503":
                return _http(self.mood, json.dumps({"error": {"message": "not now", "type": "busy"}}))
            case "html":
                return _http("200", "<html><body>gateway</body></html>", media="text/html")
            case "empty":
                return _http("200", "")
            case "prose":
                return _http("200", _completion("Sure! Here is what I remember: you love tea."))
            case "half":
                return _http("200", _completion('{"notes": [{"k": "fact", "text": "Loves te'))
            case "foreign":
                return _http("200", _completion("Gerne: Der Benutzer mag Tee und wohnt in Köln."))
            case "huge":
                return _http("200", _completion('{"notes": "' + "x" * 1_000_000 + '"}'))
            case _:
                loves = {"notes": _loves(prompt), "memory": _likes(prompt)}
                return _http("200", _completion(json.dumps(self.answer or loves)))


def _loves(prompt: str) -> list[dict[str, Any]]:
    return [
        {"k": "fact", "op": "new", "text": f"Likes {thing}", "kind": "preference", "q": [f"{line} I love {thing}"]}
        for line, thing in _FRESH.findall(prompt)
    ]


def _likes(prompt: str) -> list[dict[str, str]]:
    """The newest love as another library asks for it, in a prompt that does not number its lines."""
    said = [] if _FRESH.search(prompt) else re.findall(r"I love (\w+)\.", prompt)
    return [{"id": "0", "text": f"Likes {thing}"} for thing in said[-1:]]


def _completion(content: str) -> str:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    return json.dumps(
        {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    )


def _http(status: str, body: str, *, media: str = "application/json") -> bytes:
    payload = body.encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {media}\r\nContent-Length: {len(payload)}\r\n\r\n"
    return head.encode() + payload


@asynccontextmanager
async def running() -> AsyncGenerator[Provider]:
    provider = Provider()
    tasks: set[asyncio.Task[Any]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(provider.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    provider.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1#test"
    try:
        yield provider
    finally:
        server.close()
        await _ended(tasks)


async def _ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    waiting = list(tasks)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
