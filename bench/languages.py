"""Recall in eleven languages: the same conversation told in each, asked in its own language and in others.

    python -m bench.languages [--held] [--hard] [--embedder static] [--across] [--misses LANGUAGE …] [--page] [--cost]

Questions with an odd number are for tuning; `--held` asks those with an even one. `--hard` asks others, put as friends text:
slang, typos, hardly a word of the answer. Ranked by the code the product runs, in
memory; a question counts as answered when one of its turns is among the first five. `--cost` puts the questions through the
engine instead, the languages in turns, and says what a search takes beside an English one.
"""

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final, Literal, cast

import numpy as np

from bench.recall_dev import Index, index, ranked
from hitherto import Hitherto, Turn
from hitherto.evaluate.engine_run import Asked, Conversation, SaidTurn
from hitherto.recall.embed import open_embedder
from hitherto.recall.embed.base import Embedder
from hitherto.recall.passages import passages
from hitherto.recall.rank import DEFAULT
from hitherto.text.languages import CODES, language, missing
from hitherto.text.time.spans import ranges

FOLDER: Final = Path(__file__).with_name("languages")
PAGE: Final = Path(__file__).parents[1] / "docs" / "languages.md"
LANGUAGES: Final = ("en", "es", "de", "fr", "it", "pt", "nl", "ru", "ja", "zh", "th")
Half = Literal["tuned", "held", "all"]
FIRST: Final = 5
COLUMNS: Final = (
    *("language", "code", "stems", "found", "as friends text", "asked in English", "said in English"),
    *("times", "rules", "word lists"),
)
_SESSION: Final = 10
_START: Final = datetime(2026, 3, 2, 18, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Told:
    """One language's conversation and its questions."""

    code: str
    conversation: Conversation


def told(code: str, *, questions: str | None = None, half: Half = "tuned", hard: bool = False) -> Told:
    """The conversation in one language; its questions in the same or another."""
    lines = _part(code, 0)
    asked = _part(questions or code, 1 + hard)
    evidence = _part("evidence", 0 + hard)
    turns = tuple(
        SaidTurn(
            id=str(place),
            session=place // _SESSION,
            speaker="user" if line[0] == "u" else "assistant",
            role="user" if line[0] == "u" else "assistant",
            text=line[2:],
            at=_START + timedelta(days=place // _SESSION, minutes=place % _SESSION),
        )
        for place, line in enumerate(lines)
    )
    wanted = {"tuned": (0,), "held": (1,), "all": (0, 1)}[half]
    kept = tuple(
        Asked(
            id=str(number),
            text=text,
            category="",
            evidence=frozenset(int(one) - 1 for one in evidence[number].split()),
            at=_START + timedelta(days=30),
        )
        for number, text in enumerate(asked)
        if number % 2 in wanted
    )
    return Told(code, Conversation(id=code, turns=turns, questions=kept))


def _part(name: str, number: int) -> list[str]:
    return (FOLDER / f"{name}.txt").read_text("utf-8").strip().split("\n\n")[number].split("\n")


def held(one: Told, embedder: Embedder | None) -> Index:
    said = [turn.text for turn in one.conversation.turns]
    said += [part for text in said for part in passages(text)]
    vectors = embedder.embed(said) if embedder is not None else ()
    known = dict(zip(said, vectors, strict=True)) if embedder is not None else {}
    return index(one.conversation, known=known, count=len, weights=DEFAULT)


def found(one: Told, embedder: Embedder | None, *, misses: bool = False) -> float:
    """The share of questions with an answer among the first five."""
    indexed = held(one, embedder)
    hits = list[bool]()
    for asked in one.conversation.questions:
        totals = ranked(indexed, asked, embedder=embedder, ranges=ranges, weights=DEFAULT)
        best = cast(list[int], np.lexsort((indexed.rows.seqs, -totals))[:FIRST].tolist())
        hits.append(bool(asked.evidence & set(best)))
        if misses and not hits[-1]:
            print(f"  {asked.text}")
            for place in best:
                print(f"      {one.conversation.turns[place].text[:100]}")
    return sum(hits) / len(hits)


def table(
    embedder: Embedder | None, *, half: Half, hard: bool = False, languages: Sequence[str] = LANGUAGES
) -> dict[str, float]:
    return {code: found(told(code, half=half, hard=hard), embedder) for code in languages}


def across(
    embedder: Embedder | None, *, half: Half, languages: Sequence[str] = LANGUAGES
) -> dict[str, tuple[float, float]]:
    """Asked in English of turns in another language, and the other way round."""
    return {
        code: (
            found(told(code, questions="en", half=half), embedder),
            found(told("en", questions=code, half=half), embedder),
        )
        for code in languages
        if code != "en"
    }


async def cost(rounds: int = 5) -> dict[str, float]:
    """The median time of a search among the conversation's turns, in milliseconds."""
    took: dict[str, list[float]] = {code: [] for code in LANGUAGES}
    conversations = {code: told(code, half="all").conversation for code in LANGUAGES}
    with TemporaryDirectory() as folder:
        async with AsyncExitStack() as opened:
            memories: dict[str, Hitherto] = {}
            for code, conversation in conversations.items():
                memory = await opened.enter_async_context(Hitherto(Path(folder) / code))
                await memory.record(
                    [Turn("ana", turn.role or "user", turn.text, at=turn.at) for turn in conversation.turns]
                )
                memories[code] = memory
            for _ in range(rounds):
                for number in range(len(conversations["en"].questions)):
                    for code, memory in memories.items():
                        started = perf_counter()
                        await memory.search(user="ana", query=conversations[code].questions[number].text)
                        took[code].append(perf_counter() - started)
    return {code: 1_000 * median(times) for code, times in took.items()}


def page_table() -> str:
    """What works in which language, as docs/languages.md shows it, measured on the questions that nothing is tuned on."""
    embedder = open_embedder("static")
    within, other = table(embedder, half="held"), across(embedder, half="held")
    texted = table(embedder, half="held", hard=True)
    lines = [
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
    ]
    for code in CODES:
        known = language(code)
        stems = (
            "pairs of characters"
            if known.script in {"kana", "han", "hangul", "thai"}
            else "Snowball"
            if known.stemmer
            else "words"
        )
        here, hard = (f"{shares[code]:.2f}" if code in shares else "–" for shares in (within, texted))
        asked, said = (f"{share:.2f}" for share in other[code]) if code in other else ("–", "–")
        times = "yes" if code == "en" or "dates" in known.tables else "no"
        lists = "all" if not missing(code) else "short messages, stop words"
        rules = "yes" if code == "en" or "learning" in known.tables else "no"
        lines.append(
            f"| {known.name} | `{code}` | {stems} | {here} | {hard} | {asked} | {said} | {times} | {rules} | {lists} |"
        )
    return "\n".join(lines)


def write() -> None:
    """Puts the table into docs/languages.md."""
    shown = PAGE.read_text("utf-8")
    start = shown.index("| language | code")
    PAGE.write_text(shown[:start] + page_table() + shown[shown.index("\n\n", start) :], "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held", action="store_true", help="the questions that nothing is tuned on")
    parser.add_argument("--hard", action="store_true", help="questions put as friends text")
    parser.add_argument("--embedder", default="static", help="as HITHERTO_EMBEDDER; none for full text alone")
    parser.add_argument("--across", action="store_true", help="also ask in English, and of English turns")
    parser.add_argument("--misses", nargs="*", metavar="LANGUAGE", help="print what is not found")
    parser.add_argument("--page", action="store_true", help="write the table of docs/languages.md")
    parser.add_argument("--cost", action="store_true", help="what a search takes in each language")
    arguments = parser.parse_args()
    if arguments.cost:
        took = asyncio.run(cost())
        for code, milliseconds in took.items():
            print(f"{code}  {milliseconds:.2f} ms  {milliseconds / took['en']:.2f} times English")
        return
    if arguments.page:
        write()
        return
    half: Half = "held" if arguments.held else "tuned"
    embedder = None if arguments.embedder == "none" else open_embedder(arguments.embedder)
    started = perf_counter()
    for code in arguments.misses or ():
        print(code)
        found(told(code, half=half, hard=arguments.hard), embedder, misses=True)
    within = table(embedder, half=half, hard=arguments.hard)
    print(
        "  ".join(f"{code} {share:.2f}" for code, share in within.items()),
        f"  mean {np.mean(list(within.values())):.3f}",
    )
    if arguments.across:
        pairs = across(embedder, half=half)
        print("asked in English:  ", "  ".join(f"{code} {share:.2f}" for code, (share, _) in pairs.items()))
        print("said in English:   ", "  ".join(f"{code} {share:.2f}" for code, (_, share) in pairs.items()))
    print(f"{perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
