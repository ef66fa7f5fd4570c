"""What the detectors know as a secret leaves for no model, in whatever way it could; the turn itself stays as it was."""

from datetime import UTC, datetime, timedelta

import pytest

from hitherto import Hitherto, Turn
from hitherto.recipes.book import load, names
from hitherto.safety.secrets import find_secrets
from hitherto.testing import FakeClock
from hitherto.types import ToolCall, ToolReturn
from tests.eval_data import rows

SECRET = "Tr0ut-Lake-88x"
SAID = f"the wifi password is {SECRET}, for when you visit Leela"
THEN = datetime(2026, 2, 3, 18, 0, tzinfo=UTC)


async def sent(memory: Hitherto, *, message: str, at: datetime, recipe: str) -> str:
    context = await memory.context(user="ana", message=message, at=at, recipe=recipe)
    shown = [item.text for item in context.items if item.included]
    return "\n".join([context.system, *(str(one) for one in context.messages[:-1]), *shown])


@pytest.mark.req("R2.12", "R4.6")
@pytest.mark.parametrize("recipe", names())
async def test_no_delivery_holds_a_secret(memory: Hitherto, clock: FakeClock, recipe: str) -> None:
    await memory.record(
        [
            Turn("ana", "user", SAID, id="t1", at=THEN),
            Turn("ana", "assistant", f"Noted: {SAID}", at=THEN + timedelta(minutes=1)),
            Turn(
                "ana",
                "assistant",
                "let me look",
                at=THEN + timedelta(minutes=2),
                parts=(ToolCall(id="c", name="wifi", args=f'{{"password": "{SECRET}"}}'),),
            ),
            Turn(
                "ana",
                "tool",
                "",
                at=THEN + timedelta(minutes=3),
                parts=(ToolReturn(id="c", name="wifi", content=f"password: {SECRET}"),),
            ),
        ]
    )
    await memory.add("summary", user="ana", kind="rolling", key="rolling:", text=f"Ana's wifi password is {SECRET}")
    for wait in (timedelta(minutes=5), timedelta(days=3)):
        for message in ("what should i get leela for the wifi?", "what is the wifi password?", "yes"):
            assert SECRET not in await sent(memory, message=message, at=THEN + wait, recipe=recipe)
    hits = await memory.search(user="ana", query="wifi password Leela", at=THEN)
    assert hits
    assert all(SECRET not in hit.text for hit in hits)
    assert (await memory.turns(user="ana"))[0].text == SAID, "the turn itself stays"


async def test_a_reply_is_quoted_without_its_secret(memory: Hitherto) -> None:
    await memory.record([Turn("ana", "user", SAID, id="t1", at=THEN)])
    asked = Turn("ana", "user", "still the same?", id="t2", at=THEN + timedelta(days=4), reply_to="t1")
    await memory.record([asked])
    context = await memory.context(user="ana", turn="t2", at=THEN + timedelta(days=4))
    assert "[QUOTED REPLY]" in str(context.messages)
    assert SECRET not in str(context.messages)


async def test_the_message_of_now_is_never_changed(memory: Hitherto) -> None:
    context = await memory.context(user="ana", message=SAID, at=THEN)
    assert context.messages[-1]["content"] == SAID


async def test_one_setting_tells_them_again_in_their_own_session(memory: Hitherto, clock: FakeClock) -> None:
    recipe = load("continuity").model_copy(update={"secrets": "session", "name": "open"})
    await memory.define_recipe(recipe)
    await memory.record([Turn("ana", "user", SAID, at=THEN)])
    soon, later = THEN + timedelta(minutes=5), THEN + timedelta(days=3)
    assert SECRET in await sent(memory, message="and what was it?", at=soon, recipe="open")
    assert SECRET not in await sent(memory, message="what was the wifi password?", at=later, recipe="open")


async def test_secrets_as_people_write_them_stay_home(memory: Hitherto, clock: FakeClock) -> None:
    found = [(row["text"], row["secret"]) for row in rows("secrets")[::6]]
    known = [(text, secret) for text, secret in found if find_secrets(text) and len(secret) >= 6]
    turns = [
        Turn("ana", "user", text, at=THEN + timedelta(minutes=n), persona="nikita") for n, (text, _) in enumerate(known)
    ]
    await memory.record(turns)
    shown: list[str] = []
    for text, _ in known:
        for recipe in ("continuity", "companion"):
            context = await memory.context(
                user="ana", persona="nikita", message=text[:40], at=THEN + timedelta(days=9), recipe=recipe, keep=False
            )
            shown.append("\n".join([context.system, *(str(one["content"]) for one in context.messages[:-1])]))
        shown += [hit.text for hit in await memory.search(user="ana", query=text[:60], at=THEN)]
    spans = {text[one.start : one.end] for text, _ in known for one in find_secrets(text)}
    everything = "\n".join(shown)
    assert len(known) > 40
    assert [span for span in spans if len(span) >= 6 and span in everything] == []
