"""A conversation in tests: one line a minute, on a clock that only tests move."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock


@dataclass(frozen=True, slots=True)
class Talk:
    """Says things as one user to one persona."""

    memory: Hitherto
    clock: FakeClock
    user: str = "ana"
    persona: str | None = "coach"
    lane: str | None = None

    async def user_says(self, *texts: str) -> list[str]:
        return [await self._say("user", text) for text in texts]

    async def persona_says(self, *texts: str) -> list[str]:
        return [await self._say("assistant", text) for text in texts]

    async def exchange(self, lines: Sequence[str]) -> list[str]:
        """Lines in turn, the user first."""
        return [await self._say("assistant" if place % 2 else "user", text) for place, text in enumerate(lines)]

    async def settle(self) -> int:
        """Runs what is due; how many pieces of work there were, none of which may have failed."""
        settled = (await self.memory.settle(user=self.user))[self.user]
        assert (settled.failed, settled.busy) == (0, False), await self.memory.work_status(user=self.user)
        return settled.done

    def to(self, *, persona: str | None = "coach", lane: str | None = None) -> "Talk":
        return replace(self, persona=persona, lane=lane)

    async def _say(self, role: str, text: str) -> str:
        turn = Turn(self.user, "user" if role == "user" else "assistant", text, persona=self.persona, lane=self.lane)
        [turn_id] = await self.memory.record(turn)
        self.clock.tick(minutes=1)
        return turn_id
