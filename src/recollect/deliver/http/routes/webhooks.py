"""Webhooks of channels. Their senders cannot hold a key of ours: each proves itself in its own way."""

from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Header, Request
from fastapi.responses import Response

from recollect.deliver import telegram
from recollect.deliver.http.models import Value
from recollect.deliver.http.service import Service
from recollect.errors import AccessDenied, NotFound

router = APIRouter(tags=["channels"])


def prepare(app: FastAPI, service: Service) -> None:
    """The adapters of the channels that are configured."""
    settings = service.settings
    app.state.telegram = None
    if settings.telegram_secret is not None:
        telegram.check_secret(settings.telegram_secret.get_secret_value())
        memory = service.memory(settings.telegram_tenant)
        bot = telegram.Bot(settings.telegram_bot, settings.telegram_username, settings.telegram_persona)
        app.state.telegram = telegram.Telegram(memory, bot=bot, links=memory)


@router.post("/v1/telegram/webhook", status_code=204)
async def telegram_update(
    request: Request,
    body: dict[str, Value],
    token: Annotated[str | None, Header(alias=telegram.SECRET_HEADER)] = None,
) -> Response:
    """An update of the Bot API, remembered when it answers; one that comes again changes nothing."""
    adapter: Any = request.app.state.telegram
    secret = Service.of(request).settings.telegram_secret
    if secret is None or not isinstance(adapter, telegram.Telegram):
        raise NotFound
    if not telegram.is_from_telegram(token, secret=secret.get_secret_value()):
        raise AccessDenied("The secret token of the webhook is missing or wrong.")
    await adapter.handle(body)
    return Response(status_code=204)
