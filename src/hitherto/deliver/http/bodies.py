"""Request bodies: bounded in size, in time and, over all requests, in memory. And answers that nobody reads end.

A body is read whole before the request takes its turn, so that a slow client holds up nobody but itself.
"""

import asyncio
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hitherto.deliver.http.failures import send_error
from hitherto.deliver.http.paths import policy
from hitherto.deliver.http.requests import ClientGone
from hitherto.errors import HithertoError, Overloaded, TooLarge, TooSlow
from hitherto.settings import Settings


class Bodies:
    """The layer that receives."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sending = self._deadline(send)
        headers = dict(scope["headers"])
        if not _has_body(headers) or policy(scope["path"]).body == "stream":
            await self._app(scope, receive, sending)
            return
        body = bytearray()
        try:
            await self._read(receive, body, headers=headers)
            await self._app(scope, _replay(bytes(body), receive), sending)
        except (TooLarge, TooSlow, Overloaded) as error:
            await send_error(error, scope, sending)
        finally:
            self._held -= len(body)

    async def _read(self, receive: Receive, body: bytearray, *, headers: Mapping[bytes, bytes]) -> None:
        announced = headers.get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > self._settings.body_limit:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                await self._collect(receive, body)
        except TimeoutError:
            raise TooSlow(f"The request took more than {self._settings.body_seconds:g} s to arrive.") from None

    async def _collect(self, receive: Receive, body: bytearray) -> None:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            piece: bytes = message.get("body", b"")
            body += piece
            self._held += len(piece)
            if len(body) > self._settings.body_limit:
                raise self._too_large()
            if self._held > self._settings.buffer_limit:
                raise Overloaded
            if not message.get("more_body", False):
                return

    def _too_large(self) -> HithertoError:
        return TooLarge(f"The request is larger than {self._settings.body_limit:,} bytes; send less at once.")

    def _deadline(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            try:
                async with asyncio.timeout(self._settings.send_seconds):
                    await send(message)
            except TimeoutError:
                raise ClientGone from None

        return sending


def _has_body(headers: Mapping[bytes, bytes]) -> bool:
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers


def _replay(body: bytes, receive: Receive) -> Receive:
    """Gives the body once, and then what the connection says."""
    given = False

    async def replaying() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replaying
