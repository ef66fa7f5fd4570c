"""How many tokens a text costs the model that will read it.

A budget is only a contract if the count is never too low. Where the model's vocabulary is at hand the count
is exact; where it is not published, the count is an upper estimate over o200k: a factor times its tokens,
plus something for every byte that UTF-8 needs beyond one per character and for every ASCII digit and sign,
because other scripts, emoji, numbers and rules of dashes are where vocabularies differ most. `ESTIMATES`
holds the three numbers of each family, chosen so that they are above the real count for all but 1 in 200 of
6,168 texts (chat turns, injection texts, 26 scripts and degenerate strings) in the open vocabularies that
stand in for it. A family that nobody has heard of gets the highest and a warning.

Chat formats wrap every message in a few tokens of their own; `MESSAGE`, `REQUEST` and `CALL` are upper values
for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import ceil
from typing import Final, Protocol, cast

from splintr import AnyTokenizer
from splintr import Tokenizer as Vocabulary

from hitherto.errors import InvalidInput
from hitherto.plugins import plugin
from hitherto.types import Media, Part, Thinking, ToolCall, ToolReturn

MESSAGE: Final = 4
"""Role and separators of one chat message."""
REQUEST: Final = 3
"""The tokens that prime the answer, once per request."""
CALL: Final = 8
"""The tokens around the name and arguments of a tool call, or that link a tool's answer to its call."""

EXACT: Final = {
    "o200k": "o200k_base",
    "cl100k": "cl100k_base",
    "llama3": "llama3",
    "mistral_v3": "mistral_v3",
    "deepseek_v3": "deepseek_v3",
    "qwen3": "qwen3",
    "gemma3": "gemma3",
}
"""Families whose vocabulary ships with the tokenizer package; nothing is downloaded."""

ESTIMATES: Final = {
    "claude": (1.7, 0.8, 0.5),
    "gemini": (1.3, 0.5, 0.6),
    "llama": (1.5, 0.8, 0.8),
    "mistral": (1.5, 0.8, 0.8),
    "deepseek": (1.5, 0.5, 0.3),
    "qwen": (1.5, 0.5, 0.5),
    "kimi": (1.5, 0.8, 0.6),
    "glm": (1.5, 0.5, 0.3),
    "phi": (1.5, 0.6, 0.3),
    "grok": (1.7, 0.8, 0.8),
    "command": (1.7, 0.8, 0.8),
}
"""Families by upper estimate: factor over o200k, tokens for each byte beyond one per character, for each
digit or sign.
"""

UNKNOWN: Final = (1.7, 0.8, 0.8)

_CONTROL: Final = "<|"
"""How the control tokens of most vocabularies begin."""
_BYTES_OF_ID: Final = 4
_SHORT: Final = 2_000
_MOST_COUNTED: Final = 4_096

_NEITHER_DIGIT_NOR_SIGN: Final = bytes(range(65, 91)) + bytes(range(97, 123)) + b" " + bytes(range(128, 256))

_MODELS: Final = (
    ("gpt-4o", "o200k"),
    ("gpt-4.1", "o200k"),
    ("gpt-4.5", "o200k"),
    ("gpt-4", "cl100k"),
    ("gpt-3.5", "cl100k"),
    ("gpt", "o200k"),
    ("chatgpt", "o200k"),
    ("o1", "o200k"),
    ("o3", "o200k"),
    ("o4", "o200k"),
    ("codestral", "mistral"),
    *((family, family) for family in ESTIMATES),
)
"""Prefixes of model names and their families; the first match counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Tokenizer:
    """Counts tokens for one family. Get one with `tokenizer(family)`; it is cached and safe to share."""

    family: str
    exact: bool
    warning: str | None
    _vocabulary: AnyTokenizer = field(repr=False)
    _estimate: tuple[float, float, float] = (1.0, 0.0, 0.0)
    _counted: dict[tuple[int, int], int] = field(init=False, repr=False, default_factory=dict[tuple[int, int], int])
    """Counts of short texts, keyed by hash and length, because contexts ask about the same lines again and again. No text
    is kept."""
    _alike: bool = field(init=False, repr=False, default=False)
    """Whether all control tokens of the vocabulary begin alike."""

    def __post_init__(self) -> None:
        alike = all(name.startswith(_CONTROL) for name in self._vocabulary.special_tokens())
        object.__setattr__(self, "_alike", alike)

    @property
    def message_overhead(self) -> int:
        return MESSAGE

    def count(self, text: str) -> int:
        """Counts the tokens of a text and remembers the result."""
        if len(text) > _SHORT:
            return self.count_uncached(text)
        name = hash(text), len(text)
        known = self._counted.get(name)
        if known is None:
            if len(self._counted) >= _MOST_COUNTED:
                self._counted.clear()
            known = self._counted[name] = self.count_uncached(text)
        return known

    def count_uncached(self, text: str) -> int:
        """Counts without remembering, for a text that will not come again. In text that has no UTF-8 form, each bad code
        point counts as three.
        """
        try:
            tokens = self._number(text)
        except UnicodeEncodeError:
            text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
            tokens = self._number(text)
        if self.exact:
            return tokens
        factor, wide, sign = self._estimate
        raw = text.encode()
        signs = len(raw.translate(None, _NEITHER_DIGIT_NOR_SIGN))
        return ceil(tokens * factor + (len(raw) - len(text)) * wide + signs * sign)

    def _number(self, text: str) -> int:
        """Encoding bytes is faster than encoding strings, but would treat control tokens as control tokens."""
        if self._alike and _CONTROL not in text:
            return len(self._vocabulary.encode_flat(text)) // _BYTES_OF_ID
        return len(self._vocabulary.encode_ordinary(text))

    def part(self, part: Part) -> int:
        """Counts a part of a turn, including its wrapping in a chat format."""
        match part:
            case ToolCall():
                return (
                    CALL
                    + self.count_uncached(part.id)
                    + self.count_uncached(part.name)
                    + self.count_uncached(part.args)
                )
            case ToolReturn():
                return (
                    MESSAGE
                    + CALL
                    + self.count_uncached(part.id)
                    + self.count_uncached(part.name)
                    + self.count_uncached(part.content)
                )
            case Thinking():
                return MESSAGE + self.count_uncached(part.text)
            case Media():
                return self.count_uncached(part.caption)

    def turn(self, text: str, parts: Iterable[Part] = ()) -> int:
        """Counts a turn's text and parts; the result is stored with the turn."""
        return self.count_uncached(text) + sum(self.part(part) for part in parts)


class Encoder(Protocol):
    """What an application's own tokenizer has to offer: numbers for a text, with control tokens treated as ordinary text."""

    def encode_ordinary(self, text: str) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class _Declared:
    """Wraps a tokenizer that a package declares."""

    own: Encoder

    def encode_ordinary(self, text: str) -> Sequence[int]:
        return self.own.encode_ordinary(text)

    def special_tokens(self) -> tuple[str, ...]:
        return ("",)  # not alike, so that the byte form is never asked for


def tokenizer(family: str = "o200k") -> Tokenizer:
    """The tokenizer of a family, or of a model by its name (`gpt-4o`, `anthropic:claude-…`). Loaded on first
    use.
    """
    return _opened(family)


@lru_cache(maxsize=64)
def _opened(family: str) -> Tokenizer:
    name = family.strip().lower()
    if not name:
        raise InvalidInput(f"tokenizer family {family!r} is empty; use one of {', '.join(families())}")
    known = _family(name)
    own = None if known in EXACT or known in ESTIMATES else plugin("tokenizer", family.strip())
    if own is not None:
        return Tokenizer(name, True, None, cast(AnyTokenizer, _Declared(cast(Encoder, own))))
    if known in EXACT:
        return Tokenizer(known, True, None, _vocabulary(EXACT[known]))
    warning = None
    if known not in ESTIMATES:
        warning = f"tokenizer family {family!r} is unknown; tokens are estimated at {UNKNOWN[0]} times o200k"
    return Tokenizer(known, False, warning, _vocabulary(EXACT["o200k"]), ESTIMATES.get(known, UNKNOWN))


def families() -> tuple[str, ...]:
    """Every family known by name, exact ones first."""
    return (*EXACT, *ESTIMATES)


def _family(name: str) -> str:
    if name in EXACT or name in ESTIMATES:
        return name
    model = name.rpartition(":")[2].rpartition("/")[2]
    return next((family for prefix, family in _MODELS if model.startswith(prefix)), name)


@cache
def _vocabulary(name: str) -> AnyTokenizer:
    return Vocabulary.from_pretrained(name)
