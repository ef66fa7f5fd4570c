import pytest

from hitherto.recall.traits import standing


@pytest.mark.parametrize(
    "text",
    [
        "Always answer in Spanish.",
        "Never mention my ex again.",
        "never use emojis with me",
        "From now on, keep it under three sentences.",
        "Thanks! One more thing: please always cite your sources.",
        "Whenever I ask about food, remember that I keep kosher.",
        "I want you to always call me by my first name",
        "Call me Sam from now on",
        "Please don’t ever bring up work on Sundays.",
        "Stop calling me buddy, don't do it with me",
        "Always prioritise trains when I ask about travel.",
    ],
)
def test_instructions(text: str) -> None:
    assert standing(text) == "instruction"


@pytest.mark.parametrize(
    "text",
    [
        "I prefer tea over coffee.",
        "I'd rather walk than drive, can you plan a route?",
        "I’m allergic to peanuts, what can I bake?",
        "I can't stand horror films",
        "My favourite kind of music is jazz.",
        "I'm trying to keep it light, so I prefer small tools.",
    ],
)
def test_preferences(text: str) -> None:
    assert standing(text) == "preference"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I always walk to work.",
        "Do you always shout like that?",
        "Never mind.",
        "Never give up! You're doing great.",
        "What do you prefer?",
        "From now on I'll go to bed early.",
        "Can you use my sister's address for the parcel?",
        "He said to always lock the door.",
        "Call me tomorrow when you are home from work",
        "```\n# always use tabs when I indent\n```",
    ],
)
def test_neither(text: str) -> None:
    assert standing(text) is None


@pytest.mark.parametrize(
    "text", ["always " * 50_000, "i prefer" * 50_000, "please and so " * 40_000, "I " * 100_000, "\n" * 10**6]
)
def test_long_texts_stay_bounded(text: str) -> None:
    assert standing(text) == standing(text[:7200])
