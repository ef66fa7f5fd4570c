"""Memory for other people's frameworks: `from hitherto.integrations import LangGraphStore`.

Nothing is imported until it is asked for, and then only its own framework.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from hitherto.errors import MissingExtra

if TYPE_CHECKING:
    from hitherto.integrations.agents import AgentsSession
    from hitherto.integrations.bots import AiogramMemory, PtbMemory
    from hitherto.integrations.crewai import CrewStorage
    from hitherto.integrations.google_adk import AdkMemory, AdkSessions
    from hitherto.integrations.langgraph import LangGraphSaver, LangGraphStore
    from hitherto.integrations.livekit import LiveKitMemory
    from hitherto.integrations.llama_index import LlamaIndexBlock
    from hitherto.integrations.pipecat import PipecatMemory

__all__ = [
    "AdkMemory",
    "AdkSessions",
    "AgentsSession",
    "AiogramMemory",
    "CrewStorage",
    "LangGraphSaver",
    "LangGraphStore",
    "LiveKitMemory",
    "LlamaIndexBlock",
    "PipecatMemory",
    "PtbMemory",
]

_PLACES: Final = {
    "AdkMemory": ("google_adk", "google-adk"),
    "AdkSessions": ("google_adk", "google-adk"),
    "AgentsSession": ("agents", "openai-agents"),
    "AiogramMemory": ("bots", "aiogram"),
    "CrewStorage": ("crewai", "crewai"),
    "LangGraphSaver": ("langgraph", "langgraph"),
    "LangGraphStore": ("langgraph", "langgraph"),
    "LiveKitMemory": ("livekit", "livekit"),
    "LlamaIndexBlock": ("llama_index", "llama-index"),
    "PipecatMemory": ("pipecat", "pipecat"),
    "PtbMemory": ("bots", "telegram"),
}
"""The module of each, and the extra that brings its framework."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(name)
    module, extra = _PLACES[name]
    try:
        return getattr(import_module(f"hitherto.integrations.{module}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("hitherto"):
            raise
        raise MissingExtra(f"{name} needs {error.name}: pip install 'hitherto[{extra}]'") from error
