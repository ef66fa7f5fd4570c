"""The routes of the endpoint. `POST /v1/chat/completions`, `POST /v1/responses`, `GET /v1/models`.

Whose memory a request uses, the first that is given: the user of the key; the header `X-Hitherto-User`; the field `user`
of the body. The conversation, the first that is given: the header `X-Hitherto-Conversation`, `metadata.conversation_id`,
none (one lane for all of the user's chats). The persona: the header `X-Hitherto-Persona`, or the service's own.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Mapping
from typing import Any, cast

import httpx
from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from hitherto.deliver.http.failures import BrokenRequest
from hitherto.deliver.http.service import Service
from hitherto.deliver.http.subjects import caller_of, subject_of
from hitherto.deliver.openai.answers import Heard
from hitherto.deliver.openai.formats import Chat, Format, Message, Responses
from hitherto.deliver.openai.remembering import Remembered, Who, remembered
from hitherto.deliver.openai.upstream import PLAIN, Upstream
from hitherto.deliver.untrusted import child, text
from hitherto.errors import InvalidInput, NotPermitted, Overloaded
from hitherto.recipes import book as recipe_book
from hitherto.tokens import tokenizer

router = APIRouter(tags=["openai"])

ENDS = (b"data: [DONE]", b"event: response.completed")
"""What the last piece of a stream holds, of either API."""


@router.post("/v1/chat/completions", response_model=None)
async def chat_completions(request: Request) -> Response:
    """A chat completion of the upstream server, for a user who is remembered."""
    return await _answer(request, Chat())


@router.post("/v1/responses", response_model=None)
async def responses(request: Request) -> Response:
    """A response of the upstream server, for a user who is remembered."""
    return await _answer(request, Responses())


@router.get("/v1/models", response_model=None)
async def models(request: Request) -> Response:
    """The upstream server's models, each also under an id that leaves the memory out (for titles and the like)."""
    caller_of(request).must("read")
    found = await Upstream.of(request).get("/models")
    if found.is_success:
        listed: dict[str, Any] = found.json()
        plain = [{**model, "id": f"{PLAIN}{model['id']}"} for model in listed.get("data", [])]
        return _json({**listed, "data": [*listed.get("data", []), *plain]})
    return _passed(found)


async def _answer(request: Request, form: Format) -> Response:
    upstream = Upstream.of(request)
    body = await _body(request)
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise InvalidInput("model: name the model that should answer")
    if model.startswith(PLAIN):
        caller_of(request).must("read")
        plain = Remembered(body={**body, "model": model.removeprefix(PLAIN)}, who=_who(request, body))
        return await _sent(upstream, plain, form=form, request=request)
    who = _who(request, body)
    settings = Service.of(request).settings
    prepared = await remembered(
        who,
        body,
        form=form,
        recipe=recipe_book.load(settings.recipe),
        tokenizer=tokenizer(settings.tokenizer),
    )
    return await _sent(upstream, prepared, form=form, request=request)


async def _sent(upstream: Upstream, asked: Remembered, *, form: Format, request: Request) -> Response:
    if not upstream.take():
        raise Overloaded
    streaming = asked.body.get("stream") is True
    try:
        answer = await upstream.post(form.path, asked.body)
    except BaseException:
        upstream.give()
        raise
    headers = _told(asked)
    if streaming and answer.is_success:
        return StreamingResponse(_stream(upstream, answer, asked), media_type="text/event-stream", headers=headers)
    try:
        await answer.aread()
        heard = Heard()
        if answer.is_success:
            heard.whole(_object(answer.content))
            await asked.answered(heard.said)
    except httpx.TransportError as error:
        raise upstream.broken(error) from error
    finally:
        await answer.aclose()
        upstream.give()
    return _passed(answer, headers)


async def _stream(upstream: Upstream, answer: httpx.Response, asked: Remembered) -> AsyncGenerator[bytes]:
    """The upstream server's stream as it comes; what was heard of it is recorded, also if either side breaks off.

    The end is handed on when the answer is stored: a client that hears it may ask again at once.
    """
    heard, stored = Heard(), False
    try:
        async for chunk in answer.aiter_raw():
            heard.feed(chunk)
            if not stored and any(end in chunk for end in ENDS):
                await asked.answered(heard.said)
                stored = True
            yield chunk
    except httpx.TransportError as error:
        yield b"data: " + json.dumps(upstream.broken(error).shape).encode() + b"\n\n"
    finally:
        left = asked.answered(None if stored else heard.said)
        await asyncio.shield(asyncio.ensure_future(_finish(upstream, answer, left)))


async def _finish(upstream: Upstream, answer: httpx.Response, recording: Awaitable[None]) -> None:
    await answer.aclose()
    upstream.give()
    await recording


def _who(request: Request, body: Message) -> Who:
    caller = caller_of(request)
    named = body.get("user")
    subject = subject_of(
        request, user=caller.user or (named if isinstance(named, str) and named else None), scope="write"
    )
    if "read" not in caller.scopes:
        raise NotPermitted("This key may not do that: it needs the scope 'read'.")
    conversation = request.headers.get("x-hitherto-conversation") or text(child(body, "metadata"), "conversation_id")
    settings = Service.of(request).settings
    return Who(
        memory=subject.memory,
        user=subject.user,
        persona=request.headers.get("x-hitherto-persona") or settings.upstream_persona,
        lane=conversation,
        conversation=conversation,
    )


async def _body(request: Request) -> Message:
    try:
        body: object = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise BrokenRequest from error
    if not isinstance(body, dict):
        raise InvalidInput("the body must be an object")
    return cast(Message, body)


def _object(raw: bytes) -> Mapping[str, object]:
    try:
        body: object = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, object]", body) if isinstance(body, dict) else {}


def _told(asked: Remembered) -> dict[str, str]:
    """Where to look up why the model was told what it was told."""
    return {"X-Hitherto-Snapshot": asked.context.snapshot} if asked.context else {}


def _passed(answer: httpx.Response, headers: Mapping[str, str] | None = None) -> Response:
    kind = answer.headers.get("content-type", "application/json")
    kept = {name: value for name in ("retry-after",) if (value := answer.headers.get(name))}
    return Response(
        answer.content, status_code=answer.status_code, media_type=kind, headers={**kept, **(headers or {})}
    )


def _json(value: object) -> Response:
    return Response(json.dumps(value), media_type="application/json")
