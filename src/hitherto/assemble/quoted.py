"""The quoted reply: what the message answers, as a labelled message of its own, never mixed into the user's
words.
"""

from dataclasses import dataclass
from typing import Final

from hitherto.assemble.candidate import Desk
from hitherto.assemble.exchange import LONGEST
from hitherto.assemble.render import bounded, indented, safe
from hitherto.assemble.shorten import shorten
from hitherto.clock import local
from hitherto.tokens import MESSAGE
from hitherto.types import StoredTurn

QUOTED: Final = "QUOTED REPLY"
FOCUS: Final = "MESSAGE REFERRED TO"


@dataclass(frozen=True, slots=True)
class Quoted:
    """The block, in the pieces before, of and after the quoted text, and its tokens as a message."""

    turn: StoredTurn
    before: str
    text: str
    after: str
    tokens: int

    @property
    def content(self) -> str:
        return self.before + self.text + self.after


def quoted_reply(desk: Desk) -> Quoted | None:
    """The reply's target; without one, the focus anchor if the window does not reach back to it."""
    material = desk.material
    turn, title = material.quoted, QUOTED
    if turn is None:
        anchor = material.anchor
        if anchor is None or any(anchor.id == seen.id for seen in material.window):
            return None
        turn, title = anchor, FOCUS
    when = local(turn.at, material.profile.zone).isoformat(sep=" ", timespec="minutes")[:16]
    text = shorten(indented(safe(bounded(turn.text, LONGEST))), desk.quoted, desk.tokenizer)
    before, after = f"[{title}]\n{desk.speaker(turn)} ({when}): ", f"\n[/{title}]"
    return Quoted(turn, before, text, after, MESSAGE + desk.tokenizer.count(before + text + after))
