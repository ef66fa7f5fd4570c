"""The work behind the answers: run what is due now, see where it stands, try again what failed."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from recollect.deliver.http.models import Done, Name, reply
from recollect.deliver.http.subjects import Administering, Changing, Reading
from recollect.work.status import Status
from recollect.work.worker import Settled

router = APIRouter(tags=["work"])


@router.post("/v1/settle", response_model=dict[str, Settled])
async def settle_all(tenancy: Administering) -> Response:
    """Runs all due work of all users of the tenant."""
    return reply(await tenancy.memory.settle(), dict[str, Settled])


@router.post("/v1/users/{user}/settle", response_model=dict[str, Settled])
async def settle(subject: Changing) -> Response:
    """Runs the user's due work."""
    return reply(await subject.memory.settle(user=subject.user), dict[str, Settled])


@router.get("/v1/users/{user}/work", response_model=Status)
async def work_status(subject: Reading) -> Response:
    """Where each step of the work stands, with what failed and why."""
    return reply(await subject.memory.work_status(user=subject.user), Status)


@router.post("/v1/users/{user}/retry", response_model=Done)
async def retry(
    subject: Changing, step: Annotated[Name | None, Query(description="Only this step.")] = None
) -> Response:
    """Makes steps that were given up due again."""
    return reply(Done(count=await subject.memory.retry(user=subject.user, step=step)), Done)
