"""What time people name in languages other than English, seen from the morning of Tuesday, 10 March 2026."""

from datetime import UTC, datetime

import pytest

from hitherto.text.languages import detect
from hitherto.text.time.spans import due, ranges

NOW = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)


def _seen(text: str) -> list[tuple[str, str]]:
    return [(one.start.strftime("%Y-%m-%d %H:%M"), one.text) for one in ranges(text, now=NOW, zone="UTC")]


@pytest.mark.parametrize(
    ("text", "start", "said"),
    [
        ("Mañana a las tres de la tarde tengo dentista", "2026-03-11 15:00", "Mañana a las tres de la tarde"),
        ("pasado mañana", "2026-03-12 00:00", "pasado mañana"),
        ("El viernes que viene voy al médico", "2026-03-13 00:00", "El viernes que viene"),
        ("Empiezo el 3 de septiembre de 2026", "2026-09-03 00:00", "3 de septiembre de 2026"),
        ("Me operaron hace dos semanas", "2026-02-24 00:00", "hace dos semanas"),
        ("übermorgen um 15 Uhr", "2026-03-12 15:00", "übermorgen um 15 Uhr"),
        ("Ich treffe ihn nächsten Freitag um halb vier", "2026-03-13 15:30", "nächsten Freitag um halb vier"),
        ("am 5. Mai", "2026-05-05 00:00", "5. Mai"),
        ("Am 24.12.2026 ist Schluss", "2026-12-24 00:00", "24.12.2026"),
        ("vor drei Tagen war ich noch krank", "2026-03-07 00:00", "vor drei Tagen"),
        ("samedi prochain", "2026-03-14 00:00", "samedi prochain"),
        ("On se voit après-demain à 15h30", "2026-03-12 15:30", "après-demain à 15h30"),
        ("Je l'ai connue il y a deux ans", "2024-03-10 00:00", "il y a deux ans"),
        ("dopodomani alle 18:30", "2026-03-12 18:30", "dopodomani alle 18:30"),
        ("Mi sono trasferito due settimane fa", "2026-02-24 00:00", "due settimane fa"),
        ("Tenho consulta depois de amanhã às 15h", "2026-03-12 15:00", "depois de amanhã às 15h"),
        ("A gente se vê na semana que vem", "2026-03-16 00:00", "na semana que vem"),
        ("overmorgen om half vier", "2026-03-12 15:30", "overmorgen om half vier"),
        ("We gaan volgende week vrijdag verhuizen", "2026-03-20 00:00", "volgende week vrijdag"),
        ("Увидимся послезавтра в 15:00", "2026-03-12 15:00", "послезавтра в 15:00"),
        ("Я приеду через две недели", "2026-03-24 00:00", "через две недели"),
        ("来週の金曜に会おう", "2026-03-20 00:00", "来週の金曜"),
        ("明日の午後三時に会議があるんだ", "2026-03-11 15:00", "明日の午後三時"),
        ("三日前に着いたよ", "2026-03-07 00:00", "三日前"),
        ("后天下午三点", "2026-03-12 15:00", "后天下午三点"),
        ("我们下周五见面", "2026-03-20 00:00", "下周五"),
        ("三個星期以後考試", "2026-03-31 00:00", "三個星期以後"),
        ("พรุ่งนี้บ่ายสองนัดหมอฟัน", "2026-03-11 14:00", "พรุ่งนี้บ่ายสอง"),
        ("วันศุกร์หน้าสองทุ่มไปดูหนังกัน", "2026-03-13 20:00", "วันศุกร์หน้าสองทุ่ม"),
        ("ย้ายบ้านวันที่ 5 พฤษภาคม", "2026-05-05 00:00", "วันที่ 5 พฤษภาคม"),
        ("สามวันก่อนยังป่วยอยู่เลย", "2026-03-07 00:00", "สามวันก่อน"),
        ("la boda es el 12/09/2026", "2026-09-12 00:00", "12/09/2026"),
        ("el dia 20 me dan los resultados", "2026-03-20 00:00", "el dia 20"),
        ("a las cinco menos diez", "2026-03-10 16:50", "a las cinco menos diez"),
        ("fünf vor halb acht", "2026-03-10 19:25", "fünf vor halb acht"),
        ("Sonntag in einer Woche", "2026-03-22 00:00", "Sonntag in einer Woche"),
        ("lundi en huit", "2026-03-23 00:00", "lundi en huit"),
        ("amanhã de manhã às quinze para as oito", "2026-03-11 07:45", "amanhã de manhã às quinze para as oito"),
        ("без десяти восемь", "2026-03-10 19:50", "без десяти восемь"),
        ("завтра вечером в 9", "2026-03-11 21:00", "завтра вечером в 9"),
        ("明日の9時10分前", "2026-03-11 08:50", "明日の9時10分前"),
        ("20日に結果が出る", "2026-03-20 00:00", "20日"),
        ("明早七点三刻", "2026-03-11 07:45", "明早七点三刻"),
        ("今晚九点", "2026-03-10 21:00", "今晚九点"),
        ("งานแต่งวันที่ 12 กันยายน 2569", "2026-09-12 00:00", "วันที่ 12 กันยายน 2569"),
    ],
)
def test_a_time_is_read_and_shown_in_its_own_words(text: str, start: str, said: str) -> None:
    assert _seen(text) == [(start, said)]


@pytest.mark.parametrize(
    "text",
    [
        "gracias por todo",
        "Mi hermana vive en Sevilla y trabaja en un hospital",
        "Das ist mir egal, mach wie du willst",
        "Je ne sais pas quoi faire",
        "今はとても眠い",
        "我很喜欢这本书",
        "离地铁近一点",
        "ผมชอบหนังสือเล่มนี้มาก",
        "Не знаю, что и сказать",
        "me gusta la mañana",
        "der Morgen war schön",
        "é a segunda vez que falo isso",
        "это была хорошая среда для развития",
        "五月ちゃんは元気",
        "坐5号线去",
        "ฉันชอบพระจันทร์",
    ],
)
def test_no_time_is_read_where_none_is_named(text: str) -> None:
    assert _seen(text) == []


def test_what_is_promised_for_a_weekday_is_due_on_the_coming_one() -> None:
    assert due("El viernes te mando el informe", now=NOW, zone="UTC") == datetime(2026, 3, 13, 9, tzinfo=UTC)
    assert due("Ich bring dir am Donnerstagabend das Buch", now=NOW, zone="UTC") == datetime(
        2026, 3, 12, 16, tzinfo=UTC
    )


def test_a_time_in_words_alone_is_not_read_across_other_words() -> None:
    assert _seen("El lunes compré pan y a las cinco llegó mi hermano") == [
        ("2026-03-09 00:00", "lunes"),
        ("2026-03-10 17:00", "a las cinco"),
    ]


def test_an_hour_belongs_to_the_day_that_its_sentence_has_named() -> None:
    assert _seen("jeudi j'ai un entretien à la clinique à 14h") == [
        ("2026-03-12 14:00", "jeudi j'ai un entretien à la clinique à 14h")
    ]
    assert due("donderdag om half drie heb ik een gesprek", now=NOW, zone="UTC") == datetime(
        2026, 3, 12, 14, 30, tzinfo=UTC
    )


def test_a_time_is_read_where_the_text_does_not_tell_its_language() -> None:
    assert detect("Pixel Naturalis Stamppot Zeist 28 marzo Ragusa Dario") == ""
    assert [said for _, said in _seen("Pixel Naturalis Stamppot Zeist 28 marzo Ragusa Dario")] == ["28 marzo"]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("del lunes al miércoles estoy fuera", "lunes al miércoles"),
        ("vom 3. bis 5. April sind wir weg", "vom 3. bis 5. April"),
        ("da lunedì a mercoledì sono fuori", "lunedì a mercoledì"),
        ("с 3 по 5 апреля уезжаем", "с 3 по 5 апреля"),
        ("月曜から水曜まで名古屋にいる", "月曜から水曜"),
        ("4月3号到5号出去玩", "4月3号到5号"),
        ("วันจันทร์ถึงวันพุธอยู่เชียงใหม่", "วันจันทร์ถึงวันพุธ"),
        ("quedamos mañana 18:00 - 20:00", "mañana 18:00 - 20:00"),
    ],
)
def test_both_ends_of_a_time_are_read_as_one(text: str, last: str) -> None:
    (found,) = ranges(text, now=NOW, zone="UTC")
    assert (found.text, found.kind) == (last, "range")


@pytest.mark.parametrize(
    ("plain", "written"),
    [
        ("pasado manana me opero", "pasado mañana me opero"),
        ("hace dos anos deje el curro", "hace dos años dejé el curro"),
        ("uebermorgen bin ich wieder da", "übermorgen bin ich wieder da"),
        ("ubermorgen bin ich wieder da", "übermorgen bin ich wieder da"),
        ("nachsten Dienstag um zwolf Uhr", "nächsten Dienstag um zwölf Uhr"),
        ("apres-demain", "après-demain"),
        ("terca que vem as 9h15", "terça que vem às 9h15"),
        ("завтра днем в четвертом часу", "завтра днём в четвёртом часу"),
    ],
)
def test_a_time_typed_without_accents_is_the_same(plain: str, written: str) -> None:
    assert [start for start, _ in _seen(plain)] == [start for start, _ in _seen(written)] != []
