"""Asking a model for a structured answer, within limits, or saying clearly that it gave none.

PydanticAI is imported when a model is first asked: it is an extra, and takes a second to load. A model may be anything that
it takes (`openai:…`, a model object), several of them to fall back on in order, or `http://host:port/v1#name` for a server
that speaks OpenAI's protocol. Nothing is retried for long here: the step that asked is tried again later.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from hitherto.errors import HithertoError, InvalidInput, MissingExtra
from hitherto.learn.notes import Cost

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.models import Model


class ModelFailed(HithertoError):
    """The model gave no usable answer; the step is tried again later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one question may cost."""

    seconds: float = 60.0
    requests: int = 3
    answer_tokens: int = 6_000
    corrections: int = 1
    """How often the model is told what was wrong with its answer."""


@dataclass(slots=True)
class Asker:
    """One model, or several to fall back on."""

    model: object
    limits: Limits = field(default_factory=Limits)
    _agent: "Agent[None, Any] | None" = None
    _known: "Model | str | None" = None
    _clients: list["AsyncOpenAI"] = field(default_factory=list["AsyncOpenAI"])

    async def close(self) -> None:
        """Ends the connections to servers that were named by their address; asked again, they are opened again."""
        clients, self._clients, self._known = self._clients, [], None
        self._agent = None
        for client in clients:
            await client.close()

    async def ask(self, question: str, *, instructions: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Cost]:
        """The model's answer and what it cost, or ModelFailed whatever went wrong with it."""
        agent = self._asked(schema)
        from pydantic_ai.exceptions import AgentRunError, FallbackExceptionGroup, UserError
        from pydantic_ai.usage import UsageLimits

        limits = UsageLimits(request_limit=self.limits.requests, output_tokens_limit=self.limits.answer_tokens)
        try:
            async with asyncio.timeout(self.limits.seconds):
                result = await agent.run(question, instructions=instructions, usage_limits=limits)
        except TimeoutError as error:
            raise ModelFailed(f"the model did not answer within {self.limits.seconds:g} seconds") from error
        except (AgentRunError, FallbackExceptionGroup, UserError, OSError) as error:
            raise ModelFailed(f"the model gave no usable answer: {type(error).__name__}: {error}"[:500]) from error
        usage = result.usage
        lists = [name for name, of in schema["properties"].items() if of["type"] == "array"]
        if any(not isinstance(result.output.get(name), list) for name in lists):
            raise ModelFailed(f"the model's answer does not fit: {', '.join(lists)} should be a list")
        cost = Cost(calls=usage.requests, asked=usage.input_tokens, answered=usage.output_tokens)
        return cast("dict[str, Any]", result.output), cost

    def _asked(self, schema: Mapping[str, Any]) -> "Agent[None, Any]":
        """The agent; every question has the same form of answer."""
        if self._agent is None:
            try:
                from pydantic_ai import Agent, NativeOutput, StructuredDict
                from pydantic_ai.settings import ModelSettings
            except ImportError as error:
                raise MissingExtra("a model needs the extra: pip install 'hitherto[pydantic-ai]'") from error
            if self._known is None:
                self._known = _model(self.model, self._clients)
            answer = StructuredDict(dict(schema), name="notes")
            self._agent = Agent(
                self._known,
                output_type=NativeOutput(answer) if self._clients else answer,
                retries=self.limits.corrections,
                model_settings=ModelSettings(
                    max_tokens=self.limits.answer_tokens, timeout=self.limits.seconds, temperature=0.0
                ),
            )
        return self._agent


def _model(model: object, clients: list["AsyncOpenAI"]) -> "Model | str":
    """What PydanticAI takes: a name, a model, or several with a fallback between them."""
    from pydantic_ai.models import Model

    if isinstance(model, Model):
        return cast("Model", model)
    if isinstance(model, str):
        return _served(model, clients) if model.startswith(("http://", "https://")) else model
    if isinstance(model, Sequence) and model:
        from pydantic_ai.models.fallback import FallbackModel

        first, *others = (_model(one, clients) for one in cast(Sequence[object], model))
        return FallbackModel(first, *others)
    raise InvalidInput(f"model={model!r} is neither a name, nor a PydanticAI model, nor several of them")


def _served(url: str, clients: list["AsyncOpenAI"]) -> "Model":
    """The model behind an OpenAI-compatible server, such as `http://127.0.0.1:8080/v1#qwen`."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    base, _, name = url.partition("#")
    client = AsyncOpenAI(base_url=base, api_key="none", max_retries=0)
    clients.append(client)
    return OpenAIChatModel(name or "default", provider=OpenAIProvider(openai_client=client))
