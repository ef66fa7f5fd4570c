"""What a pending slot takes, type by type, and what it leaves alone."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.ingest.focus import fits
from hitherto.types import Slot

AT = datetime(2026, 3, 2, tzinfo=UTC)
CHOICES = ("red", "dark blue", "green")
TASKS = (
    "what's the weather in Rome?",
    "remind me to call the bank and then write the report for the board",
    "can you book me a table for four tomorrow?",
    "Actually let us talk about my sister, she got the job in Lisbon last week",
)

FITTING = {
    "yes_no": "yes|Yes please|nope|no thanks|sure, go ahead|of course|I don't|👍|❌|ja|nein danke|oui|sí|да|はい",
    "number": "3|3.5|one|1,200|about 20|two|twenty five|it's 4|4 people|-2|85%|around 3 weeks|drei|a couple",
    "date": "tomorrow|2026-03-05|5/3/2026|on Monday|next Friday|May 12th|12 May 2026|in 3 days|monday at 5pm"
    "|tonight|tomorrow morning|the 5th of March|next week please|morgen um 9|demain|明天",
    "email": "ana@example.com|my email is ana.lopez+bot@mail.example.org|ANA@EXAMPLE.COM.",
    "phone": "+34 600 123 456|600-123-456|call me at (030) 1234567|it's 0171 2345678",
    "choice": "red|Dark blue|the green one|I'd like the red one please|the second one|2|b|last one",
    "text": "anything goes here|Ana Lopez|42|c/o Marta, second floor",
}
NOT_FITTING = {
    "yes_no": "maybe later I will|book a flight|yesterday was fun|knowing her, fine",
    "number": "12/05/2026|call 3 people and 4 dogs|room at the end of the street|um|no idea"
    "|I have to tell you 3 things about it",
    "date": "I may go|call me|the second one|march on|12 monkeys|tomorrow I want to talk about my mother",
    "email": "ana at example|@ana|a@b|ana@example.com or marta@example.com",
    "phone": "12345|2026-03-05|1234567890123456789|5 apples",
    "choice": "not the red one|red or green|purple|7|orange, and a coffee for the table over there now",
    "text": "/start| ",
}
IN_OTHER_LANGUAGES = {
    "es": {
        "number": "tres|unas veinte|somos cuatro|3 personas|treinta y dos",
        "date": "mañana por favor|el viernes|el 5 de marzo|pasado mañana a las tres",
        "choice": "la segunda|el último|quiero el rojo",
    },
    "de": {
        "number": "sieben|ungefähr zwanzig|wir sind vier|3 Leute",
        "date": "übermorgen|am 5. März|nächsten Freitag bitte|am Montag um neun",
        "choice": "das zweite bitte|die letzte|nehmen wir rot",
    },
    "fr": {
        "number": "sept|une vingtaine|environ trois|4 personnes",
        "date": "samedi prochain|le 5 mars|demain à trois heures|plutôt lundi",
        "choice": "la deuxième|le dernier|je préfère le rouge",
    },
    "it": {
        "number": "sette|circa venti|3 persone|più o meno dieci",
        "date": "domani|venerdì prossimo|il 5 marzo|dopodomani alle 3",
        "choice": "la seconda|l'ultimo|vorrei rosso",
    },
    "pt": {
        "number": "sete|mais ou menos vinte|3 pessoas",
        "date": "amanhã|sexta-feira|5 de março|depois de amanhã às três",
        "choice": "a segunda|o último|quero o vermelho",
    },
    "nl": {
        "number": "vijf|ongeveer twintig|3 mensen",
        "date": "morgen|volgende week vrijdag|op 5 maart|overmorgen om drie uur",
        "choice": "de tweede|de laatste|doe maar rood",
    },
    "ru": {
        "number": "пять|около двадцати|3 человека|нас трое",
        "date": "завтра|в пятницу|5 марта|послезавтра в три",
        "choice": "вторая|последний|давай красный",
    },
    "ja": {
        "number": "三人です|3人|だいたい二十くらい|五つ",
        "date": "明日でお願いします|来週の金曜|3月5日|明後日の三時",
        "choice": "二番目で|最後の|赤がいいです",
    },
    "zh": {
        "number": "三个|大概二十|3个人|五",
        "date": "明天吧|下周五|3月5日|后天下午三点",
        "choice": "第二个|最后一个|我要红色的",
    },
    "th": {
        "number": "สามคนครับ|ประมาณยี่สิบ|3 คน",
        "date": "พรุ่งนี้ค่ะ|วันศุกร์หน้า|5 มีนาคม",
        "choice": "อันที่สอง|อันสุดท้าย|เอาสีแดงค่ะ",
    },
}
COLOURS = {
    "es": ("rojo", "azul", "verde"),
    "de": ("rot", "blau", "grün"),
    "fr": ("rouge", "bleu", "vert"),
    "it": ("rosso", "blu", "verde"),
    "pt": ("vermelho", "azul", "verde"),
    "nl": ("rood", "blauw", "groen"),
    "ru": ("красный", "синий", "зелёный"),
    "ja": ("赤", "青", "緑"),
    "zh": ("红色", "蓝色", "绿色"),
    "th": ("สีแดง", "สีฟ้า", "สีเขียว"),
}
NEITHER = {
    "es": "mañana quiero hablar de mi madre|no el rojo|recuérdame llamar al banco y escribir el informe para tres jefes",
    "de": "morgen will ich über meine Mutter reden|nicht rot|erinnere mich bitte an drei Anrufe bei der Bank und den Bericht",
    "fr": "demain je veux parler de ma mère|pas le rouge|rappelle-moi d'appeler la banque pour mes trois comptes",
    "it": "domani voglio parlare di mia madre|non il rosso|ricordami di chiamare la banca per i miei tre conti",
    "pt": "amanhã quero falar da minha mãe|não o vermelho|lembra-me de ligar ao banco pelas minhas três contas",
    "nl": "morgen wil ik over mijn moeder praten|niet rood|herinner me eraan de bank te bellen over drie rekeningen",
    "ru": "завтра хочу поговорить о маме|не красный|напомни позвонить в банк по поводу трёх счетов",
    "ja": "明日は母の話をしたい|赤以外|銀行に電話して三つの口座のことを聞いておいて",
    "zh": "明天我想聊聊我妈妈|不要红色|提醒我给银行打电话问三个账户的事",
    "th": "พรุ่งนี้อยากคุยเรื่องแม่|ไม่เอาสีแดง|เตือนให้โทรหาธนาคารเรื่องบัญชีสามบัญชี",
}


def slot(expects: str) -> Slot:
    return Slot(id="s", at=AT, expects=expects, choices=CHOICES)  # pyright: ignore[reportArgumentType] - literals


def cases(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(expects, message) for expects, messages in table.items() for message in messages.split("|")]


@pytest.mark.req("R4.2")
@pytest.mark.parametrize(("expects", "message"), cases(FITTING))
def test_a_value_fits(expects: str, message: str) -> None:
    assert fits(message, slot(expects))


@pytest.mark.req("R4.9")
@pytest.mark.parametrize(("expects", "message"), cases(NOT_FITTING))
def test_something_else_does_not_fit(expects: str, message: str) -> None:
    assert not fits(message, slot(expects))


@pytest.mark.req("R4.2")
@pytest.mark.parametrize(
    ("code", "expects", "message"),
    [(code, *case) for code, table in IN_OTHER_LANGUAGES.items() for case in cases(table)],
)
def test_a_value_fits_in_every_language(code: str, expects: str, message: str) -> None:
    choices = COLOURS[code]
    assert fits(message, Slot(id="s", at=AT, expects=expects, choices=choices))  # pyright: ignore[reportArgumentType]


@pytest.mark.req("R4.9")
@pytest.mark.parametrize("expects", ["number", "date", "choice"])
@pytest.mark.parametrize(("code", "message"), cases(NEITHER))
def test_a_task_or_a_refusal_fits_in_no_language(code: str, expects: str, message: str) -> None:
    choices = COLOURS[code]
    assert not fits(message, Slot(id="s", at=AT, expects=expects, choices=choices))  # pyright: ignore[reportArgumentType]


@pytest.mark.req("R4.9")
@pytest.mark.parametrize("expects", [name for name in FITTING if name != "text"])
@pytest.mark.parametrize("message", TASKS)
def test_an_unrelated_task_fits_no_typed_slot(expects: str, message: str) -> None:
    assert not fits(message, slot(expects))


@pytest.mark.req("R4.9")
@pytest.mark.parametrize("sign", ["?", "？", "؟"])
@pytest.mark.parametrize("expects", list(FITTING))
def test_a_question_never_fits(expects: str, sign: str) -> None:
    assert not fits(f"{FITTING[expects].split('|')[0]}{sign}", slot(expects))


@given(st.text(max_size=400), st.sampled_from(sorted(FITTING)))
def test_any_text_is_decided(message: str, expects: str) -> None:
    assert fits(message, slot(expects)) in (True, False)


def test_a_choice_without_choices_takes_nothing() -> None:
    assert not fits("red", Slot(id="s", at=AT, expects="choice"))
