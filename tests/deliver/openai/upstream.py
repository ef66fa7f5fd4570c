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
class Reply:
    """An answer of several parts: reasoning, words and tool calls (name, args, id), in this order."""

    text: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    reasoning: bool = False


@dataclass
class FakeUpstream:
    """`answers` in order, the last one again and again. An answer is words, or a list of tool calls (name, args, id)."""

    answers: list[str | list[tuple[str, str, str]] | Reply] = field(default_factory=lambda: ["all right"])
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    queries: list[str] = field(default_factory=list[str])
    more: list[str] = field(default_factory=list[str])
    """What a stream says in further answers, each piece beside one of the first."""
    kept: dict[str, Any] = field(default_factory=dict[str, Any])
    """Responses by their ids."""
    status: int = 200
    cut_after: int | None = None
    """A stream breaks off after so many words."""
    hang_after: int | None = None
    wait: float = 0.0
    late: list[float] = field(default_factory=list[float])
    """How late the first answers come."""

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/v1/responses", self._responses, methods=["POST"]),
                Route("/v1/responses/{id}", self._response, methods=["GET", "DELETE"]),
                Route("/v1/embeddings", self._embeddings, methods=["POST"]),
                Route("/v1/models", self._models),
            ]
        )

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What the last request was asked with."""
        return self.asked[-1]["messages"]

    async def _next(self, request: Request) -> Reply:
        self.asked.append(await request.json())
        self.headers.append(dict(request.headers))
        self.queries.append(request.url.query)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, Reply):
            return answer
        return Reply(answer) if isinstance(answer, str) else Reply(calls=answer)

    async def _embeddings(self, request: Request) -> Response:
        await self._next(request)
        data = [{"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}]
        return JSONResponse(
            {"object": "list", "model": "small", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )

    async def _response(self, request: Request) -> Response:
        found = self.kept.get(request.path_params["id"])
        return JSONResponse(found) if found else JSONResponse({"error": {"message": "none"}}, 404)

    async def _models(self, request: Request) -> Response:
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "test"} for name in ("small", "large")]
        return JSONResponse({"object": "list", "data": listed})

    async def _chat(self, request: Request) -> Response:
        answer = await self._next(request)
        if self.status != 200:
            return JSONResponse({"error": {"message": "no", "type": "rate_limit_error", "code": "x"}}, self.status)
        if self.asked[-1].get("stream"):
            return StreamingResponse(self._chat_stream(answer), media_type="text/event-stream")
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
        if answer.calls:
            message["tool_calls"] = [_call(call) for call in answer.calls]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if answer.calls else "stop"}
        if self.late:
            await asyncio.sleep(self.late.pop(0))
        return JSONResponse(
            {
                "id": "c1",
                "object": "chat.completion",
                "created": 1,
                "model": "small",
                "choices": [choice],
                "usage": USAGE,
            },
            headers={"x-ratelimit-remaining-requests": "41", "openai-processing-ms": "7", "x-request-id": "up-1"},
        )

    async def _chat_stream(self, answer: Reply) -> AsyncIterator[bytes]:
        if self.wait:
            await asyncio.sleep(self.wait)
        for number, word in enumerate(answer.text.split(" ") if answer.text else ()):
            if number == self.cut_after:
                raise ConnectionResetError("the upstream server is gone")
            if number == self.hang_after:
                await asyncio.Event().wait()
            for place, other in enumerate(self.more, start=1):
                yield _chunk({"content": other}, place=place)
            yield _chunk({"role": "assistant", "content": word if number == 0 else f" {word}"})
        for place, (name, args, link) in enumerate(answer.calls):
            call = {"index": place, "id": link, "type": "function", "function": {"name": name, "arguments": ""}}
            yield _chunk({"role": "assistant", "tool_calls": [call]})
            for piece in (args[:3], args[3:]):
                yield _chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
        yield _chunk({}, finish="tool_calls" if answer.calls else "stop")
        options: dict[str, Any] = self.asked[-1].get("stream_options") or {}
        if options.get("include_usage"):
            yield _event({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "small",
                          "choices": [], "usage": USAGE})  # fmt: skip
        yield b"data: [DONE]\n\n"

    async def _responses(self, request: Request) -> Response:
        answer = await self._next(request)
        whole = self._whole(answer)
        self.kept[whole["id"]] = whole
        if self.asked[-1].get("background"):
            return JSONResponse({**whole, "output": [], "status": "queued"})
        if not self.asked[-1].get("stream"):
            return JSONResponse(whole)
        return StreamingResponse(_response_stream(whole), media_type="text/event-stream")

    def _whole(self, answer: Reply) -> dict[str, Any]:
        """A response; no id is given twice."""
        mark = f"{len(self.asked)}"
        output: list[dict[str, Any]] = []
        if answer.reasoning:
            output.append({"type": "reasoning", "id": f"rs_{mark}", "summary": [], "status": "completed"})
        if answer.text:
            content: list[dict[str, Any]] = [
                {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
            ]
            output.append(
                {"type": "message", "id": f"msg_{mark}", "role": "assistant", "status": "completed", "content": content}
            )
        output += [
            {"type": "function_call", "id": f"fc_{mark}_{link}", "call_id": link, "name": name, "arguments": args,
             "status": "completed"}
            for name, args, link in answer.calls
        ]  # fmt: skip
        usage = {
            "input_tokens": 7, "output_tokens": 5, "total_tokens": 12, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        return {
            "id": f"resp_{mark}", "object": "response", "created_at": 1, "model": "small", "output": output, "tools": [],
            "parallel_tool_calls": True, "tool_choice": "auto", "status": "completed", "usage": usage, "error": None,
            "incomplete_details": None,
        }  # fmt: skip


async def _response_stream(whole: dict[str, Any]) -> AsyncIterator[bytes]:
    number = 0

    def event(kind: str, **fields: Any) -> bytes:
        nonlocal number
        number += 1
        return _event({"type": kind, "sequence_number": number, **fields})

    begun: dict[str, Any] = {**whole, "output": [], "status": "in_progress"}
    yield event("response.created", response=begun)
    for place, item in enumerate(whole["output"]):
        where = {"output_index": place, "item_id": item["id"]}
        bare: dict[str, Any] = {**item, "status": "in_progress"}
        if item["type"] == "message":
            yield event("response.output_item.added", output_index=place, item={**bare, "content": []})
            blank: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
            yield event("response.content_part.added", **where, content_index=0, part=blank)
            words = item["content"][0]["text"]
            for count, word in enumerate(words.split(" ")):
                delta = word if count == 0 else f" {word}"
                yield event("response.output_text.delta", **where, content_index=0, delta=delta, logprobs=[])
            yield event("response.output_text.done", **where, content_index=0, text=words, logprobs=[])
            yield event("response.content_part.done", **where, content_index=0, part=item["content"][0])
        elif item["type"] == "function_call":
            yield event("response.output_item.added", output_index=place, item={**bare, "arguments": ""})
            yield event("response.function_call_arguments.delta", **where, delta=item["arguments"])
            yield event(
                "response.function_call_arguments.done", **where, name=item["name"], arguments=item["arguments"]
            )
        else:
            yield event("response.output_item.added", output_index=place, item=bare)
        yield event("response.output_item.done", output_index=place, item=item)
    yield event("response.completed", response=whole)


def _call(call: tuple[str, str, str]) -> dict[str, Any]:
    name, args, link = call
    return {"id": link, "type": "function", "function": {"name": name, "arguments": args}}


def _chunk(delta: dict[str, Any], finish: str | None = None, *, place: int = 0) -> bytes:
    choice = {"index": place, "delta": delta, "finish_reason": finish}
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
