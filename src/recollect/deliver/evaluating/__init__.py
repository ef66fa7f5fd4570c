"""How much of the right evidence comes back: conversations with gold evidence, run through the engine and measured."""

from recollect.deliver.evaluating.conversations import Asked, Conversation, Said, read
from recollect.deliver.evaluating.report import Report, report
from recollect.deliver.evaluating.running import Answered, run

__all__ = ["Answered", "Asked", "Conversation", "Report", "Said", "read", "report", "run"]
