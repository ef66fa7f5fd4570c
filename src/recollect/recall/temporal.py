"""Times named in a query. The rules live in `recollect.text`, below everything that reads text."""

from recollect.text.temporal import TimeRange, due, ranges

__all__ = ["TimeRange", "due", "ranges"]
