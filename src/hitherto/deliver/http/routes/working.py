"""The work behind the answers: run what is due now, see where it stands, try again what failed, look after what it made."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from hitherto.deliver.http.models import Done, MergeRequest, Name, SeedRequest, SplitRequest, reply
from hitherto.deliver.http.subjects import Administering, Changing, Reading, Writing
from hitherto.learn.auditing import Audit
from hitherto.types import Entity, Memory
from hitherto.work.progress import SessionState
from hitherto.work.status import Status
from hitherto.work.worker import Settled

router = APIRouter(tags=["work"])


@router.post("/v1/settle", response_model=dict[str, Settled])
async def settle_all(tenancy: Administering) -> Response:
    """Runs all due work of all users of the tenant."""
    return reply(await tenancy.memory.settle(), dict[str, Settled])


@router.post("/v1/users/{user}/settle", response_model=dict[str, Settled])
async def settle(subject: Changing) -> Response:
    """Runs the user's due work."""
    return reply(await subject.memory.settle(user=subject.user), dict[str, Settled])


@router.get("/v1/users/{user}/steps", response_model=Status)
async def work_status(subject: Reading) -> Response:
    """Where each step of the work stands, with what failed and why."""
    return reply(await subject.memory.work_status(user=subject.user), Status)


@router.post("/v1/users/{user}/retry", response_model=Done)
async def retry(
    subject: Changing, step: Annotated[Name | None, Query(description="Only this step.")] = None
) -> Response:
    """Makes steps that were given up due again."""
    return reply(Done(count=await subject.memory.retry(user=subject.user, step=step)), Done)


@router.post("/v1/reindex", response_model=dict[str, int])
async def reindex_all(tenancy: Administering) -> Response:
    """Writes the vectors that the embedder has not made yet, of all users of the tenant; how many each."""
    return reply(await tenancy.memory.reindex(), dict[str, int])


@router.post("/v1/users/{user}/reindex", response_model=dict[str, int])
async def reindex(subject: Changing) -> Response:
    """Writes the user's vectors that the embedder has not made yet."""
    return reply(await subject.memory.reindex(user=subject.user), dict[str, int])


@router.get("/v1/users/{user}/progress", response_model=SessionState)
async def progress(subject: Reading, persona: Annotated[Name | None, Query()] = None) -> Response:
    """How far the conversation with a persona has come."""
    return reply(await subject.memory.progress(user=subject.user, persona=persona), SessionState)


@router.get("/v1/users/{user}/audit", response_model=Audit)
async def audit(subject: Reading) -> Response:
    """What share of the user's memory is doubled, unsupported, stale, held back, or secret."""
    return reply(await subject.memory.audit(user=subject.user), Audit)


@router.post("/v1/users/{user}/seed", response_model=list[Memory])
async def seed(subject: Writing, body: SeedRequest) -> Response:
    """A profile that is known beforehand; the memories that were new."""
    return reply(await subject.memory.seed(user=subject.user, facts=body.facts), list[Memory])


@router.post("/v1/users/{user}/entities/merge", response_model=Entity)
async def merge(subject: Changing, body: MergeRequest) -> Response:
    """Makes these entities one, the first of them; every memory, card and alias follows."""
    return reply(await subject.memory.merge(user=subject.user, entities=body.entities), Entity)


@router.post("/v1/users/{user}/entities/split", response_model=Entity)
async def split(subject: Changing, body: SplitRequest) -> Response:
    """Makes a name of an entity somebody of their own."""
    made = await subject.memory.split(user=subject.user, entity=body.entity, name=body.name, memories=body.memories)
    return reply(made, Entity)
