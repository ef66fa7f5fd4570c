"""Command doctor: is everything well, and what is missing? Degraded parts are reported loudly, never hidden."""

import os
import platform
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from hitherto.deliver.cli.call import Call
from hitherto.errors import HithertoError, StoreCorrupt, StoreReadOnly, StoreUnavailable
from hitherto.text.numbers import counted
from hitherto.types import Json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hitherto.sync import Hitherto

Verdict = Literal["ok", "degraded", "failed"]

SAMPLES = 9
INSTANT = 0.000_02
"""Flushing a written page faster than this means that it has not reached a disk."""
REDIS_SECONDS = 5.0
"""Somebody is waiting for this check, so it may take longer than the calls of background work."""
LOOKED_AT = 1_000
"""How many users' work is checked."""
PATIENCE = timedelta(minutes=2)
"""How long work may be overdue before a worker should have done it."""
LOW_SPACE = 512 * 1024 * 1024
MOVE = "move the memory to a folder on a disk: hitherto copy FOLDER NEW-FOLDER"
REINSTALL = "reinstall Hitherto: part of the package is missing or was changed"
TOKENS_OF_SAMPLE = 5
SAMPLE = "What did we promise?"
EXTRAS = {
    "postgres": ("psycopg", "a PostgreSQL store"),
    "onnx": ("onnxruntime", "a stronger embedder"),
    "pydantic-ai": ("pydantic_ai", "extraction and summaries by a model"),
    "serve": ("fastapi", "the HTTP service"),
    "mcp": ("mcp", "the MCP server"),
    "redis": ("redis", "wake-ups between processes"),
    "encryption": ("cryptography", "memories encrypted at rest"),
    "otel": ("opentelemetry", "traces and metrics"),
    "aiogram": ("aiogram", "Telegram bots with aiogram"),
    "telegram": ("telegram", "Telegram bots with python-telegram-bot"),
    "crewai": ("crewai", "CrewAI"),
    "google-adk": ("google.adk", "Google's Agent Development Kit"),
    "langgraph": ("langgraph", "LangGraph"),
    "livekit": ("livekit.agents", "LiveKit Agents"),
    "llama-index": ("llama_index.core", "LlamaIndex"),
    "openai-agents": ("agents", "the OpenAI Agents SDK"),
    "pipecat": ("pipecat", "Pipecat"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was checked."""

    name: str
    verdict: Verdict
    detail: str
    next: str = ""
    """What to do about it, or with it."""


def settings(call: Call) -> None:
    """List every setting: its value here, where it comes from, and what it means.

    The same names hold for the library's arguments, variables (HITHERTO_NAME) and --set NAME=VALUE on any command.
    """
    from pydantic import SecretStr

    from hitherto import store
    from hitherto.deliver.cli import tables
    from hitherto.settings import LIBRARY, Settings, given, variable

    found, told = Settings.read(call.environ), given(call.options.set or ())
    rows: list[dict[str, Json]] = []
    for name, field in Settings.model_fields.items():
        value = getattr(found, name)
        shown: Json = "(secret)" if isinstance(value, SecretStr) else value
        if name == "data":
            shown = store.shown(found.data)
        origin = (
            "--set" if variable(name) in told else variable(name) if call.environ.get(variable(name)) else "default"
        )
        rows.append(
            {
                "name": name,
                "value": shown,
                "from": origin,
                "of": "library" if name in (*LIBRARY, "master_key", "master_key_file", "redis", "data") else "service",
                "meaning": field.description,
            }
        )
    entries = [
        tables.ListedEntry(
            title=f"{row['name']} = {'' if row['value'] is None else row['value']}",
            facts=(str(row["of"]), "" if row["from"] == "default" else f"from {row['from']}"),
            id="",
            note=str(row["meaning"]),
        )
        for row in rows
    ]
    call.answer(rows, lambda: tables.entries(entries, empty=""))


def doctor(call: Call) -> None:
    """Check the memory and its parts; say what is degraded and what to do next."""
    from hitherto import store

    checks, place = list(examine(call)), store.shown(call.data)
    worst: Verdict = "ok"
    for verdict in ("degraded", "failed"):
        if any(check.verdict == verdict for check in checks):
            worst = verdict
    call.answer(
        {"data": place, "verdict": worst, "checks": checks},
        lambda: _table(place, worst, checks, has_memory=store.exists(call.data)),
    )
    if worst == "failed":
        raise typer.Exit(1)


def examine(call: Call) -> Iterator[Check]:
    """Every check, independent of the others: a failing one hides none of them."""
    from hitherto import __version__

    yield Check(name="hitherto", verdict="ok", detail=f"{__version__} on Python {platform.python_version()}")
    if "://" not in call.data:
        yield from _folder(Path(call.data))
    redis = list(_redis(call))
    yield from _store(call, told={check.detail for check in redis})
    yield from redis
    yield _tokenizer(call)
    yield _embedder(call)
    yield from _settings(call)
    yield from _parts(call)


def _folder(folder: Path) -> Iterator[Check]:
    if not folder.is_dir():
        yield Check(
            name="folder",
            verdict="ok",
            detail=f"{folder} is not there yet; recording a turn makes it",
            next='hitherto demo, or: hitherto record "I start at Acme on Monday!" --user ana',
        )
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    if not os.access(folder, os.W_OK | os.X_OK):
        yield Check(
            name="folder",
            verdict="failed",
            detail=f"{folder} cannot be written to (mode {mode:o})",
            next=f"let this account write to {folder}",
        )
        return
    if mode & 0o077:
        yield Check(
            name="folder",
            verdict="degraded",
            detail=f"other accounts may open {folder} (mode {mode:o})",
            next=f"chmod 700 {folder}",
        )
    else:
        yield Check(name="folder", verdict="ok", detail=f"{folder}, mode {mode:o}")
    free = shutil.disk_usage(folder).free
    verdict: Verdict = "degraded" if free < LOW_SPACE else "ok"
    wanted = (
        f"make room: writes fail when the disk is full, and {_size(LOW_SPACE)} go quickly" if verdict != "ok" else ""
    )
    yield Check(name="space", verdict=verdict, detail=f"{_size(free)} free", next=wanted)
    yield _flush(folder)


def _flush(folder: Path) -> Check:
    """Whether writes are flushed to the disk, and what that costs."""
    spans: list[float] = []
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            for _ in range(SAMPLES):
                file.write(b"\0" * 4096)
                file.flush()
                begun = time.perf_counter()
                os.fsync(file.fileno())
                spans.append(time.perf_counter() - begun)
    except OSError as error:
        return Check(name="fsync", verdict="failed", detail=f"does not work here: {error.strerror or error}", next=MOVE)
    median = sorted(spans)[SAMPLES // 2]
    if median < INSTANT:
        return Check(
            name="fsync",
            verdict="degraded",
            detail="returns at once: this folder may be in memory, and lost when the machine stops",
            next=MOVE,
        )
    return Check(name="fsync", verdict="ok", detail=f"works, {median * 1000:.2f} ms (median of {SAMPLES})")


def _store(call: Call, *, told: set[str]) -> Iterator[Check]:
    """The store, apart from problems that were told already."""
    from hitherto import store

    if not store.exists(call.data):
        return
    try:
        with call.memory() as memory:
            health = memory.health()
            memory.users()  # opens every user's memory, as far as the store can tell one from another
            waiting = _waiting(memory)
    except HithertoError as error:
        detail = str(error) if isinstance(error, StoreReadOnly) else f"{type(error).__name__}: {error}"
        yield Check(name="store", verdict="failed", detail=detail, next=_remedy(call, error))
        return
    place = store.shown(call.data)
    problems = [problem for problem in health.problems if problem not in told]
    if problems:
        advice = "repeat the forgetting, prepare the database (hitherto schema), or restore a backup (hitherto restore)"
        yield Check(name="store", verdict="failed", detail="; ".join(problems), next=advice)
    else:
        words = f"{health.backend} {health.version}, schema {health.schema}"
        yield Check(name="store", verdict="ok", detail=words)
    yield Check(name="size", verdict="ok", detail=f"{counted(health.users, 'user')}, {_size(health.bytes)}")
    yield Check(
        name="work",
        verdict="degraded" if waiting else "ok",
        detail=f"overdue for {counted(waiting, 'user')}: no worker is running"
        if waiting
        else "all that is due is done",
        next=f"hitherto work --data {place} (or once: hitherto settle --data {place})" if waiting else "",
    )


def _remedy(call: Call, error: HithertoError) -> str:
    from hitherto import store

    place = store.shown(call.data)
    if isinstance(error, StoreReadOnly):
        return f"let this account write to {place}"
    if isinstance(error, StoreUnavailable) and "://" in call.data:
        if "too old" in str(error):
            return "docs/howto/postgresql.md says where newer ones are"
        return f"psql {place} tries the same server; docs/howto/postgresql.md says what it needs"
    if isinstance(error, StoreCorrupt):
        return "hitherto restore BACKUP --data NEW-FOLDER"
    return "hitherto settings"


def _waiting(memory: "Hitherto") -> int:
    """How many of the first users have overdue work that nobody does."""
    late = datetime.now(UTC) - PATIENCE
    return len(memory.run(memory.engine.catalog.due(now=late, limit=LOOKED_AT)))


def _redis(call: Call) -> Iterator[Check]:
    """The Redis beside the database, if one is set: without it things take longer, but nothing is lost."""
    url = call.settings.found_redis()
    if url is None:
        return
    import asyncio

    from hitherto import coordination

    async def look() -> str | None:
        asked = coordination.connect(url, memory=call.data, deadline=REDIS_SECONDS)
        try:
            return await asked.problem()
        finally:
            await asked.close()

    try:
        problem = asyncio.run(look())
    except HithertoError as error:
        problem = str(error)
    wanted = "start it, or correct HITHERTO_REDIS" if problem else ""
    yield Check(name="redis", verdict="degraded" if problem else "ok", detail=problem or "answers", next=wanted)


def _tokenizer(call: Call) -> Check:
    from hitherto.tokens import families, tokenizer

    try:
        counter = tokenizer(call.settings.tokenizer)
    except HithertoError as error:
        return Check(name="tokenizer", verdict="failed", detail=str(error), next="hitherto settings")
    if counter.warning:
        return Check(
            name="tokenizer", verdict="degraded", detail=counter.warning, next=f"use one of {', '.join(families())}"
        )
    found = tokenizer("o200k").count(SAMPLE)
    if found != TOKENS_OF_SAMPLE:
        return Check(
            name="tokenizer", verdict="failed", detail=f"o200k counts {found}, not {TOKENS_OF_SAMPLE}", next=REINSTALL
        )
    how = "exact and offline" if counter.exact else "an upper estimate, because its vocabulary is not published"
    return Check(name="tokenizer", verdict="ok", detail=f"{counter.family}, {how}")


def _embedder(call: Call) -> Check:
    """The embedder must know words: a table without content would leave recall to full text alone."""
    from hitherto.recall.embed import open_embedder

    try:
        embedder = open_embedder(call.settings.embedder)
        known = bool(embedder.embed([SAMPLE]).any())
    except HithertoError as error:
        return Check(name="embedder", verdict="failed", detail=str(error), next="hitherto settings")
    words = f"{embedder.name}, {embedder.dimension} dimensions, version {embedder.version[:12]}"
    detail = words if known else f"{words} knows no word: recall finds words, not meanings"
    return Check(
        name="embedder", verdict="ok" if known else "degraded", detail=detail, next="" if known else "hitherto settings"
    )


def _settings(call: Call) -> Iterator[Check]:
    """Variables that look like settings but set nothing."""
    from hitherto.settings import mistaken

    for wrong in mistaken(call.environ):
        yield Check(name="settings", verdict="degraded", detail=wrong, next="hitherto settings")


def _size(number: int) -> str:
    from rich.filesize import decimal

    return decimal(number)


def _parts(call: Call) -> Iterator[Check]:
    if call.settings.reranker is not None:
        yield _reranker(call.settings.reranker)
    yield _reader(call)
    missing = [f"{extra} ({what})" for extra, (module, what) in EXTRAS.items() if not _installed(module)]
    installed = [extra for extra, (module, _) in EXTRAS.items() if _installed(module)]
    words = f"installed: {', '.join(installed) or 'none'}"
    yield Check(name="extras", verdict="ok", detail=f"{words}; not installed: {', '.join(missing) or 'none'}")


def _installed(module: str) -> bool:
    """Whether a module is installed. Its parent is checked first, because a namespace such as `google` may be missing
    entirely."""
    package, _, inner = module.partition(".")
    return find_spec(package) is not None and (not inner or find_spec(module) is not None)


def _reranker(name: str) -> Check:
    """What ranks search results a second time."""
    from hitherto.recall.rerank import open_reranker

    try:
        open_reranker(name)
    except HithertoError as error:
        return Check(name="reranker", verdict="failed", detail=str(error), next="hitherto settings")
    return Check(name="reranker", verdict="ok", detail=f"{name}, in `search` alone")


def _reader(call: Call) -> Check:
    """What learns from conversations."""
    from hitherto.learn.readers.model import open_model
    from hitherto.learn.steps import open_reader

    model, reader = call.settings.model, call.settings.reader
    if reader is not None:
        try:
            return Check(name="reader", verdict="ok", detail=f"{reader}, method {open_reader(reader).method}")
        except HithertoError as error:
            return Check(name="reader", verdict="failed", detail=str(error), next="hitherto settings")
    if model is None:
        return Check(
            name="model",
            verdict="ok",
            detail="none: rules learn, and their notes are quotes",
            next="to learn with a model: pip install 'hitherto[pydantic-ai]', and HITHERTO_MODEL=openai:gpt-4.1-mini",
        )
    if find_spec("pydantic_ai") is None:
        install = "pip install 'hitherto[pydantic-ai]'"
        return Check(name="model", verdict="failed", detail=f"{model} needs an extra that is missing", next=install)
    try:
        open_model(model, [])
    except HithertoError as error:
        name_it = "set the provider's key, or correct the name in HITHERTO_MODEL"
        return Check(name="model", verdict="failed", detail=str(error), next=name_it)
    return Check(name="model", verdict="ok", detail=f"{model}; it is asked when there is something to read")


def _table(data: str, worst: Verdict, checks: list[Check], *, has_memory: bool) -> "RenderableType":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    marks = {"ok": ("ok", "green"), "degraded": ("DEGRADED", "bold yellow"), "failed": ("FAILED", "bold red")}
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="bold")
    rows.add_column()
    rows.add_column(ratio=1, overflow="fold")
    for check in checks:
        words, style = marks[check.verdict]
        rows.add_row(check.name, Text(words, style=style), Text(check.detail))
        if check.next:
            rows.add_row("", "", Text(f"→ {check.next}", style="cyan"))
    sentence = {
        "ok": f"{data} is well."
        if has_memory
        else f"Hitherto is well; {data} is made when the first turn is recorded.",
        "degraded": f"{data} is degraded: the arrows beside what is marked DEGRADED say what to do.",
        "failed": f"{data} needs attention: start with what is marked FAILED.",
    }[worst]
    return Group(rows, Text(), Text(sentence, style=marks[worst][1]))
