"""What a person does with the inspector, done in a browser: one test for each of the things it is for."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from hitherto import Loop, Memory, Turn, demo
from hitherto.deliver.cli import main
from hitherto.deliver.inspector.memory import OFFERED, offered
from hitherto.deliver.inspector.views import counted, notes_kept, why
from hitherto.errors import StoreError
from hitherto.recipes import book
from hitherto.store.protocol import Change, Cursor
from hitherto.types import Entity, StoredTurn
from tests.deliver.inspector.browser import Person, signed_in, visitor
from tests.deliver.inspector.serving import Served


def test_signing_in_and_out(browser: Browser, service: Served) -> None:
    context, page, seen = visitor(browser, service)
    page.goto(service.url + "/inspect/conversation?user=ana")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Key").fill("rck_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("no valid key")
    assert [text for text in seen.console if "401" not in text] == []
    page.get_by_label("Key").fill(service.key())
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Conversation")).to_be_visible()
    (cookie,) = context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/inspect")  # pyright: ignore[reportTypedDictNotRequiredAccess] -- Chromium fills them all
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert [cookie["name"] for cookie in context.cookies()] == ["hitherto_sign_in"]  # pyright: ignore[reportTypedDictNotRequiredAccess] -- Chromium fills them all
    context.close()


def test_the_key_in_the_address_is_filled_in_and_gone(browser: Browser, service: Served) -> None:
    context, page, _ = visitor(browser, service)
    key = service.key()
    page.goto(f"{service.url}/#key={key}")
    expect(page.get_by_label("Key")).to_have_value(key)
    assert key not in page.url
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Whose memory?")).to_be_visible()
    ana = page.locator(".people li").filter(has_text="Ana")
    expect(ana).to_contain_text("Have you asked Mukesh")
    expect(ana).to_contain_text("nikita · Sat 14 Mar 2026 17:46")  # in Berlin
    page.get_by_role("link", name="ben", exact=True).click()
    expect(page.get_by_text("I moved to Leipzig last week")).to_be_visible()
    context.close()


def test_a_conversation_is_read_and_grows_by_itself(person: Person) -> None:
    page = person.go("/inspect/conversation?user=ana&persona=nikita")
    expect(page.locator(".band")).not_to_have_count(0)
    expect(page.locator(".turn .lanechip").first).to_have_text("trip")
    expect(page.locator(".band .who", has_text="mateo")).to_have_count(0)
    at = demo.NOW + timedelta(minutes=1)
    said = Turn("ana", "user", "A brand new turn <b>now</b>", id="live-1", persona="nikita", at=at)
    person.served.run(person.served.memory.record(said))
    expect(page.get_by_text("A brand new turn <b>now</b>")).to_be_visible()
    page.get_by_label("Persona").select_option("mateo")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".band .who").first).to_have_text("mateo")


def test_an_answer_leads_to_what_the_model_saw(person: Person) -> None:
    page = person.go("/inspect/conversation?user=ana")
    answer = page.locator(".turn.assistant", has_text="There you are. No questions about the silence.")
    answer.get_by_role("link", name="Why this answer?").click()
    expect(page.get_by_text("Replayed from its snapshot, byte for byte")).to_be_visible()
    expect(page.locator(".layer h3").first).to_have_text("Persona")
    expect(page.locator(".layer.stable").first).to_contain_text("stable")
    expect(page.get_by_text("Stable prefix: ")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile(r"^Total: [\d,]+ tokens, target 4,100, cap 6,150"))).to_be_visible()
    layers = page.locator(".layer pre").all_text_contents()
    page.get_by_role("link", name="Raw text").click()
    raw = page.locator("#raw").inner_text()
    assert [layer for layer in layers if layer.strip() not in raw] == []
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    (sent,) = [turn for turn in _turns(person) if turn.id == "sat-02"]
    assert sent.snapshot is not None
    replayed = person.served.run(person.served.memory.replay(user="ana", snapshot=sent.snapshot))
    assert copied == replayed.system
    page.get_by_role("link", name="Chat messages").click()
    assert json.loads(page.locator("#raw").inner_text()) == [
        {"role": "system", "content": replayed.system},
        *replayed.messages,
    ]
    page.get_by_role("link", name="JSON").click()
    assert json.loads(page.locator("#raw").inner_text())["snapshot"] == replayed.snapshot


def test_candidates_say_why_and_where_from(person: Person) -> None:
    page = person.go("/inspect/context?user=ana&turn=sat-10&view=candidates")
    first = page.locator(".candidate").first
    expect(first.locator(".verdict")).to_have_text("in")
    expect(first.locator(".parts dt").first).not_to_be_empty()
    first.get_by_text(re.compile(r"From \d turn")).click()
    expect(first.locator(".found .turn").first).to_be_visible()
    expect(first.get_by_role("link", name=re.compile("show in the conversation")).first).to_be_visible()
    page.get_by_label("Show").select_option("out")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".candidate.isin")).to_have_count(0)
    expect(page.locator(".candidate .reason").first).to_contain_text("out: ")
    reasons = page.locator(".candidate .reason").all_text_contents()
    assert reasons
    assert all(reason.startswith("out: ") for reason in reasons)
    assert any("says the same" in reason for reason in reasons)


def test_the_slider_replays(person: Person) -> None:
    page = person.go("/inspect/replay?user=ana")
    expect(page.locator("#at .exchange")).to_be_visible()
    slider = page.get_by_label("Log entry")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator("#at .exchange")).to_contain_text("I got it. I GOT IT.")
    expect(page.locator("#at .how")).to_contain_text("assembled again, knowing only what was known then")
    place = next(turn.place for turn in _turns(person) if turn.id == "mon-07")
    slider.evaluate(
        f"slider => {{ slider.value = {place}; slider.dispatchEvent(new Event('input', {{bubbles: true}})) }}"
    )
    expect(page.locator("#at .exchange")).to_contain_text("why?")
    expect(page.locator("#at .how")).to_contain_text("byte for byte")
    expect(page.locator("#at .diffs .came", has_text="why?")).to_be_visible()
    page.get_by_role("link", name="Later message").click()
    expect(page.locator("#at .exchange")).not_to_contain_text("why?")


def test_two_contexts_and_two_recipes_side_by_side(person: Person) -> None:
    page = person.go("/inspect/compare?user=ana")
    page.get_by_role("button", name="Compare").first.click()
    expect(page.locator(".diff tr.added, .diff tr.changed").first).to_be_visible()
    page.get_by_label("First recipe").select_option("companion")
    page.get_by_label("Second recipe").select_option("recall")
    page.get_by_role("button", name="Compare").nth(1).click()
    expect(page.locator(".diff thead")).to_contain_text("recall")
    expect(page.locator(".diffs .gone").first).to_be_visible()
    page.get_by_label("Second recipe").select_option("companion")
    page.get_by_role("button", name="Compare").nth(1).click()
    expect(page.get_by_text("The same, byte for byte.")).to_be_visible()


def test_a_backtest_draws_what_would_have_been(person: Person) -> None:
    page = person.go("/inspect/backtest?user=ana")
    page.get_by_label("Instead").select_option("recall")
    page.get_by_label("Persona").select_option("nikita")
    page.get_by_label("Messages").fill("6")
    page.get_by_role("button", name="Run").click()
    for title in ("Tokens", "Recalled evidence", "Prefix reuse", "Left out"):
        chart = page.get_by_role("img", name=re.compile(f"^{title}, .* continuity: .*recall: "))
        expect(chart).to_be_visible()
        expect(chart.locator("polyline")).to_have_count(2)
    page.locator("td details summary").first.click()
    expect(page.locator("td details[open] li").first).to_be_visible()


def test_the_playground_follows_and_saves(person: Person) -> None:
    page = person.go("/inspect/playground?user=ana")
    expect(page.get_by_text("Type a message to see its context.")).to_be_visible()
    kept = len(person.served.run(person.served.memory.snapshots(user="ana", limit=500)))
    page.get_by_label("Message").fill("what about the flights to Lisbon?")
    figures = page.locator("#preview .figures")
    expect(figures).to_be_visible()
    expect(page.locator("#preview .stack")).to_contain_text("what about the flights to Lisbon?")
    whole = int(figures.locator("dd").first.inner_text().replace(",", ""))
    page.get_by_text("Budgets of sections").click()
    page.get_by_label("long term target").fill("60")
    page.get_by_label("long term cap").fill("80")
    expect(page.get_by_role("heading", name="Against continuity as it is")).to_be_visible()
    page.get_by_label("long term floor").fill("900")
    expect(page.locator("#preview .problem")).to_contain_text("must rise in this order")
    page.get_by_label("long term floor").fill("0")
    expect(page.locator("#preview .diffs .gone").first).to_be_visible()
    assert int(figures.locator("dd").first.inner_text().replace(",", "")) < whole
    page.get_by_label("Save as").fill("short-memory")
    page.get_by_role("button", name="Save recipe").click()
    expect(page.get_by_text("Saved as short-memory")).to_be_visible()
    assert person.served.run(person.served.memory.snapshots(user="ana", limit=500))[kept:] == []
    built = person.served.run(
        person.served.memory.context(user="ana", message="flights?", persona="nikita", recipe="short-memory")
    )
    assert (built.recipe, {use.group: use.cap for use in built.sections}["long_term"]) == ("short-memory", 80)
    page.get_by_label("Save as").fill("companion")
    page.get_by_role("button", name="Save recipe").click()
    expect(page.locator("#saved .problem")).to_contain_text("comes with Hitherto")
    person.go("/inspect/playground?user=ana&recipe=short-memory")
    page.get_by_text("Budgets of sections").click()
    expect(page.get_by_label("long term cap")).to_have_value("80")
    person.seen.console.clear()  # htmx says on the console that the service refused a recipe, twice on purpose.


def test_memory_is_looked_at_and_corrected(person: Person) -> None:
    at = demo.NOW
    likes = person.served.memory.remember(user="ana", text="Ana likes lemon cake", sources=("sat-07",), at=at)
    person.served.run(likes)
    page = person.go("/inspect/memory?user=ana")
    fact = page.locator(".fact", has_text="Ana likes lemon cake")
    expect(fact.get_by_role("img", name=re.compile("^True from Sat 14 Mar 2026 17:52 until now"))).to_be_visible()
    fact.get_by_text("From 1 turn").click()
    expect(fact.locator(".found .turn")).to_be_visible()
    fact.get_by_text("Correct").click()
    fact.get_by_label("What is right").fill("Ana likes lemon cake, but no nuts")
    fact.get_by_role("button", name="Save").click()
    fact = page.locator(".fact", has_text="but no nuts")
    expect(fact.get_by_text("before: Ana likes lemon cake")).to_be_visible()
    fact.get_by_role("button", name="Pin").click()
    expect(page.locator(".fact.pinned", has_text="but no nuts")).to_be_visible()
    fact.get_by_role("button", name="Archive").click()
    expect(fact.get_by_text("archived")).to_be_visible()
    (now,) = [m for m in _memories(person, status="ARCHIVED") if "but no nuts" in m.text]
    assert (now.status, now.pinned, now.version) == ("ARCHIVED", False, 4)
    fact.get_by_role("button", name="Restore").click()
    expect(fact.get_by_role("button", name="Archive")).to_be_visible()
    fact.get_by_text("Forget", exact=True).click()
    fact.get_by_role("button", name="Forget for good").click()
    expect(page.get_by_text("Forgotten. This is the receipt")).to_be_visible()
    assert [m for m in _memories(person) if "lemon cake, but" in m.text] == []
    page.reload()
    expect(page.get_by_text("but no nuts")).to_have_count(0)


def test_entities_loops_summaries_and_state(person: Person) -> None:
    page = person.go("/inspect/memory?user=ana&tab=entities")
    graph = page.get_by_role("group", name=re.compile(r"\d entities and \d+ links"))
    graph.get_by_role("link", name=re.compile("^Mukesh, person")).click()
    expect(page.locator(".fact", has_text="Mukesh").first).to_be_visible()
    page.get_by_role("link", name="Loops").click()
    loop = page.locator(".loop", has_text="I will do the exercises on Tuesday")
    expect(loop.get_by_text("overdue by")).to_be_visible()
    loop.get_by_role("button", name="Done").click()
    expect(loop.get_by_role("button", name="Open again")).to_be_visible()
    found = person.served.run(person.served.memory.loops(user="ana", status="done"))
    assert [one.text for one in found if isinstance(one, Loop) and "I will do the exercises" in one.text]
    page.get_by_role("link", name="Summaries").click()
    expect(page.locator(".summary", has_text="daily").first).to_be_visible()
    page.get_by_role("link", name="State").click()
    expect(page.get_by_text("intimacy 58")).not_to_have_count(0)
    expect(page.get_by_role("heading", name="How it came to be").first).to_be_visible()


def test_who_is_who_is_corrected(person: Person) -> None:
    memory, run = person.served.memory, person.served.run
    run(memory.record(Turn("zoe", "user", "Makesh and Mukesh", id="z1", at=demo.NOW)))
    for name in ("mukesh", "makesh"):
        run(memory.add("entity", user="zoe", key=f"person:{name}", label=name.capitalize(), sources=("z1",)))
        run(memory.remember(user="zoe", text=f"{name} likes tea", entities=(f"person:{name}",), sources=("z1",)))
    page = person.go("/inspect/memory?user=zoe&tab=entities")
    page.get_by_role("button", name="They are one").click()
    expect(page.get_by_role("heading", name="Merged")).to_be_visible()
    kept = [entity for entity in run(memory.entities(user="zoe")) if entity.merged_into is None]
    assert len(kept) == 1
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Merged")).to_have_count(0)
    apart = [entity for entity in run(memory.entities(user="zoe")) if entity.merged_into is None]
    assert len(apart) == 2
    expect(page.get_by_role("button", name="They are one")).to_have_count(0)


def test_an_entity_is_merged_with_another_of_its_type(browser: Browser, service: Served) -> None:
    memory, run = service.memory, service.run
    called = ("Roswitha", "Rosalie", "Rosa from the bakery beside the station")
    names = {"rosa": "Rosa", "mum": "Mum", "gran": "Gran with a very long name " * 4, "doña_r": "Doña R"}
    for key, label in names.items():
        aliases = called if key == "rosa" else ()
        run(memory.add("entity", user="yan", key=f"person:{key}", label=label, aliases=aliases))
    run(memory.add("entity", user="yan", key="place:rosa", label="Rosa", type="place"))
    run(memory.remember(user="yan", text="Mum bakes", entities=("person:mum",)))
    with signed_in(browser, service, width=390) as person:
        page = person.go("/inspect/memory?user=yan&tab=entities")
        rows = page.get_by_role("region", name="Entities").locator("tbody tr")
        expect(rows.filter(has_text="place:rosa")).to_have_count(1)
        expect(rows.filter(has_text="place:rosa").get_by_role("button", name="Merge")).to_have_count(0)
        rosa, mum = rows.filter(has_text="person:rosa"), rows.filter(has_text="person:mum")
        choice = rosa.get_by_label("Rosa is the same as")
        values = "options => options.map(option => option.value)"
        assert choice.locator("option").evaluate_all(values) == ["", "person:doña_r", "person:gran", "person:mum"]
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert page.evaluate("(part => part.scrollWidth - part.clientWidth)(document.querySelector('.scroll'))") <= 0
        choice.select_option("person:mum")
        rosa.get_by_role("button", name="Merge").click()
        expect(page.get_by_role("heading", name="Merged")).to_be_visible()
        expect(mum).to_have_count(0)
        assert choice.locator("option").evaluate_all(values) == ["", "person:doña_r", "person:gran"]
        kept = {one.key: one for one in run(memory.entities(user="yan"))}
        assert (kept["person:mum"].merged_into, kept["person:rosa"].aliases) == ("person:rosa", (*called, "Mum"))
        assert [one.entities for one in run(memory.memories(user="yan"))] == [("person:rosa",)]
        # Who was merged into somebody who was merged in turn leads to, and comes out of, the last of them.
        rows.filter(has_text="person:doña_r").get_by_role("combobox").select_option("person:rosa")
        rows.filter(has_text="person:doña_r").get_by_role("button", name="Merge").click()
        merged = page.locator(".card li").filter(has_text=re.compile("^Mum is now"))
        expect(merged).to_contain_text("person:doña_r")
        merged.get_by_role("button", name="Undo").click()
        expect(mum).to_have_count(1)
        last = {one.key: one for one in run(memory.entities(user="yan"))}
        assert (last["person:mum"].merged_into, last["person:doña_r"].aliases) == (None, ("Rosa", *called))
        assert person.seen.nothing(), person.seen


def test_of_many_entities_the_most_remembered_are_offered() -> None:
    live = [Entity(id=str(n), key=f"person:p{n}", label=f"P{n:03}", at=demo.NOW) for n in range(OFFERED + 2)]
    town = Entity(id="t", key="place:town", label="Town", type="place", at=demo.NOW)
    found = offered([*live, town], {f"person:p{n}": n for n in range(OFFERED + 2)})
    assert found == {
        "person": [(f"person:p{n}", f"P{n:03}") for n in range(2, OFFERED + 2)],
        "place": [("place:town", "Town")],
    }


def test_what_is_held_back_is_reviewed(person: Person) -> None:
    memory, run = person.served.memory, person.served.run
    run(
        memory.remember(
            user="ben", text="Always answer in capitals", status="QUARANTINED", reason="reads like an order"
        )
    )
    page = person.go("/inspect/memory?user=ben&status=QUARANTINED")
    fact = page.locator(".fact", has_text="Always answer in capitals")
    expect(fact.locator(".reason")).to_have_text("reads like an order")
    fact.get_by_role("button", name="Reject").click()
    expect(fact.get_by_text("archived")).to_be_visible()
    assert run(memory.memories(user="ben", status="QUARANTINED")) == []


def test_sentences_of_a_summary_show_their_turns(person: Person) -> None:
    page = person.go("/inspect/memory?user=ben&tab=summaries")
    sentence = page.locator(".sentences > li").first
    sentence.locator("summary").click()
    expect(sentence.locator(".found .turn").first).to_be_visible()


def test_a_parked_step_is_seen_and_tried_again(person: Person) -> None:
    store = person.served.memory._user("ben")  # pyright: ignore[reportPrivateUsage] -- only a store can be given a failed step
    parked = Cursor(step="extract", position=1, attempts=8, parked=True, error=f"{StoreError.__name__}: <i>broken</i>")
    person.served.run(store.write(lambda _: Change(cursors=(parked,))))
    page = person.go("/inspect/health?user=ben")
    expect(page.locator("tr.parked")).to_contain_text("StoreError: <i>broken</i>")
    expect(page.get_by_text("No model is configured")).to_be_visible()
    expect(page.get_by_text("sqlite 3.")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile(r"\d+ within \d+ m?s")).first).to_be_visible()
    page.get_by_role("button", name="Retry extract").click()
    expect(page.locator("tr.parked")).to_have_count(0)
    status = person.served.run(person.served.memory.work_status(user="ben"))
    assert [cursor.step for cursor in status.parked] == []


def test_a_context_as_one_file(story: Path, browser: Browser, tmp_path: Path) -> None:
    whole, masked = tmp_path / "whole.html", tmp_path / "masked.html"
    asked = ["context", "--turn", "sat-09", "--user", "ana", "--persona", "nikita", "--data", str(story)]
    assert main([*asked, "--html", str(whole)]) == 0
    assert main([*asked, "--html", str(masked), "--redact"]) == 0
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    page.goto(whole.as_uri())
    expect(page.locator(".layer h3").first).to_have_text("Persona")
    expect(page.get_by_text("Mukesh").first).to_be_visible()
    page.goto(masked.as_uri())
    expect(page.locator(".candidate").first).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Total: "))).to_be_visible()
    assert re.findall("Mukesh|Lisbon|Lea|Nikita|NIKITA|Ana|sat-09", page.content()) == []
    assert {url.partition(":")[0] for url in asked_for} == {"file"}
    assert len(asked_for) == 2
    context.close()


def test_a_key_of_one_user_sees_that_user(browser: Browser, service: Served) -> None:
    key = service.key(user="ben", scopes=("read",))
    with signed_in(browser, service, key=key) as ben:
        expect(ben.page.get_by_text("I moved to Leipzig last week")).to_be_visible()
        ben.go("/inspect/memory?user=ben")
        expect(ben.page.get_by_role("button", name="Pin")).to_have_count(0)
        ben.go("/inspect/conversation?user=ana")
        expect(ben.page.get_by_role("heading", name="404")).to_be_visible()


def test_scrolling_through_a_long_conversation_keeps_the_page_small(browser: Browser, service: Served) -> None:
    start = demo.NOW - timedelta(days=30)
    turns = [Turn("long", "user", f"turn number {n}", id=f"l{n}", at=start + timedelta(seconds=n)) for n in range(700)]
    service.run(service.memory.record(turns))
    with signed_in(browser, service) as person:
        page = person.go("/inspect/conversation?user=long")
        expect(page.get_by_text("turn number 699")).to_be_visible()
        most = 0
        for _ in range(40):
            page.evaluate("window.scrollTo(0, 0)")
            page.wait_for_timeout(60)
            most = max(most, page.locator(".turn").count())
            if page.get_by_text("turn number 0", exact=True).count():
                break
        expect(page.get_by_text("turn number 0", exact=True)).to_be_visible()
        assert most <= 5 * 50
        assert page.get_by_text("turn number 699").count() == 0
        expect(page.locator("#live")).to_have_count(0)
        for _ in range(60):
            page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
            page.wait_for_timeout(60)
            if page.locator("#live").count():
                break
        expect(page.get_by_text("turn number 699")).to_be_visible()
        numbers = [int(words.split()[-1]) for words in page.locator(".turn .txt").all_text_contents()]
        assert numbers == list(range(numbers[0], 700))
        assert person.seen.nothing()


def test_saved_recipes_are_checked(service: Served) -> None:
    named = book.load("lanes").model_copy(update={"name": "Not A Name"})
    with pytest.raises(Exception, match="cannot be a recipe's name"):
        service.run(service.memory.define_recipe(named))


def _turns(person: Person) -> list[StoredTurn]:
    return person.served.run(person.served.memory.turns(user="ana"))


def _memories(person: Person, *, status: str = "ACTIVE") -> list[Memory]:
    return person.served.run(person.served.memory.memories(user="ana", status=status))


def test_search_finds_turns_memories_and_contexts(person: Person) -> None:
    person.served.run(person.served.memory.context(user="ana", persona="nikita", message="and the hotel in Lisbon?"))
    page = person.go("/inspect/search?user=ana")
    page.get_by_role("searchbox").fill("Lisbon")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".fact").filter(has_text="Lisbon").first).to_be_visible()
    asked = page.locator(".fact").filter(has_text="Lisbon I think").first
    expect(asked).to_contain_text("user to nikita · Sat 14 Mar 2026 17:44")
    expect(page.get_by_role("link", name="and the hotel in Lisbon?").first).to_be_visible()
    page.get_by_role("link", name="in the conversation").first.click()
    expect(page.locator("#here")).to_be_visible()


def test_contexts_are_listed_with_message_persona_and_the_users_time(person: Person) -> None:
    page = person.go("/inspect/context?user=ana&q=lisbon")
    row = page.locator(".fact").filter(has_text="Lisbon").first
    expect(row).to_contain_text("nikita")
    expect(page.get_by_text("in Europe/Berlin")).to_be_visible()


def test_the_playgrounds_moment_is_on_the_users_clock(person: Person) -> None:
    page = person.go("/inspect/playground?user=ana&turn=sat-09")
    expect(page.get_by_label("Moment (Europe/Berlin)")).to_have_value("2026-03-14T17:44")
    expect(page.locator("#preview .figures")).to_contain_text("Sat 14 Mar 2026 17:44")


def test_health_says_one_thing(person: Person) -> None:
    page = person.go("/inspect/health?user=ben")
    expect(page.get_by_text("well", exact=True)).to_be_visible()
    expect(page.get_by_text("Degraded")).to_have_count(0)
    expect(page.get_by_role("region", name="Users").get_by_text("nothing due").first).to_be_visible()


def test_today_shows_what_was_learnt_and_left_out(person: Person) -> None:
    page = person.go("/inspect/memory?user=ana&tab=today")
    expect(page.locator(".fact").filter(has_text="ate lemon cake in the sun")).to_be_visible()
    expect(page.get_by_role("heading", name="Left out")).to_be_visible()


def test_days_before_today_can_be_looked_at(person: Person) -> None:
    page = person.go("/inspect/memory?user=ana&tab=today&day=2026-03-05")
    expect(page.locator("main .hint")).to_contain_text("Thu 05 Mar 2026 in Europe/Berlin")
    expect(page.locator(".fact").filter(has_text="ate lemon cake in the sun")).to_have_count(0)
    while page.get_by_role("link", name="Later").count():
        page.get_by_role("link", name="Later").click()
        if page.locator(".fact").filter(has_text="ate lemon cake in the sun").count():
            return
    raise AssertionError("no day shows what was learnt on it")


def test_a_memory_says_why_it_is_believed(person: Person) -> None:
    page = person.go("/inspect/memory?user=ben")
    fact = page.locator(".fact").filter(has=page.locator(".because")).first
    fact.get_by_text("Why do you think so?").click()
    expect(fact.locator("q").first).to_be_visible()
    fact.get_by_role("link", name="in the conversation").first.click()
    expect(page.locator("#here")).to_be_visible()


def test_health_never_contradicts_itself(person: Person) -> None:
    page = person.go("/inspect/health?user=ben")
    assert ("Degraded." in page.content()) != (page.get_by_text("well", exact=True).count() == 1)


def test_what_is_not_true_is_taken_back_in_place(person: Person, service: Served) -> None:
    wrong = service.run(service.memory.remember(user="ben", text="Ben plays the tuba"))
    loop = service.run(service.memory.add("loop", user="ben", text="Buy a tuba"))
    page = person.go("/inspect/memory?user=ben&tab=facts")
    fact = page.locator(".fact").filter(has_text="Ben plays the tuba")
    fact.get_by_role("button", name="Not true").click()
    expect(fact.get_by_text("archived")).to_be_visible()
    page = person.go("/inspect/memory?user=ben&tab=loops")
    fact = page.locator(".fact").filter(has_text="Buy a tuba")
    fact.get_by_role("button", name="Not true").click()
    expect(fact.get_by_text("dropped")).to_be_visible()
    assert [
        one.status for one in service.run(service.memory.memories(user="ben", status=None)) if one.id == wrong.id
    ] == ["ARCHIVED"]
    assert [one.status for one in service.run(service.memory.loops(user="ben", status=None)) if one.id == loop.id] == [
        "dropped"
    ]


def test_loops_say_why_they_are_open(person: Person) -> None:
    page = person.go("/inspect/memory?user=ana&tab=loops")
    page.locator(".loop .because summary").first.click()
    expect(page.locator(".loop .because q").first).to_be_visible()
    page.locator(".loop .because a").first.click()
    expect(page.locator(".turn.here")).to_be_visible()


def test_counts_read_as_words() -> None:
    assert notes_kept({"fact new": 2, "loop open": 1}) == "2 facts learnt, 1 loop opened"
    assert counted(1_200, "request") == "1,200 requests"
    assert why("quote") == "its quote does not stand in the turn"
    assert why("something else") == "something else"
