"""The one table of commands: what each is called, where it stands in the help, which calls of the engine it makes, and
examples that work on the demo's memory. The program, its reference page and the completeness test are made from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from recollect.deliver.cli import (
    contexts,
    conversation,
    custody,
    demo,
    doctor,
    evaluation,
    keys,
    mcp,
    moving,
    moving_stores,
    people,
    recipes,
    remembering,
    serve,
    working,
)

Topic = Literal["Start", "Turns", "Contexts", "Memory", "Who", "Recipes", "Service", "Care"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command. `name` of two words is a subcommand; `calls` are the engine's methods that it makes reachable."""

    name: str
    topic: Topic
    run: Callable[..., None]
    calls: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """They work as they stand on the demo's memory."""
    sketches: tuple[str, ...] = ()
    """They need a file or an id of the reader's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Commands of two words that share their first; `alone` is what the first word alone does."""

    name: str
    help: str
    alone: str


COMMANDS: tuple[Command, ...] = (
    Command(
        name="demo",
        topic="Start",
        run=demo.demo,
        examples=("recollect demo", "recollect demo --data ./try-it", "recollect demo --recipe lanes --brief"),
        sketches=("recollect demo --open",),
    ),
    Command(name="doctor", topic="Start", run=doctor.doctor, calls=("health",), examples=("recollect doctor",)),
    Command(
        name="record",
        topic="Turns",
        run=conversation.record,
        calls=("record",),
        examples=(
            'recollect record "I start at Acme on Monday!" --user ana --persona nikita',
            'recollect record "How did it go?" --user ana --persona nikita --role assistant --id msg-17',
        ),
    ),
    Command(
        name="import",
        topic="Turns",
        run=conversation.import_file,
        calls=("record",),
        sketches=("recollect import turns.jsonl", "recollect import result.json --format telegram --persona nikita"),
    ),
    Command(
        name="turns",
        topic="Turns",
        run=conversation.turns,
        calls=("turns",),
        examples=("recollect turns --user ana --persona nikita --since 2026-03-14T00:00:00Z",),
    ),
    Command(
        name="revise",
        topic="Turns",
        run=conversation.revise,
        calls=("revise",),
        examples=('recollect revise mon-05 "First day done! Mukesh gave me the billing rewrite." --user ana',),
    ),
    Command(
        name="sessions",
        topic="Turns",
        run=conversation.sessions,
        calls=("sessions",),
        examples=("recollect sessions --user ana",),
    ),
    Command(
        name="context",
        topic="Contexts",
        run=contexts.context,
        calls=("context",),
        examples=(
            'recollect context "yes" --user ana --persona nikita --at 2026-03-14T16:52:00Z',
            'recollect context "and the hotel?" --user ana --persona nikita --lane trip --recipe lanes',
            "recollect context --turn sat-09 --user ana --persona nikita --raw",
            "recollect context --turn sat-09 --user ana --persona nikita --html context.html --redact",
        ),
    ),
    Command(
        name="search",
        topic="Contexts",
        run=contexts.search,
        calls=("search",),
        examples=(
            'recollect search "who gave her the billing project?" --user ana --explain',
            'recollect search "knee" --user ana --kind turn --kind memory --limit 3',
        ),
    ),
    Command(
        name="snapshots",
        topic="Contexts",
        run=contexts.snapshots,
        calls=("snapshots",),
        examples=("recollect snapshots --user ana",),
    ),
    Command(
        name="replay",
        topic="Contexts",
        run=contexts.replay,
        calls=("replay",),
        sketches=("recollect replay SNAPSHOT --user ana", "recollect replay SNAPSHOT --user ana --raw"),
    ),
    Command(
        name="diff",
        topic="Contexts",
        run=contexts.diff,
        calls=("diff", "replay"),
        sketches=("recollect diff SNAPSHOT OTHER --user ana",),
    ),
    Command(
        name="backtest",
        topic="Contexts",
        run=contexts.backtest,
        calls=("backtest",),
        examples=("recollect backtest --user ana --persona nikita --recipe companion-text",),
    ),
    Command(
        name="eval",
        topic="Contexts",
        run=evaluation.evaluate,
        calls=("record", "settle", "search", "context"),
        sketches=("recollect eval conversations.jsonl.gz", "recollect eval talks.jsonl --first 3 -o talks.json"),
    ),
    Command(
        name="remember",
        topic="Memory",
        run=remembering.remember,
        calls=("remember",),
        examples=(
            'recollect remember "Ana is vegetarian" --user ana importance=2',
            'recollect remember "Lea\'s birthday is 3 June" --user ana \'entities=["person:lea"]\' pinned=true',
        ),
    ),
    Command(
        name="memories",
        topic="Memory",
        run=remembering.memories,
        calls=("memories",),
        examples=("recollect memories --user ana", "recollect memories --user ana --entity person:mukesh"),
    ),
    Command(
        name="episodes",
        topic="Memory",
        run=remembering.episodes,
        calls=("episodes",),
        examples=("recollect episodes --user ana",),
    ),
    Command(
        name="loops",
        topic="Memory",
        run=remembering.loops,
        calls=("loops",),
        examples=("recollect loops --user ana --persona nikita", "recollect loops --user ana --all"),
    ),
    Command(
        name="thoughts",
        topic="Memory",
        run=remembering.thoughts,
        calls=("thoughts",),
        examples=("recollect thoughts --user ana --persona nikita",),
    ),
    Command(
        name="summaries",
        topic="Memory",
        run=remembering.summaries,
        calls=("summaries",),
        examples=("recollect summaries --user ana --kind daily",),
    ),
    Command(
        name="entities",
        topic="Memory",
        run=remembering.entities,
        calls=("entities",),
        examples=("recollect entities --user ana",),
    ),
    Command(
        name="add",
        topic="Memory",
        run=remembering.add,
        calls=("add",),
        examples=(
            'recollect add loop --user ana kind=promise persona=nikita due=2026-03-16T08:00:00Z text="Ask about the tickets"',
            'recollect add thought --user ana persona=nikita text="Ana sounds rested today."',
        ),
    ),
    Command(
        name="update",
        topic="Memory",
        run=remembering.update,
        calls=("update",),
        sketches=("recollect update LOOP --user ana status=done", "recollect update MEMORY --user ana pinned=true"),
    ),
    Command(
        name="history",
        topic="Memory",
        run=remembering.history,
        calls=("history",),
        examples=("recollect history profile --user ana",),
    ),
    Command(
        name="personas",
        topic="Who",
        run=people.personas,
        calls=("personas", "define_persona"),
        examples=(
            "recollect personas",
            'recollect personas kai --name Kai --text "You are Kai, a patient tutor."',
            "recollect personas nikita",
        ),
    ),
    Command(
        name="user",
        topic="Who",
        run=people.user,
        calls=("users", "user", "set_user", "link", "resolve"),
        examples=(
            "recollect user",
            "recollect user ana zone=Europe/Berlin name=Ana stage=COMFORTABLE",
            "recollect user ana --link telegram:12345",
            "recollect user --resolve telegram:12345",
        ),
    ),
    Command(
        name="state",
        topic="Who",
        run=people.state,
        calls=("state", "set_state"),
        examples=(
            "recollect state --user ana --persona nikita",
            'recollect state --user ana --persona nikita chapter=3 emotion="proud of Ana"',
        ),
    ),
    Command(
        name="recipes list",
        topic="Recipes",
        run=recipes.listed,
        calls=("recipes",),
        examples=("recollect recipes list",),
    ),
    Command(name="recipes show", topic="Recipes", run=recipes.shown, examples=("recollect recipes show companion",)),
    Command(name="recipes check", topic="Recipes", run=recipes.checked, sketches=("recollect recipes check my.toml",)),
    Command(
        name="recipes save",
        topic="Recipes",
        run=recipes.saved,
        calls=("define_recipe",),
        sketches=("recollect recipes save my.toml",),
    ),
    Command(
        name="settle",
        topic="Service",
        run=working.settle,
        calls=("settle",),
        examples=("recollect settle", "recollect settle --user ana"),
    ),
    Command(name="work run", topic="Service", run=working.run, calls=("worker",), sketches=("recollect work",)),
    Command(
        name="work status",
        topic="Service",
        run=working.status,
        calls=("work_status",),
        examples=("recollect work status --user ana",),
    ),
    Command(
        name="work retry",
        topic="Service",
        run=working.retry,
        calls=("retry",),
        examples=("recollect work retry --user ana",),
    ),
    Command(
        name="progress",
        topic="Memory",
        run=working.progress,
        calls=("progress",),
        examples=("recollect progress --user ana --persona nikita",),
    ),
    Command(
        name="seed",
        topic="Memory",
        run=working.seed,
        calls=("seed",),
        sketches=("recollect seed profile.txt --user ana", "echo 'Lives in Austin' | recollect seed - --user ana"),
    ),
    Command(
        name="merge",
        topic="Memory",
        run=working.merge,
        calls=("merge",),
        sketches=("recollect merge person:mukesh person:makesh --user ana",),
    ),
    Command(
        name="split",
        topic="Memory",
        run=working.split,
        calls=("split",),
        sketches=("recollect split person:mukesh Makesh --user ana",),
    ),
    Command(name="audit", topic="Care", run=working.audit, calls=("audit",), examples=("recollect audit --user ana",)),
    Command(
        name="reindex",
        topic="Care",
        run=working.reindex,
        calls=("reindex",),
        examples=("recollect reindex", "recollect reindex --user ana"),
    ),
    Command(
        name="serve",
        topic="Service",
        run=serve.serve,
        sketches=("recollect serve", "recollect serve --host 0.0.0.0 --port 80 --workers 2"),
    ),
    Command(
        name="mcp",
        topic="Service",
        run=mcp.mcp,
        sketches=("recollect mcp --user ana --persona nikita",),
    ),
    Command(
        name="keys create",
        topic="Service",
        run=keys.create,
        examples=(
            "recollect keys create --label backend",
            "recollect keys create --user ana --scope read --expires 2027-01-01T00:00:00Z",
        ),
    ),
    Command(name="keys list", topic="Service", run=keys.listed, examples=("recollect keys list",)),
    Command(name="keys revoke", topic="Service", run=keys.revoke, sketches=("recollect keys revoke ID",)),
    Command(
        name="export",
        topic="Care",
        run=moving.export,
        calls=("export",),
        examples=("recollect export --user ana --output ana.jsonl",),
    ),
    Command(
        name="load",
        topic="Care",
        run=moving.load,
        calls=("load",),
        examples=("recollect load ana.jsonl", "recollect load ana.jsonl --user ana-copy"),
    ),
    Command(
        name="forget",
        topic="Care",
        run=custody.forget,
        calls=("forget",),
        examples=(
            "recollect forget --user ana --entity person:mukesh --dry-run",
            "recollect forget --user ana --turn mon-05 --yes",
        ),
        sketches=("recollect forget --user ana --everything", "recollect forget --user ana --origin import"),
    ),
    Command(name="scrub", topic="Care", run=custody.scrub, calls=("scrub",), examples=("recollect scrub",)),
    Command(
        name="rekey",
        topic="Care",
        run=custody.rekey,
        sketches=("RECOLLECT_MASTER_KEY_FILE=old.key recollect rekey new.key --data ./memories",),
    ),
    Command(
        name="retention",
        topic="Care",
        run=custody.retention,
        calls=("retention", "set_retention"),
        examples=("recollect retention", "recollect retention turn=365 snapshot=30 --user ana"),
    ),
    Command(
        name="retain",
        topic="Care",
        run=custody.retain,
        calls=("retain",),
        examples=("recollect retain --dry-run", "recollect retain"),
    ),
    Command(
        name="quarantine",
        topic="Memory",
        run=custody.held_back,
        examples=("recollect quarantine --user ana",),
    ),
    Command(
        name="approve",
        topic="Memory",
        run=custody.approve,
        calls=("review",),
        sketches=("recollect approve MEMORY --user ana",),
    ),
    Command(
        name="reject",
        topic="Memory",
        run=custody.reject,
        calls=("review",),
        sketches=("recollect reject MEMORY --user ana",),
    ),
    Command(
        name="events",
        topic="Care",
        run=custody.events,
        calls=("events",),
        examples=("recollect events", "recollect events --user ana --limit 5"),
    ),
    Command(name="backup", topic="Care", run=moving.backup, calls=("backup",), examples=("recollect backup ./backup",)),
    Command(
        name="copy",
        topic="Care",
        run=moving_stores.copy,
        examples=("recollect copy ./memories ./copied",),
        sketches=(
            "recollect copy ./memories postgresql://recollect@127.0.0.1/memories",
            "recollect copy ./memories ./encrypted --plain source",
        ),
    ),
    Command(
        name="schema",
        topic="Care",
        run=moving_stores.schema,
        examples=("recollect schema", "recollect schema --sharded"),
    ),
    Command(
        name="restore",
        topic="Care",
        run=moving.restore,
        calls=("forget_again",),
        examples=("recollect restore ./backup --data ./restored",),
        sketches=("recollect restore ./backup --data ./restored --forgotten ./memories/forgotten.jsonl",),
    ),
)

GROUPS: tuple[Group, ...] = (
    Group(name="work", help="The work behind the answers: extraction, summaries, upkeep.", alone="work run"),
    Group(name="recipes", help="Recipes: what a context is made of.", alone="recipes list"),
    Group(name="keys", help="Keys to the service.", alone="keys list"),
)
