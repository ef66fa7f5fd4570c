"""Regular expressions kept as data.

Long tables of expressions read badly in code and well in a file with one expression a line. A table is a TOML
file beside the module that reads it; `{{name}}` in an expression stands for the fragment of that name in `[fragments]`.
"""

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Self

__all__ = ["PatternTable"]


@dataclass(frozen=True)
class PatternTable:
    """One file of expressions, its fragments filled in."""

    content: dict[str, Any]

    @classmethod
    def read(cls, package: str, name: str) -> Self:
        return cls(tomllib.loads(files(package).joinpath(name).read_text("utf-8")))

    def filled(self, expression: str) -> str:
        for name, fragment in self.content.get("fragments", {}).items():
            expression = expression.replace("{{" + name + "}}", fragment)
        return expression

    def compiled(self, expression: str) -> re.Pattern[str]:
        """Compile an expression with its fragments; case is ignored."""
        return re.compile(self.filled(expression), re.IGNORECASE)

    def pattern(self, name: str) -> re.Pattern[str]:
        return self.compiled(self.content["patterns"][name])

    def text(self, section: str, name: str) -> str:
        return self.filled(self.content[section][name])

    def texts(self, section: str, name: str) -> tuple[str, ...]:
        return tuple(self.filled(one) for one in self.content[section][name])

    def numbers(self, section: str) -> dict[str, int]:
        return dict(self.content[section])
