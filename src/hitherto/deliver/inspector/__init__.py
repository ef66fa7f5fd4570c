"""The inspector: pages that show what is remembered, what a model saw, and why. Served beside the API, behind the same keys."""

from fastapi import APIRouter

from hitherto.deliver.inspector import compare, context, conversation, entrance, memory, playground, work


def routers() -> list[APIRouter]:
    """Every page; the last router answers for unknown pages."""
    rooms = (conversation, context, compare, playground, memory, work, entrance)
    return [room.router for room in rooms]
