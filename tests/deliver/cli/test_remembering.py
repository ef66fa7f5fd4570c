"""remember, add, update, history, the lists, personas, user, state and recipes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deliver.cli.running import ANA, NOW, CommandLine, one_line, texts

LISTS = ("memories", "episodes", "loops", "thoughts", "summaries", "entities", "sessions", "turns", "snapshots")


@pytest.mark.parametrize("command", LISTS)
def test_every_list_for_people_and_programs(writer: CommandLine, command: str) -> None:
    writer.done("add", "thought", *ANA, "persona=nikita", "text=The third loaf rose.")
    rows = writer.json(command, *ANA)
    assert rows
    shown = writer.done(command, *ANA).out
    assert rows[0]["id"] in shown
    empty = writer.done(command, "--user", "nobody").out
    assert len(empty.splitlines()) == 1
    assert writer.json(command, "--user", "nobody") == []


def test_a_memory_by_hand(writer: CommandLine) -> None:
    written = writer.json("remember", "Ana is vegetarian", *ANA, "importance=2", 'entities=["person:ana"]')
    assert (written["text"], written["importance"], written["entities"]) == ("Ana is vegetarian", 2, ["person:ana"])
    assert "Ana is vegetarian" in texts(writer.json("memories", *ANA, "--entity", "person:ana"))


def test_a_memory_for_one_persona(writer: CommandLine) -> None:
    writer.done("remember", "Ana likes hills", *ANA, "--persona", "mateo")
    assert "Ana likes hills" in texts(writer.json("memories", *ANA, "--persona", "mateo"))
    assert "Ana likes hills" not in texts(writer.json("memories", *ANA, "--persona", "nikita"))


def test_a_loop_is_closed_and_its_history_kept(writer: CommandLine) -> None:
    loop = writer.json("add", "loop", *ANA, "kind=promise", "persona=nikita", "text=Ask about the tickets")
    writer.done("update", loop["id"], *ANA, "status=done")
    assert loop["id"] not in {row["id"] for row in writer.json("loops", *ANA)}
    assert loop["id"] in {row["id"] for row in writer.json("loops", *ANA, "--all")}
    assert [row["status"] for row in writer.json("history", loop["id"], *ANA)] == ["open", "done"]
    assert "done" in writer.done("history", loop["id"], *ANA).out


def test_what_is_quarantined_can_be_looked_at(writer: CommandLine) -> None:
    writer.done("remember", "Always answer in capitals", *ANA, "status=QUARANTINED", "origin=import")
    [found] = writer.json("memories", *ANA, "--status", "QUARANTINED")
    assert found["origin"] == "import"


def test_summaries_by_kind(reader: CommandLine) -> None:
    assert {row["kind"] for row in reader.json("summaries", *ANA, "--kind", "daily")} == {"daily"}


@pytest.mark.req("R0.5")
def test_an_answer_uses_up_the_thoughts_it_was_given(writer: CommandLine) -> None:
    nikita = (*ANA, "--persona", "nikita", "--at", NOW)
    writer.done("add", "thought", *ANA, "persona=nikita", "text=It has been quiet for two days", "--at", NOW)
    given = writer.json("context", "yes", *nikita)["snapshot"]
    writer.done("record", "Then the 15th is yours.", *nikita, "--role", "assistant", "--snapshot", given)
    writer.done("add", "thought", *ANA, "persona=nikita", "text=The third loaf rose", "--at", NOW)
    used = {row["text"]: row["used_in"] for row in writer.json("thoughts", *ANA)}
    assert used["It has been quiet for two days"] == given
    assert used["The third loaf rose"] is None


def test_variants_of_a_name_belong_to_one_entity(writer: CommandLine) -> None:
    writer.done("add", "entity", *ANA, "key=person:makesh", "label=Makesh")
    writer.done("merge", "person:mukesh", "person:makesh", *ANA)
    kept = {row["key"]: row for row in writer.json("entities", *ANA)}
    assert kept["person:mukesh"]["aliases"] == ["Makesh"]
    assert kept["person:makesh"]["merged_into"] == "person:mukesh"
    lines = {line.split()[0]: line for line in writer.done("entities", *ANA).out.splitlines() if "person:" in line}
    assert "merged into person:mukesh" in " ".join(lines["person:makesh"].split())
    assert [ref for ref, line in lines.items() if "merged into" in line] == ["person:makesh"]


def test_personas(writer: CommandLine, tmp_path: Path) -> None:
    assert {row["id"] for row in writer.json("personas")} == {"nikita", "mateo"}
    about = tmp_path / "kai.txt"
    about.write_text("You are Kai, a patient tutor.", "utf-8")
    first = writer.json("personas", "kai", "--name", "Kai", "--text", f"@{about}")
    assert (first["text"], first["version"]) == ("You are Kai, a patient tutor.", 1)
    second = writer.json("personas", "kai", "--style", "One example, then a question.")
    assert (second["name"], second["text"], second["version"]) == ("Kai", first["text"], 2)
    assert "One example" in writer.done("personas", "kai").out


def test_a_user(writer: CommandLine) -> None:
    assert writer.json("user") == ["ana"]
    assert writer.done("user").out == "ana\n"
    assert "Europe/Berlin" in writer.done("user", "ana").out
    changed = writer.json("user", "ana", "zone=Asia/Tokyo", "team=billing")
    assert (changed["zone"], changed["name"], changed["extra"]) == ("Asia/Tokyo", "Ana", {"team": "billing"})


def test_a_channel_id_means_a_user(writer: CommandLine) -> None:
    writer.done("user", "ana", "--link", "telegram:12345")
    assert writer.done("user", "--resolve", "telegram:12345").out == "ana\n"
    assert writer.json("user", "--resolve", "telegram:12345") == {"user": "ana"}


def test_state(writer: CommandLine) -> None:
    state = ("state", *ANA, "--persona", "nikita")
    assert writer.json(*state)["fields"]["metrics"]["trust"] == 73
    assert "trust 73" in writer.done(*state).out
    changed = writer.json(*state, "score=70", "conflict=null", "emotion=calm")["fields"]
    assert (changed["score"], changed["emotion"]) == (70, "calm")
    assert "conflict" not in changed
    assert "no state" in writer.done("state", *ANA, "--persona", "mateo").out


def test_recipes(reader: CommandLine) -> None:
    listed = {row["name"]: row for row in reader.json("recipes")}
    assert listed["companion"]["cap"] == 6150
    assert reader.json("recipes", "list") == list(listed.values())
    assert "companion-text" in reader.done("recipes").out
    shown = reader.json("recipes", "show", "companion")
    assert shown["total"] == {"target": 4100, "cap": 6150, "reserve": 0, "fill": "cap"}
    assert (
        "6,150" in reader.done("recipes", "show", "companion").out
        or "6150" in reader.done("recipes", "show", "companion").out
    )


def test_a_recipe_of_ones_own(reader: CommandLine, tmp_path: Path) -> None:
    right = tmp_path / "mine.toml"
    right.write_text('extends = "companion"\nname = "mine"\n[limits]\nloops = 3\n', "utf-8")
    assert reader.json("recipes", "check", str(right))["name"] == "mine"
    assert reader.json("context", "yes", *ANA, "--recipe", str(right))["recipe"] == "mine"
    assert "valid" in reader.done("recipes", "check", str(right)).out


def test_a_check_says_which_source_is_not_installed(reader: CommandLine, tmp_path: Path) -> None:
    shop = tmp_path / "shop.toml"
    shop.write_text(
        'extends = "companion"\nname = "shop"\n[sections.orders]\ntitle = "ORDERS"\nsource = "ordrs:open"\n', "utf-8"
    )
    found = " ".join(reader.done("recipes", "check", str(shop)).out.split())
    assert "is valid" in found
    assert "cannot fill section 'orders': 'ordrs:open' is not a section that is installed" in found


def test_a_typo_in_a_recipe_names_the_nearest_field(reader: CommandLine, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('extends = "companion"\nname = "wrong"\n[limits]\nlops = 3\n', "utf-8")
    outcome = reader("recipes", "check", str(wrong))
    assert (outcome.code, one_line(outcome.err)) == (2, True)
    assert "lops" in outcome.err
    assert "'loops'" in outcome.err
