"""How much of the right evidence comes back: conversations with gold evidence, run through the engine and measured."""

from hitherto.deliver.evaluating.conversations import Asked, Conversation, Said, read
from hitherto.deliver.evaluating.report import Report, report
from hitherto.deliver.evaluating.running import Answered, run

__all__ = ["Answered", "Asked", "Conversation", "Report", "Said", "read", "report", "run"]
