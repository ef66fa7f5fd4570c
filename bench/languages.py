"""Recall in ten languages: the same conversation told in each, asked in its own language and in others.

    python -m bench.languages [--held] [--embedder static] [--across] [--misses LANGUAGE …] [--page]

Questions with an odd number are for tuning; `--held` asks those with an even one. Ranked by the code the product runs, in
memory; a question counts as answered when one of its turns is among the first five.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Final, Literal, cast

import numpy as np

from bench.recall_dev import Index, index, ranked
from hitherto.evaluate.conversations import Asked, Conversation, SaidTurn
from hitherto.recall.embed import open_embedder
from hitherto.recall.embed.base import Embedder
from hitherto.recall.passages import passages
from hitherto.recall.rank import DEFAULT
from hitherto.text.languages import CODES, language, missing
from hitherto.text.time.spans import ranges

FOLDER: Final = Path(__file__).with_name("languages")
LANGUAGES: Final = ("en", "es", "de", "fr", "it", "pt", "nl", "ru", "ja", "zh")
Half = Literal["tuned", "held", "all"]
FIRST: Final = 5
_SESSION: Final = 10
_START: Final = datetime(2026, 3, 2, 18, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Told:
    """One language's conversation and its questions."""

    code: str
    conversation: Conversation


def told(code: str, *, questions: str | None = None, half: Half = "tuned") -> Told:
    """The conversation in one language; its questions in the same or another."""
    lines, _ = _parts(code)
    _, asked = _parts(questions or code)
    evidence = (FOLDER / "evidence.txt").read_text("utf-8").split("\n")
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


def _parts(code: str) -> tuple[list[str], list[str]]:
    turns, _, asked = (FOLDER / f"{code}.txt").read_text("utf-8").strip().partition("\n\n")
    return turns.split("\n"), asked.split("\n")


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


def table(embedder: Embedder | None, *, half: Half, languages: Sequence[str] = LANGUAGES) -> dict[str, float]:
    return {code: found(told(code, half=half), embedder) for code in languages}


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


def page_table() -> str:
    """What works in which language, as docs/languages.md shows it, measured on the questions that nothing is tuned on."""
    embedder = open_embedder("static")
    within, other = table(embedder, half="held"), across(embedder, half="held")
    lines = [
        "| language | code | stems | found | asked in English | said in English | times | word lists |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for code in CODES:
        known = language(code)
        stems = (
            "pairs of characters"
            if known.script in {"kana", "han", "hangul"}
            else "Snowball"
            if known.stemmer
            else "words"
        )
        here = f"{within[code]:.2f}" if code in within else "–"
        asked, said = (f"{share:.2f}" for share in other[code]) if code in other else ("–", "–")
        times = "yes" if code == "en" or "dates" in known.tables else "no"
        lists = "all" if not missing(code) else "short messages, stop words"
        lines.append(f"| {known.name} | `{code}` | {stems} | {here} | {asked} | {said} | {times} | {lists} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held", action="store_true", help="the questions that nothing is tuned on")
    parser.add_argument("--embedder", default="static", help="as HITHERTO_EMBEDDER; none for full text alone")
    parser.add_argument("--across", action="store_true", help="also ask in English, and of English turns")
    parser.add_argument("--misses", nargs="*", metavar="LANGUAGE", help="print what is not found")
    parser.add_argument("--page", action="store_true", help="print the table of docs/languages.md")
    arguments = parser.parse_args()
    if arguments.page:
        print(page_table())
        return
    half: Half = "held" if arguments.held else "tuned"
    embedder = None if arguments.embedder == "none" else open_embedder(arguments.embedder)
    started = perf_counter()
    for code in arguments.misses or ():
        print(code)
        found(told(code, half=half), embedder, misses=True)
    within = table(embedder, half=half)
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
