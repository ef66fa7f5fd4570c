"""Commands for who is who: personas, user, state."""

from pathlib import Path
from typing import Annotated

import typer

from hitherto.deliver.cli.call import Call, Fields, Persona, User, field_values
from hitherto.errors import InvalidInput, NotFound

Text = Annotated[str | None, typer.Option(metavar="TEXT|@FILE", help="Who it is; @file reads a file.")]


def personas(
    call: Call,
    *,
    persona: Annotated[str | None, typer.Argument(metavar="[ID]", help="Show or define this one.")] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Its name.")] = None,
    text: Text = None,
    boundaries: Annotated[str | None, typer.Option(metavar="TEXT|@FILE", help="What it never does.")] = None,
    style: Annotated[str | None, typer.Option(metavar="TEXT|@FILE", help="How it answers.")] = None,
) -> None:
    """List the personas, show one, or define it.

    A persona is defined with --name and --text; every definition is a version.
    """
    from hitherto.deliver.cli import tables

    given = {"name": name, "text": text, "boundaries": boundaries, "style": style}
    fields = {key: _content(value) for key, value in given.items() if value is not None}
    if persona is None:
        if fields:
            raise InvalidInput("name the persona to define, as in: hitherto personas nikita --name Nikita --text …")
        with call.memory() as memory:
            found = memory.personas()
        call.answer(found, lambda: tables.personas(found))
        return
    with call.memory(create=bool(fields)) as memory:
        known = {entry.id: entry for entry in memory.personas()}.get(persona)
        if fields:
            before = {} if known is None else {key: getattr(known, key) for key in given}
            kept = {key: str(value) for key, value in {**before, **fields}.items()}
            if not kept.get("name") or not kept.get("text"):
                raise InvalidInput(f"a new persona needs --name and --text; {persona!r} is not defined yet")
            known = memory.define_persona(persona, **(known.extra if known else {}), **kept)
    if known is None:
        raise NotFound(f"there is no persona {persona!r}; define it with --name and --text")
    one = known
    call.answer(one, lambda: tables.persona(one))


def user(
    call: Call,
    *,
    name: Annotated[str | None, typer.Argument(metavar="[USER]", help="Show or change this one.")] = None,
    fields: Fields = None,
    link: Annotated[
        str | None, typer.Option(metavar="CHANNEL:ID", help="From now on this id on that channel means this user.")
    ] = None,
    resolve: Annotated[str | None, typer.Option(metavar="CHANNEL:ID", help="Which user this id means.")] = None,
    unlink: Annotated[str | None, typer.Option(metavar="CHANNEL:ID", help="This id means nobody any more.")] = None,
) -> None:
    """List the users, show one, set fields, link a channel."""
    from hitherto.deliver.cli import tables

    if resolve is not None:
        with call.memory() as memory:
            found = memory.resolve(*_address(resolve))
        if found is None:
            raise NotFound(f"{resolve!r} is linked to no user")
        call.answer({"user": found}, lambda: found)
        return
    if unlink is not None:
        with call.memory() as memory:
            if not memory.unlink(*_address(unlink)):
                raise NotFound(f"{unlink!r} is not linked to any user")
        call.answer({"removed": True}, lambda: f"unlinked {unlink}")
        return
    if name is None:
        with call.memory() as memory:
            users = memory.users()
        call.answer(users, lambda: "\n".join(users) or "no users yet")
        return
    changes = field_values(fields)
    with call.memory(create=bool(changes or link)) as memory:
        if link is not None:
            memory.link(name, *_address(link))
        profile = memory.set_user(name, **changes) if changes else memory.user(name)
    call.answer(profile, lambda: tables.profile(name, profile))


def state(call: Call, *, user: User, fields: Fields = None, persona: Persona = None) -> None:
    """Show or change the state of a relationship.

    The application defines the fields; null removes one.
    """
    from hitherto.deliver.cli import tables

    changes = field_values(fields)
    with call.memory(create=bool(changes)) as memory:
        current = (
            memory.set_state(user=user, persona=persona, **changes)
            if changes
            else memory.state(user=user, persona=persona)
        )
    call.answer(current, lambda: tables.state(current))


def _content(value: str) -> str:
    return Path(value[1:]).read_text("utf-8") if value.startswith("@") else value


def _address(value: str) -> tuple[str, str]:
    channel, mark, external = value.partition(":")
    if not mark or not channel or not external:
        raise InvalidInput(f"{value!r} is not a channel and an id; write it as telegram:12345")
    return channel, external
