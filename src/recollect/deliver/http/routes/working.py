"""Due work on demand, and who is who, for a memory that can."""

from fastapi import APIRouter

from recollect import Recollect


def routers(memory: Recollect) -> list[APIRouter]:
    return []
