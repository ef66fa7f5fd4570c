"""The work after the turn, in the order in which it is done for a user: the one table of its steps."""

from hitherto.learn import close, curate, embed, extract, loops, retain, summaries
from hitherto.learn.services import Services
from hitherto.work.worker import Step

STEPS: tuple[Step[Services], ...] = (
    extract.STEP,
    loops.STEP,
    *summaries.STEPS,
    close.STEP,
    extract.REVISIONS,
    embed.STEP,
    curate.STEP,
    retain.STEP,
)
