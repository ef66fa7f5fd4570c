"""The one table of calls: by which routes each call of the library is reached. Commands name theirs in
`deliver/cli/commands.py`; tests hold library, service, command line, client and this table to each other.
"""

from collections.abc import Mapping

Route = tuple[str, str]

_USER = "/v1/users/{user}"
_SHELVES = ("memories", "episodes", "loops", "thoughts", "summaries", "entities", "slots")

CALLS: Mapping[str, tuple[Route, ...]] = {
    "record": (("POST", "/v1/turns"),),
    "revise": (("PATCH", f"{_USER}/turns/{{id}}"),),
    "turns": (("GET", f"{_USER}/turns"), ("GET", f"{_USER}/turns/{{id}}")),
    "context": (("POST", "/v1/context"),),
    "search": (("POST", "/v1/search"),),
    "snapshots": (("GET", f"{_USER}/snapshots"), ("GET", f"{_USER}/snapshots/{{id}}")),
    "replay": (("GET", f"{_USER}/snapshots/{{id}}/replay"),),
    "diff": (("GET", f"{_USER}/diff"),),
    "backtest": (("POST", f"{_USER}/backtest"),),
    "define_persona": (("PUT", "/v1/personas/{id}"),),
    "personas": (("GET", "/v1/personas"),),
    "set_user": (("PATCH", _USER),),
    "user": (("GET", _USER),),
    "users": (("GET", "/v1/users"),),
    "head": (("GET", f"{_USER}/head"),),
    "link": (("POST", "/v1/links"),),
    "resolve": (("POST", "/v1/links/resolve"),),
    "state": (("GET", f"{_USER}/state"),),
    "set_state": (("PATCH", f"{_USER}/state"),),
    "remember": (("POST", f"{_USER}/memories"),),
    "add": tuple(("POST", f"{_USER}/{shelf}") for shelf in _SHELVES),
    "update": tuple(("PATCH", f"{_USER}/{shelf}/{{id}}") for shelf in (*_SHELVES, "sessions")),
    "memories": (("GET", f"{_USER}/memories"),),
    "episodes": (("GET", f"{_USER}/episodes"),),
    "loops": (("GET", f"{_USER}/loops"),),
    "thoughts": (("GET", f"{_USER}/thoughts"),),
    "summaries": (("GET", f"{_USER}/summaries"),),
    "sessions": (("GET", f"{_USER}/sessions"),),
    "entities": (("GET", f"{_USER}/entities"),),
    "history": (
        ("GET", f"{_USER}/records/{{id}}/versions"),
        *(("GET", f"{_USER}/{shelf}/{{id}}") for shelf in (*_SHELVES, "sessions")),
    ),
    "forget": (
        ("POST", f"{_USER}/forget"),
        ("DELETE", _USER),
        *(("DELETE", f"{_USER}/{shelf}/{{id}}") for shelf in (*_SHELVES, "turns")),
    ),
    "retention": (("GET", f"{_USER}/retention"),),
    "set_retention": (("PATCH", f"{_USER}/retention"), ("PATCH", "/v1/retention")),
    "retain": (("POST", f"{_USER}/retain"), ("POST", "/v1/retain")),
    "review": (("POST", f"{_USER}/memories/{{id}}/review"),),
    "events": (("GET", f"{_USER}/events"), ("GET", "/v1/events")),
    "scrub": (("POST", "/v1/scrub"),),
    "seed": (("POST", f"{_USER}/seed"),),
    "merge": (("POST", f"{_USER}/entities/merge"),),
    "split": (("POST", f"{_USER}/entities/split"),),
    "audit": (("GET", f"{_USER}/audit"),),
    "progress": (("GET", f"{_USER}/progress"),),
    "recipes": (("GET", "/v1/recipes"), ("GET", "/v1/recipes/{name}")),
    "define_recipe": (("PUT", "/v1/recipes/{name}"),),
    "reindex": (("POST", "/v1/reindex"), ("POST", f"{_USER}/reindex")),
    "settle": (("POST", "/v1/settle"), ("POST", f"{_USER}/settle")),
    "work_status": (("GET", f"{_USER}/steps"),),
    "retry": (("POST", f"{_USER}/retry"),),
    "export": (("GET", f"{_USER}/export"),),
    "load": (("POST", f"{_USER}/import"),),
    "health": (("GET", "/v1/health"), ("GET", "/healthz"), ("GET", "/readyz")),
    "backup": (("POST", "/v1/backups"),),
}

WITHOUT_CALL: Mapping[Route, str] = {
    ("GET", "/metrics"): "counts of the service itself",
    ("POST", "/v1/telegram/webhook"): "a channel, by way of record",
    ("POST", "/v1/voice/elevenlabs/initiation"): "a channel, by way of context",
    ("POST", "/v1/voice/elevenlabs/post-call"): "a channel, by way of record",
    ("POST", "/v1/voice/elevenlabs/tool"): "a channel, by way of search",
    ("POST", "/v1/voice/vapi"): "a channel",
    ("POST", "/v1/voice/retell"): "a channel",
}
"""Routes that are no call of the library, and what they are."""

IN_PROCESS: Mapping[str, str] = {
    "open": "the life of an engine",
    "close": "the life of an engine",
    "flush": "the life of an engine",
    "for_tenant": "the key says which tenant",
    "acting": "the key says who acts",
    "linked": "for channels beside the memory; who is linked to what is asked one by one: resolve",
    "user_store": "a transaction does not leave its process",
    "forget_again": "after a restore, which is done where the files are: hitherto restore",
    "worker": "a worker is a process: hitherto work",
    "working": "work beside an application, in its own process",
}
"""Calls that make no sense from afar, and why."""
