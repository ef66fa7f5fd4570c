"""The command line. `main` is the console script `hitherto`."""

import json
import sys
from collections.abc import Sequence

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130


def main(args: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

    Any failure is one line on stderr, or one JSON object there with --json.
    """
    from typer import Abort, TyperException

    from hitherto.deliver.cli.app import program
    from hitherto.errors import HithertoError, InvalidInput

    given = list(sys.argv[1:] if args is None else args)
    try:
        code: object = program().main(given, prog_name="hitherto", standalone_mode=False)
    except TyperException as error:
        return _report(error, _with_help(error, error.format_message()), code=error.exit_code, given=given)
    except InvalidInput as error:
        return _report(error, str(error), code=WRONG_USAGE, given=given)
    except HithertoError as error:
        return _report(error, str(error), code=FAILED, given=given)
    except BrokenPipeError:
        # The reader of the output has closed it; nothing more can be written there.
        sys.stdout = None
        return FAILED
    except OSError as error:
        return _report(
            error, f"{error.filename or 'input/output'}: {error.strerror or error}", code=FAILED, given=given
        )
    except (Abort, KeyboardInterrupt):
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _with_help(error: Exception, message: str) -> str:
    """Adds to a usage error where the correct usage is shown."""
    path: object = getattr(getattr(error, "ctx", None), "command_path", None)
    message = message.replace("Value error, ", "")
    return f"{message} See: {path} --help" if path else message


def _report(error: Exception, message: str, *, code: int, given: Sequence[str]) -> int:
    line = " ".join(message.split())
    if "--json" in given:
        line = json.dumps({"error": type(error).__name__, "message": line}, ensure_ascii=False)
    else:
        line = f"hitherto: {line}"
    sys.stderr.write(line + "\n")
    return code
