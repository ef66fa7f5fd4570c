"""Commands between stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from pglast import parse_sql

from tests.deliver.cli.running import ANA, CommandLine


def test_a_copy_holds_the_same_memory(fresh: CommandLine, store_url: str, tmp_path: Path) -> None:
    fresh.done("record", "I start at Acme on Monday!", *ANA)
    first = fresh.done("copy", str(fresh.data), store_url, "--json").json
    assert (first["users"], first["entries"] > 0) == (1, True)
    again = fresh.done("copy", str(fresh.data), store_url, "--json").json
    assert again["entries"] == 0
    found = fresh.done("search", "Acme", *ANA, "--json", "--data", store_url).json
    assert [hit["text"] for hit in found] == ["I start at Acme on Monday!"]
    # Vectors come along, so that what shares no word with a question is found there as well.
    asked = ("search", "what about her new job?", *ANA, "--json")
    assert fresh.done(*asked, "--data", store_url).json == fresh.done(*asked).json != []


def test_a_copy_of_nothing_or_onto_itself_is_refused(fresh: CommandLine, tmp_path: Path) -> None:
    assert fresh("copy", str(tmp_path / "nowhere"), str(tmp_path / "there")).code == 1
    fresh.done("record", "hello", *ANA)
    assert fresh("copy", str(fresh.data), str(fresh.data)).code != 0


def test_a_copy_joins_other_users_and_never_another_memory(fresh: CommandLine, store_url: str) -> None:
    fresh.done("record", "I start at Acme on Monday!", *ANA)
    fresh.done("record", "I like tea.", "--user", "bea", "--data", store_url)
    done = fresh.done("copy", str(fresh.data), store_url)
    assert "of 1 user and 0 documents; both agree" in done.out
    assert "note: 'bea' of 'default': only in the target" in done.out
    assert len(fresh.json("copy", str(fresh.data), store_url)["notes"]) == 1
    fresh.done("record", "I have a dog.", "--user", "bea")
    refused = fresh("copy", str(fresh.data), store_url)
    assert refused.code == 1
    assert "'bea' of 'default' has another memory in the target" in refused.err
    found = fresh.done("turns", "--user", "bea", "--json", "--data", store_url).json
    assert [turn["text"] for turn in found] == ["I like tea."]


def test_a_database_is_backed_up_and_restored(
    fresh: CommandLine, postgres_url: str, second_postgres_url: str, tmp_path: Path
) -> None:
    fresh.done("record", "I start at Acme on Monday!", *ANA, "--data", postgres_url)
    backup = str(tmp_path / "backup")
    assert fresh.done("backup", backup, "--json", "--data", postgres_url).json["users"] == 1
    assert fresh.done("restore", backup, "--json", "--data", second_postgres_url).json["users"] == 1
    turns = fresh.done("turns", *ANA, "--json", "--data", second_postgres_url).out
    assert "I start at Acme on Monday!" in turns


def test_the_schema_is_sql(fresh: CommandLine) -> None:
    one, cluster = fresh.done("schema").out, fresh.done("schema", "--sharded", "--shards", "32").out
    assert len(parse_sql(one)) > 50
    assert "create_distributed_table" not in one
    assert "citus.shard_count = 32" in cluster
    tables = [line for line in cluster.splitlines() if "create_distributed_table" in line]
    assert len(tables) == sum("colocate_with" in line for line in tables) + 1


def test_a_copy_encrypts_and_decrypts(
    fresh: CommandLine, tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh.done("record", "I start at Acme on Monday!", *ANA)
    assert fresh("copy", str(fresh.data), store_url, "--plain", "source").code != 0, "without a master key"
    monkeypatch.setenv("HITHERTO_MASTER_KEY", "0f" * 32)
    monkeypatch.setenv("HITHERTO_KEYS", str(tmp_path / "keys"))
    back = str(tmp_path / "back")
    assert fresh.done("copy", str(fresh.data), store_url, "--plain", "source", "--json").json["users"] == 1
    assert "Acme" in fresh.done("turns", *ANA, "--data", store_url).out
    assert fresh.done("copy", store_url, back, "--plain", "target", "--json").json["users"] == 1
    monkeypatch.delenv("HITHERTO_MASTER_KEY")
    monkeypatch.delenv("HITHERTO_KEYS")
    assert "Acme" in fresh.done("turns", *ANA, "--data", back).out
    refused = fresh("turns", *ANA, "--data", store_url)
    assert refused.code == 1
    assert "master key" in refused.err
