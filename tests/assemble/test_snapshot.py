"""A context comes back byte for byte from its snapshot; what was forgotten does not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hitherto.assemble.diff import diff, kept_tokens
from hitherto.assemble.render import RENDERER
from hitherto.assemble.snapshot import FORGOTTEN, blob_names, blobs_of, body_of, rebuilt, taken, thinned
from hitherto.errors import NotFound
from hitherto.recipes.book import load, names
from hitherto.types import Card, ToolCall, ToolReturn
from tests.assemble.build import NOW, O200K, everything, made, material, memory, recalled, turn, turns

TOOLS = (
    ToolCall(id="c1", name="look", args='{"q":"canary-args"}'),
    ToolReturn(id="c1", name="look", content="canary-output"),
)


@pytest.mark.parametrize("name", names())
def test_a_snapshot_brings_back_the_whole_context(name: str) -> None:
    given = everything(quoted=turn(70, "as I said"), window=(*turns(6), turn(7, "done", parts=TOOLS, role="assistant")))
    context = made(name, given)
    snapshot, blobs = taken(context, load(name), given)
    back = rebuilt(snapshot, blobs)
    assert (back.exact, back.notes) == (True, ())
    assert back.context == context.context()
    assert set(blob_names(snapshot)) == set(blobs)
    assert (snapshot.at, snapshot.known, snapshot.full) == (NOW, 100, True)


def test_a_snapshots_id_is_the_same_wherever_it_is_made_and_tells_contexts_apart() -> None:
    given = everything()
    first = made("companion", given).snapshot
    assert made("companion", given).snapshot == first
    others = [
        made("companion-text", given),
        made("companion", replace(given, user="bob")),
        made("companion", replace(given, known=101)),
        made("companion", replace(given, message="no")),
    ]
    assert len({first, *(other.snapshot for other in others)}) == 5


def test_contexts_share_the_blobs_of_what_they_have_in_common() -> None:
    recipe = load("companion")
    one, two = everything(), everything(message="no", now=NOW.replace(minute=30))
    _, first = taken(made(recipe, one), recipe, one)
    _, second = taken(made(recipe, two), recipe, two)
    assert 0 < len(second.keys() - first.keys()) <= 3


def test_the_body_holds_no_text_of_the_user() -> None:
    cards = (Card(ref="person:canary_card", label="x", facts=(memory("c", "canary-fact"),)),)
    given = everything(
        cards=cards,
        window=(
            turn(1, "canary-turn", speaker="canary-speaker"),
            turn(2, "ok", parts=TOOLS, role="assistant"),
        ),
        quoted=turn(70, "canary-quoted", speaker="canary-other"),
        message="canary-message",
        recalled=recalled(memory("m", "canary-memory"), turn(71, "canary-said", speaker="canary-who")),
        inputs={"task_state": "canary-task"},
        profile=replace(everything().profile, name="canary-name"),
    )
    for name in names():
        context = made(name, given)
        snapshot, blobs = taken(context, load(name), given)
        assert "canary" not in snapshot.body
        assert "canary-message" in "".join(blobs.values())


@pytest.mark.parametrize("name", names())
def test_what_was_forgotten_shows_where_and_never_what(name: str) -> None:
    cards = (Card(ref="person:canary_ref", label="x", facts=(memory("gone", "canary-fact"),)),)
    secret = memory("gone", "canary-fact")
    given = everything(
        cards=cards,
        window=(turn(1, "canary-turn"), turn(2, "fine", parts=TOOLS, role="assistant"), *turns(3, first=3)),
        quoted=turn(1, "canary-turn"),
        recalled=recalled(
            secret, memory("drawn", "canary-drawn", sources=("t1",)), memory("kept", "Ana plays the cello")
        ),
    )
    context = made(name, given)
    snapshot, blobs = taken(context, load(name), given)
    lost = blobs_of(snapshot, {"gone", "t1", "t2"})
    left = {hash_: text for hash_, text in blobs.items() if hash_ not in lost}
    assert "canary" not in "".join(left.values())
    back = rebuilt(snapshot, left)
    seen = (
        back.context.system + json.dumps(back.context.messages) + json.dumps([item.text for item in back.context.items])
    )
    assert "canary" not in seen
    assert FORGOTTEN in seen
    assert not back.exact
    assert back.notes == (f"{len(lost)} of its texts were forgotten since",)
    assert [item.id for item in back.context.items] == [item.id for item in context.items]
    if name in ("companion", "recall", "personas", "lanes"):
        assert "Ana plays the cello" in back.context.system


@pytest.mark.parametrize("name", names())
def test_a_snapshot_of_0_1_0_was_written_by_rows(name: str) -> None:
    given = everything()
    snapshot, blobs = taken(made(name, given), load(name), given)
    by_rows = replace(snapshot, body=json.dumps(body_of(snapshot)))
    assert [row[2] for row in json.loads(by_rows.body)["items"]] == [item.id for item in made(name, given).items]
    assert len(snapshot.body) < len(by_rows.body)
    assert rebuilt(by_rows, blobs) == rebuilt(snapshot, blobs)
    assert body_of(by_rows) == body_of(snapshot)
    assert body_of(thinned(by_rows)) == body_of(thinned(snapshot))


def test_an_old_snapshot_keeps_ids_and_reasons_only() -> None:
    given = everything()
    context = made("companion", given)
    snapshot, _ = taken(context, load("companion"), given)
    thin = thinned(snapshot)
    assert (thin.id, thin.full) == (snapshot.id, False)
    assert "cello" not in thin.body
    rows = body_of(thin)["items"]
    assert [(row[2], row[8], row[9]) for row in rows] == [(i.id, i.included, i.reason) for i in context.items]
    assert blob_names(thin) == ()
    with pytest.raises(NotFound, match="only its ids are left"):
        rebuilt(thin, {})


def test_another_renderer_is_named() -> None:
    given = everything()
    snapshot, blobs = taken(made("companion", given), load("companion"), given)
    older = replace(snapshot, body=snapshot.body.replace(f'"renderer":{RENDERER}', '"renderer":0', 1))
    back = rebuilt(older, blobs)
    assert back.exact
    assert back.notes == (f"it was written by renderer 0, this is renderer {RENDERER}",)


def test_changed_bytes_are_noticed() -> None:
    given = everything()
    snapshot, blobs = taken(made("companion", given), load("companion"), given)
    changed = {name: text.replace("cello", "violin") for name, text in blobs.items()}
    back = rebuilt(snapshot, changed)
    assert (back.exact, back.notes) == (False, ("its bytes differ from those that were sent",))


def test_the_difference_of_two_contexts() -> None:
    before = made(
        "companion", material(recalled=recalled(memory("a", "Ana plays the cello"), memory("b", "likes tea")))
    ).context()
    after = made(
        "companion",
        material(
            recalled=recalled(memory("b", "likes green tea"), memory("c", "lives in Lisbon with Rita")),
            message="why?",
        ),
    ).context()
    found = diff(before, after)
    assert [item.id for item in found.added] == ["c"]
    assert [item.id for item in found.removed] == ["a"]
    assert [(change.before.text, change.after.text) for change in found.changed] == [
        ("- likes tea", "- likes green tea"),
        ("yes", "why?"),
    ]
    assert found.tokens == after.tokens - before.tokens
    assert set(found.sections) == {"long_term", "message"}
    assert not found.same_bytes
    assert found.same_prefix


def test_a_context_does_not_differ_from_itself() -> None:
    context = made("companion", everything()).context()
    found = diff(context, context)
    assert (found.added, found.removed, found.changed, dict(found.sections), found.tokens) == (
        (),
        (),
        (),
        {},
        0,
    )
    assert found.same_bytes


def test_the_prefix_hash_changes_with_what_stands_before_the_first_volatile_section() -> None:
    given = everything()
    first = made("companion", given).prefix_hash
    assert made("companion", replace(given, message="other", now=NOW.replace(minute=59))).prefix_hash == first
    assert made("companion", replace(given, persona=replace(given.persona, text="Else"))).prefix_hash != first


def test_how_many_tokens_a_cache_would_find_again() -> None:
    recipe = load("companion")
    one = made(recipe, material(window=turns(4))).context()
    grown = made(recipe, material(window=turns(6))).context()
    assert kept_tokens(one, one, O200K) > kept_tokens(one, grown, O200K) > O200K.count(one.system)
    other = made(
        recipe, material(window=turns(4), persona=replace(material().persona, text="You are someone else."))
    ).context()
    assert kept_tokens(one, other, O200K) < 12
