"""Lane names, and the chain of replies that names one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.ingest.sessions import chain_root, lane, session_id, shows

chats = st.integers(min_value=-(10**14), max_value=10**14)
messages = st.integers(min_value=1, max_value=2**31)
places = st.tuples(chats, st.none() | messages, st.none() | messages)


@pytest.mark.req("R4.1")
def test_names_are_those_of_the_contract() -> None:
    assert session_id(-1001) == "telegram:chat:-1001"
    assert lane(-1001) == "root:-1001"
    assert lane(-1001, reply_root=7) == "reply:-1001:7"
    assert lane(-1001, topic=5) == "topic:-1001:5"


@pytest.mark.req("R4.1")
def test_a_topic_beats_a_reply() -> None:
    assert lane(-1001, topic=5, reply_root=7) == "topic:-1001:5"


@pytest.mark.req("R4.1")
@given(
    first=st.tuples(chats, st.none() | messages, st.none() | messages),
    second=st.tuples(chats, st.none() | messages, st.none() | messages),
)
def test_equal_lanes_mean_equal_places(
    first: tuple[int, int | None, int | None], second: tuple[int, int | None, int | None]
) -> None:
    def place(of: tuple[int, int | None, int | None]) -> tuple[int, str, int | None]:
        chat, topic, root = of
        if topic is not None:
            return chat, "topic", topic
        return chat, "root" if root is None else "reply", root

    def name(of: tuple[int, int | None, int | None]) -> str:
        chat, topic, root = of
        return lane(chat, topic=topic, reply_root=root)

    assert (name(first) == name(second)) == (place(first) == place(second))


@pytest.mark.req("R4.1")
def test_a_reply_to_a_reply_is_named_by_the_first_message() -> None:
    replies = {12: 11, 11: 10, 13: 10, 20: 19}
    assert [chain_root(message, parent=replies.get) for message in (10, 11, 12, 13, 20, 30)] == [
        10,
        10,
        10,
        10,
        19,
        30,
    ]


@given(replies=st.dictionaries(st.integers(0, 20), st.integers(0, 20), max_size=21), start=st.integers(0, 20))
def test_a_chain_has_one_root_even_in_a_loop(replies: dict[int, int], start: int) -> None:
    root = chain_root(start, parent=replies.get)
    above = replies.get(start)
    if above is not None:
        assert chain_root(above, parent=replies.get) == root
    assert root not in replies or chain_root(root, parent=replies.get) == root


def test_a_long_chain_needs_no_stack() -> None:
    assert chain_root(200_000, parent=lambda message: message - 1 if message > 1 else None) == 1


def test_what_a_lane_may_show_of_another() -> None:
    topic, other, reply, root = lane(7, topic=1), lane(7, topic=2), lane(7, reply_root=5), lane(7)
    assert all(shows(topic, open_) for open_ in (topic, root, None))
    assert not shows(topic, other)
    assert not shows(topic, reply)
    assert all(shows(root, inside) for inside in (topic, other, reply))
    assert not shows(root, lane(8, topic=1))
    assert not shows(None, topic)
    assert not shows(None, "side")
