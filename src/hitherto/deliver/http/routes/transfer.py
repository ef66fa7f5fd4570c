"""A user's whole memory out and in again, and backups of the installation."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from starlette.requests import ClientDisconnect

from hitherto.deliver.http.models import BackupRequest, Done, reply
from hitherto.deliver.http.requests import ClientGone
from hitherto.deliver.http.service import Operating, Reading, Service, Writing
from hitherto.errors import Conflict, InvalidInput, TooLarge, TooSlow

router = APIRouter(tags=["transfer"])

LINES = "application/x-ndjson"


@router.get(
    "/v1/users/{user}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {"schema": {"type": "string"}}}}},
)
async def export(subject: Reading) -> StreamingResponse:
    """The user's whole memory as JSON lines; the last line counts the entries, so that a cut export is noticed."""

    async def lines() -> AsyncIterator[str]:
        async for line in subject.memory.export(user=subject.user):
            yield line + "\n"

    return StreamingResponse(lines(), media_type=LINES)


@router.post(
    "/v1/users/{user}/import",
    response_model=Done,
    openapi_extra={"requestBody": {"required": True, "content": {LINES: {"schema": {"type": "string"}}}}},
)
async def load(request: Request, subject: Writing) -> Response:
    """Reads an export back under this user; the whole file is checked before anything is stored."""
    settings = Service.of(request).settings
    with tempfile.NamedTemporaryFile(prefix="hitherto-import-", suffix=".jsonl") as file:
        received = 0
        pieces = request.stream()
        while True:
            try:
                async with asyncio.timeout(settings.body_seconds):
                    piece = await anext(pieces, None)
            except TimeoutError:
                raise TooSlow from None
            except ClientDisconnect:
                raise ClientGone from None
            if piece is None:
                break
            received += len(piece)
            if received > settings.import_limit:
                raise TooLarge(f"The file is larger than {settings.import_limit:,} bytes.")
            await asyncio.to_thread(file.write, piece)
        await asyncio.to_thread(file.flush)
        try:
            count = await subject.memory.load(file.name, user=subject.user)
        except UnicodeDecodeError as error:
            raise InvalidInput("The file is not text in UTF-8.") from error
    return reply(Done(count=count), Done)


@router.post("/v1/backups", response_model=Done, status_code=201)
async def backup(request: Request, tenancy: Operating, body: BackupRequest) -> Response:
    """Copies everything of all tenants into a new folder of that name under the service's folder for backups."""
    folder = Service.of(request).settings.backups
    if folder is None:
        raise Conflict("This service has no folder for backups; set HITHERTO_BACKUPS.")
    target = Path(folder) / body.name
    if await asyncio.to_thread(target.exists):
        raise Conflict(f"There is a backup called {body.name!r} already.")
    return reply(Done(count=await tenancy.memory.backup(target)), Done, status=201)
