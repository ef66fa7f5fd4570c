"""A Telegram bot that remembers: long polling against the Bot API, with nothing but the standard library.

    TELEGRAM_TOKEN=123:abc python examples/telegram_bot.py

It records every message of its chats into lanes, and answers those that are written to it. Somebody who has blocked the bot,
or an update that it cannot make sense of, stops nobody else's conversation. With
`OPENAI_API_KEY` (and `OPENAI_BASE_URL` for any compatible server, `OPENAI_MODEL`) the model answers from
the context; without, the bot shows which of its memories it would have given to one. `TELEGRAM_API`
points to another Bot API server.
"""

import asyncio
import json
import logging
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from hitherto import Context, Hitherto
from hitherto.deliver.telegram import Bot, Posted, Telegram

PERSONA = "nikita"
LOG = logging.getLogger("bot")


class Refused(RuntimeError):
    """Telegram does not do what it was asked: the bot was blocked, the chat is gone, a message is too long."""


def post(url: str, body: dict[str, Any], *, key: str | None = None, seconds: float = 60) -> dict[str, Any]:
    """The JSON answer to a JSON request; Telegram explains its refusals in the body as well."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = urllib.request.Request(url, data=json.dumps(body).encode(), headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return cast("dict[str, Any]", json.load(answer))
    except urllib.error.HTTPError as refused:
        with refused:
            return cast("dict[str, Any]", json.load(refused))


@dataclass(frozen=True)
class BotApi:
    """The three methods a bot needs."""

    token: str
    base: str = "https://api.telegram.org"

    async def call(self, method: str, **fields: Any) -> Any:
        url = f"{self.base}/bot{self.token}/{method}"
        while True:
            answer = await asyncio.to_thread(post, url, fields)
            if answer.get("ok"):
                return answer["result"]
            wait = answer.get("parameters", {}).get("retry_after")
            if wait is None:
                raise Refused(f"Telegram refused {method}: {answer.get('description')}")
            await asyncio.sleep(wait)


async def reply(context: Context) -> str:
    """What the model makes of the context; without a model, what it would have been told."""
    key, base = (
        os.environ.get("OPENAI_API_KEY"),
        os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    )
    if not key:
        shown = [item.text for item in context.items if item.included and item.kind in ("turn", "memory")]
        return "I have no model to answer with, but I remember:\n" + "\n".join(f"- {text}" for text in shown[-5:])
    messages = [{"role": "system", "content": context.system}, *context.messages]
    body = {"model": os.environ.get("OPENAI_MODEL", "gpt-4o-mini"), "messages": messages}
    answer = await asyncio.to_thread(post, f"{base}/chat/completions", body, key=key)
    return str(answer["choices"][0]["message"]["content"])


async def serve(api: BotApi, memory: Hitherto, *, going_on: Callable[[], bool] = lambda: True) -> None:
    """Reads updates and answers. An update is confirmed to Telegram only when it is durable in the memory; one that was
    recorded is confirmed whatever becomes of its answer, so that no chat holds up the others."""
    me = await api.call("getMe")
    telegram = Telegram(memory, bot=Bot(id=me["id"], username=me.get("username"), persona=PERSONA), links=memory)
    offset = 0
    while going_on():
        for update in await api.call("getUpdates", offset=offset, timeout=25):
            event = await telegram.handle(update)
            if isinstance(event, Posted) and event.addressed:
                try:
                    await answer(api, memory, telegram, event)
                except (Refused, OSError, KeyError) as error:
                    LOG.warning("update %s was not answered: %s", update["update_id"], error)
            offset = update["update_id"] + 1


async def answer(api: BotApi, memory: Hitherto, telegram: Telegram, event: Posted) -> None:
    turn = event.turn
    context = await memory.context(user=turn.user, turn=turn.id, persona=turn.persona, lane=turn.lane, recipe="lanes")
    sent = await api.call("sendMessage", text=await reply(context), **event.to.params())
    await telegram.record_sent(sent, snapshot=context.snapshot)


async def main() -> None:
    token = os.environ.get("TELEGRAM_TOKEN")
    if not token:
        raise SystemExit("set TELEGRAM_TOKEN to your bot's token (from @BotFather)")
    api = BotApi(token, os.environ.get("TELEGRAM_API", "https://api.telegram.org"))
    async with Hitherto(os.environ.get("HITHERTO_DATA", "./memories")) as memory:
        await memory.define_persona(PERSONA, name="Nikita", text="You are Nikita, a warm and attentive friend.")
        await serve(api, memory)


if __name__ == "__main__":
    asyncio.run(main())
