"""A worker that was paused beyond its lease, or whose step was done by another, writes nothing."""

from datetime import timedelta

import pytest

from hitherto.errors import Fenced
from hitherto.store.protocol import Change, Cursor, Cursors, Head, Store, UserKey
from hitherto.testing import moment, turn_draft
from hitherto.work import cursors
from hitherto.work import lease as leases
from hitherto.work.cursors import Effect

ANA = UserKey("default", "ana")
EFFECT = Effect(position=1, decide=lambda _: Change(turns=(turn_draft("made"),)))


async def test_a_lost_lease_discards_the_effect(store: Store) -> None:
    user = store.user(ANA)
    mine = await leases.take(user, holder="a", now=moment(0))
    assert mine is not None
    assert await leases.take(user, holder="b", now=moment(0) + 2 * leases.DURATION) is not None
    with pytest.raises(Fenced, match="lost the lease"):
        await cursors.commit(user, cursor=Cursor(step="s"), effect=EFFECT, lease=mine)
    assert (await user.read(Head()))[Head()] == 0


async def test_a_cursor_that_moved_discards_the_effect(store: Store) -> None:
    user = store.user(ANA)
    mine = await leases.take(user, holder="a", now=moment(0), duration=timedelta(hours=1))
    assert mine is not None
    await cursors.commit(user, cursor=Cursor(step="s"), effect=Effect(position=1), lease=mine)
    with pytest.raises(Fenced, match="was moved from 0 to 1"):
        await cursors.commit(user, cursor=Cursor(step="s"), effect=EFFECT, lease=mine)
    [cursor] = (await user.read(Cursors()))[Cursors()]
    assert cursor.position == 1
    assert (await user.read(Head()))[Head()] == 0


async def test_a_clock_that_went_back_holds_up_nobody(store: Store) -> None:
    user = store.user(ANA)
    mine = await leases.take(user, holder="a", now=moment(0) + timedelta(days=1))
    assert mine is not None
    assert await leases.take(user, holder="b", now=moment(0)) is not None
    with pytest.raises(Fenced):
        await leases.renew(user, mine, now=moment(0))
