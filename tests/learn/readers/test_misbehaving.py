"""A provider that answers prose, half a JSON, another language, a megabyte, nothing, or not at all."""

import asyncio
from pathlib import Path

import pytest

from hitherto import Hitherto, Turn
from hitherto.learn.readers.model import Asker, Limits, ModelFailed
from hitherto.learn.readers.prompt import SCHEMA
from hitherto.learn.services import GIVES_UP
from hitherto.testing import FakeClock
from tests.learn.readers.provider import BAD, Mood, running

QUICK, PATIENT = Limits(seconds=0.5), Limits(seconds=30)


@pytest.mark.parametrize("mood", BAD)
async def test_whatever_it_answers_is_one_clear_failure(mood: Mood) -> None:
    async with running() as provider:
        provider.mood = mood
        asker = Asker(provider.url, QUICK if mood == "hang" else PATIENT)
        with pytest.raises(ModelFailed):
            await asker.ask("hm", instructions="extract", schema=SCHEMA)
        await asker.close()
        assert provider.asked >= 1


@pytest.mark.parametrize("mood", ["prose", "hang", "500"])
async def test_the_step_waits_then_rules_take_over_and_the_model_is_asked_again(mood: Mood, tmp_path: Path) -> None:
    clock = FakeClock()
    async with running() as provider:
        model = Asker(provider.url, Limits(seconds=0.2))
        async with Hitherto(tmp_path / "m", clock=clock, model=model, pace="live") as memory:
            await memory.record(Turn("ana", "user", "I love tea."))
            provider.mood = mood
            settled = (await memory.settle(user="ana"))["ana"]
            assert settled.failed == 1
            assert await memory.memories(user="ana") == []
            [waiting] = [c for c in (await memory.work_status(user="ana")).cursors if c.step == "extract"]
            assert (waiting.attempts, waiting.parked, waiting.position) == (1, False, 0)
            assert waiting.due is not None
            assert waiting.due > clock()
            assert waiting.error
            for _ in range(GIVES_UP):
                clock.tick(minutes=10)
                await memory.settle(user="ana")
            [liked] = await memory.memories(user="ana")
            assert liked.quotes[0].words == "I love tea.", "found by rules"
            provider.mood = "well"
            await model.close()
            model.limits = PATIENT
            await memory.record(Turn("ana", "user", "I love jazz."))
            await memory.settle(user="ana")
            assert "Likes jazz" in {m.text for m in await memory.memories(user="ana")}


async def test_the_second_model_answers_when_the_first_does_not(tmp_path: Path) -> None:
    async with running() as broken, running() as well:
        broken.mood = "503"
        async with Hitherto(tmp_path / "m", model=[broken.url, well.url], pace="live") as memory:
            await memory.record(Turn("ana", "user", "I love tea."))
            await memory.settle(user="ana")
            assert [m.text for m in await memory.memories(user="ana")] == ["Likes tea"]
            assert broken.asked >= 1
            assert well.asked >= 1


async def test_a_hanging_provider_holds_up_neither_record_nor_context(tmp_path: Path) -> None:
    async with running() as provider:
        provider.mood = "hang"
        async with Hitherto(tmp_path / "m", model=Asker(provider.url, Limits(seconds=5)), pace="live") as memory:
            await memory.record(Turn("ana", "user", "I love tea."))
            work = asyncio.create_task(memory.settle(user="ana"))
            await provider.began.wait()
            await memory.record(Turn("ana", "user", "I love jazz."))
            context = await memory.context(user="ana", message="so?")
            assert [m["content"] for m in context.history] == ["I love tea.", "I love jazz."]
            assert not work.done(), "the model is still being waited for"
            provider.mood = "drop"
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)


async def test_a_secret_never_reaches_the_provider(tmp_path: Path) -> None:
    async with running() as provider, Hitherto(tmp_path / "m", model=provider.url, pace="live") as memory:
        await memory.record(Turn("ana", "user", "I live in Austin. My password is otterLemon42, remember it."))
        await memory.settle(user="ana")
        assert provider.prompts
        assert not [prompt for prompt in provider.prompts if "otterLemon42" in prompt]


@pytest.mark.parametrize("model", ["openai:gpt-4.1-mini", "opnai:gpt-4.1-mini"])
async def test_a_model_without_its_key_or_of_nobody_is_a_failed_step(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    clock = FakeClock()
    async with Hitherto(tmp_path / "m", clock=clock, model=model, pace="live") as memory:
        await memory.record(Turn("ana", "user", "I love tea."))
        assert (await memory.settle(user="ana"))["ana"].failed == 1
        for _ in range(GIVES_UP):
            clock.tick(minutes=10)
            await memory.settle(user="ana")
        [liked] = await memory.memories(user="ana")
        assert liked.quotes[0].words == "I love tea.", "found by rules"
