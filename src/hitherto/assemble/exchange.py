"""Turns as exchanges: a turn together with the tool calls it made and what the tools answered.

A call without its return, or a return without its call, makes providers refuse the whole request. So the two are joined
here, once, wherever they were recorded (in one turn or in several), and from then on an exchange is shown or left out as a
whole. Unanswered calls and answers without a call are left out. The reasoning of finished turns is not shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from hitherto.assemble.candidates import Desk
from hitherto.assemble.render import LEAST, bounded, indented, safe, shorten
from hitherto.safety.visible import visible
from hitherto.tokens import CALL, MESSAGE, Tokenizer
from hitherto.types import Json, Media, StoredTurn, ToolCall, ToolReturn

SHORT_ARGS: Final = '{"shortened":true}'
"""Replaces arguments that are too long; providers want JSON here."""
LONGEST: Final = 200_000
"""Characters of a turn that are considered before it is shortened."""


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call and its answer, ready for a prompt. `fixed` counts all tokens but those of the arguments and the output."""

    id: str
    name: str
    args: str
    args_tokens: int
    output: str
    tokens: int
    fixed: int


class Exchange(NamedTuple):
    """A turn of the user or the persona, ready for a prompt, with the tools it used."""

    turn: StoredTurn
    label: str
    text: str
    tokens: int
    around: int
    """Tokens of the message that carries the text."""
    uses: tuple[Use, ...] = ()
    opens: bool = False
    """Whether the text came with the calls rather than after their answers."""
    also: tuple[str, ...] = ()
    """Ids of the turns that held the tools' answers."""

    @property
    def whole(self) -> int:
        return self.cost(text=self.tokens)

    def cost(self, *, text: int, tool: int | None = None) -> int:
        """The most tokens it can take with the text, and each tool's arguments and output, within these limits; tool 0
        leaves tools out.
        """
        if not self.uses or tool == 0:
            return self.around + max(1, min(self.tokens, text)) if self.uses else self.around + min(self.tokens, text)
        total = self.around + min(self.tokens, text) + (MESSAGE if self.text and not self.opens else 0)
        for use in self.uses:
            if tool is None:
                total += use.fixed + use.args_tokens + use.tokens
            else:
                total += use.fixed + min(use.args_tokens, max(tool, CALL)) + min(use.tokens, tool)
        return total


@dataclass(frozen=True, slots=True)
class Leftover:
    """A turn that cannot be shown, and why."""

    turn: StoredTurn
    reason: str


def exchanges(turns: Sequence[StoredTurn], desk: Desk) -> tuple[list[Exchange], list[Leftover]]:
    """Turns in order as exchanges, and those that cannot be shown."""
    answers, homes = _paired(turns)
    shown: list[Exchange] = []
    left: list[Leftover] = []
    for place, turn in enumerate(turns):
        if turn.role == "tool":
            if place not in homes:
                left.append(Leftover(turn, "a tool's answer without its call"))
        elif turn.role == "system":
            left.append(Leftover(turn, "neither the user's nor the persona's"))
        else:
            exchange = _exchange(place, turn, answers, turns, desk)
            if exchange.text or exchange.uses:
                shown.append(exchange)
            else:
                left.append(Leftover(turn, "neither words nor an answered call"))
    return shown, left


_Answers = dict[tuple[int, int], tuple[int, ToolReturn]]


def _paired(turns: Sequence[StoredTurn]) -> tuple[_Answers, set[int]]:
    """Which return answers which call, both by position; ids may repeat, and the latest open call is meant."""
    answers: _Answers = {}
    homes: set[int] = set()
    waiting: dict[str, list[tuple[int, int]]] = {}
    for place, turn in enumerate(turns):
        for index, part in enumerate(turn.parts):
            if isinstance(part, ToolCall) and turn.role == "assistant":
                waiting.setdefault(part.id, []).append((place, index))
            elif isinstance(part, ToolReturn) and waiting.get(part.id):
                answers[waiting[part.id].pop()] = (place, part)
                homes.add(place)
    return answers, homes


def _exchange(place: int, turn: StoredTurn, answers: _Answers, turns: Sequence[StoredTurn], desk: Desk) -> Exchange:
    tokenizer = desk.tokenizer
    text = safe(bounded(turn.text, LONGEST))
    label = desk.speaker(turn)
    around = tokenizer.count(f"{label}:\n") + 1 if desk.recipe.history.delivery == "transcript" else MESSAGE
    if desk.several and turn.role == "user":
        text = f"{label}: {text}"
    if not turn.parts:
        counted = turn.family == tokenizer.family and text == turn.text and not desk.recount
        return Exchange(turn, label, text, turn.tokens if counted else tokenizer.count(text), around)
    shown = [
        f"({part.media_type}: {part.caption or 'no description'})" for part in turn.parts if isinstance(part, Media)
    ]
    if shown:
        text = "\n".join([safe("\n".join(shown)), text])
    uses: list[Use] = []
    also: list[str] = []
    opens = False
    for index, part in enumerate(turn.parts):
        if isinstance(part, ToolCall) and (place, index) in answers:
            home, answer = answers[place, index]
            uses.append(_use(part, answer, tokenizer))
            opens = opens or home != place
            if home != place and turns[home].id not in also:
                also.append(turns[home].id)
    return Exchange(turn, label, text, tokenizer.count(text), around, tuple(uses), opens, tuple(also))


def _use(call: ToolCall, answer: ToolReturn, tokenizer: Tokenizer) -> Use:
    link, name, args = visible(call.id), visible(call.name), visible(call.args)
    output = safe(bounded(answer.content, LONGEST))
    fixed = MESSAGE + 2 * CALL + 2 * (tokenizer.count(link) + tokenizer.count(name))
    return Use(link, name, args, tokenizer.count(args), output, tokenizer.count(output), fixed)


def shortened(exchange: Exchange, *, text: int, tool: int | None, tokenizer: Tokenizer) -> Exchange:
    """The exchange within these limits; tools are left out with limit 0."""
    said, tokens = exchange.text, exchange.tokens
    if tokens > text:
        said = shorten(said, text, tokenizer)
        tokens = tokenizer.count(said)
    uses = exchange.uses
    if uses and tool == 0:
        uses, said = (), said or LEAST
    elif tool is not None:
        uses = tuple(_short_use(use, tool, tokenizer) for use in uses)
    return exchange._replace(text=said, tokens=tokens, uses=uses)


def _short_use(use: Use, limit: int, tokenizer: Tokenizer) -> Use:
    if use.args_tokens > max(limit, CALL):
        use = replace(use, args=SHORT_ARGS, args_tokens=tokenizer.count(SHORT_ARGS))
    if use.tokens > limit:
        output = shorten(use.output, limit, tokenizer)
        use = replace(use, output=output, tokens=tokenizer.count(output))
    return use


def without_secrets(exchange: Exchange, desk: Desk) -> Exchange:
    """The exchange in the form that may be shown. Only what is shown is searched, because long texts take milliseconds."""
    session = exchange.turn.session
    text = desk.masked(exchange.text, session=session)
    uses = tuple(_use_without_secrets(use, desk, session=session) for use in exchange.uses)
    if text == exchange.text and uses == exchange.uses:
        return exchange
    return exchange._replace(text=text, tokens=desk.tokenizer.count(text), uses=uses)


def _use_without_secrets(use: Use, desk: Desk, *, session: str) -> Use:
    args, output = desk.masked(use.args, session=session), desk.masked(use.output, session=session)
    if args == use.args and output == use.output:
        return use
    count = desk.tokenizer.count
    return replace(use, args=args, args_tokens=count(args), output=output, tokens=count(output))


def messages(exchange: Exchange) -> list[dict[str, Json]]:
    """The exchange in OpenAI's chat shape."""
    role = "user" if exchange.turn.role == "user" else "assistant"
    if not exchange.uses:
        return [{"role": role, "content": exchange.text}]
    calls: list[Json] = [
        {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": use.args}}
        for use in exchange.uses
    ]
    first: str | None = exchange.text if exchange.opens and exchange.text else None
    result: list[dict[str, Json]] = [{"role": role, "content": first, "tool_calls": calls}]
    answers: list[dict[str, Json]] = [
        {"role": "tool", "tool_call_id": use.id, "content": use.output} for use in exchange.uses
    ]
    result += answers
    if not exchange.opens and exchange.text:
        result.append({"role": role, "content": exchange.text})
    return result


def transcript(exchange: Exchange) -> str:
    """The exchange as a line of a transcript; a text of several lines is indented, so that nobody can speak for another."""
    used = [f"(used {use.name}: {indented(use.output)})" for use in exchange.uses]
    return indented(f"{exchange.label}: " + "\n".join([*used, exchange.text]))


def message_tokens(message: dict[str, Json], tokenizer: Tokenizer) -> int:
    """What one chat message costs, exactly as it will be sent."""
    total = MESSAGE
    content = message.get("content")
    if isinstance(content, str):
        total += tokenizer.count(content)
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(function := call["function"], dict):
            total += CALL + sum(
                tokenizer.count(str(text)) for text in (call["id"], function["name"], function["arguments"])
            )
    answered = message.get("tool_call_id")
    if isinstance(answered, str):
        total += CALL + tokenizer.count(answered)
    return total
