"""The one table of commands: each one's name, its place in the help, the engine calls it makes, and examples that work on
the demo's memory. The program, its reference page and the completeness test are derived from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hitherto.deliver.cli import (
    contexts,
    conversation,
    demo,
    doctor,
    evaluation,
    people,
    privacy,
    recipes,
    records,
    serve,
    transfer,
    work,
)

Topic = Literal["Start", "Turns", "Contexts", "Memory", "Who", "Recipes", "Service", "Care"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command. A `name` of two words is a subcommand; `calls` are the engine's methods that it makes available."""

    name: str
    topic: Topic
    run: Callable[..., None]
    calls: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """They work unchanged on the demo's memory."""
    sketches: tuple[str, ...] = ()
    """They need a file or an id of the reader's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandGroup:
    """Commands of two words that share the first one; `alone` is what the first word does by itself."""

    name: str
    help: str
    alone: str


COMMANDS: tuple[Command, ...] = (
    Command(
        name="demo",
        topic="Start",
        run=demo.demo,
        examples=("hitherto demo", "hitherto demo --data ./try-it", "hitherto demo --recipe lanes --brief"),
        sketches=("hitherto demo --open",),
    ),
    Command(
        name="call",
        topic="Start",
        run=work.any_call,
        examples=("hitherto call", "hitherto call audit user=ana", "hitherto call loops user=ana persona=nikita"),
    ),
    Command(
        name="settings",
        topic="Start",
        run=doctor.settings,
        examples=("hitherto settings", "hitherto search lisbon --user ana --set reranker="),
    ),
    Command(name="doctor", topic="Start", run=doctor.doctor, calls=("health",), examples=("hitherto doctor",)),
    Command(
        name="record",
        topic="Turns",
        run=conversation.record,
        calls=("record",),
        examples=(
            'hitherto record "I start at Acme on Monday!" --user ana --persona nikita',
            'hitherto record "How did it go?" --user ana --persona nikita --role assistant --id msg-17',
        ),
    ),
    Command(
        name="import",
        topic="Turns",
        run=conversation.import_file,
        calls=("record",),
        sketches=("hitherto import turns.jsonl", "hitherto import result.json --format telegram --persona nikita"),
    ),
    Command(
        name="turns",
        topic="Turns",
        run=conversation.turns,
        calls=("turns",),
        examples=("hitherto turns --user ana --persona nikita --since 2026-03-14T00:00:00Z",),
    ),
    Command(
        name="revise",
        topic="Turns",
        run=conversation.revise,
        calls=("revise",),
        examples=('hitherto revise mon-05 "First day done! Mukesh gave me the billing rewrite." --user ana',),
    ),
    Command(
        name="sessions",
        topic="Turns",
        run=conversation.sessions,
        calls=("sessions",),
        examples=("hitherto sessions --user ana",),
    ),
    Command(
        name="context",
        topic="Contexts",
        run=contexts.context,
        calls=("context",),
        examples=(
            'hitherto context "yes" --user ana --persona nikita --at 2026-03-14T16:52:00Z',
            'hitherto context "and the hotel?" --user ana --persona nikita --lane trip --recipe lanes',
            "hitherto context --turn sat-09 --user ana --persona nikita --raw",
            "hitherto context --turn sat-09 --user ana --persona nikita --html context.html --redact",
        ),
    ),
    Command(
        name="search",
        topic="Contexts",
        run=contexts.search,
        calls=("search",),
        examples=(
            'hitherto search "who gave her the billing project?" --user ana --explain',
            'hitherto search "knee" --user ana --kind turn --kind memory --limit 3',
        ),
    ),
    Command(
        name="snapshots",
        topic="Contexts",
        run=contexts.snapshots,
        calls=("snapshots",),
        examples=("hitherto snapshots --user ana",),
    ),
    Command(
        name="replay",
        topic="Contexts",
        run=contexts.replay,
        calls=("replay",),
        sketches=("hitherto replay SNAPSHOT --user ana", "hitherto replay SNAPSHOT --user ana --raw"),
    ),
    Command(
        name="diff",
        topic="Contexts",
        run=contexts.diff,
        calls=("diff", "replay"),
        sketches=("hitherto diff SNAPSHOT OTHER --user ana",),
    ),
    Command(
        name="backtest",
        topic="Contexts",
        run=contexts.backtest,
        calls=("backtest",),
        examples=("hitherto backtest --user ana --persona nikita --recipe companion-text",),
    ),
    Command(
        name="eval",
        topic="Contexts",
        run=evaluation.evaluate,
        calls=("record", "settle", "search", "context"),
        sketches=("hitherto eval conversations.jsonl.gz", "hitherto eval talks.jsonl --first 3 -o talks.json"),
    ),
    Command(
        name="remember",
        topic="Memory",
        run=records.remember,
        calls=("remember",),
        examples=(
            'hitherto remember "Ana is vegetarian" --user ana importance=2',
            'hitherto remember "Lea\'s birthday is 3 June" --user ana \'entities=["person:lea"]\' pinned=true',
        ),
    ),
    Command(
        name="memories",
        topic="Memory",
        run=records.memories,
        calls=("memories",),
        examples=("hitherto memories --user ana", "hitherto memories --user ana --entity person:mukesh"),
    ),
    Command(
        name="episodes",
        topic="Memory",
        run=records.episodes,
        calls=("episodes",),
        examples=("hitherto episodes --user ana",),
    ),
    Command(
        name="loops",
        topic="Memory",
        run=records.loops,
        calls=("loops",),
        examples=("hitherto loops --user ana --persona nikita", "hitherto loops --user ana --all"),
    ),
    Command(
        name="thoughts",
        topic="Memory",
        run=records.thoughts,
        calls=("thoughts",),
        examples=("hitherto thoughts --user ana --persona nikita",),
    ),
    Command(
        name="summaries",
        topic="Memory",
        run=records.summaries,
        calls=("summaries",),
        examples=("hitherto summaries --user ana --kind daily",),
    ),
    Command(
        name="entities",
        topic="Memory",
        run=records.entities,
        calls=("entities",),
        examples=("hitherto entities --user ana",),
    ),
    Command(
        name="add",
        topic="Memory",
        run=records.add,
        calls=("add",),
        examples=(
            'hitherto add loop --user ana kind=promise persona=nikita due=2026-03-16T08:00:00Z text="Ask about the tickets"',
            'hitherto add thought --user ana persona=nikita text="Ana sounds rested today."',
        ),
    ),
    Command(
        name="update",
        topic="Memory",
        run=records.update,
        calls=("update",),
        sketches=("hitherto update LOOP --user ana status=done", "hitherto update MEMORY --user ana pinned=true"),
    ),
    Command(
        name="history",
        topic="Memory",
        run=records.history,
        calls=("history",),
        examples=("hitherto history profile --user ana",),
    ),
    Command(
        name="personas",
        topic="Who",
        run=people.personas,
        calls=("personas", "define_persona"),
        examples=(
            "hitherto personas",
            'hitherto personas kai --name Kai --text "You are Kai, a patient tutor."',
            "hitherto personas nikita",
        ),
    ),
    Command(
        name="user",
        topic="Who",
        run=people.user,
        calls=("users", "user", "set_user", "link", "unlink", "resolve"),
        examples=(
            "hitherto user",
            "hitherto user ana zone=Europe/Berlin name=Ana stage=COMFORTABLE",
            "hitherto user ana --link telegram:12345",
            "hitherto user --resolve telegram:12345",
        ),
    ),
    Command(
        name="state",
        topic="Who",
        run=people.state,
        calls=("state", "set_state"),
        examples=(
            "hitherto state --user ana --persona nikita",
            'hitherto state --user ana --persona nikita chapter=3 emotion="proud of Ana"',
        ),
    ),
    Command(
        name="recipes list",
        topic="Recipes",
        run=recipes.listed,
        calls=("recipes",),
        examples=("hitherto recipes list",),
    ),
    Command(name="recipes show", topic="Recipes", run=recipes.shown, examples=("hitherto recipes show companion",)),
    Command(name="recipes check", topic="Recipes", run=recipes.checked, sketches=("hitherto recipes check my.toml",)),
    Command(
        name="recipes save",
        topic="Recipes",
        run=recipes.saved,
        calls=("define_recipe",),
        sketches=("hitherto recipes save my.toml",),
    ),
    Command(
        name="settle",
        topic="Service",
        run=work.settle,
        calls=("settle",),
        examples=("hitherto settle", "hitherto settle --user ana"),
    ),
    Command(name="work run", topic="Service", run=work.run, calls=("worker",), sketches=("hitherto work",)),
    Command(
        name="work status",
        topic="Service",
        run=work.status,
        calls=("work_status",),
        examples=("hitherto work status --user ana",),
    ),
    Command(
        name="work cost",
        topic="Service",
        run=work.cost,
        calls=("costs",),
        examples=("hitherto work cost --user ana",),
    ),
    Command(
        name="work retry",
        topic="Service",
        run=work.retry,
        calls=("retry",),
        examples=("hitherto work retry --user ana",),
    ),
    Command(
        name="progress",
        topic="Memory",
        run=work.progress,
        calls=("progress",),
        examples=("hitherto progress --user ana --persona nikita",),
    ),
    Command(
        name="seed",
        topic="Memory",
        run=work.seed,
        calls=("seed",),
        sketches=("hitherto seed profile.txt --user ana", "echo 'Lives in Austin' | hitherto seed - --user ana"),
    ),
    Command(
        name="merge",
        topic="Memory",
        run=work.merge,
        calls=("merge",),
        sketches=("hitherto merge person:mukesh person:makesh --user ana",),
    ),
    Command(
        name="split",
        topic="Memory",
        run=work.split,
        calls=("split",),
        sketches=("hitherto split person:mukesh Makesh --user ana",),
    ),
    Command(name="audit", topic="Care", run=work.audit, calls=("audit",), examples=("hitherto audit --user ana",)),
    Command(
        name="reindex",
        topic="Care",
        run=work.reindex,
        calls=("reindex",),
        examples=("hitherto reindex", "hitherto reindex --user ana"),
    ),
    Command(
        name="serve",
        topic="Service",
        run=serve.serve,
        sketches=("hitherto serve", "hitherto serve --host 0.0.0.0 --port 80 --workers 2"),
    ),
    Command(
        name="mcp",
        topic="Service",
        run=serve.mcp,
        sketches=("hitherto mcp --user ana --persona nikita",),
    ),
    Command(
        name="keys create",
        topic="Service",
        run=serve.create,
        examples=(
            "hitherto keys create --label backend",
            "hitherto keys create --user ana --scope read --expires 2027-01-01T00:00:00Z",
        ),
    ),
    Command(name="keys list", topic="Service", run=serve.listed, examples=("hitherto keys list",)),
    Command(name="keys revoke", topic="Service", run=serve.revoke, sketches=("hitherto keys revoke ID",)),
    Command(
        name="export",
        topic="Care",
        run=transfer.export,
        calls=("export",),
        examples=("hitherto export --user ana --output ana.jsonl",),
    ),
    Command(
        name="load",
        topic="Care",
        run=transfer.load,
        calls=("load",),
        examples=("hitherto load ana.jsonl", "hitherto load ana.jsonl --user ana-copy"),
    ),
    Command(
        name="forget",
        topic="Care",
        run=privacy.forget,
        calls=("forget",),
        examples=(
            "hitherto forget --user ana --entity person:mukesh --dry-run",
            "hitherto forget --user ana --turn mon-05 --yes",
        ),
        sketches=("hitherto forget --user ana --everything", "hitherto forget --user ana --origin import"),
    ),
    Command(name="scrub", topic="Care", run=privacy.scrub, calls=("scrub",), examples=("hitherto scrub",)),
    Command(
        name="rekey",
        topic="Care",
        run=privacy.rekey,
        sketches=("HITHERTO_MASTER_KEY_FILE=old.key hitherto rekey new.key --data ./memories",),
    ),
    Command(
        name="retention",
        topic="Care",
        run=privacy.retention,
        calls=("retention", "set_retention"),
        examples=("hitherto retention", "hitherto retention turn=365 snapshot=30 --user ana"),
    ),
    Command(
        name="retain",
        topic="Care",
        run=privacy.retain,
        calls=("retain",),
        examples=("hitherto retain --dry-run", "hitherto retain"),
    ),
    Command(
        name="quarantine",
        topic="Memory",
        run=privacy.held_back,
        examples=("hitherto quarantine --user ana",),
    ),
    Command(
        name="approve",
        topic="Memory",
        run=privacy.approve,
        calls=("review",),
        sketches=("hitherto approve MEMORY --user ana",),
    ),
    Command(
        name="reject",
        topic="Memory",
        run=privacy.reject,
        calls=("reject",),
        sketches=("hitherto reject MEMORY --user ana",),
    ),
    Command(
        name="events",
        topic="Care",
        run=privacy.events,
        calls=("events",),
        examples=("hitherto events", "hitherto events --user ana --limit 5"),
    ),
    Command(
        name="backup", topic="Care", run=transfer.backup, calls=("backup",), examples=("hitherto backup ./backup",)
    ),
    Command(
        name="copy",
        topic="Care",
        run=transfer.copy,
        examples=("hitherto copy ./memories ./copied",),
        sketches=(
            "hitherto copy ./memories postgresql://hitherto@127.0.0.1/memories",
            "hitherto copy ./memories ./encrypted --plain source",
        ),
    ),
    Command(
        name="schema",
        topic="Care",
        run=transfer.schema,
        examples=("hitherto schema", "hitherto schema --sharded"),
    ),
    Command(
        name="restore",
        topic="Care",
        run=transfer.restore,
        calls=("forget_again",),
        examples=("hitherto restore ./backup --data ./restored",),
        sketches=("hitherto restore ./backup --data ./restored --forgotten ./memories/forgotten.jsonl",),
    ),
)

GROUPS: tuple[CommandGroup, ...] = (
    CommandGroup(name="work", help="The work behind the answers: extraction, summaries, upkeep.", alone="work run"),
    CommandGroup(name="recipes", help="Recipes: what a context is made of.", alone="recipes list"),
    CommandGroup(name="keys", help="Keys to the service.", alone="keys list"),
)
