"""Command doctor: is everything well, and what is missing? What is degraded is said loudly, never hidden."""

import os
import platform
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from hitherto.deliver.cli.call import Call
from hitherto.deliver.plain import size
from hitherto.errors import HithertoError, StoreReadOnly

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hitherto.sync import Hitherto

Verdict = Literal["ok", "degraded", "failed"]

SAMPLES = 9
INSTANT = 0.000_02
"""A flush of a written page in fewer seconds than this has not reached a disk."""
REDIS_SECONDS = 5.0
"""A look that somebody waits for may take longer than the work's own calls."""
LOW_SPACE = 512 * 1024 * 1024
TOKENS_OF_SAMPLE = 5
SAMPLE = "What did we promise?"
EXTRAS = {
    "postgres": ("psycopg", "a PostgreSQL store"),
    "onnx": ("onnxruntime", "a stronger embedder"),
    "pydantic-ai": ("pydantic_ai", "extraction and summaries by a model"),
    "serve": ("fastapi", "the HTTP service"),
    "mcp": ("mcp", "the MCP server"),
    "redis": ("redis", "wake-ups between processes"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    verdict: Verdict
    detail: str


def doctor(call: Call) -> None:
    """Check store, folder, disk, tokenizer and parts; say what is degraded."""
    checks = list(examine(call))
    worst: Verdict = "ok"
    for verdict in ("degraded", "failed"):
        if any(check.verdict == verdict for check in checks):
            worst = verdict
    call.answer({"data": call.data, "verdict": worst, "checks": checks}, lambda: _table(call.data, worst, checks))
    if worst == "failed":
        raise typer.Exit(1)


def examine(call: Call) -> Iterator[Check]:
    """Every check, each standing alone: one that fails hides none of the others."""
    from hitherto import __version__

    yield Check(name="hitherto", verdict="ok", detail=f"{__version__} on Python {platform.python_version()}")
    if "://" not in call.data:
        yield from _folder(Path(call.data))
    yield from _store(call)
    yield from _redis(call)
    yield _tokenizer()
    yield _embedder()
    yield from _parts()


def _folder(folder: Path) -> Iterator[Check]:
    if not folder.is_dir():
        yield Check(name="folder", verdict="degraded", detail=f"{folder} is not there yet; recording a turn makes it")
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    if not os.access(folder, os.W_OK | os.X_OK):
        yield Check(name="folder", verdict="failed", detail=f"{folder} cannot be written to (mode {mode:o})")
        return
    if mode & 0o077:
        yield Check(
            name="folder",
            verdict="degraded",
            detail=f"other accounts may open {folder} (mode {mode:o}); close it with: chmod 700 {folder}",
        )
    else:
        yield Check(name="folder", verdict="ok", detail=f"{folder}, mode {mode:o}")
    free = shutil.disk_usage(folder).free
    verdict: Verdict = "degraded" if free < LOW_SPACE else "ok"
    yield Check(name="space", verdict=verdict, detail=f"{size(free)} free")
    yield _flush(folder)


def _flush(folder: Path) -> Check:
    """Whether what is written is flushed to the disk, and what that costs."""
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
        return Check(name="fsync", verdict="failed", detail=f"does not work here: {error.strerror or error}")
    median = sorted(spans)[SAMPLES // 2]
    if median < INSTANT:
        return Check(
            name="fsync",
            verdict="degraded",
            detail="returns at once: this folder may be in memory, and lost when the machine stops",
        )
    return Check(name="fsync", verdict="ok", detail=f"works, {median * 1000:.2f} ms (median of {SAMPLES})")


def _store(call: Call) -> Iterator[Check]:
    from hitherto import store

    if not store.exists(call.data):
        return
    try:
        with call.memory() as memory:
            health = memory.health()
            unreadable = _unreadable(memory)
    except StoreReadOnly as error:
        yield Check(name="store", verdict="failed", detail=str(error))
        return
    except HithertoError as error:
        yield Check(name="store", verdict="failed", detail=f"{type(error).__name__}: {error}")
        return
    yield Check(name="store", verdict="ok", detail=f"{health.backend} {health.version}, schema {health.schema}")
    yield Check(name="size", verdict="ok", detail=f"{health.users:,} users, {size(health.bytes)}")
    for problem in (*health.problems, *unreadable):
        yield Check(name="store", verdict="failed", detail=problem)


def _unreadable(memory: "Hitherto") -> tuple[str, ...]:
    """The first user whose memory cannot be opened: damaged, or encrypted and without its key."""
    try:
        memory.users()
    except HithertoError as error:
        return (f"{type(error).__name__}: {error}",)
    return ()


def _redis(call: Call) -> Iterator[Check]:
    """The Redis beside the database, where one is set: without it things take longer, nothing is lost."""
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
    yield Check(name="redis", verdict="degraded" if problem else "ok", detail=problem or "answers")


def _tokenizer() -> Check:
    from hitherto.tokens import tokenizer

    counter = tokenizer("o200k")
    counted = counter.count(SAMPLE)
    exact = counted == TOKENS_OF_SAMPLE
    detail = (
        f"{counter.family}, exact and offline"
        if exact
        else f"{counter.family} counts {counted}, not {TOKENS_OF_SAMPLE}"
    )
    return Check(name="tokenizer", verdict="ok" if exact else "failed", detail=detail)


def _embedder() -> Check:
    """The default embedder must know words: a table that gives nothing would leave recall to full text alone."""
    from hitherto.recall.embed import open_embedder

    embedder = open_embedder(None)
    known = bool(embedder.embed([SAMPLE]).any())
    words = f"{embedder.name}, {embedder.dimension} dimensions, version {embedder.version[:12]}"
    detail = words if known else f"{words} knows no word: recall finds words, not meanings"
    return Check(name="embedder", verdict="ok" if known else "degraded", detail=detail)


def _parts() -> Iterator[Check]:
    yield Check(
        name="model",
        verdict="degraded",
        detail="none is configured: rules extract and summarise, recall of the turns themselves carries the load",
    )
    missing = [f"{extra} ({what})" for extra, (module, what) in EXTRAS.items() if find_spec(module) is None]
    installed = [extra for extra, (module, _) in EXTRAS.items() if find_spec(module) is not None]
    words = f"installed: {', '.join(installed) or 'none'}"
    yield Check(name="extras", verdict="ok", detail=f"{words}; not installed: {', '.join(missing) or 'none'}")


def _table(data: str, worst: Verdict, checks: list[Check]) -> "RenderableType":
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
    sentence = {
        "ok": f"{data} is well.",
        "degraded": f"{data} works; what is marked DEGRADED could be better.",
        "failed": f"{data} needs attention: see FAILED.",
    }[worst]
    return Group(rows, Text(), Text(sentence, style=marks[worst][1]))
