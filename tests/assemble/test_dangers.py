"""A danger is always true; a request is honoured."""

from datetime import UTC, datetime

import pytest

from hitherto.assemble import select
from hitherto.text.languages import CODES
from hitherto.types import Memory

TOLD = {
    "ar": "آنا لديها حساسية من الفول السوداني",
    "de": "Ana ist gegen Erdnüsse allergisch",
    "en": "Ana is alergic to peanuts",
    "es": "Ana es alérgica al cacahuete",
    "fr": "Ana est allergique aux arachides",
    "hi": "आना को मूंगफली से एलर्जी है",
    "it": "Ana è allergica alle arachidi",
    "ja": "アナはピーナッツアレルギーだ",
    "ko": "아나는 땅콩 알레르기가 있다",
    "nl": "Ana is allergisch voor pinda's",
    "pl": "Ana ma alergię na orzeszki ziemne",
    "pt": "A Ana é alérgica a amendoim",
    "ru": "У Аны аллергия на арахис",
    "th": "อานาแพ้ถั่วลิสง",
    "tr": "Ana'nın yer fıstığına alerjisi var",
    "uk": "В Ани алергія на арахіс",
    "zh": "安娜对花生过敏",
}

NOW = datetime(2026, 3, 5, 18, 0, tzinfo=UTC)


def always(name: str, text: str) -> Memory:
    return Memory(id=name, text=text, at=NOW, importance=2, standing=True, origin="user")


def test_a_danger_stands_under_what_is_always_true_and_not_among_requests() -> None:
    danger = always("d", "Ana (5 March): “one EpiPen evening was enough for both of us”")
    request = always("r", "Ana (5 March): “keep it short when I am at work, please”")
    told = (danger, request)
    assert select.foundation(told, now=NOW, limit=8) == (danger,)
    assert select.standing(told, now=NOW) == (request,)


@pytest.mark.parametrize("code", CODES)
def test_a_danger_is_one_in_every_language(code: str) -> None:
    assert select.endangers(always("d", TOLD[code]))
