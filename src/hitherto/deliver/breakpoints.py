"""Cache breakpoints in chat messages, for providers that take them (`cache_control` as Anthropic, OpenRouter and LiteLLM
read it). Others must be sent the plain messages.
"""

from typing import Final

from hitherto.types import Context, Json

_MARK: Final[dict[str, Json]] = {"type": "ephemeral"}


def marked(context: Context) -> list[dict[str, Json]]:
    """The whole prompt, system text first; each stretch that should last ends in a mark."""
    prompt: list[dict[str, Json]] = [{"role": "system", "content": context.system}, *context.messages]
    for end in context.breakpoints:
        place = next(place for place in range(end, -1, -1) if prompt[place].get("content") or place == 0)
        prompt[place] = _ending(prompt[place])
    return prompt


def _ending(message: dict[str, Json]) -> dict[str, Json]:
    text = message["content"]
    return {**message, "content": [{"type": "text", "text": text, "cache_control": _MARK}]}
