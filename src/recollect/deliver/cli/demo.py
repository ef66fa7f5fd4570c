"""demo"""
from recollect.deliver.cli.call import Call
def demo(call: Call) -> None:
    """Load a conversation of several days and show the context a model would get."""
