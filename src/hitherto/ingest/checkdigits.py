"""Payment cards and bank accounts, told from other long numbers by their check digits."""

import re
from collections.abc import Mapping
from typing import Final

__all__ = ["iban_length", "is_card"]

_ISSUERS: Final = re.compile(
    r"220[0-4]\d{12}|9792\d{12}|4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|(?:5[06-9]|6\d)\d{11,17}"
)


def is_card(digits: str) -> bool:
    """A payment card: an issuer's range with its length, and a Luhn check digit that holds."""
    if _ISSUERS.fullmatch(digits) is None or len(set(digits)) == 1:
        return False
    doubled = (int(sign) * (1 + place % 2) for place, sign in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def iban_length(spaced: str, *, lengths: Mapping[str, int]) -> int:
    """How many characters of the run, separators included, are an IBAN (0 if none: mod 97 must hold)."""
    wanted = lengths.get(spaced[:2].upper(), 0)
    kept: list[str] = []
    for place, sign in enumerate(spaced):
        if sign.isalnum():
            kept.append(sign.upper())
        if len(kept) == wanted:
            number = "".join(str(int(c, 36)) for c in (*kept[4:], *kept[:4]))
            return place + 1 if int(number) % 97 == 1 else 0
    return 0
