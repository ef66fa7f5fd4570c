"""Back-pressure, and limits on bodies.

A limited number of requests is worked on, a few more wait, and the rest are told at once to come back.

A service that accepts everything answers everybody late. Here the newest of the waiting requests goes first: in a burst all
get their turn within their patience, and under lasting overload those that are served are served soon, while those that
have waited too long are told so. First come, first served would give everybody the longest wait.

Under lasting overload a queue only adds its length to every answer, so few wait then, and not for long. If the processor is
the bottleneck, one request is worked on at a time, so that it has the processor to itself. A long one (an export, say) does
not count towards that: others run beside it.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hitherto.deliver.http.paths import policy
from hitherto.deliver.http.problems import send_error
from hitherto.deliver.http.requests import ClientGone
from hitherto.deliver.http.telemetry import Metrics
from hitherto.errors import HithertoError, Overloaded, TooLarge, TooSlow
from hitherto.settings import Settings

HURRY = 0.1
"""The share of its patience that a request keeps under lasting overload."""
WEIGHT = 0.1
"""The window of the newest turns over which their usual duration is measured."""
PRESSED_WAITING = 2
"""How many wait under lasting overload."""
STEPS_TO_READ = 3
"""Event-loop steps between a request arriving in its socket and asking for a turn: read, begun, run."""


LASTS_BELOW = math.exp(-3)
"""Overload lasts once there was room for another request in less than this share of recent time,"""
ENDS_ABOVE = 0.35
"""and is over once there was room in more than this."""
PROCESSOR_IS_SHORT = (0.7, 1.2)
"""Seconds of processor time per second from which one processor is what limits the process. Below, it waits for something
else; above, it uses several."""

Now = Callable[[], float]


def concurrency(number: int, *, processor: float) -> int:
    """How many of at most `number` requests are worth working on at once, given processor seconds per second."""
    least, most = PROCESSOR_IS_SHORT
    return 1 if least <= processor <= most else number


class Overload:
    """Detects overload that lasts for so many seconds. Notified of every change in whether there is room."""

    def __init__(self, seconds: float, *, now: Now = time.monotonic, processor: Now = time.process_time) -> None:
        self._lately = seconds / 3
        self._now = now
        self._processor = processor
        self._seen = self._measured = now()
        self._used = processor()
        self._room = True
        self._ease = 1.0
        self.processor = 0.0
        self.lasts = False

    def see(self) -> float:
        """Accounts for the time since the last look; returns the current time."""
        now = self._now()
        kept = math.exp((self._seen - now) / self._lately)
        self._ease = self._ease * kept + (1 - kept) * self._room
        self._seen = now
        if self._ease <= LASTS_BELOW:
            self.lasts = True
        elif self._ease > ENDS_ABOVE:
            self.lasts = False
        if now - self._measured >= self._lately:
            used = self._processor()
            self.processor = (used - self._used) / (now - self._measured)
            self._used, self._measured = used, now
        return now

    def leave(self, *, room: bool) -> None:
        """Whether there is room for another request until the next look."""
        self.see()
        self._room = room


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A turn in use, and since when."""

    since: float


class Turns:
    """A number of turns, given to the most recent of the waiting requests."""

    def __init__(
        self,
        number: int,
        *,
        waiting: int,
        patience: float,
        now: Now = time.monotonic,
        processor: Now = time.process_time,
    ) -> None:
        self._number = number
        self._most_waiting = waiting
        self._patience = patience
        self._overload = Overload(patience, now=now, processor=processor)
        self._running: set[Held] = set()
        self._handing_on = False
        self._usual = 0.0
        self._waiting: dict[asyncio.Future[Held | None], None] = {}

    async def take(self) -> Held | None:
        """Takes a turn, if one is available now or soon enough; the holder gives it back."""
        now = self._overload.see()
        if not self._handing_on and self._is_room(now):
            return self._begin(now)
        if not self._most_waiting:
            return None
        mine: asyncio.Future[Held | None] = asyncio.get_running_loop().create_future()
        self._waiting[mine] = None
        self._thin_out()
        try:
            async with asyncio.timeout(self.patience):
                return await mine
        except TimeoutError:
            return self._left(mine) or self._begin_late()
        except asyncio.CancelledError:
            turn = self._left(mine)
            if turn is not None:
                self.give(turn)
            raise

    def give(self, turn: Held) -> None:
        """Returns the turn, for the newest waiting request. If the processor is the bottleneck, that includes requests that
        arrived while it was busy and have not been read yet."""
        self._running.remove(turn)
        took = min(self._overload.see() - turn.since, self._patience)
        self._usual += (took - self._usual) * WEIGHT
        if self._concurrency() == self._number:
            self._hand_on(0)
        elif not self._handing_on:
            self._handing_on = True
            self._hand_on(STEPS_TO_READ)

    def _hand_on(self, steps: int) -> None:
        if steps:
            asyncio.get_running_loop().call_soon(self._hand_on, steps - 1)
            return
        self._handing_on = False
        now = self._overload.see()
        while self._waiting and self._is_room(now):
            newest, _ = self._waiting.popitem()
            # A request whose patience has just ended is already cancelled but has not left yet.
            if not newest.done():
                newest.set_result(self._begin(now))
        self._overload.leave(room=self._is_room(now))

    @property
    def patience(self) -> float:
        """How long a new request waits: under lasting overload, no longer than the answer itself takes, or a moment."""
        return max(self._patience * HURRY, self._usual) if self._overload.lasts else self._patience

    def _begin(self, now: float) -> Held:
        turn = Held(now)
        self._running.add(turn)
        self._overload.leave(room=self._is_room(now))
        return turn

    def _is_room(self, now: float) -> bool:
        if len(self._running) >= self._number:
            return False
        most = self._concurrency()
        return most == self._number or sum(now - turn.since < self._patience for turn in self._running) < most

    def _concurrency(self) -> int:
        return concurrency(self._number, processor=self._overload.processor) if self._overload.lasts else self._number

    def _thin_out(self) -> None:
        """Sends away the longest-waiting requests while there are too many: they would come last."""
        most = min(self._most_waiting, PRESSED_WAITING) if self._overload.lasts else self._most_waiting
        while len(self._waiting) > most:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            if not oldest.done():
                oldest.set_result(None)

    def _begin_late(self) -> Held | None:
        """Gives a turn to a request whose patience has ended, if there is room by now: the running one may take long."""
        now = self._overload.see()
        return self._begin(now) if self._is_room(now) else None

    def _left(self, mine: "asyncio.Future[Held | None]") -> Held | None:
        """Removes a waiting request, and the turn if it was handed over at the same moment."""
        self._waiting.pop(mine, None)
        return mine.result() if mine.done() and not mine.cancelled() else None


class Pressure:
    """The layer that hands out turns. Requests that are passed on mostly wait for another server; their number is limited
    where they are passed on. Exports and imports may wait for their client, so they have turns of their own: a slow one
    holds up others of its kind at most."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._turns = _turns(settings)
        self._streams = _turns(settings)
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = policy(scope["path"]).turn if scope["type"] == "http" else "none"
        if kind == "none":
            await self._app(scope, receive, send)
            return
        turns = self._streams if kind == "stream" else self._turns
        turn = await turns.take()
        if turn is None:
            self._metrics.refused.labels("busy").inc()
            await send_error(Overloaded(), scope, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            turns.give(turn)


def _turns(settings: Settings) -> Turns:
    return Turns(settings.concurrency, waiting=settings.waiting, patience=settings.patience_seconds)


# --- bodies: bounded in size, in time and, over all requests, in memory; answers that nobody reads are ended
# ---------------
#
# A body is read completely before the request takes its turn, so that a slow client holds up nobody but itself.


class Bodies:
    """The layer that receives bodies."""

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
    """Returns the body once, and then what the connection says."""
    given = False

    async def replaying() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replaying
