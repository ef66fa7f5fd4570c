"""`hitherto call`: any call of the library by its name, as its declaration says."""

from datetime import datetime
from typing import Annotated, Any, get_args, get_type_hints

import typer

from hitherto.deliver.cli import assignments
from hitherto.deliver.cli.call import Call, moment
from hitherto.deliver.cli.options import Fields
from hitherto.errors import InvalidInput


def any_call(
    call: Call,
    *,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The call; with none, all are listed.")] = None,
    fields: Fields = None,
) -> None:
    """Make any call of the library by its name.

    Arguments are given as fields; the answer is JSON. Most calls have a command of their own that reads better.
    """
    from hitherto.calls import calls_of
    from hitherto.engine import Hitherto

    known = {key: one for key, one in calls_of(Hitherto).items() if one.reason is None and key != "export"}
    if name is None:
        summaries = {key: one.summary.partition("\n")[0] for key, one in known.items()}
        call.answer(summaries, lambda: "\n".join(f"{key:<15}{text}" for key, text in summaries.items()))
        return
    if name not in known:
        raise InvalidInput(f"there is no call {name!r}; there are {', '.join(known)}")
    arguments = _arguments(known[name].method, assignments.read(fields))
    positional = [arguments.pop(p.name) for p in known[name].parameters if _leads(p, arguments)]
    with call.memory(create=True) as memory:
        try:
            answer: object = getattr(memory, name)(*positional, **arguments)
        except TypeError as error:
            raise InvalidInput(f"{name}: {str(error).partition('()')[2].strip() or error}") from error
    call.emit(answer)


def _leads(parameter: Any, given: dict[str, Any]) -> bool:
    return parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) and parameter.name in given


def _arguments(method: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The fields as the call takes them: times read, texts left as text."""
    hints = get_type_hints(method)
    for name, value in given.items():
        kinds = (hints.get(name), *get_args(hints.get(name)))
        if datetime in kinds:
            given[name] = moment(str(value), name=name)
        elif str in kinds and not isinstance(value, str | None):
            given[name] = str(value)
    return given
