"""A bot on aiogram that remembers: every message is in the memory before its handler runs, and so is every answer.

    pip install ".[aiogram]" && TELEGRAM_TOKEN=123:abc python examples/aiogram_bot.py

A stand-in tells what a model would know: say "May I bring a cake to Acme on Monday?", start the bot anew and say "yes".
Somebody who has blocked the bot stops nobody else. `TELEGRAM_API` points to another Bot API server.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.types import Message

from hitherto import Context, Hitherto
from hitherto.deliver import telegram
from hitherto.integrations import AiogramMemory


def stand_in(context: Context) -> str:
    return f"I know of {'the cake' if 'cake' in f'{context.system} {context.messages}' else 'no cake'}."


async def main(folder: Path, *, token: str, api: str = "https://api.telegram.org") -> None:
    async with (
        Bot(token, session=AiohttpSession(api=TelegramAPIServer.from_base(api))) as bot,
        Hitherto(folder) as memory,
    ):
        me, dispatcher = await bot.me(), Dispatcher()
        ours = telegram.Bot(id=me.id, username=me.username, persona="nikita")
        dispatcher.update.outer_middleware(AiogramMemory(memory, ours))

        @dispatcher.message()
        async def answer(
            message: Message, posted: telegram.Posted | None, remember_sent: Callable[..., Awaitable[None]]
        ) -> None:
            if posted is None or not posted.addressed:
                return  # It was answered before, or is between others.
            turn = posted.turn
            context = await memory.context(user=turn.user, turn=turn.id, persona=turn.persona, lane=turn.lane)
            await remember_sent(await message.answer(stand_in(context)), snapshot=context.snapshot)

        await dispatcher.start_polling(bot, handle_signals=False)


if __name__ == "__main__":
    server = os.environ.get("TELEGRAM_API", "https://api.telegram.org")
    asyncio.run(main(Path("./memories"), token=os.environ["TELEGRAM_TOKEN"], api=server))
