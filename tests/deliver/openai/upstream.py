"""A model server of OpenAI's shape for tests: it says what it is told to say and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


@dataclass
class FakeUpstream:
    """`answers` in order, the last one again and again. An answer is words, or a list of tool calls (name, args, id)."""

    answers: list[str | list[tuple[str, str, str]]] = field(default_factory=lambda: ["all right"])
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    status: int = 200
    cut_after: int | None = None
    """A stream breaks off after so many words."""
    hang_after: int | None = None
    wait: float = 0.0

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/v1/responses", self._responses, methods=["POST"]),
                Route("/v1/models", self._models),
            ]
        )

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What the last request was asked with."""
        return self.asked[-1]["messages"]

    async def _next(self, request: Request) -> str | list[tuple[str, str, str]]:
        self.asked.append(await request.json())
        self.headers.append(dict(request.headers))
        return self.answers[min(len(self.asked), len(self.answers)) - 1]

    async def _models(self, request: Request) -> Response:
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "test"} for name in ("small", "large")]
        return JSONResponse({"object": "list", "data": listed})

    async def _chat(self, request: Request) -> Response:
        answer = await self._next(request)
        if self.status != 200:
            return JSONResponse({"error": {"message": "no", "type": "rate_limit_error", "code": "x"}}, self.status)
        if self.asked[-1].get("stream"):
            return StreamingResponse(self._chat_stream(answer), media_type="text/event-stream")
        message: dict[str, Any] = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
        if not isinstance(answer, str):
            message["tool_calls"] = [_call(call) for call in answer]
        choice = {"index": 0, "message": message, "finish_reason": "stop" if isinstance(answer, str) else "tool_calls"}
        return JSONResponse(
            {
                "id": "c1",
                "object": "chat.completion",
                "created": 1,
                "model": "small",
                "choices": [choice],
                "usage": USAGE,
            }
        )

    async def _chat_stream(self, answer: str | list[tuple[str, str, str]]) -> AsyncIterator[bytes]:
        if self.wait:
            await asyncio.sleep(self.wait)
        if isinstance(answer, str):
            for number, word in enumerate(answer.split(" ")):
                if number == self.cut_after:
                    raise ConnectionResetError("the upstream server is gone")
                if number == self.hang_after:
                    await asyncio.Event().wait()
                yield _chunk({"content": word if number == 0 else f" {word}"})
        else:
            for place, (name, args, link) in enumerate(answer):
                call = {"index": place, "id": link, "type": "function", "function": {"name": name, "arguments": ""}}
                yield _chunk({"tool_calls": [call]})
                for piece in (args[:3], args[3:]):
                    yield _chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
        yield _chunk({}, finish="stop")
        options: dict[str, Any] = self.asked[-1].get("stream_options") or {}
        if options.get("include_usage"):
            yield _event({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "small",
                          "choices": [], "usage": USAGE})  # fmt: skip
        yield b"data: [DONE]\n\n"

    async def _responses(self, request: Request) -> Response:
        answer = await self._next(request)
        output: list[dict[str, Any]]
        if isinstance(answer, str):
            content: list[dict[str, Any]] = [{"type": "output_text", "text": answer, "annotations": []}]
            output = [{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content}]
        else:
            output = [
                {"type": "function_call", "id": "f", "call_id": link, "name": name, "arguments": args}
                for name, args, link in answer
            ]
        whole = {
            "id": "r1", "object": "response", "created_at": 1, "model": "small", "output": output, "tools": [],
            "parallel_tool_calls": True, "tool_choice": "auto", "status": "completed",
        }  # fmt: skip
        if not self.asked[-1].get("stream"):
            return JSONResponse(whole)

        async def stream() -> AsyncIterator[bytes]:
            assert isinstance(answer, str)
            for number, word in enumerate(answer.split(" ")):
                delta = word if number == 0 else f" {word}"
                yield _event(
                    {"type": "response.output_text.delta", "delta": delta, "item_id": "m1", "output_index": 0,
                     "content_index": 0, "sequence_number": number, "logprobs": []}
                )  # fmt: skip
            yield _event({"type": "response.completed", "response": whole, "sequence_number": 99})

        return StreamingResponse(stream(), media_type="text/event-stream")


def _call(call: tuple[str, str, str]) -> dict[str, Any]:
    name, args, link = call
    return {"id": link, "type": "function", "function": {"name": name, "arguments": args}}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _event({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "small", "choices": [choice]})


def _event(value: dict[str, Any]) -> bytes:
    kind = f"event: {value['type']}\n" if "type" in value else ""
    return f"{kind}data: {json.dumps(value)}\n\n".encode()


@asynccontextmanager
async def listening(app: ASGIApp) -> AsyncGenerator[str]:
    """The application on a free port of loopback; its address."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="on"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        assert not task.done(), task.exception()
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        server.force_exit = True
        await task
