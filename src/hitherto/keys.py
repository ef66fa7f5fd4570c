"""How records that exist once are named, so that writers and readers agree without asking a store."""

from datetime import date

PROFILE = "profile"
SPINE = "spine"


def state(persona: str | None) -> str:
    return f"state:{persona or ''}"


def rolling(persona: str | None) -> str:
    return f"rolling:{persona or ''}"


def session(session_id: str) -> str:
    return f"session:{session_id}"


def daily(persona: str | None, day: date) -> str:
    return f"daily:{persona or ''}:{day.isoformat()}"


def lane(persona: str | None, lane_name: str | None) -> str:
    return f"lane:{persona or ''}:{lane_name or ''}"


def chat(conversation: str) -> str:
    return f"chat:{conversation}"


def slot(persona: str | None, lane_name: str | None) -> str:
    return f"slot:{persona or ''}:{lane_name or ''}"


def progress(persona: str | None) -> str:
    return f"progress:{persona or ''}"


def gap(identity: str) -> str:
    """What stands where this was forgotten, so that what comes before and after it is found."""
    return f"gap:{identity}"
