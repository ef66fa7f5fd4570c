"""Every page of the inspector with the demo's story in it."""

from __future__ import annotations

PAGES: dict[str, str] = {
    "users": "/inspect",
    "conversation": "/inspect/conversation?user=ana",
    "turns": "/inspect/turns?user=ana&ids=mon-05%0Amon-07",
    "contexts": "/inspect/context?user=ana",
    "context": "/inspect/context?user=ana&turn=sat-10",
    "candidates": "/inspect/context?user=ana&turn=sat-10&view=candidates",
    "text": "/inspect/context?user=ana&turn=sat-10&view=text",
    "messages": "/inspect/context?user=ana&turn=sat-10&view=messages",
    "json": "/inspect/context?user=ana&turn=sat-10&view=json",
    "replay": "/inspect/replay?user=ana&place=60",
    "compare": "/inspect/compare?user=ana&turn=sat-09&recipe_a=companion&recipe_b=recall",
    "backtest": "/inspect/backtest?user=ana&persona=nikita&recipe_b=recall&count=20",
    "playground": "/inspect/playground?user=ana&turn=sat-09",
    "facts": "/inspect/memory?user=ana&tab=facts",
    "today": "/inspect/memory?user=ana&tab=today",
    "episodes": "/inspect/memory?user=ana&tab=episodes",
    "thoughts": "/inspect/memory?user=ana&tab=thoughts",
    "search": "/inspect/search?user=ana&q=lisbon",
    "entities": "/inspect/memory?user=ana&tab=entities",
    "loops": "/inspect/memory?user=ana&tab=loops",
    "summaries": "/inspect/memory?user=ana&tab=summaries",
    "state": "/inspect/memory?user=ana&tab=state",
    "work": "/inspect/health?user=ben",
}
