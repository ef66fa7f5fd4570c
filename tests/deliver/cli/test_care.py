"""export, load, backup, restore, doctor, and data folders in trouble."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from hitherto import store
from hitherto.deliver.cli import doctor
from hitherto.store.sqlite import connections
from tests.deliver.cli.running import ANA, ROOT, CommandLine, one_line
from tests.redis_server import RedisServer


def test_an_export_loads_back_byte_for_byte(reader: CommandLine, fresh: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "ana.jsonl"
    answer = reader.json("export", *ANA, "--output", str(file))
    lines = file.read_text("utf-8").splitlines()
    assert answer["entries"] == len(lines) - 2
    assert fresh.json("load", str(file)) == {"entries": answer["entries"]}
    assert fresh.done("export", *ANA).out == file.read_text("utf-8")
    assert "entries" in fresh.done("load", str(file)).out, "loading again changes nothing"


def test_an_export_never_overwrites(reader: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "ana.jsonl"
    file.write_text("precious", "utf-8")
    outcome = reader("export", *ANA, "--output", str(file))
    assert (outcome.code, one_line(outcome.err)) == (1, True)
    assert file.read_text("utf-8") == "precious"


def test_loading_for_another_user(reader: CommandLine, writer: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "ana.jsonl"
    reader.done("export", *ANA, "--output", str(file))
    writer.done("load", str(file), "--user", "copy")
    assert len(writer.json("turns", "--user", "copy", "--limit", "100")) == 54


def test_a_cut_off_export_is_refused(reader: CommandLine, fresh: CommandLine, tmp_path: Path) -> None:
    lines = reader.done("export", *ANA).out.splitlines()
    file = tmp_path / "cut.jsonl"
    file.write_text("\n".join(lines[:-1]) + "\n", "utf-8")
    outcome = fresh("load", str(file))
    assert (outcome.code, one_line(outcome.err)) == (2, True)
    assert "not complete" in outcome.err


def test_backup_and_restore(writer: CommandLine, tmp_path: Path) -> None:
    assert writer.json("backup", str(tmp_path / "copy"))["users"] == 1
    restored = CommandLine(data=tmp_path / "restored", capture=writer.capture)
    assert restored.json("restore", str(tmp_path / "copy"))["users"] == 1
    assert restored.done("export", *ANA).out == writer.done("export", *ANA).out
    place = tmp_path / "second"
    assert writer.done("backup", str(place)).out.replace("\n", "") == f"backed up 1 user to {place}"
    again = CommandLine(data=tmp_path / "again", capture=writer.capture)
    assert "restored 1 user to" in again.done("restore", str(place)).out


def test_restore_never_mixes_with_what_is_there(writer: CommandLine, tmp_path: Path) -> None:
    writer.done("backup", str(tmp_path / "copy"))
    outcome = writer("restore", str(tmp_path / "copy"))
    assert (outcome.code, one_line(outcome.err)) == (1, True)
    assert "not empty" in outcome.err


def test_a_folder_that_is_no_backup_is_left_alone(fresh: CommandLine, tmp_path: Path) -> None:
    other = tmp_path / "photos"
    other.mkdir()
    outcome = fresh("restore", str(other))
    assert (outcome.code, one_line(outcome.err)) == (1, True)
    assert [*other.iterdir()] == []
    assert not fresh.data.exists()


def test_doctor_says_all_is_there(reader: CommandLine) -> None:
    found = reader.json("doctor")
    by_name = {check["name"]: check for check in found["checks"]}
    assert found["verdict"] in ("ok", "degraded")
    assert by_name["store"]["verdict"] == "ok"
    assert by_name["tokenizer"]["verdict"] == "ok"
    assert by_name["embedder"]["verdict"] == "ok"
    assert by_name["model"]["detail"].startswith("none: rules learn"), "without a model is said, not hidden"
    assert "HITHERTO_MODEL" in by_name["model"]["next"]
    shown = reader.done("doctor").out
    for check in found["checks"]:
        assert check["name"] in shown


def test_doctor_says_how_tokens_are_counted(reader: CommandLine) -> None:
    def tokenizer(name: str) -> dict[str, str]:
        checks = reader.json("doctor", "--set", f"tokenizer={name}")["checks"]
        return next(check for check in checks if check["name"] == "tokenizer")

    assert tokenizer("gpt-4o")["detail"] == "o200k, exact and offline"
    assert tokenizer("claude")["verdict"] == "ok"
    unknown = tokenizer("cloud")
    assert unknown["verdict"] == "degraded"
    assert "'cloud' is unknown" in unknown["detail"]
    assert "claude" in unknown["next"]


def test_doctor_looks_for_the_reranker(reader: CommandLine) -> None:
    [found] = [row for row in reader.json("doctor", "--set", "reranker=onnx")["checks"] if row["name"] == "reranker"]
    assert (found["verdict"], found["detail"]) == ("ok", "onnx, in `search` alone")
    failed = reader("doctor", "--set", "reranker=onx", "--json").json["checks"]
    [wrong] = [row for row in failed if row["name"] == "reranker"]
    assert wrong["verdict"] == "failed"
    assert "Did you mean 'onnx'" in wrong["detail"]


def test_doctor_without_a_memory(fresh: CommandLine) -> None:
    found = fresh.json("doctor")
    assert found["verdict"] == "ok"
    assert "not there yet" in {c["name"]: c for c in found["checks"]}["folder"]["detail"]
    assert "is made when the first turn is recorded" in " ".join(fresh.done("doctor").out.split())
    assert not fresh.data.exists()


def test_doctor_never_says_both_well_and_degraded(writer: CommandLine) -> None:
    writer.done("settle")
    well = writer("doctor")
    assert well.out.rstrip().endswith("is well.")
    assert "DEGRADED" not in well.out
    writer.data.chmod(0o755)
    degraded = " ".join(writer("doctor").out.split())
    assert "DEGRADED" in degraded
    assert "is degraded: the arrows" in degraded
    assert "well" not in degraded


@pytest.mark.parametrize(
    ("model", "says"),
    [("opnai:gpt-4.1", "Did you mean 'openai:gpt-4.1'?"), ("openai:gpt-4.1", "OPENAI_API_KEY")],
)
def test_doctor_tries_the_model_without_asking_it(
    writer: CommandLine, monkeypatch: pytest.MonkeyPatch, model: str, says: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    outcome = writer("doctor", "--json", "--set", f"model={model}")
    [found] = [check for check in outcome.json["checks"] if check["name"] == "model"]
    assert (outcome.code, found["verdict"]) == (1, "failed")
    assert says in found["detail"]
    assert "provider's key" in found["next"]


def test_doctor_knows_an_encrypted_memory_without_its_key(fresh: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITHERTO_MASTER_KEY", "ab" * 32)
    fresh.done("record", "I start at Acme on Monday!", *ANA)
    monkeypatch.delenv("HITHERTO_MASTER_KEY")
    stores = [check for check in fresh("doctor", "--json").json["checks"] if check["name"] == "store"]
    assert [check["verdict"] for check in stores] == ["failed"], "never well and failed at once"
    assert "HITHERTO_MASTER_KEY_FILE" in stores[0]["detail"]
    assert stores[0]["next"] == "hitherto settings"
    served = fresh("serve", "--port", "0")
    assert (served.code, "is encrypted" in served.err) == (1, True), "a service does not start on what it cannot read"


@pytest.mark.req("R4.8")
def test_doctor_looks_for_redis(
    reader: CommandLine, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITHERTO_REDIS", redis_server.url)
    assert {"name": "redis", "verdict": "ok", "detail": "answers", "next": ""} in reader.json("doctor")["checks"]
    redis_server.kill()
    [found] = [check for check in reader.json("doctor")["checks"] if check["name"] == "redis"]
    assert found["verdict"] == "degraded"
    assert "everything works without it" in found["detail"]
    assert found["next"] == "start it, or correct HITHERTO_REDIS"


def test_doctor_warns_of_an_open_folder(writer: CommandLine) -> None:
    writer.data.chmod(0o755)
    found = {check["name"]: check for check in writer.json("doctor")["checks"]}
    assert found["folder"]["verdict"] == "degraded"
    writer.data.chmod(0o700)
    found = {check["name"]: check for check in writer.json("doctor")["checks"]}
    assert found["folder"]["verdict"] == "ok"


def test_doctor_says_what_to_do_next(writer: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITHERTO_EMBEDER", "onnx:minilm")
    monkeypatch.setenv("HITHERTO_READER", "theirs")
    writer.data.chmod(0o755)
    found = {check["name"]: check for check in writer("doctor", "--json").json["checks"]}
    assert found["folder"]["next"] == f"chmod 700 {writer.data}"
    assert found["settings"]["detail"] == "HITHERTO_EMBEDER sets nothing; did you mean HITHERTO_EMBEDDER?"
    assert found["reader"]["verdict"] == "failed"
    assert "→ hitherto settings" in writer("doctor").out


def test_doctor_knows_every_extra(reader: CommandLine) -> None:
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    [found] = [check for check in reader.json("doctor")["checks"] if check["name"] == "extras"]
    assert set(doctor.EXTRAS) == set(offered) - {"all"}
    assert [extra for extra in doctor.EXTRAS if extra not in found["detail"]] == []


def test_doctor_notices_that_nobody_works(writer: CommandLine) -> None:
    writer.done("settle")
    assert {c["name"]: c for c in writer.json("doctor")["checks"]}["work"]["verdict"] == "ok"
    writer.done("record", "I moved to Lisbon in May.", "--user", "ana", "--at", "2026-03-20T08:00:00Z")
    found = {c["name"]: c for c in writer.json("doctor")["checks"]}["work"]
    assert (found["verdict"], "hitherto work" in found["next"]) == ("degraded", True)
    assert found["detail"] == "overdue for 1 user: no worker is running"


PASSWORD = "choose-one"


def test_doctor_shows_no_password(fresh: CommandLine, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"{postgres_url}{'&' if '?' in postgres_url else '?'}password={PASSWORD}"
    fresh.done("record", "I start at Acme on Monday!", *ANA, "--at", "2026-03-10T08:00:00Z", "--data", url)
    monkeypatch.setattr(doctor, "PATIENCE", -timedelta(days=36_500))
    monkeypatch.setenv("HITHERTO_DATA", url)
    for command in ("doctor", "settings"):
        for form in ((), ("--json",)):
            outcome = fresh.done(command, "--data", url, *form)
            assert "password=***" in "".join(outcome.out.split())
            assert PASSWORD not in outcome.out + outcome.err
    checks = fresh.json("doctor", "--data", url)["checks"]
    assert "hitherto work --data" in next(check["next"] for check in checks if check["name"] == "work")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("./memories", "./memories"),
        ("postgresql://ana@db:5432/m", "postgresql://ana@db:5432/m"),
        ("postgresql://db:5432/m?user=ana", "postgresql://db:5432/m?user=ana"),
        ("postgresql://ana:choose-one@db/m", "postgresql://ana:***@db/m"),
        ("postgresql://ana:ch@@se:/?one@db/m", "postgresql://ana:***@db/m"),
        ("postgresql:///m?password=choose&host=db", "postgresql:///m?password=***&host=db"),
        ("postgresql:///m?sslpassword=choose", "postgresql:///m?sslpassword=***"),
    ],
)
def test_a_place_is_shown_without_its_password(url: str, words: str) -> None:
    assert store.shown(url) == words


def test_doctor_names_the_damage(writer: CommandLine) -> None:
    for file in writer.data.rglob("*"):
        if file.is_file():
            file.write_bytes(b"this is no database" * 500)
    outcome = writer("doctor", "--json")
    assert outcome.code == 1
    found = json.loads(outcome.out)
    assert found["verdict"] == "failed"
    assert all(check["next"] for check in found["checks"] if check["verdict"] != "ok"), "each says what to do next"
    assert "Traceback" not in outcome.err


def test_doctor_names_a_user_who_cannot_be_read(writer: CommandLine) -> None:
    [file] = [path for path in writer.data.rglob("*.db") if path.parent != writer.data]
    file.write_bytes(b"this is no database" * 500)
    outcome = writer("doctor", "--json")
    assert outcome.code == 1
    assert [file.name in c["detail"] for c in outcome.json["checks"] if c["verdict"] == "failed"] == [True]


def restrained() -> list[str]:
    """What makes a command obey file modes: for the superuser, a process without the power to pass over them."""
    if os.geteuid() != 0:
        return []
    tool = shutil.which("setpriv")
    if tool is None:
        pytest.skip("the superuser may write everywhere, and there is no setpriv to take that power away")
    return [tool, "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-dac_override,-dac_read_search"]


def test_a_folder_that_cannot_be_written_is_a_clear_error(writer: CommandLine) -> None:
    before = writer.done("export", *ANA).out
    writable = [writer.data, *(path for path in writer.data.rglob("*"))]
    for path in writable:
        path.chmod(0o500 if path.is_dir() else 0o400)
    start = "import sys; from hitherto.deliver.cli import main; sys.exit(main())"
    try:
        done = subprocess.run(
            [*restrained(), sys.executable, "-c", start, "record", "hello", *ANA, "--data", str(writer.data)],
            env={"PYTHONPATH": str(ROOT / "src"), "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        for path in writable:
            path.chmod(0o700 if path.is_dir() else 0o600)
    assert (done.returncode, one_line(done.stderr)) == (1, True), done
    assert str(writer.data) in done.stderr
    assert writer.done("export", *ANA).out == before


def test_data_of_a_newer_version_is_refused(writer: CommandLine, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    shutil.copytree(writer.data, kept)
    for file in writer.data.rglob("*.db"):
        with closing(connections.connect(file)) as connection:  # as a newer version would, with a checksum of each page
            connection.pragma("user_version", 9999)
    outcome = writer("record", "hello", *ANA)
    assert (outcome.code, one_line(outcome.err)) == (1, True)
    assert "upgrade" in outcome.err
