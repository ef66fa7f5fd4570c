"""Command doctor: is everything well, and what is missing? What is degraded is said loudly, never hidden."""
from recollect.deliver.cli.call import Call
def doctor(call: Call) -> None:
    """Check the store, the folder, the tokenizer and what is configured; say what is degraded."""
