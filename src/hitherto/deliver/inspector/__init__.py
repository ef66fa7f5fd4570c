"""The inspector: pages that show what is remembered, what a model saw, and why. Served beside the API, behind the same keys."""

from fastapi import APIRouter

from hitherto.deliver.inspector import (
    backtest,
    compare,
    context,
    conversation,
    memory,
    people,
    playground,
    replay,
    signing,
    work,
)


def routers() -> list[APIRouter]:
    """Every page; the last router answers for what is no page."""
    return [
        people.router,
        conversation.router,
        context.router,
        replay.router,
        compare.router,
        backtest.router,
        playground.router,
        memory.router,
        work.router,
        signing.router,
    ]
