"""Connections that come to nothing are closed. The server waits for a request's head for ever; somebody who opens
connections and says little on each would hold them all."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 5.0
"""How long the head of a request may take to arrive, from the connection's start or from its first byte."""


class Impatient(H11Protocol):
    """The server's connection with a deadline for request heads; bodies have theirs in the application."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_idle():
            self._end()
        elif self._deadline is None:
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._close)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._deadline = None
        if self._is_idle():
            self.transport.close()

    def _is_idle(self) -> bool:
        """Whether no request is being answered; before the first one there is no cycle at all."""
        return bool(getattr(self.cycle, "response_complete", True))
