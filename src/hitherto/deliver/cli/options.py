"""Options that many commands share, so that they read and behave the same everywhere."""

from typing import Annotated

import typer

User = Annotated[
    str,
    typer.Option("--user", "-u", envvar="HITHERTO_USER", metavar="USER", help="Whose memory."),
]
Persona = Annotated[str | None, typer.Option("--persona", "-p", metavar="ID", help="Who answers.")]
Lane = Annotated[str | None, typer.Option("--lane", "-l", metavar="LANE", help="The thread of the conversation.")]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="COUNT", min=1, help="At most this many.")]
Known = Annotated[
    int | None, typer.Option("--known", metavar="SEQ", help="Only what was known at this entry of the log.")
]
Recipe = Annotated[
    str | None, typer.Option("--recipe", "-r", metavar="NAME|FILE", help="A recipe's name, or its TOML file.")
]
Fields = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FIELD=VALUE]...",
        help="What reads as JSON (0.7, true, null, [1, 2]) is JSON, anything else is text.",
    ),
]
