"""What every importer is given and what it reports while it reads."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hitherto.errors import InvalidInput


@dataclass(slots=True)
class Source:
    """One file to import, and for whom.

    `user` owns what the file does not assign itself; `persona` is who answered; `assistant` names whose
    messages are the persona's, where a format does not say. `passed` (bytes) and `skipped` (why → how
    many) grow while it is read.
    """

    path: Path
    user: str | None = None
    persona: str | None = None
    assistant: str | None = None
    passed: int = 0
    skipped: Counter[str] = field(default_factory=Counter[str])

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def owner(self, *, of: str) -> str:
        if self.user is None:
            raise InvalidInput(f"{self.path.name}: {of} does not say whose memory it is; pass the user")
        return self.user

    def skip(self, why: str) -> None:
        """Notes that something of the file became no turn, so that nothing is left out silently."""
        self.skipped[why] += 1
