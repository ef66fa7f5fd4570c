"""Webhooks of channels. Their senders cannot hold a key of ours: each proves itself in its own way, and a channel that has
no secret is not there."""

import hmac
import json
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import Response
from pydantic import SecretStr

from hitherto.deliver import telegram, voice
from hitherto.deliver.http.models import Value
from hitherto.deliver.http.problems import BrokenRequest
from hitherto.deliver.http.service import Channels, Service
from hitherto.deliver.untrusted import Raw, mapping
from hitherto.deliver.voice import Call, signatures
from hitherto.deliver.voice.signatures import Verdict
from hitherto.errors import AccessDenied, NotFound
from hitherto.store import codec
from hitherto.types import Json

router = APIRouter(tags=["channels"])

SECRET_HEADER = "X-Hitherto-Secret"
CALLER_HEADER = "X-Hitherto-Caller"
CALL_HEADER = "X-Hitherto-Call"


@router.post("/v1/telegram/webhook", status_code=204)
async def telegram_update(
    request: Request,
    body: dict[str, Value],
    token: Annotated[str | None, Header(alias=telegram.SECRET_HEADER)] = None,
) -> Response:
    """An update of the Bot API, remembered when it answers; one that comes again changes nothing."""
    adapter = Channels.of(request).telegram
    secret = _secret(Service.of(request).settings.telegram_secret)
    if adapter is None:
        raise NotFound
    if not telegram.is_from_telegram(token, secret=secret):
        raise AccessDenied("The secret token of the webhook is missing or wrong.")
    await adapter.handle(body)
    return Response(status_code=204)


@router.post("/v1/voice/elevenlabs/initiation", response_model=dict[str, Json])
async def elevenlabs_initiation(
    request: Request, secret: Annotated[str | None, Header(alias=SECRET_HEADER)] = None
) -> Response:
    """A call begins: dynamic variables and the caller's prompt, from what is prepared."""
    _check_secret(request, secret)
    ringing = voice.elevenlabs.ringing(await _body(request))
    return _json(voice.elevenlabs.answer(await Channels.of(request).line.ring(ringing.caller)))


@router.post("/v1/voice/elevenlabs/tool", response_model=dict[str, Json])
async def elevenlabs_tool(
    request: Request,
    secret: Annotated[str | None, Header(alias=SECRET_HEADER)] = None,
    caller: Annotated[str | None, Header(alias=CALLER_HEADER)] = None,
    call: Annotated[str | None, Header(alias=CALL_HEADER)] = None,
) -> Response:
    """During a call: what the memory says to a question. Who calls is in a header that the platform fills in."""
    _check_secret(request, secret)
    asked = voice.elevenlabs.asked(await _body(request), caller=caller, call=call)
    return _json(voice.elevenlabs.tool_result(await Channels.of(request).line.look_up(asked)))


@router.post("/v1/voice/elevenlabs/post-call", status_code=204)
async def elevenlabs_post_call(
    request: Request, signature: Annotated[str | None, Header(alias=signatures.ELEVENLABS_HEADER)] = None
) -> Response:
    """A call has ended: its transcript is remembered, its session closed, the next prompt prepared."""
    service = Service.of(request)
    secret = _secret(service.settings.elevenlabs_secret)
    raw = await request.body()
    _check(signatures.elevenlabs(signature, raw, secret=secret, now=service.clock()))
    return await _remember(request, voice.elevenlabs.ended(await _body(request)))


@router.post("/v1/voice/vapi", response_model=dict[str, Json])
async def vapi(
    request: Request,
    secret: Annotated[str | None, Header(alias=signatures.VAPI_HEADER)] = None,
    authorization: Annotated[str | None, Header()] = None,
) -> Response:
    """Vapi's one server URL: it asks for the assistant when a call begins, calls the tool during it, and reports when it has
    ended."""
    settings = Service.of(request).settings
    _check(signatures.vapi(secret, bearer=authorization, secret=_secret(settings.vapi_secret)))
    body = await _body(request)
    asked = voice.vapi.asked(body)
    if asked is not None:
        line = Channels.of(request).line
        return _json(voice.vapi.tool_result([(one, await line.look_up(one)) for one in asked]))
    ringing = voice.vapi.ringing(body)
    if ringing is None:
        await _remember(request, voice.vapi.ended(body))
        return _json({})
    assistant = settings.vapi_assistant or ringing.agent
    if assistant is None:
        raise NotFound
    return _json(voice.vapi.answer(await Channels.of(request).line.ring(ringing.caller), assistant=assistant))


@router.post("/v1/voice/retell", response_model=dict[str, Json])
async def retell(
    request: Request, signature: Annotated[str | None, Header(alias=signatures.RETELL_HEADER)] = None
) -> Response:
    """Retell's webhooks: the inbound one when a call begins, the custom function during it, and the events after it."""
    service = Service.of(request)
    secret = _secret(service.settings.retell_secret)
    _check(signatures.retell(signature, await request.body(), secret=secret, now=service.clock()))
    body = await _body(request)
    asked = voice.retell.asked(body)
    if asked is not None:
        return _json(voice.retell.tool_result(await Channels.of(request).line.look_up(asked)))
    ringing = voice.retell.ringing(body)
    if ringing is None:
        await _remember(request, voice.retell.ended(body))
        return _json({})
    return _json(voice.retell.answer(await Channels.of(request).line.ring(ringing.caller)))


def _secret(configured: SecretStr | None) -> str:
    if configured is None or not configured.get_secret_value():
        raise NotFound
    return configured.get_secret_value()


def _check_secret(request: Request, given: str | None) -> None:
    expected = _secret(Service.of(request).settings.voice_secret)
    if given is None or not hmac.compare_digest(given.encode(), expected.encode()):
        raise AccessDenied(f"The header {SECRET_HEADER} is missing or wrong.")


def _check(verdict: Verdict) -> None:
    if verdict != "ok":
        raise AccessDenied(f"The webhook's signature is {verdict}.")


async def _body(request: Request) -> Raw:
    try:
        return mapping(json.loads(await request.body()))
    except (ValueError, RecursionError) as error:
        raise BrokenRequest from error


async def _remember(request: Request, call: Call | None) -> Response:
    if call is not None:
        await Channels.of(request).line.hang_up(call)
    return Response(status_code=204)


def _json(value: dict[str, Json]) -> Response:
    return Response(codec.text(value), media_type="application/json")
