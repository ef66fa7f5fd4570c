"""A delivery as a decision over the store's own protocol: recorded once, whatever arrives how often."""

from hitherto.errors import Conflict
from hitherto.store.protocol import NOTHING, Answers, Change, TurnsById, UserStore, Window, Written
from hitherto.testing import turn_draft


async def deliver(user: UserStore, id: str, text: str, *, persona: str | None = None) -> Written:
    """Records a turn unless it is there; the same id with another text is a conflict."""
    there, last = TurnsById(ids=(id,), history=True), Window(persona=persona, limit=1)

    def decide(answers: Answers) -> Change:
        if found := answers[there]:
            if found[0].text != text:
                raise Conflict(f"{id!r} was recorded before with another text")
            return NOTHING
        position = answers[last][0].position + 1 if answers[last] else 1
        return Change(turns=(turn_draft(id, text, persona=persona, position=position),))

    return await user.write(decide, there, last)
