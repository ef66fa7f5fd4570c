"""The work after the turn, in the order in which it is done for a user: the one table of its steps."""

from hitherto.learn import close, curate, embed, learn, loops, retain, summarise
from hitherto.learn.services import Services
from hitherto.work.worker import Step

STEPS: tuple[Step[Services], ...] = (
    learn.STEP,
    loops.STEP,
    *summarise.STEPS,
    close.STEP,
    learn.REVISIONS,
    embed.STEP,
    curate.STEP,
    retain.STEP,
)
