"""Batches of statements: sent without waiting where the socket takes them, whole where it does not, and what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.abc import PQGen
from psycopg.pq.abc import PGconn, PGresult
from psycopg.waiting import Wait

from hitherto import Hitherto, Turn
from hitherto.store.postgres import pipeline
from hitherto.store.postgres.connections import Connections
from hitherto.store.postgres.pipeline import Connection, send
from hitherto.store.postgres.queries import Statement


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sockets that a batch waited for to take more. A connection that is being made waits as well, and does not count."""
    found: list[int] = []
    receive = pipeline.received

    def noted(server: PGconn) -> PQGen[list[PGresult]]:
        receiving = receive(server)
        ready = None
        while True:
            try:
                wait = next(receiving) if ready is None else receiving.send(ready)
            except StopIteration as done:
                return cast("list[PGresult]", done.value)
            if wait == Wait.RW:
                found.append(server.socket)
            ready = yield wait

    monkeypatch.setattr(pipeline, "received", noted)
    return found


async def test_a_batch_of_questions_is_sent_without_waiting(postgres_url: str, waits: list[int]) -> None:
    async with Hitherto(postgres_url) as memory:
        await memory.record(Turn("ana", "user", "I love tea."))
        waits.clear()
        context = await memory.context(user="ana", message="What do I love?", keep=False)
        assert len(context.history) == 1
        assert not waits


async def test_more_than_the_socket_takes_is_waited_for_and_arrives_whole(postgres_url: str, waits: list[int]) -> None:
    texts = [f"{n} teas " * 10_000 for n in range(100)]
    async with Hitherto(postgres_url) as memory:
        await memory.record([Turn("ana", "user", text) for text in texts])
        assert waits, "eight megabytes fit into no socket's buffer"
        assert [turn.text for turn in await memory.turns(user="ana", limit=100)] == texts


@pytest.fixture
async def connection(postgres_url: str) -> AsyncIterator[Connection]:
    connections = Connections(postgres_url, pool_size=1, patience=10)
    made = await connections.connect()
    yield made
    await made.close()


def asking(sql: str, *, once: bool = False, **values: Any) -> Statement:
    return Statement(sql, values, once=once)


ADD = "select %(a)s::bigint + %(b)s::bigint"


async def test_rows_come_back_in_the_order_of_their_statements(connection: Connection) -> None:
    sums = [asking(ADD, a=n, b=10**n) for n in range(18)]
    assert await send(connection, [*sums, asking("select where false"), asking("begin"), asking("commit")]) == [
        *[[(n + 10**n,)] for n in range(18)], [], [], [],
    ]  # fmt: skip


async def test_a_statement_is_prepared_once_whatever_its_numbers(connection: Connection) -> None:
    for n in range(5):
        await send(connection, [asking(ADD, a=10**n, b=2**62), asking(f"select {n}::bigint", once=True)])
    assert [sql for sql, _ in connection.prepared] == ["select $1::bigint + $2::bigint"]
    [[(there,)]] = await send(connection, [asking("select count(*) from pg_prepared_statements")])
    assert there == 2


@given(
    st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))),
    st.lists(st.integers(-(2**63), 2**63 - 1)),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_lists_arrive_as_they_were_sent(connection: Connection, texts: list[str], numbers: list[int]) -> None:
    texts += ["", "NULL", "{a,b}", '"', "\\", '\\"', "a, b", " a ", "\n", "ß ✓ 🎉"]
    asked = asking("select %(texts)s::text[], %(numbers)s::bigint[]", texts=texts, numbers=numbers)
    assert await send(connection, [asked]) == [[(texts, numbers)]]
    assert len(connection.prepared) == 1


async def test_behind_an_error_nothing_is_run_and_the_connection_goes_on(connection: Connection) -> None:
    divide = "select 1 / %(by)s::bigint"
    await send(connection, [asking("create temp table said (n bigint)")])
    with pytest.raises(psycopg.errors.DivisionByZero):
        await send(connection, [asking(divide, by=1), asking(divide, by=0), asking("insert into said values (1)")])
    assert connection.info.pipeline_status == psycopg.pq.PipelineStatus.OFF
    assert await send(connection, [asking(divide, by=1), asking("select * from said")]) == [[(1,)], []]


@pytest.mark.parametrize(("kind", "value"), [("text", "a\0b"), ("text[]", ["a\0b"])])
async def test_a_value_that_cannot_be_sent_sends_nothing(connection: Connection, kind: str, value: object) -> None:
    with pytest.raises(psycopg.DataError):
        await send(connection, [asking("select 1"), asking(f"select %(value)s::{kind}", value=value)])
    assert connection.prepared == {}
    assert await send(connection, [asking("select 1")]) == [[(1,)]]


async def test_whoever_gives_up_leaves_a_connection_that_answers_to_the_next(connection: Connection) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await send(connection, [asking("select pg_sleep(60)"), asking("select 1")])
    assert connection.info.pipeline_status == psycopg.pq.PipelineStatus.OFF
    assert await send(connection, [asking("select 2")]) == [[(2,)]]
