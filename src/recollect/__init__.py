"""Recollect: the memory and context engine behind conversational products.

Names are loaded when they are first used, so that `import recollect` and `recollect --help` cost milliseconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.assemble.recipe import Recipe
    from recollect.engine import Recollect
    from recollect.errors import (
        Conflict,
        ImpossibleBudget,
        InvalidInput,
        NotFound,
        RecollectError,
        StoreError,
    )
    from recollect.types import (
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

__version__ = "0.1.0"

__all__ = [
    "Conflict",
    "Context",
    "Entity",
    "Episode",
    "Hit",
    "ImpossibleBudget",
    "InvalidInput",
    "Item",
    "Loop",
    "Memory",
    "NotFound",
    "Persona",
    "Profile",
    "Recipe",
    "Recollect",
    "RecollectError",
    "Session",
    "State",
    "StoreError",
    "Summary",
    "Thought",
    "ToolCall",
    "ToolReturn",
    "Turn",
]

_ELSEWHERE = {"Recipe": "recollect.assemble.recipe", "Recollect": "recollect.engine"} | dict.fromkeys(
    ("Conflict", "ImpossibleBudget", "InvalidInput", "NotFound", "RecollectError", "StoreError"), "recollect.errors"
)
"""Where the names live that are not in `recollect.types`."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_ELSEWHERE.get(name, "recollect.types")), name)
    globals()[name] = value
    return value
