"""Who reads a user's file: the connection that writes, and another one while it is busy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from hitherto.store.catalog import UserKey
from hitherto.store.sqlite import sharedfile
from hitherto.store.sqlite.connections import Connection
from hitherto.store.sqlite.userfile import UserFile


@pytest.fixture
def file(tmp_path: Path) -> UserFile:
    made = UserFile(tmp_path / "users" / "an" / "ana.db", UserKey("default", "ana"), epoch=lambda: 0)
    made.write(_note("first"))
    return made


def _note(name: str) -> Callable[[Connection], Connection]:
    def work(connection: Connection) -> Connection:
        connection.execute("INSERT INTO notes (name, body) VALUES (?, '{}')", [name])
        return connection

    return work


def _names(connection: Connection) -> tuple[Connection, list[str]]:
    return connection, [name for (name,) in connection.execute("SELECT name FROM notes ORDER BY name")]


def test_what_writes_reads(file: UserFile) -> None:
    writer = file.write(_note("second"))
    assert file.read(_names) == (writer, ["first", "second"])
    file.close()


def _read_during_a_write(file: UserFile, name: str) -> tuple[Connection, list[str]]:
    begun, read = threading.Event(), threading.Event()

    def slow(connection: Connection) -> Connection:
        _note(name)(connection)
        begun.set()
        assert read.wait(30)
        return connection

    writing = threading.Thread(target=file.write, args=[slow])
    writing.start()
    assert begun.wait(30)
    found = file.read(_names)
    read.set()
    writing.join()
    assert found is not None
    return found


def test_a_read_does_not_wait_for_a_write(file: UserFile) -> None:
    found = _read_during_a_write(file, "second")
    assert found[1] == ["first"], "what is not committed is not seen"
    assert file.read(_names) != found
    file.close()


def test_what_reads_beside_is_closed_when_nobody_needs_it(file: UserFile, monkeypatch: pytest.MonkeyPatch) -> None:
    beside, _ = _read_during_a_write(file, "second")
    assert beside in apsw.connections(), "the next one may come soon"
    monkeypatch.setattr(sharedfile, "NEEDED_SECONDS", 0.0)
    file.write(_note("third"))
    assert beside not in apsw.connections()
    another, names = _read_during_a_write(file, "fourth")
    assert another is not beside
    assert names == ["first", "second", "third"]
    file.close()


def test_a_glance_waits_for_nobody(file: UserFile) -> None:
    begun, read = threading.Event(), threading.Event()

    def slow(connection: Connection) -> None:
        begun.set()
        assert read.wait(30)

    assert file.read(_names) is not None
    writing = threading.Thread(target=file.write, args=[slow])
    writing.start()
    assert begun.wait(30)
    assert file.glance(_names) is None
    read.set()
    writing.join()
    file.close()


def test_a_glance_is_for_reads_of_which_the_last_one_took_a_moment(
    file: UserFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert file.glance(_names) is None, "nobody knows yet"
    monkeypatch.setattr(sharedfile, "MOMENT", 3600.0)
    whole = file.read(_names)
    assert whole is not None
    assert file.glance(_names) == (whole,)
    assert file.glance(_names, like="another") is None, "nobody knows of that"
    monkeypatch.setattr(sharedfile, "MOMENT", 0.0)
    assert file.glance(_names) == (whole,)
    assert file.glance(_names) is None, "the last one took longer than nothing"
    file.close()


def test_a_glance_sees_that_the_file_was_replaced(file: UserFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharedfile, "MOMENT", 3600.0)
    assert file.read(_names) is not None
    file.path.rename(file.path.with_suffix(".old"))
    assert file.glance(_names) is None
    assert file.read(_names) is None
    file.close()
