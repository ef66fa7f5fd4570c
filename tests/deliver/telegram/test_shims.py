"""The libraries' own objects give the same events as the raw updates they were made from."""

import pytest
import telegram

from hitherto.deliver.telegram import Posted, from_aiogram, from_python_telegram_bot, read
from tests.deliver.telegram.test_updates import BOT, CASES, facts

CONTENT = [case for case in CASES if case["expect"]["event"] in {"Posted", "Edited", "Migrated"}]


def test_aiogram() -> None:
    types = pytest.importorskip("aiogram.types", reason="AIOGRAM IS NOT INSTALLED: its shim is not tested")
    for case in CONTENT:
        raw = from_aiogram(types.Update.model_validate(case["update"]))
        assert facts(read(raw, bot=BOT)) == facts(read(case["update"], bot=BOT)), case["name"]


def test_python_telegram_bot() -> None:
    for case in CONTENT:
        raw = from_python_telegram_bot(telegram.Update.de_json(case["update"], None))
        assert facts(read(raw, bot=BOT)) == facts(read(case["update"], bot=BOT)), case["name"]


class Message:
    """What both shims ask of a library's object, without the library."""

    def __init__(self, raw: dict[str, object]) -> None:
        self.raw = raw

    def model_dump(self, *, by_alias: bool, exclude_none: bool, exclude_defaults: bool) -> dict[str, object]:
        assert by_alias
        assert exclude_none
        assert exclude_defaults
        return self.raw

    def to_dict(self, recursive: bool = True) -> dict[str, object]:  # noqa: FBT002 - the library's signature
        assert recursive
        return self.raw


def test_the_shims_hand_over_the_raw_update() -> None:
    update = CONTENT[0]["update"]
    assert isinstance(read(from_aiogram(Message(update)), bot=BOT), Posted)
    assert from_python_telegram_bot(Message(update)) == update
