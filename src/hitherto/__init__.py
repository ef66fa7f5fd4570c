"""Hitherto: the memory and context engine behind conversational products.

Names are loaded when they are first used, so that `import hitherto` and `hitherto --help` cost milliseconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hitherto.engine import Hitherto
    from hitherto.errors import (
        Conflict,
        HithertoError,
        ImpossibleBudget,
        InvalidInput,
        NotFound,
        StoreError,
    )
    from hitherto.recipes.recipe import Recipe
    from hitherto.types import (
        Context,
        Entity,
        Episode,
        Hit,
        Item,
        Loop,
        Memory,
        Persona,
        Profile,
        Session,
        State,
        Summary,
        Thought,
        ToolCall,
        ToolReturn,
        Turn,
    )

__version__ = "0.2.0"

__all__ = [
    "Conflict",
    "Context",
    "Entity",
    "Episode",
    "Hit",
    "Hitherto",
    "HithertoError",
    "ImpossibleBudget",
    "InvalidInput",
    "Item",
    "Loop",
    "Memory",
    "NotFound",
    "Persona",
    "Profile",
    "Recipe",
    "Session",
    "State",
    "StoreError",
    "Summary",
    "Thought",
    "ToolCall",
    "ToolReturn",
    "Turn",
]

_ELSEWHERE = {"Recipe": "hitherto.recipes.recipe", "Hitherto": "hitherto.engine"} | dict.fromkeys(
    ("Conflict", "ImpossibleBudget", "InvalidInput", "NotFound", "HithertoError", "StoreError"), "hitherto.errors"
)
"""Where the names live that are not in `hitherto.types`."""


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_ELSEWHERE.get(name, "hitherto.types")), name)
    globals()[name] = value
    return value
