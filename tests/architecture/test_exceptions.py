"""The package catches what it can name. A handler for everything may only clean up and raise again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import modules

BROAD = {"Exception", "BaseException"}
# Places where nothing narrower is right, each with its reason: {"src/hitherto/…py": "why"}.
ALLOWED: dict[str, str] = {
    "src/hitherto/deliver/http/requests.py": "the edge of the service: whatever it was, the client gets an answer",
    "src/hitherto/learn/steps.py": "an application's own reader may raise anything; it becomes one named error",
    "src/hitherto/recall/embed/base.py": "an application's own embedder may raise anything; it becomes one named error",
    "src/hitherto/store/sqlite/threads.py": "hands whatever a thread raised to the caller who waits in another",
}


def broad_handlers(tree: ast.AST) -> Iterator[int]:
    """Lines that swallow everything: `except:`, `except Exception`, `suppress(Exception)`."""
    for node in ast.walk(tree):
        match node:
            case ast.ExceptHandler(type=caught) if _is_broad(caught) and not _raises_again(node):
                yield node.lineno
            case ast.Call(args=arguments) if _suppresses(node) and any(map(_is_broad, arguments)):
                yield node.lineno
            case _:
                pass


def _suppresses(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2] == "suppress"


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(element) for element in caught.elts)
    return caught is None or ast.unparse(caught).rpartition(".")[2] in BROAD


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_the_package_swallows_no_unnamed_exception() -> None:
    found = {module.file: [*broad_handlers(module.tree)] for module in modules()}
    assert {file: lines for file, lines in found.items() if lines and file not in ALLOWED} == {}


def test_no_exemption_outlives_its_cause() -> None:
    broad = {module.file for module in modules() if any(broad_handlers(module.tree))}
    assert ALLOWED.keys() - broad == set()


@pytest.mark.parametrize(
    ("handler", "broad"),
    [
        ("except: pass", True),
        ("except Exception: pass", True),
        ("except (ValueError, Exception): pass", True),
        ("except builtins.BaseException as error: log(error)", True),
        ("except BaseException:\n    undo()\n    raise", False),
        ("except (KeyError, ValueError): pass", False),
    ],
)
def test_handlers_are_told_apart(handler: str, broad: bool) -> None:
    assert bool([*broad_handlers(ast.parse(f"try: work()\n{handler}"))]) is broad


def test_suppressing_everything_counts() -> None:
    assert [*broad_handlers(ast.parse("with contextlib.suppress(Exception): work()"))] == [1]
    assert [*broad_handlers(ast.parse("with suppress(KeyError): work()"))] == []
