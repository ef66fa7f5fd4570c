"""The routes of the endpoint. `POST /v1/chat/completions` and `POST /v1/responses` are given the memory; the others of
OpenAI's API that need none are passed on.

Whose memory a request uses, the first that is given: the user of the key; the header `X-Hitherto-User`; the field `user`
of the body. The conversation, the first that is given: the header `X-Hitherto-Conversation`, `metadata.conversation_id`, the
responses' `conversation`, none (one lane for all of the user's chats). The persona: the header `X-Hitherto-Persona`, or the
service's own.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import aclosing
from typing import Any, Final, cast

import httpx
from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from hitherto.deliver.http.problems import BrokenRequest
from hitherto.deliver.http.service import Service, caller_of, subject_of
from hitherto.deliver.openai.formats import Chat, Format, Message, Responses
from hitherto.deliver.openai.proxy import Exchange, Who, answer_place, remembered
from hitherto.deliver.openai.upstream import PLAIN, Answer, Upstream, handed_back, together
from hitherto.deliver.untrusted import child, text
from hitherto.errors import InvalidInput, NotFound, NotPermitted, Overloaded
from hitherto.recipes import book
from hitherto.tokens import tokenizer

router = APIRouter(tags=["openai"])

ENDS: Final = (b"\ndata: [DONE]", b"\nevent: response.completed")
"""What the last piece of a stream holds, of either API, on a line of its own."""
RETRIES: Final = "x-stainless-retry-count"
"""In which OpenAI's own clients say that they ask again what they gave up on."""


@router.post("/v1/chat/completions", response_model=None)
async def chat_completions(request: Request) -> Response:
    """A chat completion of the upstream server, for a user who is remembered."""
    return await _answer(request, Chat())


@router.post("/v1/responses", response_model=None)
async def responses(request: Request) -> Response:
    """A response of the upstream server, for a user who is remembered."""
    return await _answer(request, Responses())


@router.api_route("/v1/responses/{id}", methods=["GET", "DELETE"], response_model=None, include_in_schema=False)
async def one_response(request: Request, id: str) -> Response:
    """A response that the upstream server keeps, if it was an answer to this user."""
    return await _stored_upstream(request, id, f"/responses/{id}")


@router.api_route("/v1/responses/{id}/{what}", methods=["GET", "POST"], response_model=None, include_in_schema=False)
async def of_response(request: Request, id: str, what: str) -> Response:
    """What belongs to such a response: its input items, its cancelling."""
    if what not in ("input_items", "cancel"):
        raise NotFound
    return await _stored_upstream(request, id, f"/responses/{id}/{what}")


@router.get("/v1/models", response_model=None)
async def models(request: Request) -> Response:
    """The upstream server's models, each also under an id that leaves the memory out (for titles and the like)."""
    caller_of(request).must("read")
    answer = await _fetched(Upstream.of(request), request, "/models")
    if answer.is_success:
        listed: dict[str, Any] = answer.json()
        plain = [{**model, "id": f"{PLAIN}{model['id']}"} for model in listed.get("data", [])]
        return _json({**listed, "data": [*listed.get("data", []), *plain]})
    return _passed(answer)


@router.get("/v1/models/{model:path}", response_model=None, include_in_schema=False)
async def one_model(request: Request, model: str) -> Response:
    """One of the upstream server's models."""
    caller_of(request).must("read")
    return _passed(await _fetched(Upstream.of(request), request, f"/models/{model.removeprefix(PLAIN)}"))


@router.post("/v1/embeddings", response_model=None)
async def embeddings(request: Request) -> Response:
    """Embeddings of the upstream server; memory has no part in them."""
    return await _through(request, "/embeddings")


@router.post("/v1/moderations", response_model=None)
async def moderations(request: Request) -> Response:
    """A moderation of the upstream server; memory has no part in it."""
    return await _through(request, "/moderations")


async def _answer(request: Request, form: Format) -> Response:
    upstream = Upstream.of(request)
    body = await _body(request)
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise InvalidInput("model: name the model that should answer")
    if model.startswith(PLAIN):
        caller_of(request).must("read")
        plain = Exchange(body={**body, "model": model.removeprefix(PLAIN)}, who=_who(request, body))
        return await _sent(upstream, plain, form=form, request=request)
    who = _who(request, body)
    settings = Service.of(request).settings
    async with upstream.preparing():
        prepared = await remembered(
            who,
            body,
            form=form,
            recipe=book.load(settings.recipe),
            tokenizer=tokenizer(settings.tokenizer),
            again=request.headers.get(RETRIES, "0") != "0",
        )
    return await _sent(upstream, prepared, form=form, request=request)


async def _sent(upstream: Upstream, asked: Exchange, *, form: Format, request: Request) -> Response:
    if not upstream.take():
        raise Overloaded
    streaming = asked.body.get("stream") is True
    try:
        answer = await upstream.send(request, form.path, body=asked.body)
    except BaseException:
        upstream.give()
        raise
    headers = {**handed_back(answer.headers), **_snapshot_header(asked)}
    if streaming and answer.is_success:
        return StreamingResponse(_stream(upstream, answer, asked), media_type="text/event-stream", headers=headers)
    try:
        await answer.aread()
        if answer.is_success and not await request.is_disconnected():
            # An answer that nobody waits for any more was never given: the client will ask again.
            heard = Answer()
            heard.whole(_object(answer.content))
            await asked.answered(heard)
    except httpx.TransportError as error:
        raise upstream.broken(error) from error
    finally:
        await answer.aclose()
        upstream.give()
    return _passed(answer, headers)


async def _stream(upstream: Upstream, answer: httpx.Response, asked: Exchange) -> AsyncGenerator[bytes]:
    """The upstream server's stream as it comes; what was heard of it is recorded, also if either side breaks off.

    The end is handed on when the answer is stored: a client that hears it may ask again at once.
    """
    heard, stored, cut = Answer(), False, True
    try:
        async with aclosing(together(answer.aiter_raw())) as pieces:
            async for piece in pieces:
                heard.feed(piece)
                ends = -1 if stored else max(map((b"\n" + piece).find, ENDS))
                if ends >= 0:
                    if ends:
                        yield piece[:ends]
                    await upstream.burst_over()
                    await asked.answered(heard)
                    stored = True
                yield piece[max(ends, 0) :]
        cut = False
    except httpx.TransportError as error:
        yield b"data: " + json.dumps(upstream.broken(error).shape).encode() + b"\n\n"
    finally:
        left = asked.answered(Answer() if stored else heard, cut=cut)
        await asyncio.shield(asyncio.ensure_future(_finish(upstream, answer, left)))


async def _finish(upstream: Upstream, answer: httpx.Response, recording: Awaitable[None]) -> None:
    await answer.aclose()
    upstream.give()
    await recording


async def _stored_upstream(request: Request, id: str, path: str) -> Response:
    """Something that the upstream server keeps under an id. It knows our one key alone: whose it is, we know."""
    exchange = await answer_place(_who(request, {}), id)
    answer = await _through(request, path)
    if request.method == "GET":
        heard = Answer()
        heard.whole(_object(bytes(answer.body)))
        await exchange.answered(heard)
    return answer


async def _through(request: Request, path: str) -> Response:
    """A request that is passed on as it came."""
    caller_of(request).must("read")
    upstream = Upstream.of(request)
    if not upstream.take():
        raise Overloaded
    try:
        return _passed(await _fetched(upstream, request, path, content=await request.body()))
    finally:
        upstream.give()


async def _fetched(upstream: Upstream, request: Request, path: str, *, content: bytes | None = None) -> httpx.Response:
    answer = await upstream.send(request, path, content=content)
    try:
        await answer.aread()
    except httpx.TransportError as error:
        raise upstream.broken(error) from error
    finally:
        await answer.aclose()
    return answer


def _who(request: Request, body: Message) -> Who:
    caller = caller_of(request)
    named = body.get("user")
    subject = subject_of(
        request, user=caller.user or (named if isinstance(named, str) and named else None), scope="write"
    )
    if "read" not in caller.scopes:
        raise NotPermitted("This key may not do that: it needs the scope 'read'.")
    conversation = (
        request.headers.get("x-hitherto-conversation")
        or text(child(body, "metadata"), "conversation_id")
        or text(body, "conversation")
        or text(child(body, "conversation"), "id")
    )
    service = Service.of(request)
    return Who(
        memory=subject.memory,
        user=subject.user,
        now=service.clock(),
        persona=request.headers.get("x-hitherto-persona") or service.settings.upstream_persona,
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


def _snapshot_header(asked: Exchange) -> dict[str, str]:
    """Where to look up why the model was told what it was told."""
    return {"X-Hitherto-Snapshot": asked.context.snapshot} if asked.context else {}


def _passed(answer: httpx.Response, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        answer.content, status_code=answer.status_code, headers=dict(headers or handed_back(answer.headers))
    )


def _json(value: object) -> Response:
    return Response(json.dumps(value), media_type="application/json")
