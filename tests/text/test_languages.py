"""What is known of each language, and how a text's language is told."""

import pytest

from hitherto.learn.readers.clauses import TABLE
from hitherto.text.languages import CODES, detect, language, missing, of_number, plausible
from hitherto.text.patterns import Cue

WHOLE = ("en", "es", "de", "fr", "it", "pt", "nl", "ru", "ja", "zh", "th")
"""The languages in which everything works; docs/languages.md says what the others have."""
PART = {"short.fillers", "short.pointing"}


@pytest.mark.parametrize("code", WHOLE)
def test_a_language_that_is_promised_whole_lacks_nothing(code: str) -> None:
    assert missing(code) == (), f"text/languages/{code}.toml lacks these; docs/languages.md says what each is for"


@pytest.mark.parametrize("code", CODES)
def test_every_language_has_what_telling_it_and_short_messages_need(code: str) -> None:
    lacking = {name for name in missing(code) if name.startswith("short.")} - PART
    assert not lacking
    assert language(code).stop


def test_numbers_are_stored_and_stand_for_one_language_each() -> None:
    assert [language(code).number for code in CODES] == list(range(len(CODES)))
    assert [of_number(number) for number in range(16)] == list(CODES[:16]), "four bits hold no more"
    assert len({language(code).script for code in CODES[16:]} | {"latin", "cyrillic"}) == len(CODES[16:]) + 2
    assert of_number(99) == "en"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("what did my sister say about the flat?", "en"),
        ("¿qué dijo mi hermana del piso?", "es"),
        ("was hat meine Schwester über die Wohnung gesagt?", "de"),
        ("qu'est-ce que ma sœur a dit de l'appartement ?", "fr"),
        ("cosa ha detto mia sorella dell'appartamento?", "it"),
        ("o que a minha irmã disse do apartamento?", "pt"),
        ("wat zei mijn zus over het appartement?", "nl"),
        ("что сестра сказала про квартиру?", "ru"),
        ("що сестра сказала про квартиру? її немає", "uk"),
        ("姉は部屋について何て言った？", "ja"),
        ("我姐姐关于房子说了什么？", "zh"),
        ("여동생이 뭐라고 했어?", "ko"),
        ("co moja siostra powiedziała o mieszkaniu?", "pl"),
        ("kız kardeşim daire için ne dedi?", "tr"),
        ("ماذا قالت أختي عن الشقة؟", "ar"),
        ("मेरी बहन ने क्या कहा?", "hi"),
        ("พี่สาวพูดเรื่องห้องว่าอะไร", "th"),
        ("Pixel", ""),
        ("", ""),
        ("12:30 :-)", ""),
        ("\x00\ud800", ""),
    ],
)
def test_the_language_of_a_text_is_told(text: str, code: str) -> None:
    assert detect(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Danke", "de"),
        ("heute", "de"),
        ("bedankt", "nl"),
        ("gisteren", "nl"),
        ("merci", "fr"),
        ("grazie", "it"),
        ("amanhã", "pt"),
        ("manana voy al medico", "es"),
        ("a partir de agora me chame de Max", "pt"),
        ("das Meeting war total awkward aber okay", "de"),
        ("voy a hacer un meeting con mi boss mañana", "es"),
        ("Tomと会う", "ja"),
        ("the rock n roll show was great, k", "en"),
    ],
)
def test_one_word_or_a_borrowed_one_tells_enough(text: str, code: str) -> None:
    assert detect(text) == code


def test_where_a_text_does_not_tell_its_language_all_that_it_may_be_in_are_read() -> None:
    assert [one.code for one in plausible("¿cuándo?")] == ["es"]
    assert [one.code for one in plausible("Pixel")] == ["en"]
    assert {"es", "pt", "en"} <= {one.code for one in plausible("de la gata, da casa")}


def test_what_the_user_has_written_in_before_decides_where_a_text_says_too_little() -> None:
    assert detect("la gata") == ""
    assert detect("la gata", likely=["es"]) == "es"
    assert detect("東京", likely=["ja"]) == "ja"
    assert detect("東京") == "zh"


UNSPACED_LACK = {"acts", "role", "states", "place_before", "work_before", "with_before"}
"""What stands beside a name with a capital, which these scripts do not have."""


@pytest.mark.parametrize("code", [code for code in WHOLE if code != "en"])
def test_a_whole_language_has_every_list_that_rules_learn_by(code: str) -> None:
    known = language(code)
    needed = {name for name, value in language("es").tables["learning"].items() if isinstance(value, str)}
    lacking = UNSPACED_LACK if known.script in {"kana", "han", "thai"} else set[str]()
    given = known.tables["learning"]
    assert needed - lacking <= given.keys()
    assert {"fragments", "named", "typed", "ended", "words"} <= given.keys()
    for name in given["typed"]:
        assert name in TABLE.content["typed"], f"{code}: rules type no {name}"
    for name in (name for name, value in given.items() if isinstance(value, str)):
        assert name in TABLE.content["patterns"] or name in TABLE.content["moods"], f"{code}: rules read no {name}"


@pytest.mark.parametrize("code", WHOLE)
def test_a_whole_language_has_every_list_that_a_slot_s_value_is_read_by(code: str) -> None:
    assert language(code).tables["slots"].keys() == {"numbers", "ordinals", "around", "except"}


def test_a_cue_is_looked_for_in_the_language_that_a_text_is_in() -> None:
    past = TABLE.cue("past")
    assert past.search("ich war mit meiner Schwester im Kino")
    assert not past.search("the war on the news makes me sad")
    assert TABLE.cue("duty").search("il faut que j'appelle le traiteur")
    assert TABLE.cue("settled").search("歯医者に電話したよ")
    assert [cue for cue in TABLE.cues("typed")["home"] if cue.search("moramos em Lisboa com a minha irmã")]


def test_where_a_text_does_not_tell_its_language_every_one_of_its_letters_is_tried() -> None:
    cue = Cue({"en": r"\bpixel\b", "de": r"\bkater\b", "ja": "犬"})
    assert detect("Pixel") == ""
    assert cue.search("Pixel")
    assert cue.search("Kater")
    assert cue.sub("…", "Pixel Kater") == "… …"
