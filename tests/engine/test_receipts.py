"""The receipt of a context is made for whoever looks at it, and nobody else waits for it."""

from unittest.mock import Mock

import pytest

from hitherto import Hitherto, Turn
from hitherto.assemble import receipt


async def test_nobody_waits_for_a_receipt_that_nobody_looks_at(
    memory: Hitherto, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers = {name: Mock(wraps=getattr(receipt, name)) for name in ("_items", "_uses", "_prefix", "result_hash")}
    for name, maker in makers.items():
        monkeypatch.setattr(receipt, name, maker)
    await memory.record(Turn(user="ana", role="user", text="I start at Acme on Monday!"))
    context = await memory.context(user="ana", message="yes", keep=False)
    assert [message["content"] for message in context.messages] == ["I start at Acme on Monday!", "yes"]
    assert [maker.call_count for maker in makers.values()] == [0, 0, 0, 0]
    assert any(item.included and item.kind == "turn" for item in context.items)
    assert context.sections
    assert context.snapshot.startswith("snap_")
    assert context.prefix_hash
    assert [maker.call_count for maker in makers.values()] == [1, 1, 1, 1]


async def test_what_a_caller_does_to_the_messages_changes_no_receipt(memory: Hitherto) -> None:
    await memory.record(Turn(user="ana", role="user", text="I start at Acme on Monday!"))
    context = await memory.context(user="ana", message="yes")
    context.messages[0]["content"] = "changed"
    again = await memory.replay(user="ana", snapshot=context.snapshot)
    assert again.messages[0]["content"] == "I start at Acme on Monday!"
    assert again.items == context.items
