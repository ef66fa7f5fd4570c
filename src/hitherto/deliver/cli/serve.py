"""The command that serves."""

import os
from typing import Annotated, Any

import typer

from hitherto.deliver.cli.call import Call
from hitherto.errors import InvalidInput, MissingExtra


def serve(
    call: Call,
    *,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Where to listen [default: 127.0.0.1].")] = None,
    port: Annotated[int | None, typer.Option(metavar="PORT", min=0, max=65_535, help="[default: 8080]")] = None,
    workers: Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="Processes [default: 1].")] = None,
    recipe: Annotated[str | None, typer.Option("--recipe", "-r", metavar="NAME", help="The usual recipe.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model that extracts and summarises.")] = None,
    upstream: Annotated[
        str | None, typer.Option(metavar="URL", help="The OpenAI-compatible server for chat requests.")
    ] = None,
) -> None:
    """Serve the memory over HTTP.

    On loopback, with no key yet, a key for this run is printed; elsewhere a service without keys does not start.
    Everything else that can be set is a variable HITHERTO_…, listed in docs/deploy.md.
    """
    try:
        from hitherto.deliver.http import serving
    except ImportError as error:
        raise MissingExtra(f"serving needs {error.name}; install hitherto[serve]") from error
    from hitherto.settings import Settings

    if call.at is not None:
        raise InvalidInput("a service has the time of its machine; --at is for other commands")
    given: dict[str, Any] = {
        "data": call.data,
        "host": host,
        "port": port,
        "workers": workers,
        "recipe": recipe,
        "model": model,
        "upstream": upstream,
    }
    settings = Settings.read(os.environ)
    serving.serve(settings.model_copy(update={name: value for name, value in given.items() if value is not None}))
