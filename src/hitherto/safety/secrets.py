"""Finds what must never be remembered: keys, cards, accounts, passwords.

There are three kinds of evidence, from certain to likely. A shape that only credentials have: an issuer's prefix, a card
number whose check digit holds, a private key's armour. A name with a value ("password: x", "--token x", "mein Passwort
lautet x") that does not read like a word. A long run of characters too random for a person to have written it. Names,
e-mail addresses and phone numbers are content of a conversation, not secrets.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, cast

from hitherto.text.patterns import PatternTable
from hitherto.types import Json

__all__ = [
    "Secret",
    "SecretKind",
    "find_secrets",
    "iban_length",
    "is_card",
    "masked",
    "redact",
    "redact_json",
    "redact_values",
]

SecretKind = Literal["token", "password", "private_key", "card", "iban", "ssn", "seed_phrase", "pin"]


@dataclass(frozen=True, slots=True, order=True)
class Secret:
    """A span of the text (`text[start:end]`) and what kind of secret it is."""

    start: int
    end: int
    kind: SecretKind


_TABLE: Final = PatternTable.read("hitherto.safety", "secrets.toml")
_TOKENS: Final = re.compile("|".join(_TABLE.texts("tokens", "issued")))
_SHORT: Final = 20_000
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_CALL: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*[(\[]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
"""Code in the place of a value: a call, an element, an attribute."""
_RUN: Final = re.compile(r"[^\s\"'`<>]{15,}")
_DIGITS: Final = re.compile(r"\d(?:[ .-]?[0-9A-Za-z]){8}|\d(?:[\s.\u2010-\u2015-]{0,3}\d){8}")
_NAME_PARTS: Final = _TABLE.texts("words", "name_parts")
_PASSWORD_PARTS: Final = _TABLE.texts("words", "password_parts")
_KEY_PARTS: Final = ("key", "token", "secret")
_SEED_PARTS: Final = ("seed", "word", "phrase", "mnemonic", "backup")
_DIGIT: Final = re.compile(r"\d")
_NOT_PASSWORDS: Final = frozenset(_TABLE.texts("words", "not_passwords"))
_PASSWORD: Final = _TABLE.compiled("{{password}}")
_SEPARATOR, _NAME_BEFORE, _VALUE_AFTER = map(_TABLE.pattern, ("separator", "name_before", "value_after"))
_SLASHED, _FLAG, _HEADER = map(_TABLE.pattern, ("slashed", "flag", "header"))
_URL_LOGIN, _MY_KEY, _LONG_RUN, _UUID = map(_TABLE.pattern, ("url_login", "my_key", "long_run", "uuid"))
_SIGN_IN, _SET_TO, _QUOTED, _PATH = map(_TABLE.pattern, ("sign_in", "set_to", "quoted", "path"))
_SENT_CODE, _SPELT_CODE = map(_TABLE.pattern, ("sent_code", "spelt_code"))
_PASTED: Final = re.compile(r"[^\s/\\@#:<>()\[\]{}]+")
_LICENCE, _BACKUP_CODES, _COMBINATION = map(_TABLE.pattern, ("licence", "backup_codes", "combination"))
_SPOKEN, _PIN, _SEED = map(_TABLE.pattern, ("spoken", "pin", "seed"))
_BESIDE, _NAMED_NUMBER, _DIGEST, _PROSE = map(_TABLE.pattern, ("beside", "named_number", "digest", "prose"))
_PLACEHOLDER, _WORDY = map(_TABLE.pattern, ("placeholder", "wordy"))
_SSN, _SSN_SAID, _CARD, _IBAN = map(_TABLE.pattern, ("ssn", "ssn_said", "card", "iban"))
# The armour of a private key is upper case; everything else ignores case.
_ARMOUR: Final = re.compile(_TABLE.text("patterns", "armour"))
_IBAN_LENGTHS: Final = _TABLE.numbers("iban_lengths")


def find_secrets(text: str) -> list[Secret]:
    """Returns the secrets of a text in order, without overlaps; spans that touch are merged."""
    return _merged(sorted(_candidates(text)))


def redact(text: str) -> str:
    """Returns the text with each secret replaced by its kind in brackets."""
    for secret in reversed(find_secrets(text)):
        text = f"{text[: secret.start]}[{secret.kind}]{text[secret.end :]}"
    return text


def masked(text: str) -> str:
    """A stored text in the form in which it may leave for a model; the same object if it holds no secret."""
    return _masked(text) if len(text) <= _SHORT else redact(text)


@lru_cache(maxsize=2_048)
def _masked(text: str) -> str:
    return redact(text)


def redact_values(value: Json, *, name: str = "") -> Json:
    """The same for every text and number in a JSON value, which the name of its field may tell to be a secret; field names
    stay."""
    if isinstance(value, list):
        return [redact_values(one, name=name) for one in value]
    if isinstance(value, dict):
        return {field: redact_values(one, name=field) for field, one in value.items()}
    if isinstance(value, bool) or value is None:
        return value
    text = str(value)
    alone = redact(text)
    if alone != text:
        return alone
    begin = len(f"{name}: ")
    named = next((one for one in find_secrets(f"{name}: {text}") if one.start >= begin), None) if name else None
    return value if named is None else f"[{named.kind}]"


def redact_json(text: str) -> str:
    """A text without its secrets that is JSON again if it was."""
    if text[:1] not in ("{", "["):
        return redact(text)
    try:
        value = cast(Json, json.loads(text))
    except (ValueError, RecursionError):
        return redact(text)
    hidden = redact_values(value)
    return text if hidden == value else json.dumps(hidden, ensure_ascii=False)


def _candidates(text: str) -> Iterator[Secret]:
    for run in _RUN.finditer(text):
        yield from _tokens(run)
    if "---" in text:
        for found in _ARMOUR.finditer(text):
            yield Secret(found.start(), found.end(), "private_key")
    if _DIGITS.search(text):
        yield from _numbers(text)
    lower = text.lower()
    if _holds(lower, _NAME_PARTS):
        yield from _named(text)
        yield from _spoken(text, lower)
        yield from _codes(text, lower)
    yield from _alone(text)


def _holds(lower: str, parts: tuple[str, ...]) -> bool:
    """Whether a text contains any of these: ten times faster than trying the expressions, all of which need one."""
    for part in parts:  # noqa: SIM110 - on the path of every turn, and half of what `any` takes
        if part in lower:
            return True
    return False


def _tokens(run: re.Match[str]) -> Iterator[Secret]:
    for found in _TOKENS.finditer(run[0]):
        yield Secret(run.start() + found.start(), run.start() + found.end(), "token")
    for found in _LONG_RUN.finditer(run[0]):
        inline_data = run[0][: found.start()].endswith("base64,")
        if not inline_data and _random(found[0]) and not _digest(run.string, run.start() + found.start(), found[0]):
            yield Secret(run.start() + found.start(), run.start() + found.end(), "token")


def _digest(text: str, start: int, value: str) -> bool:
    """Whether a long random value names a version or is a checksum, which anybody may know."""
    if value.startswith(("sha256-", "sha384-", "sha512-")):
        return True
    return _HEX.fullmatch(value) is not None and _DIGEST.search(text[max(0, start - 48) : start]) is not None


def _numbers(text: str) -> Iterator[Secret]:
    for found in _CARD.finditer(text):
        if is_card(re.sub(r"\D", "", found[0])):
            yield Secret(found.start(), found.end(), "card")
    for found in _IBAN.finditer(text):
        length = iban_length(found[0], lengths=_IBAN_LENGTHS)
        if length:
            yield Secret(found.start(), found.start() + length, "iban")
    for found in _SSN.finditer(text):
        yield Secret(found.start(), found.end(), "ssn")
    for found in _SSN_SAID.finditer(text):
        yield Secret(*found.span("value"), "ssn")


def _named(text: str) -> Iterator[Secret]:
    yield from _assigned(text)
    for pattern in (_SLASHED, _FLAG, _HEADER, _URL_LOGIN, _MY_KEY):
        for found in pattern.finditer(text):
            group = found.lastgroup or "value"
            value = found[group]
            sure = pattern in (_SLASHED, _URL_LOGIN)
            if sure or _like_a_value(value, password=pattern is _HEADER, quoted=False):
                start, end = found.span(group)
                yield Secret(start, end - _trailing(value), "token")
    for found in _PATH.finditer(text):
        if _like_a_value(found["value"], password=False, quoted=False):
            yield Secret(*found.span("value"), "token")
    for pattern in (_LICENCE, _BACKUP_CODES):
        for found in pattern.finditer(text):
            if any(c.isdigit() for c in found["value"]) or found["value"].count("-") >= 3:
                yield Secret(*found.span("value"), "token")
    if re.search(r"key|secret|token|auth", text, re.IGNORECASE):
        for found in _UUID.finditer(text):
            yield Secret(found.start(), found.end(), "token")


def _assigned(text: str) -> Iterator[Secret]:
    for separator in _SEPARATOR.finditer(text):
        name = _NAME_BEFORE.search(text[max(0, separator.start() - 48) : separator.start()])
        value = _VALUE_AFTER.match(text, separator.end()) if name else None
        if name is None or value is None:
            continue
        password = _PASSWORD.match(name["name"]) is not None
        if _like_a_value(value["value"], password=password, quoted=value["quote"] is not None):
            start, end = value.span("value")
            yield Secret(start, end - _trailing(value["value"]), "password" if password else "token")


def _spoken(text: str, lower: str) -> Iterator[Secret]:
    for found in _SPOKEN.finditer(text):
        value = found["value"]
        start, end = found.span("value")
        end -= _trailing(value)
        if end - start >= 3 and _spoken_value(text[start:end], rest=text[end : end + 40]):
            yield Secret(start, end, "password")
    password = _holds(lower, _PASSWORD_PARTS)
    for pattern in (_SIGN_IN, _SET_TO) if password else (_SIGN_IN,):
        for found in pattern.finditer(text):
            start, end = found.span(found.lastgroup or "value")
            end -= _trailing(text[start:end])
            if _odd(text[start:end]):
                yield Secret(start, end, "password")
    for found in _QUOTED.finditer(text) if password else ():
        if _PLACEHOLDER.match(found["value"]) is None and found["value"].lower() not in _NOT_PASSWORDS:
            yield Secret(*found.span("value"), "password")
    for found in _BESIDE.finditer(text) if password or _holds(lower, _KEY_PARTS) else ():
        start, end = found.span(found.lastgroup or "value")
        end -= _trailing(text[start:end])
        if _next_to_value(text[start:end]) and text[end : end + 1] not in ("(", "["):
            yield Secret(start, end, "password" if found.lastgroup == "value" else "token")


def _alone(text: str) -> Iterator[Secret]:
    """A message that is one odd word, as if pasted from a clipboard: lower and upper case letters and digits."""
    value = text.strip()
    if (
        not 10 <= len(value) < 28
        or _PASTED.fullmatch(value) is None
        or value.count(".") > 1
        or _PLACEHOLDER.match(value)
    ):
        return
    inner, digits = any(c.isupper() for c in value[1:]), sum(map(str.isdigit, value))
    odd = digits >= 2 if inner else digits >= 3 and value[0].isupper() and any(not c.isalnum() for c in value)
    if odd and any(c.islower() for c in value):
        start = text.index(value)
        yield Secret(start, start + len(value), "password")


def _codes(text: str, lower: str) -> Iterator[Secret]:
    digits = _DIGIT.search(text) is not None
    for found in _COMBINATION.finditer(text) if digits else ():
        if sum(sign.isdigit() for sign in found["value"]) >= 3:
            yield Secret(*found.span("value"), "pin")
    for pattern in (_SENT_CODE, _SPELT_CODE) if digits else (_SPELT_CODE,):
        for found in pattern.finditer(text):
            yield Secret(*found.span("value"), "pin")
    for found in _PIN.finditer(text) if digits else ():
        yield Secret(*found.span(found.lastgroup or "value"), "pin")
    for found in _SEED.finditer(text) if _holds(lower, _SEED_PARTS) else ():
        yield from _seed_words(text, *found.span("value"))


def _seed_words(text: str, start: int, end: int) -> Iterator[Secret]:
    """Twelve or more words in a row that do not form a sentence."""
    cuts = [(start, start), *(found.span() for found in _PROSE.finditer(text, start, end)), (end, end)]
    for (_, begin), (stop, _) in pairwise(cuts):
        if len(re.findall(r"[a-z]+", text[begin:stop], re.IGNORECASE)) >= 12:
            yield Secret(begin, stop, "seed_phrase")


def _merged(found: list[Secret]) -> list[Secret]:
    kept: list[Secret] = []
    for secret in found:
        if kept and secret.start < kept[-1].end:
            last = kept[-1]
            kept[-1] = Secret(last.start, max(last.end, secret.end), last.kind)
        else:
            kept.append(secret)
    return kept


def _trailing(value: str) -> int:
    """How many closing characters at the end of a value belong to the sentence around it."""
    bare = value.rstrip(".,;:)\"'\\?")
    return len(value) - len(bare)


def _like_a_value(value: str, *, password: bool, quoted: bool) -> bool:
    """Whether what follows a secret's name is a value rather than prose, code or a placeholder."""
    value = value[: len(value) - _trailing(value)]
    code = re.search(r"[()\[\]{}<>]|^\w+(?:\.[a-z_]+)+$|^[$%@]\w+$", value)
    if len(value) < 4 or code or _PLACEHOLDER.match(value):
        return False
    digits = sum(c.isdigit() for c in value)
    mixed = any(c.islower() for c in value) and any(c.isupper() for c in value)
    if password:
        odd = quoted and mixed and _WORDY.fullmatch(value) is None
        return odd or (digits > 0 and any(c.isalpha() for c in value))
    if _WORDY.fullmatch(value):
        return quoted and len(value) >= 20 and mixed and "." not in value and "-" not in value
    if len(value) < 8 or "://" in value or (value.startswith(("/", "./", "#")) and not _random(value)):
        return False
    if digits == 1:
        return mixed and len(value) >= 20 and re.search(r"[a-z]{8}", value) is None
    return digits >= 2 and any(c.isalpha() for c in value) and (len(value) >= 12 or mixed)


def _odd(value: str) -> bool:
    """Whether a word would not occur in a sentence: letters with digits or signs, or an inner capital."""
    if len(value) < 4 or value.lower() in _NOT_PASSWORDS or _PLACEHOLDER.match(value):
        return False
    letters = any(c.isalpha() for c in value)
    signs = any(not c.isalnum() and c not in "-'’./:" for c in value)
    return letters and (any(c.isdigit() for c in value) or signs or any(c.isupper() for c in value[1:]))


def _next_to_value(value: str) -> bool:
    """Whether a word right after "password" is one: letters with digits, and not a product name written that way."""
    if len(value) < 6 or re.search(r"[/\\=:(){}\[\]<>]", value) or _PLACEHOLDER.match(value):
        return False
    lower, upper = any(c.islower() for c in value), any(c.isupper() for c in value[1:])
    digits = sum(c.isdigit() for c in value)
    if digits == 0 or not (lower or upper) or (digits == 1 and not (lower and upper)):
        return False
    return _NAMED_NUMBER.fullmatch(value) is None


def _spoken_value(value: str, *, rest: str) -> bool:
    """Whether the word after "my password is" is the password itself."""
    if value.lower() in _NOT_PASSWORDS or _PLACEHOLDER.match(value) or _CALL.match(value):
        return False
    if any(c.isdigit() for c in value):
        return re.fullmatch(r"\d{1,2}(?:[-–]\d{1,2})?[+%]?", value) is None
    if any(not c.isalnum() for c in value.strip("-'’")) and "-" not in value and "'" not in value and "’" not in value:
        return any(c.isalpha() for c in value)
    inner_capital = any(c.isupper() for c in value[1:]) and any(c.islower() for c in value)
    # A plain word counts if it ends the sentence: "the password is swordfish."
    ends = re.match(r"\s*(?:$|[.!\n]|,? (?:and|but|don't|please|if|ok)\b)", rest) is not None
    participle = value.lower().endswith(("ed", "ing", "ly", "able", "ible", "ous", "ful"))
    return inner_capital or (ends and not participle and value.isalpha() and value.islower() and len(value) >= 6)


def _random(value: str) -> bool:
    """Whether a long run of characters is too random to be words, a path or a name."""
    body = value.strip("=/_-+")
    if len(body) < 28:
        return False
    lower = sum(c.islower() for c in body)
    upper = sum(c.isupper() for c in body)
    digit = sum(c.isdigit() for c in body)
    if re.fullmatch(r"[0-9a-f]+|[0-9A-F]+|[0-9a-fA-F]{40}", body):
        return len(body) >= 40 and len(set(body.lower())) >= 10 and len(body) in (40, 48, 56, 64, 96, 128)
    if min(lower, upper) < 4 or (digit < 1 and len(body) < 56) or re.search(r"[a-z]{10,}|[A-Z]{12,}", body):
        return False
    if body.count("-") + body.count("_") + body.count("/") > len(body) / 6:
        return False
    changes = sum(_class(a) != _class(b) for a, b in pairwise(body))
    return _entropy(body) >= 3.9 and changes >= len(body) * 0.3


def _class(sign: str) -> int:
    return 0 if sign.islower() else 1 if sign.isupper() else 2 if sign.isdigit() else 3


def _entropy(value: str) -> float:
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


# Payment cards and bank accounts, told apart from other long numbers by their check digits.


_ISSUERS: Final = re.compile(
    r"220[0-4]\d{12}|9792\d{12}|4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|(?:5[06-9]|6\d)\d{11,17}"
)


def is_card(digits: str) -> bool:
    """A payment card: an issuer's range with its length, and a valid Luhn check digit."""
    if _ISSUERS.fullmatch(digits) is None or len(set(digits)) == 1:
        return False
    doubled = (int(sign) * (1 + place % 2) for place, sign in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def iban_length(spaced: str, *, lengths: Mapping[str, int]) -> int:
    """How many characters of the run, separators included, form an IBAN (0 if none: mod 97 must hold)."""
    wanted = lengths.get(spaced[:2].upper(), 0)
    kept: list[str] = []
    for place, sign in enumerate(spaced):
        if sign.isalnum():
            kept.append(sign.upper())
        if len(kept) == wanted:
            number = "".join(str(int(c, 36)) for c in (*kept[4:], *kept[:4]))
            return place + 1 if int(number) % 97 == 1 else 0
    return 0
