"""From a turn to a memory that can be recalled: Hitherto beside mem0's `add`, with the same model.

    python -m bench.adding [--turns 40] [--delay 0.2]

The model is a local server that speaks OpenAI's protocol and answers after `--delay` seconds with the one fact of each new
line, to each library in the form that it asks for: what is measured is what the libraries add to a model's time. mem0 is
installed by name in an environment of its own under `build/mem0` and looks its vectors up (a hash of the text), so that
embedding costs it nothing; Hitherto embeds with its static table and learns by a worker in the same process. Each turn is
written, and its memory found, before the next one. `infer=False` is mem0 without a model, beside Hitherto by rules. A
library that cannot run is a row that says why.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from bench.measuring import save, spread, table
from hitherto import Hitherto, Turn
from tests.learn.readers.provider import Provider, running

ROOT: Final = Path(__file__).resolve().parent.parent
PLACE: Final = ROOT / "build" / "mem0"
PATIENCE: Final = 30.0
Row = dict[str, object]

INSIDE: Final = """
import hashlib, json, sys, time
from mem0 import Memory
folder, url, infer, turns = sys.argv[1], sys.argv[2], sys.argv[3] == "infer", int(sys.argv[4])
class Hashed:
    config = None
    def embed(self, text, memory_action=None):
        raw = hashlib.shake_256(text.encode()).digest(256)
        return [byte / 255 - 0.5 for byte in raw]
    def embed_batch(self, texts, memory_action=None):
        return [self.embed(text) for text in texts]
model = {"api_key": "unused", "openai_base_url": url, "model": "test"}
memory = Memory.from_config({
    "vector_store": {"provider": "qdrant", "config": {"path": folder + "/q", "embedding_model_dims": 256, "on_disk": True}},
    "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
    "llm": {"provider": "openai", "config": model}, "history_db_path": folder + "/h.db"})
memory.embedding_model = Hashed()
took, found = [], 0
for number in range(turns):
    start = time.perf_counter()
    memory.add(f"I love thing{number}.", user_id="ana", infer=infer)
    hits = memory.search(f"Likes thing{number}" if infer else f"I love thing{number}.", top_k=10, filters={"user_id": "ana"})
    took.append(time.perf_counter() - start)
    found += any(f"thing{number}" in hit["memory"] for hit in hits["results"])
print(json.dumps({"took": took, "found": found}))
"""


def row(what: str, took: list[float], found: int) -> Row:
    """Milliseconds from the call that stores the turn to the search that finds its memory. The first turn, in which
    libraries load what they need, stands apart."""
    first, *rest = took
    return {
        "what": what,
        "ms a turn": str(spread(rest)),
        "first": f"{first * 1000:.0f}",
        "found": f"{found}/{len(took)}",
    }


async def hitherto(folder: Path, *, model: str | None, turns: int) -> tuple[list[float], int]:
    """Seconds of each turn until a search finds its memory, and how many were found; a worker runs beside."""
    took: list[float] = []
    found = 0
    async with Hitherto(folder, model=model) as memory, memory.working(idle=0.005):
        for number in range(turns):
            start = time.perf_counter()
            await memory.record(Turn("ana", "user", f"I love thing{number}."))
            while time.perf_counter() - start < PATIENCE:
                if await _there(memory, number, kind="memory"):
                    found += 1
                    break
                await asyncio.sleep(0.002)
            took.append(time.perf_counter() - start)
    return took, found


async def recorded(folder: Path, *, turns: int) -> tuple[list[float], int]:
    """The same for the turn itself, which needs no work to be found."""
    took: list[float] = []
    found = 0
    async with Hitherto(folder) as memory:
        for number in range(turns):
            start = time.perf_counter()
            await memory.record(Turn("ana", "user", f"I love thing{number}."))
            found += await _there(memory, number, kind="turn")
            took.append(time.perf_counter() - start)
    return took, found


async def _there(memory: Hitherto, number: int, *, kind: Literal["turn", "memory"]) -> bool:
    hits = await memory.search(user="ana", query=f"thing{number}", kinds=(kind,))
    return any(f"thing{number}" in hit.text for hit in hits)


async def throughput(folder: Path, *, turns: int) -> float:
    """Turns worked on a second, by rules, with all steps, one conversation that was recorded before."""
    async with Hitherto(folder) as memory:
        await memory.record([Turn("ana", "user", f"I love thing{number}.") for number in range(turns)])
        start = time.perf_counter()
        await memory.settle(user="ana")
        return turns / (time.perf_counter() - start)


def installed(python: Path, folder: Path) -> None:
    """mem0 in an environment of its own, once, and an empty folder for its data."""
    if not python.exists():
        venv.create(PLACE, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "mem0ai"], check=True)
    folder.mkdir()


async def mem0(folder: Path, provider: Provider, *, infer: bool, turns: int) -> Row:
    what = f"mem0 add, infer={infer}"
    python = PLACE / "bin" / "python"
    try:
        await asyncio.to_thread(installed, python, folder)
        place = [str(folder), provider.url.partition("#")[0], "infer" if infer else "plain", str(turns)]
        environment = {**os.environ, "MEM0_TELEMETRY": "false", "MEM0_DIR": str(folder)}
        ran = await asyncio.create_subprocess_exec(
            str(python), "-c", INSIDE, *place, stdout=-1, stderr=-1, env=environment
        )
        said, errors = await ran.communicate()
    except (OSError, subprocess.CalledProcessError) as error:
        return {"what": what, "ms a turn": f"could not run: {error}"[:80]}
    try:
        answer = json.loads(said.splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        return {"what": what, "ms a turn": f"could not run: {errors.decode().strip().splitlines()[-1:]}"[:120]}
    return row(what, answer["took"], answer["found"])


async def measured(*, turns: int, delay: float) -> list[Row]:
    rows: list[Row] = []
    async with running() as provider:
        provider.delay = delay
        with TemporaryDirectory() as name:
            folder = Path(name)
            took, found = await hitherto(folder / "rules", model=None, turns=turns)
            each = await throughput(folder / "many", turns=25 * turns)
            rows.append({**row("hitherto, rules", took, found), "turns/s": f"{each:.0f}"})
            took, found = await recorded(folder / "turns", turns=turns)
            rows.append(row("hitherto, the turn itself", took, found))
            rows.append(await mem0(folder / "plain", provider, infer=False, turns=turns))
            took, found = await hitherto(folder / "model", model=provider.url, turns=turns)
            rows.append(row(f"hitherto, model of {delay:g} s", took, found))
            rows.append(await mem0(folder / "infer", provider, infer=True, turns=turns))
    return rows


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--turns", type=int, default=40)
    asked.add_argument("--delay", type=float, default=0.2, help="how long the model takes to answer, in seconds")
    given = asked.parse_args()
    found = asyncio.run(measured(turns=given.turns, delay=given.delay))
    print(table(found))
    print(f"appended to {save('adding', found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
