"""A bot on python-telegram-bot that remembers: every message is in the memory before its handler runs, and so is every answer.

    pip install ".[telegram]" && TELEGRAM_TOKEN=123:abc python examples/python_telegram_bot.py

A stand-in tells what a model would know: say "May I bring a cake to Acme on Monday?", start the bot anew and say "yes".
Somebody who has blocked the bot stops nobody else. `TELEGRAM_API` points to another Bot API server.
"""

import asyncio
import os
from pathlib import Path
from typing import Any

from telegram import Update
from telegram.ext import Application, ApplicationBuilder, MessageHandler, filters

from hitherto import Context, Hitherto
from hitherto.deliver.telegram import Bot
from hitherto.integrations import PtbMemory


def stand_in(context: Context) -> str:
    return f"I know of {'the cake' if 'cake' in f'{context.system} {context.messages}' else 'no cake'}."


async def main(folder: Path, *, token: str, api: str = "https://api.telegram.org") -> None:
    application: Application[Any, Any, Any, Any, Any, Any] = (
        ApplicationBuilder().token(token).base_url(f"{api}/bot").build()
    )
    async with Hitherto(folder) as memory, application:
        ours = PtbMemory(memory, Bot(id=application.bot.id, username=application.bot.username, persona="nikita"))

        async def answer(update: Update, context: Any) -> None:
            posted = context.chat_data["posted"]
            if posted is None or not posted.addressed or update.effective_message is None:
                return  # It was answered before, or is between others.
            turn = posted.turn
            made = await memory.context(user=turn.user, turn=turn.id, persona=turn.persona, lane=turn.lane)
            sent = await update.effective_message.reply_text(stand_in(made), do_quote=False)
            await ours.sent(sent, snapshot=made.snapshot)

        application.add_handler(ours.handler(), group=-1)
        application.add_handler(MessageHandler(filters.TEXT, answer))
        await application.start()
        assert application.updater is not None
        await application.updater.start_polling()
        try:
            await asyncio.Event().wait()
        finally:
            await application.updater.stop()
            await application.stop()


if __name__ == "__main__":
    server = os.environ.get("TELEGRAM_API", "https://api.telegram.org")
    asyncio.run(main(Path("./memories"), token=os.environ["TELEGRAM_TOKEN"], api=server))
