"""What an OpenAI-compatible provider accepts as `messages`, strictly: each rule here is one that some provider refuses by."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from hitherto.types import Json

_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,128}")
_ROLES = {"system", "developer", "user", "assistant", "tool"}


def chat_faults(messages: Sequence[Mapping[str, Json]]) -> list[str]:
    """Everything that is wrong with a list of chat messages, each with its place; nothing when it may be sent."""
    faults: list[str] = []
    waiting: dict[str, None] = {}
    for place, message in enumerate(messages):
        role = message.get("role")
        where = f"message {place} ({role})"
        if role not in _ROLES:
            faults.append(f"{where}: no such role")
        if role == "tool":
            link = message.get("tool_call_id")
            if not isinstance(link, str) or link not in waiting:
                faults.append(f"{where}: answers {link!r}, which the message before did not call")
            else:
                del waiting[link]
            if not isinstance(message.get("content"), str | list):
                faults.append(f"{where}: a tool's answer needs content")
            continue
        if waiting:
            faults.append(f"{where}: calls {', '.join(waiting)} are not answered before it")
            waiting = {}
        calls = message.get("tool_calls")
        if calls is not None:
            waiting = dict.fromkeys(_calls(calls, where, faults))
        if role == "assistant" and calls is None and not message.get("content"):
            faults.append(f"{where}: neither content nor calls")
        if role != "assistant" and not isinstance(message.get("content"), str | list):
            faults.append(f"{where}: content must be a text or a list of parts")
    if waiting:
        faults.append(f"calls {', '.join(waiting)} are never answered")
    if messages and messages[-1].get("role") not in {"user", "tool"}:
        faults.append("the last message is neither the user's nor a tool's")
    return faults


def _calls(calls: Json, where: str, faults: list[str]) -> list[str]:
    if not isinstance(calls, list) or not calls:
        faults.append(f"{where}: tool_calls must be a list of at least one")
        return []
    links: list[str] = []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or call.get("type") != "function" or not isinstance(function, dict):
            faults.append(f"{where}: a call must be of type function")
            continue
        link, name, args = call.get("id"), function.get("name"), function.get("arguments")
        if not isinstance(link, str) or not link or link in links:
            faults.append(f"{where}: the id {link!r} is missing or given twice")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            faults.append(f"{where}: {name!r} cannot be a function's name")
        if not _is_object(args):
            faults.append(f"{where}: the arguments of {name!r} are no JSON object")
        links.append(str(link))
    return links


def _is_object(args: Json) -> bool:
    try:
        return isinstance(args, str) and isinstance(cast(object, json.loads(args)), dict)
    except ValueError:
        return False
