"""Writes what type checkers and editors read about the blocking and remote twins of the library, from the one declaration of
each call: `sync.pyi` and `client.pyi`.

    python scripts/api_stubs.py
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "hitherto"
sys.path.insert(0, str(ROOT / "src"))

from hitherto.calls import calls_of  # noqa: E402 -- after the path is set
from hitherto.engine import Hitherto  # noqa: E402

NOTICE = "# Written by scripts/api_stubs.py from the declarations in engine.py."
BLOCKING = """
class Opened(Protocol):
    async def open(self) -> None: ...
    async def close(self) -> None: ...

A = TypeVar("A", bound=Opened)
P = ParamSpec("P")
R = TypeVar("R")

class Blocking(Generic[A]):
    engine: A
    def __init__(self, make: Callable[[], A]) -> None: ...
    def run(self, call: Coroutine[Any, Any, R]) -> R: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def open(self) -> None: ...
    def close(self) -> None: ...

def blocking(method: Callable[Concatenate[A, P], Awaitable[R]]) -> Callable[Concatenate[Blocking[A], P], R]: ...
async def collected(lines: AsyncIterator[str]) -> list[str]: ...
def add_blocking_calls(facade: type[Blocking[Any]], awaited: type, calls: Iterable[str]) -> None: ...
"""
REMOTE = """
PIECE: int
PATHS: Mapping[str, str]

class Client:
    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = ...,
        retries: int = ...,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    async def open(self) -> None: ...
    async def close(self) -> None: ...
"""
FROM_AFAR = """
class SyncClient(Blocking[Client]):
    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = ...,
        retries: int = ...,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None: ...
"""
TYPING = """
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar
from hitherto.engine import Hitherto as Async
"""
REMOTE_TYPING = """
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self
import httpx
from hitherto.sync import Blocking
"""


def methods(*names: str) -> dict[str, ast.AsyncFunctionDef]:
    """The engine's methods as they are written; of its base, those that are named."""
    found: dict[str, ast.AsyncFunctionDef] = {}
    for file in ("parts.py", "engine.py"):
        for node in ast.walk(ast.parse((SOURCE / file).read_text("utf-8"))):
            if isinstance(node, ast.AsyncFunctionDef) and (node.name in calls_of(Hitherto) or node.name in names):
                found[node.name] = node
    return found


def stub(method: ast.AsyncFunctionDef, *, awaited: bool, local: bool) -> str:
    """The method's signature and docstring, with or without `await` and the arguments that only make sense locally."""
    arguments = method.args
    dropped = () if local else calls_of(Hitherto)[method.name].local
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    kept = [(argument, default) for argument, default in pairs if argument.arg not in dropped]
    signature = ast.arguments(
        posonlyargs=arguments.posonlyargs,
        args=arguments.args,
        kwonlyargs=[argument for argument, _ in kept],
        kw_defaults=[default for _, default in kept],
        kwarg=arguments.kwarg,
        vararg=arguments.vararg,
        defaults=arguments.defaults,
    )
    assert method.returns is not None, "the library's calls say what they give"
    returns = ast.unparse(method.returns)
    keyword = "async def" if awaited else "def"
    if returns.startswith("AsyncIterator"):
        keyword, returns = "def", returns if awaited else returns.replace("AsyncIterator", "list")
    docstring = ast.get_docstring(method, clean=False)
    body = f'\n        """{docstring}"""\n' if docstring else " ..."
    return f"    {keyword} {method.name}({ast.unparse(signature)}) -> {returns}:{body}"


def imports() -> str:
    """The engine's own imports; what a stub does not use is taken out afterwards."""
    tree = ast.parse((SOURCE / "engine.py").read_text("utf-8"))
    return "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))


def options() -> tuple[str, str]:
    """The engine's own arguments when it is made."""
    tree = ast.parse((SOURCE / "parts.py").read_text("utf-8"))
    made = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    wanted = "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    return f"    def __init__({ast.unparse(made.args)}) -> None: ...", wanted


def sync() -> str:
    calls = calls_of(Hitherto)
    ours = [method for name, method in methods().items() if calls[name].routes or name in ("flush", "forget_again")]
    made, wanted = options()
    body = "\n".join(stub(method, awaited=False, local=True) for method in ours)
    return f"{NOTICE}\n{TYPING}{imports()}\n{wanted}\n{BLOCKING}\nclass Hitherto(Blocking[Async]):\n{made}\n{body}\n"


def client() -> str:
    ours = [method for name, method in methods().items() if calls_of(Hitherto)[name].routes]
    awaited = "\n".join(stub(method, awaited=True, local=False) for method in ours)
    waited_for = "\n".join(stub(method, awaited=False, local=False) for method in ours)
    return f"{NOTICE}\n{REMOTE_TYPING}{imports()}\n{REMOTE}{awaited}\n{FROM_AFAR}{waited_for}\n"


STUBS = {SOURCE / "sync.pyi": sync, SOURCE / "client.pyi": client}


def formatted(text: str, path: Path) -> str:
    """The text with its imports sorted and its lines broken as everywhere in the project."""
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    named = ["--stdin-filename", str(path), "-"]
    tidy = [*ruff, "check", "--fix-only", "--quiet", "--select", "I,F401,F811,PYI", *named]
    fixed = subprocess.run(tidy, input=text, capture_output=True, text=True, check=False, cwd=ROOT).stdout
    shaped = [*ruff, "format", *named]
    return subprocess.run(shaped, input=fixed, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def main() -> None:
    for path, write in STUBS.items():
        path.write_text(formatted(write(), path), "utf-8")


if __name__ == "__main__":
    main()
