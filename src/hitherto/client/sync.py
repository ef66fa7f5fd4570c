"""The client without `await`."""

from typing import Any

from hitherto.client.calls import Client
from hitherto.sync import Blocking, blocking


class SyncClient(Blocking[Client]):
    """`Client`, blocking."""

    def __init__(self, url: str, key: str, **options: Any) -> None:
        super().__init__(lambda: Client(url, key, **options))

    def export(self, *, user: str) -> list[str]:
        """The user's whole memory as JSON lines."""

        async def collect() -> list[str]:
            return [line async for line in self.engine.export(user=user)]

        return self.run(collect())

    record = blocking(Client.record)
    revise = blocking(Client.revise)
    turns = blocking(Client.turns)
    context = blocking(Client.context)
    search = blocking(Client.search)
    snapshots = blocking(Client.snapshots)
    replay = blocking(Client.replay)
    diff = blocking(Client.diff)
    backtest = blocking(Client.backtest)
    define_persona = blocking(Client.define_persona)
    personas = blocking(Client.personas)
    define_recipe = blocking(Client.define_recipe)
    recipes = blocking(Client.recipes)
    set_user = blocking(Client.set_user)
    user = blocking(Client.user)
    users = blocking(Client.users)
    head = blocking(Client.head)
    link = blocking(Client.link)
    resolve = blocking(Client.resolve)
    state = blocking(Client.state)
    set_state = blocking(Client.set_state)
    remember = blocking(Client.remember)
    add = blocking(Client.add)
    update = blocking(Client.update)
    memories = blocking(Client.memories)
    episodes = blocking(Client.episodes)
    loops = blocking(Client.loops)
    thoughts = blocking(Client.thoughts)
    summaries = blocking(Client.summaries)
    sessions = blocking(Client.sessions)
    entities = blocking(Client.entities)
    history = blocking(Client.history)
    load = blocking(Client.load)
    health = blocking(Client.health)
    backup = blocking(Client.backup)
    forget = blocking(Client.forget)
    scrub = blocking(Client.scrub)
    retention = blocking(Client.retention)
    set_retention = blocking(Client.set_retention)
    retain = blocking(Client.retain)
    review = blocking(Client.review)
    events = blocking(Client.events)
    settle = blocking(Client.settle)
    work_status = blocking(Client.work_status)
    retry = blocking(Client.retry)
    seed = blocking(Client.seed)
    merge = blocking(Client.merge)
    split = blocking(Client.split)
    audit = blocking(Client.audit)
    progress = blocking(Client.progress)
    reindex = blocking(Client.reindex)
