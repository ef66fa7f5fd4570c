"""The receipt of a context is made for whoever looks at it, and nobody else waits for it."""

from hitherto import Hitherto, Turn


async def test_what_a_caller_does_to_the_messages_changes_no_receipt(memory: Hitherto) -> None:
    await memory.record(Turn(user="ana", role="user", text="I start at Acme on Monday!"))
    context = await memory.context(user="ana", message="yes")
    context.messages[0]["content"] = "changed"
    again = await memory.replay(user="ana", snapshot=context.snapshot)
    assert again.messages[0]["content"] == "I start at Acme on Monday!"
    assert again.items == context.items
