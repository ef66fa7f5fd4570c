"""How much of the right evidence comes back: conversations with gold evidence, run through the engine and measured."""

from hitherto.evaluate.engine_run import Answered, Asked, Conversation, SaidTurn, read, run
from hitherto.evaluate.report import Report, report

__all__ = ["Answered", "Asked", "Conversation", "Report", "SaidTurn", "read", "report", "run"]
