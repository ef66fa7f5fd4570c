"""Recollect: the memory and context engine behind conversational products."""

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
