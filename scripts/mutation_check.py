"""Does the suite bite? Each mutation takes one protection out of a copy of the sources; a test that should notice must fail.

    python scripts/mutation_check.py            all mutations
    python scripts/mutation_check.py filter     those whose name holds "filter"

The same tests must pass on an unchanged copy first, otherwise their failure would prove nothing. The working tree is never
touched. A mutation that no longer applies is an error: the code it was made for has changed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("src", "tests", "scripts", "docs", "bench", "examples", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class Mutation:
    """`pattern` in `file` becomes `replacement`; `tests` must then fail."""

    name: str
    file: str
    pattern: str
    replacement: str
    tests: Sequence[str]
    everywhere: bool = False


ISOLATION = "tests/promises/test_isolation.py::test_no_user_ever_sees_another_ones_word"
SQL = "src/hitherto/store/postgres/queries"
BYTES = "tests/store/sqlite/test_forgotten_bytes.py"
SCRUB = "tests/store/postgres/test_scrubbing.py::test_nothing_of_what_was_erased_is_left"
CURSORS, FENCING = "src/hitherto/work/cursors.py", "tests/work/test_fencing.py"
SUBJECTS, ROUTES = "src/hitherto/deliver/http/service.py", "tests/deliver/http/test_access.py"
DECIDE, NOTES = "src/hitherto/learn/decide.py", "tests/learn/test_decide.py"
VERIFY, SAID = "src/hitherto/learn/verify.py", "tests/learn/test_verify.py"
ANSWERS, SECRETS = "tests/learn/readers/test_answers.py", "tests/engine/test_secrets.py"
NO_WALL = ("src/hitherto/store/postgres/layout.py", r'_MINE = "user_id = .*"', '_MINE = "true"')

MUTATIONS = (
    Mutation(
        "user filter of turns (PostgreSQL)",
        f"{SQL}/turns.sql",
        r"t\.user_id = %\(user\)s and ",
        "",
        [f"{ISOLATION}[postgres]"],
        everywhere=True,
    ),
    Mutation(
        "user filter of records (PostgreSQL)",
        f"{SQL}/records.sql",
        r"t\.user_id = %\(user\)s and ",
        "",
        [f"{ISOLATION}[postgres]"],
        everywhere=True,
    ),
    Mutation(
        "user filter of snapshots (PostgreSQL)",
        f"{SQL}/log.sql",
        r"s\.user_id = %\(user\)s and s\.id",
        "s.id",
        [f"{ISOLATION}[postgres]"],
    ),
    Mutation(
        "user in the file's name (embedded)",
        "src/hitherto/store/catalog.py",
        r"len\(tenant\)\.to_bytes\(4, \"big\"\) \+ tenant \+ user",
        'len(tenant).to_bytes(4, "big") + tenant + user[:4]',
        [f"{ISOLATION}[sqlite]"],
    ),
    Mutation(
        "escaping of stored text",
        "src/hitherto/safety/markup.py",
        r"if _BRACKET\.search\(text\) is None:",
        "if True:",
        ["tests/assemble/test_attacks.py", "tests/assemble/test_render.py"],
    ),
    Mutation(
        "the rewrite of the file after erasing",
        "src/hitherto/store/sqlite/connections.py",
        r'    connection\.execute\("VACUUM"\)\n',
        "",
        [f"{BYTES}::test_erasing_leaves_no_byte"],
    ),
    Mutation(
        "emptying the log after erasing",
        "src/hitherto/store/sqlite/connections.py",
        r'(connection\.execute\("VACUUM"\)\n    return )truncate_log\(connection\)',
        r"\1True",
        [f"{BYTES}::test_erasing_leaves_no_byte"],
    ),
    Mutation(
        "overwriting of what is deleted (secure_delete)",
        "src/hitherto/store/sqlite/connections.py",
        r"PRAGMA secure_delete = ON;",
        "PRAGMA secure_delete = OFF;",
        [f"{BYTES}::test_what_routine_removes_is_overwritten"],
    ),
    Mutation(
        "removal of words from full text (secure-delete)",
        "src/hitherto/store/sqlite/migrations/user/0001_a_users_memory.sql",
        r"'secure-delete', 1",
        "'secure-delete', 0",
        [f"{BYTES}::test_erasing_leaves_no_byte"],
        everywhere=True,
    ),
    Mutation(
        "scrubbing of the catalog when a link is removed",
        "src/hitherto/store/sqlite/catalog.py",
        r"        self\.finish_own_scrub\(\)\n        return done",
        "        return done",
        ["tests/promises/test_forgetting.py::test_a_users_name_links_and_settings_leave_no_byte"],
    ),
    Mutation(
        "the rewrite of tables by a scrub (PostgreSQL)",
        "src/hitherto/store/postgres/machines.py",
        r"vacuum \(full, analyze\)",
        "vacuum (analyze)",
        [SCRUB],
    ),
    Mutation(
        "moving the log on in a scrub (PostgreSQL)",
        "src/hitherto/store/postgres/machines.py",
        r"    left \+= await _drop_old_log\(connection\)\n",
        "",
        [SCRUB],
    ),
    Mutation("row-level security (PostgreSQL)", *NO_WALL, ["tests/store/postgres/test_walls.py"]),
    Mutation(
        "a sync at every commit",
        "src/hitherto/store/sqlite/connections.py",
        r"PRAGMA synchronous = FULL;",
        "PRAGMA synchronous = NORMAL;",
        ["tests/faults/test_f02_power_loss.py::test_no_acknowledged_turn_is_lost_when_the_power_fails"],
    ),
    Mutation(
        "running work fenced off by forgetting",
        "src/hitherto/privacy/forget.py",
        r"lease=_fence\(answers\[leased\], now=now\),",
        "",
        ["tests/promises/test_forgetting.py::test_work_under_way_does_not_write_it_back"],
    ),
    Mutation(
        "what was forgotten stays away",
        "src/hitherto/ingest/record.py",
        r"entry\.id in there or entry\.id not in answers\[erased\]",
        "True",
        ["tests/promises/test_forgetting.py::test_a_delivery_that_comes_again_does_not_bring_it_back"],
    ),
    Mutation(
        "what was forgotten in a context under way",
        "src/hitherto/assemble/replay.py",
        r"if name not in hidden",
        "if True",
        ["tests/promises/test_forgetting.py::test_a_context_under_way_does_not_write_it_back"],
    ),
    Mutation("the fence of a lost lease", CURSORS, r"leases\.check\(answers\[held\], lease\)", "pass", [FENCING]),
    Mutation("the check of a moved cursor", CURSORS, r"_check\(answers\[current\], cursor\)", "pass", [FENCING]),
    Mutation("the user of a key (service)", SUBJECTS, r"if caller\.user not in \(None, name\)", "if False", [ROUTES]),
    Mutation("the scope of a key (service)", SUBJECTS, r"    caller\.must\(scope\)\n    name", "    name", [ROUTES]),
    Mutation("the tenant of a key (service)", SUBJECTS, r"memory\(caller\.tenant\)", 'memory("default")', [ROUTES]),
    Mutation("the persona of what a note names", DECIDE, r"named\.persona not in \(None, persona\)", "False", [NOTES]),
    Mutation("the persona of what ends along with it", DECIDE, r"m\.persona in \(None, persona\) and ", "", [NOTES]),
    Mutation(
        "the persona of a loop that a note names",
        "src/hitherto/learn/loops.py",
        r"named\.persona != persona or ",
        "",
        ["tests/learn/test_loops.py"],
    ),
    Mutation(
        "the persona of what a reader is shown",
        "src/hitherto/learn/scene.py",
        r'noun="memory", persona=persona, shared=True, statuses=\("ACTIVE", "ARCHIVED"\)',
        'noun="memory", statuses=("ACTIVE", "ARCHIVED")',
        [f"{ANSWERS}::test_another_persona_is_shown_nothing_of_a_confidence_and_can_change_nothing_of_it"],
    ),
    Mutation(
        "what was told of a person in confidence",
        "src/hitherto/learn/people.py",
        r"entity\.persona is None and slug\(note\.name\) in self\._confided",
        "False",
        [f"{ANSWERS}::test_another_persona_is_shown_nothing_of_a_confidence_and_can_change_nothing_of_it"],
    ),
    Mutation(
        "which memory a number means",
        "src/hitherto/learn/readers/prompt.py",
        r'f"m\{n\}": memory for n, memory in enumerate\(memories, start=1\)',
        'f"m{n}": memory for n, memory in enumerate(reversed(memories), start=1)',
        [ANSWERS],
    ),
    Mutation(
        "numbers that name nothing",
        "src/hitherto/learn/readers/model.py",
        r"str\(known\[one\]\.id\) for one in (.*) if one in known\)",
        r"str(known.get(one, next(iter(known.values()))).id) for one in \1 if known)",
        [f"{ANSWERS}::test_numbers_that_name_nothing_change_nothing"],
    ),
    Mutation("the quotes of notes", VERIFY, r"if found < 0:", "if False:", [SAID]),
    Mutation("the names in notes", VERIFY, r"if self\.unknown_name\(text\) is not None:", "if False:", [SAID]),
    Mutation(
        "the numbers in notes",
        VERIFY,
        r'return None if self\._numbers_said\(text\) else "number"',
        "return None",
        [SAID],
    ),
    Mutation("the days that notes name", VERIFY, r"return day in self\.days or .*", "return True", [ANSWERS]),
    Mutation(
        "what is said of a person",
        "src/hitherto/learn/extract.py",
        r"refused = ground\.refused\(person\.what\)",
        "refused = None",
        [f"{ANSWERS}::test_what_is_said_of_a_person_is_held_to_what_was_said"],
    ),
    Mutation("orders that change what is known", DECIDE, r"if _ordered\(one\) is not None:", "if False:", [NOTES]),
    Mutation("that a rejected note stays away", DECIDE, r"if any\(_taken_away\(.*\):", "if False:", [NOTES]),
    Mutation(
        "masking of history", "src/hitherto/assemble/candidates.py", r"else masked\(text\)", "else text", [SECRETS]
    ),
    Mutation("masking of recall", "src/hitherto/recall/search.py", r"masked\(what\.text\)", "what.text", [SECRETS]),
    Mutation(
        "masking of what a reader is shown",
        "src/hitherto/learn/scene.py",
        r"masked = redact\((.*)\)",
        r"masked = \1",
        ["tests/learn/readers/test_misbehaving.py::test_a_secret_never_reaches_the_provider"],
    ),
    Mutation(
        "words that only a forgotten turn said",
        "src/hitherto/privacy/forget.py",
        r"touched=\(\*named\.touched, \*touched\.values\(\)\)",
        "touched=named.touched",
        ["tests/promises/test_forgetting.py::test_words_that_only_it_said_go_from_what_rests_on_other_turns[sqlite-1]"],
    ),
    Mutation(
        "entries of a transcript kept apart (MCP)",
        "src/hitherto/deliver/mcp.py",
        r"return indented\(safe\(masked\(text\)\)\)",
        "return text",
        ["tests/deliver/mcp/test_mcp.py::test_no_stored_text_passes_for_another_entry"],
    ),
)


def mutated(source: Path, mutation: Mutation) -> str | None:
    """The changed text; None when the pattern is not there."""
    text, found = re.subn(
        mutation.pattern, mutation.replacement, source.read_text("utf-8"), count=0 if mutation.everywhere else 1
    )
    return text if found else None


def prepared(folder: Path, *, walled: bool) -> None:
    """A copy of the sources; without the database's own wall where a filter is to be tested alone."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, folder / name)
    if not walled:
        wall = folder / NO_WALL[0]
        text, found = re.subn(NO_WALL[1], NO_WALL[2], wall.read_text("utf-8"))
        assert found, "the wall stands elsewhere now"
        wall.write_text(text, "utf-8")


def outcome_of(folder: Path, tests: Sequence[str]) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--timeout", "3600", *tests]
    environment = {**os.environ, "PYTHONPATH": "src", "HITHERTO_TEST_NO_SHRINKING": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    failures = [line for line in done.stdout.splitlines() if line.startswith(("E   ", "FAILED", "ERROR"))]
    return done.returncode, "; ".join(" ".join(line.split()) for line in failures[:2])[:220]


@cache
def baseline(tests: tuple[str, ...], *, walled: bool) -> str:
    """The same tests on the same copy without the mutation: if they fail there, a failure says nothing."""
    with tempfile.TemporaryDirectory(prefix="hitherto-baseline-") as name:
        prepared(Path(name), walled=walled)
        code, why = outcome_of(Path(name), tests)
    return "" if code == 0 else f"BASELINE FAILS ({code}): {why}"


def check(mutation: Mutation) -> str:
    """What came of it: `caught` with the failure that noticed it, or what is wrong."""
    walled = not mutation.file.startswith(SQL)
    if broken := baseline(tuple(mutation.tests), walled=walled):
        return broken
    with tempfile.TemporaryDirectory(prefix="hitherto-mutation-") as name:
        folder = Path(name)
        prepared(folder, walled=walled)
        target = folder / mutation.file
        text = mutated(target, mutation)
        if text is None:
            return "DOES NOT APPLY"
        target.write_text(text, "utf-8")
        code, why = outcome_of(folder, mutation.tests)
    if code == 1:
        return f"caught ({why})"
    return "NOT CAUGHT" if code == 0 else f"COULD NOT RUN ({code}): {why}"


def main(wanted: Sequence[str]) -> int:
    failed = 0
    for mutation in MUTATIONS:
        if wanted and not any(word in mutation.name for word in wanted):
            continue
        outcome = check(mutation)
        failed += not outcome.startswith("caught")
        print(f"without {mutation.name}: {outcome}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
