"""Memory for PydanticAI agents: `Agent(model, capabilities=[Memory(engine, user="ana")])`.

Needs the extra `pydantic-ai`. `Conversations` is there where the installed version has a conversation store to build on.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from hitherto.errors import MissingExtra

if TYPE_CHECKING:
    from hitherto.deliver.pydantic_ai.capability import Memory
    from hitherto.deliver.pydantic_ai.conversations import Conversations

__all__ = ["Conversations", "Memory"]

_HOMES = {"Memory": "capability", "Conversations": "conversations"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("pydantic_ai"):
            raise
        needed = "a newer one: upgrade pydantic-ai-slim" if error.name != "pydantic_ai" else "hitherto[pydantic-ai]"
        raise MissingExtra(f"{name} needs PydanticAI ({error.name} is not installed); install {needed}") from error
