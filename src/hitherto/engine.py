"""One class whose methods are the public calls, each a short delegate to the package that implements it.

The HTTP client, the service's simple routes and the blocking twin are derived from a method's declaration (`@call`). What
the calls share is opened and closed in `parts`.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

from hitherto.assemble import gather, personas
from hitherto.assemble import replay as replaying
from hitherto.assemble.assemble import assemble
from hitherto.assemble.diff import Difference, diff
from hitherto.assemble.replay import Trial
from hitherto.assemble.sections.application import filled
from hitherto.calls import USER, Route, call, in_process
from hitherto.clock import bound
from hitherto.errors import InvalidInput
from hitherto.ingest import edit as editing
from hitherto.ingest import profiles, sessions
from hitherto.ingest import record as recording
from hitherto.ingest import validation as validate
from hitherto.learn import corrections, cost, embed, quality, seeds, thoughts
from hitherto.learn.cost import Spent
from hitherto.learn.quality import Audit
from hitherto.parts import Parts
from hitherto.privacy import retention
from hitherto.privacy.audit import Event
from hitherto.privacy.forget import Receipt, Source, What
from hitherto.privacy.rights import EVENTS
from hitherto.recall import lists
from hitherto.recall.lists import LISTED, Place, everything_or
from hitherto.recall.search import Search
from hitherto.recipes import book
from hitherto.recipes.recipe import Recipe
from hitherto.store import export as exporting
from hitherto.store.protocol import Head, Health, Scrubbed, StoredSnapshot
from hitherto.text import names
from hitherto.text.analyser import stems
from hitherto.tokens import tokenizer as open_tokenizer
from hitherto.types import (
    Context,
    Entity,
    Episode,
    Hit,
    HitKind,
    Json,
    Loop,
    Memory,
    Origin,
    Persona,
    Profile,
    Record,
    RecordKind,
    Session,
    State,
    StoredTurn,
    Summary,
    SummaryKind,
    Thought,
    Turn,
)
from hitherto.work import cursors
from hitherto.work.overview import SessionState, Status, session_state, status
from hitherto.work.worker import Settled


class Hitherto(Parts):
    """The memory of many users, in a folder (SQLite) or on PostgreSQL.

    `model` reads conversations and learns from them: a PydanticAI model, its name, or several to fall back on. `tokenizer`
    is the family of the model that will answer. With `work=True` learning runs in this process while the memory is open.
    """

    # --- turns -----------------------------------------------------------------------------------------------------

    @call(Route("POST", "/v1/turns"))
    async def record(self, turn: Turn | Iterable[Turn]) -> list[str]:
        """Stores one turn or many, durable on return; gives their ids in the same order."""
        return await self._stored(validate.listed(turn))

    @call(Route("PATCH", f"{USER}/turns/{{id}}", id="turn"))
    async def revise(self, *, user: str, turn: str, text: str) -> StoredTurn:
        """Writes a new version of a turn; the old one stays in the log."""
        return await recording.revise(
            self._user(user), turn=turn, text=text, indexer=self._indexer(), now=self._clock()
        )

    @call(Route("GET", f"{USER}/turns"), Route("GET", f"{USER}/turns/{{id}}"))
    async def turns(
        self,
        *,
        user: str,
        ids: Sequence[str] | None = None,
        persona: str | None = None,
        lane: str | None = None,
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after: int = 0,
        limit: int = LISTED,
        known: int | None = None,
        before: int | None = None,
    ) -> list[StoredTurn]:
        """Lists turns in conversation order; None means all. `after` continues from a turn's `place`. `before` gives the
        newest turns in front of a place; it combines with persona, lane, limit and known only."""
        return await lists.turns(
            self._user(user),
            ids=ids,
            persona=persona,
            lane=lane,
            session=session,
            since=since,
            until=until,
            after=after,
            limit=limit,
            known=known,
            before=before,
        )

    # --- contexts --------------------------------------------------------------------------------------------------

    @call(Route("POST", "/v1/context"))
    async def context(
        self,
        *,
        user: str,
        message: str | None = None,
        turn: str | None = None,
        persona: str | None = None,
        lane: str | None = None,
        recipe: str | Recipe | None = None,
        at: datetime | None = None,
        tokenizer: str | None = None,
        inputs: Mapping[str, str] | None = None,
        known: int | None = None,
        keep: bool = True,
    ) -> Context:
        """Assembles what the model should see for this message. Calls no model; the same state gives the same bytes.
        With `keep=False` no snapshot is kept."""
        if (message is None) == (turn is None):
            raise InvalidInput("pass either message= (not recorded yet) or turn= (the id of a recorded one)")
        if message is not None:
            validate.text(message, what="message")
        chosen = await self._chosen(recipe)
        request = gather.Request(
            user=validate.name(user, what="user"),
            persona=validate.optional_name(persona, what="persona"),
            lane=validate.optional_name(lane, what="lane"),
            recipe=chosen.recipe,
            now=self._now(at),
            message=message,
            turn=turn,
            inputs=dict(inputs or {}),
            known=known,
            warnings=chosen.warnings,
        )
        material = await gather.gather(self._user(user), request, self._recaller.of(self._key(user)))
        material = await filled(material, request.recipe, self._sections, tenant=self._tenant)
        counter = open_tokenizer(tokenizer) if tokenizer else self._tokenizer
        assembled = assemble(request.recipe, material, counter)
        if keep:
            store = self._user(user)
            self._later(self._key(user), lambda: replaying.keep(store, assembled, request.recipe, material))
        conversation = (self._tenant, user, request.persona, request.lane, counter.family)
        return assembled.context(kept=await self._prefixes.kept(conversation, assembled, counter))

    @call(Route("POST", "/v1/search"), answers="items")
    async def search(
        self,
        *,
        user: str,
        query: str,
        limit: int = 10,
        kinds: Sequence[HitKind] | None = None,
        persona: str | None = None,
        lane: str | None = None,
        at: datetime | None = None,
        explain: bool = False,
        known: int | None = None,
    ) -> list[Hit]:
        """Finds the turns, memories, episodes and summaries that answer best, best first."""
        ask = Search(
            text=validate.text(query, what="query"),
            limit=limit,
            kinds=validate.kinds(kinds),
            persona=everything_or(persona),
            lane=everything_or(lane),
            now=self._now(at),
            known=known,
        )
        return await self._recaller.search(self._key(user), self._user(user), ask)

    @call(Route("GET", f"{USER}/snapshots"), Route("GET", f"{USER}/snapshots/{{id}}"))
    async def snapshots(
        self, *, user: str, ids: Sequence[str] | None = None, limit: int = 50, before: datetime | None = None
    ) -> list[StoredSnapshot]:
        """Lists the newest snapshots, newest first, or those with these ids; `before` gives only earlier ones."""
        await self.flush()
        return replaying.shown(await lists.snapshots(self._user(user), ids=ids, limit=limit, before=before))

    @call(Route("GET", f"{USER}/snapshots/{{id}}/replay", "read", id="snapshot"))
    async def replay(self, *, user: str, snapshot: str) -> Context:
        """Rebuilds the context of a snapshot byte for byte; what was forgotten since is shown as forgotten."""
        await self.flush()
        return await replaying.replay(self._user(user), snapshot)

    @call(Route("GET", f"{USER}/diff"))
    async def diff(self, a: Context, b: Context) -> Difference:
        """Compares two contexts."""
        return diff(a, b)

    @call(Route("POST", f"{USER}/backtest"))
    async def backtest(
        self,
        *,
        user: str,
        recipe: str | Recipe,
        persona: str | None = None,
        lane: str | None = None,
        limit: int = LISTED,
    ) -> list[Trial]:
        """Runs another recipe over a recorded conversation: for each user turn, the context it would have produced."""

        async def build(turn: StoredTurn, recipe: Recipe) -> Context:
            whose, where, at = turn.persona, turn.lane, turn.at
            return await self.context(
                user=user, turn=turn.id, persona=whose, lane=where, recipe=recipe, at=at, known=turn.seq
            )

        chosen, whose, where = (await self._chosen(recipe)).recipe, everything_or(persona), everything_or(lane)
        trials = replaying.backtest(self._user(user), build, recipe=chosen, persona=whose, lane=where, limit=limit)
        return [trial async for trial in trials]

    # --- recipes and personas --------------------------------------------------------------------------------------

    @call(Route("PUT", "/v1/recipes/{name}"))
    async def define_recipe(self, recipe: Recipe) -> Recipe:
        """Saves a recipe under its name; every definition is a version."""
        return await self._recipes.define(recipe, now=self._clock())

    @call(Route("GET", "/v1/recipes", "read"), Route("GET", "/v1/recipes/{name}"))
    async def recipes(self) -> list[Recipe]:
        """Lists the built-in recipes, then the application's own."""
        return [*map(book.load, book.names()), *await self._recipes.all()]

    @call(Route("PUT", "/v1/personas/{id}"))
    async def define_persona(
        self, id: str, *, name: str, text: str, boundaries: str = "", style: str = "", **extra: Json
    ) -> Persona:
        """Defines who answers; every definition is a version. A persona over the recipe's cap is an error here."""
        persona = Persona(id=id, name=name, text=text, boundaries=boundaries, style=style, extra=extra)
        personas.check(persona, recipe=self._recipe, tokenizer=self._tokenizer)
        return await self._personas.define(persona, now=self._clock())

    @call(Route("GET", "/v1/personas", "read"))
    async def personas(self) -> list[Persona]:
        """Lists the personas."""
        return await self._personas.all()

    # --- users and their state -------------------------------------------------------------------------------------

    @call(Route("PATCH", USER))
    async def set_user(self, user: str, **fields: Any) -> Profile:
        """Sets what the application knows about a user: zone, name, locale, stage; other fields become `extra`."""
        return await profiles.set_profile(self._desk(user), fields)

    @call(Route("GET", USER, "read"))
    async def user(self, user: str) -> Profile:
        """Gives the user's profile."""
        return await profiles.profile(self._user(user), now=self._clock())

    @call(Route("GET", "/v1/users"))
    async def users(self) -> list[str]:
        """Lists the tenant's users."""
        return [key.user for key in await self._store.catalog.users(self._tenant)]

    @call(Route("GET", f"{USER}/head", "read", new_user=True), answers="head")
    async def head(self, *, user: str) -> int:
        """Gives the number of the user's newest log entry; 0 for a user nothing was written about."""
        query = Head()
        return (await self._user(user).read(query))[query]

    @call(Route("POST", "/v1/links"))
    async def link(self, user: str, channel: str, external_id: str) -> None:
        """Makes a phone number, chat or account id resolve to this user."""
        await profiles.link(self._store.catalog, self._key(user), channel, external_id, now=self._clock())

    @call(Route("POST", "/v1/links/remove", "admin"), answers="removed")
    async def unlink(self, channel: str, external_id: str) -> bool:
        """Removes a link, so that the id may be linked to another user; False if there was none."""
        return await profiles.unlink(self._store.catalog, self._tenant, channel, external_id)

    @call(Route("POST", "/v1/links/resolve", "admin"), answers="user")
    async def resolve(self, channel: str, external_id: str) -> str | None:
        """Finds the user that a channel's id is linked to. Asked by POST, so that no phone number ends up in a log."""
        return await profiles.resolve(self._store.catalog, self._tenant, channel, external_id)

    @in_process("for channels beside the memory; from afar links are resolved one by one")
    async def linked(self) -> list[str]:
        """Lists the users that something is linked to, most recently linked first."""
        return await profiles.linked(self._store.catalog, self._tenant)

    @call(Route("GET", f"{USER}/state", "read"))
    async def state(self, *, user: str, persona: str | None = None) -> State:
        """Gives the relationship state with a persona; an empty one if none was set."""
        return await profiles.state(self._user(user), persona=persona, now=self._clock())

    @call(Route("PATCH", f"{USER}/state"))
    async def set_state(self, *, user: str, persona: str | None = None, **fields: Json) -> State:
        """Changes these fields (None removes one) and keeps the others."""
        return await profiles.set_state(self._desk(user), persona=persona, changes=fields)

    # --- memories, loops and other records -------------------------------------------------------------------------

    @call(Route("POST", f"{USER}/memories"))
    async def remember(self, *, user: str, text: str, **fields: Any) -> Memory:
        """Writes a memory by hand."""
        return cast(Memory, await self.add("memory", user=user, text=text, **fields))

    @call(Route("POST", f"{USER}/{{kind}}"))
    async def add(self, kind: RecordKind, /, *, user: str, id: str | None = None, **fields: Any) -> Record:
        """Writes any record by hand: a memory, episode, loop, thought, summary … A key that exists gets a new version;
        with an `id` and no key, adding it again changes nothing."""
        return await editing.add(self._desk(user), kind, fields, id=id)

    @call(Route("PATCH", f"{USER}/{{kind}}/{{id}}"))
    async def update(self, id: str, *, user: str, **changes: Any) -> Record:
        """Writes a new version with these fields changed: close a loop (status="done"), pin or archive a memory …"""
        changed = await editing.update(self._desk(user), id, changes)
        if isinstance(changed, Loop) and changed.status != "open":
            await thoughts.let_go(self._user(user), changed, now=self._clock())
        return changed

    @call(Route("GET", f"{USER}/memories"))
    async def memories(
        self,
        *,
        user: str,
        persona: str | None = None,
        status: str | None = "ACTIVE",
        entity: str | None = None,
        limit: int = LISTED,
        after: Place | None = None,
        known: int | None = None,
    ) -> list[Memory]:
        """Lists memories, newest first; with a persona, its own and everybody's. `after` continues a list (not one by
        entity)."""
        wanted = {"persona": persona, "status": status, "entity": entity}
        store = self._user(user)
        found = await lists.records(store, Memory, **wanted, limit=limit, after=after, known=known, shared=True)
        return found if known is not None else await lists.with_access(store, found)

    @call(Route("GET", f"{USER}/episodes"))
    async def episodes(
        self, *, user: str, persona: str | None = None, limit: int = LISTED, after: Place | None = None
    ) -> list[Episode]:
        """Lists episodes, newest first."""
        return await lists.records(self._user(user), Episode, persona=persona, limit=limit, after=after, shared=True)

    @call(Route("GET", f"{USER}/loops"))
    async def loops(
        self,
        *,
        user: str,
        persona: str | None = None,
        status: str | None = "open",
        limit: int = LISTED,
        after: Place | None = None,
    ) -> list[Loop]:
        """Lists loops, newest first; with `status=None`, the closed ones too."""
        return await lists.records(self._user(user), Loop, persona=persona, status=status, limit=limit, after=after)

    @call(Route("POST", f"{USER}/records/{{id}}/reject", "write"))
    async def reject(self, id: str, *, user: str) -> Record:
        """Takes back a memory or a loop that is wrong; it does not come back from the same turns."""
        return await corrections.reject(self._desk(user), id)

    @call(Route("GET", f"{USER}/thoughts"))
    async def thoughts(
        self, *, user: str, persona: str | None = None, limit: int = LISTED, after: Place | None = None
    ) -> list[Thought]:
        """Lists the persona's thoughts, newest first."""
        return await lists.records(self._user(user), Thought, persona=persona, limit=limit, after=after)

    @call(Route("GET", f"{USER}/summaries"))
    async def summaries(
        self,
        *,
        user: str,
        persona: str | None = None,
        kind: SummaryKind | None = None,
        limit: int = LISTED,
        after: Place | None = None,
    ) -> list[Summary]:
        """Lists current summaries, newest first; `kind` filters what the limit let through."""
        found = await lists.records(self._user(user), Summary, persona=persona, limit=limit, after=after)
        return [summary for summary in found if kind is None or summary.kind == kind]

    @call(Route("GET", f"{USER}/sessions"))
    async def sessions(
        self, *, user: str, persona: str | None = None, limit: int = LISTED, after: Place | None = None
    ) -> list[Session]:
        """Lists sessions, newest first, with their last activity and number of turns."""
        found = await lists.records(self._user(user), Session, persona=persona, limit=limit, after=after)
        return await sessions.with_activity(self._user(user), found)

    @call(Route("GET", f"{USER}/entities"))
    async def entities(self, *, user: str, limit: int = LISTED, after: Place | None = None) -> list[Entity]:
        """Lists the people, places, organisations and projects that came up."""
        return await lists.records(self._user(user), Entity, limit=limit, after=after)

    @call(Route("GET", f"{USER}/records/{{id}}/versions"), Route("GET", f"{USER}/{{kind}}/{{id}}"))
    async def history(self, *, user: str, id: str) -> list[Record]:
        """Lists every version of a record, oldest first."""
        return await lists.versions(self._user(user), id)

    @call(Route("POST", f"{USER}/seed", "write", new_user=True))
    async def seed(self, *, user: str, facts: Sequence[str]) -> list[Memory]:
        """Writes a profile known beforehand, one fact per line; gives the memories that were new (`seeded_profile`)."""
        zone = (await self.user(user)).zone
        return await seeds.seed(self._desk(user), facts, reader=self._models.plain, zone=zone, alike=names.alike)

    @call(Route("POST", f"{USER}/entities/merge", "write"))
    async def merge(self, *, user: str, entities: Sequence[str]) -> Entity:
        """Merges entities into the first of them; every memory, card and alias follows."""
        return await corrections.merge(self._user(user), entities, index=self._indexer(), now=self._clock())

    @call(Route("POST", f"{USER}/entities/split", "write"))
    async def split(self, *, user: str, entity: str, name: str, memories: Sequence[str] | None = None) -> Entity:
        """Makes one name of an entity an entity of its own, with these memories or those whose turns use the name."""
        index, now = self._indexer(), self._clock()
        return await corrections.split(self._user(user), entity, name=name, memories=memories, index=index, now=now)

    @call(Route("GET", f"{USER}/audit", "read"))
    async def audit(self, *, user: str) -> Audit:
        """Measures a user's memory: the share that is duplicated, unsupported, stale, quarantined or secret."""
        return await quality.audit(self._user(user), stems=self._indexer().stems, now=self._clock())

    # --- learning after the turn -----------------------------------------------------------------------------------

    @call(Route("POST", f"{USER}/settle", "write"), Route("POST", "/v1/settle", "admin"))
    async def settle(self, *, user: str | None = None) -> dict[str, Settled]:
        """Runs all work that is due now, for one user or for every user of the tenant."""
        worker = await self.worker()
        return {name: await worker.settle(self._key(name)) for name in await self._these(user)}

    @call(Route("GET", f"{USER}/steps", "read"))
    async def work_status(self, *, user: str) -> Status:
        """Shows where each step of the work stands for a user, with what failed and why."""
        return await status(self._user(user), now=self._clock(), capped=await self._capped(self._key(user)))

    @call(Route("GET", f"{USER}/costs", "read"))
    async def costs(self, *, user: str, since: date | None = None) -> list[Spent]:
        """Lists what learning cost by day and step: questions, tokens, notes kept, and dropped with the reason."""
        return await cost.spent(self._user(user), since=since)

    @call(Route("POST", f"{USER}/retry", "write", query=True), answers="count")
    async def retry(self, *, user: str, step: str | None = None) -> int:
        """Makes parked steps due again; gives how many there were."""
        if count := await cursors.retry(self._user(user), step=step, now=self._clock()):
            self._hints.note(self._key(user), self._clock())
        return count

    @call(Route("GET", f"{USER}/progress", "read"))
    async def progress(self, *, user: str, persona: str | None = None) -> SessionState:
        """Shows how far the conversation with a persona has come: counts, last message, rolling summary, upkeep."""
        return await session_state(self._user(user), persona=persona)

    @call(Route("POST", f"{USER}/reindex", "write"), Route("POST", "/v1/reindex", "admin"), local=("progress",))
    async def reindex(
        self, *, user: str | None = None, progress: Callable[[int, int], None] | None = None
    ) -> dict[str, int]:
        """Writes every vector that the embedder has not made yet, for one user or all; gives how many each. It can be
        stopped and started again."""
        made = self._vectors()
        return {
            name: await embed.reindex(self._user(name), made=made, progress=progress)
            for name in await self._these(user)
        }

    # --- privacy ---------------------------------------------------------------------------------------------------

    @call(
        Route("POST", f"{USER}/forget"),
        Route("DELETE", USER),
        Route("DELETE", f"{USER}/{{kind}}/{{id}}"),
        repeatable=False,
    )
    async def forget(
        self,
        *,
        user: str,
        turn: str | None = None,
        memory: str | None = None,
        entity: str | None = None,
        lane: str | None = None,
        persona: str | None = None,
        before: datetime | None = None,
        origin: Origin | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Receipt:
        """Removes one thing and everything derived from it, for good; gives a receipt of counts and hashes.

        `origin`, `conversation` and `speaker` together name a source: everything that came from it goes. `dry_run` only
        counts.
        """
        what = What(
            turn=turn,
            memory=memory,
            entity=entity,
            lane=lane,
            persona=persona,
            before=before and bound(before, name="before"),
            source=Source.of(origin=origin, conversation=conversation, speaker=speaker),
            everything=everything,
        )
        await self.flush()
        validate.name(user, what="user")
        receipt = await self._privacy().forget(self._key(user), what, dry_run=dry_run)
        if not dry_run:
            self._hints.note(self._key(user), self._clock())
        return receipt

    @in_process("after a restore, which is done where the files are: hitherto restore")
    async def forget_again(self, ledger: str | Path | None = None) -> dict[str, Receipt]:
        """Removes, after a restore, what the ledger says was forgotten since the backup; gives what it found, by user."""
        return await self._privacy().forget_again(ledger)

    @call(Route("POST", "/v1/scrub", "operate"), repeatable=False, local=("progress",))
    async def scrub(self, *, progress: Callable[[int, int], None] | None = None) -> Scrubbed:
        """Rewrites what may still hold bytes of something forgotten, for all tenants; needed on PostgreSQL."""
        return await self._privacy().scrub(progress=progress)

    @call(Route("GET", f"{USER}/retention", "read", new_user=True))
    async def retention(self, *, user: str) -> dict[str, float]:
        """Gives for how many days each kind is kept for this user; a kind that is missing is kept."""
        return dict((await retention.policy(self._store.catalog, self._key(user))).days)

    @call(Route("PATCH", f"{USER}/retention"), Route("PATCH", "/v1/retention"))
    async def set_retention(self, *, user: str | None = None, **days: float | None) -> dict[str, float | None]:
        """Sets days for each kind (turn, memory, episode, loop, thought, summary, snapshot), for the tenant or for one user;
        None keeps it. Nothing is removed before `retain` is called."""
        return await self._privacy().set_retention(None if user is None else self._key(user), days)

    @call(Route("POST", f"{USER}/retain", query=True), Route("POST", "/v1/retain", query=True), repeatable=False)
    async def retain(self, *, user: str | None = None, dry_run: bool = False) -> dict[str, Receipt]:
        """Removes what is older than its retention allows, for one user or all; `dry_run` only counts. Receipts by user."""
        await self.flush()
        return await self._privacy().retain(await self._these(user), dry_run=dry_run)

    @call(Route("POST", f"{USER}/memories/{{id}}/review", "write"), repeatable=False)
    async def review(self, id: str, *, user: str, approve: bool) -> Memory:
        """Decides on a quarantined memory (`memories(status="QUARANTINED")`): used from now on, or archived."""
        waiting = [m for m in await self.memories(user=user, status="QUARANTINED") if m.id == id]
        return await self._privacy().review(self._desk(user), self._key(user), waiting, approve=approve)

    @call(Route("GET", f"{USER}/events"), Route("GET", "/v1/events"))
    async def events(self, *, user: str | None = None, limit: int = EVENTS, before: str | None = None) -> list[Event]:
        """Lists the audit log, newest first: who did what, without content. `before` continues after that event's id."""
        return await self._privacy().events(None if user is None else self._key(user), limit=limit, before=before)

    # --- moving and keeping ----------------------------------------------------------------------------------------

    @call(Route("GET", f"{USER}/export"))
    async def export(self, *, user: str) -> AsyncIterator[str]:
        """Gives the user's whole memory as JSON lines."""
        key = self._key(user)
        await self._privacy().journal.note("export", user=key.digest, at=self._clock())
        async for line in exporting.export(self._user(user), key=key):
            yield line

    @call(Route("POST", f"{USER}/import"))
    async def load(self, file: str | Path, *, user: str | None = None) -> int:
        """Reads an export back, under its own user or another; gives the number of entries."""
        whose = validate.name(exporting.user_of(Path(file)) if user is None else user, what="user")
        key, count = self._key(whose), await exporting.load(self._user(whose), file, stems=stems)
        await seeds.resume(self._user(whose))
        await self.reindex(user=whose)
        await self._privacy().journal.note("load", user=key.digest, at=self._clock(), entries=count)
        self._hints.note(key, self._clock())
        return count

    @call(Route("GET", "/v1/health", "operate"), Route("GET", "/healthz"), Route("GET", "/readyz"))
    async def health(self) -> Health:
        """Shows the store's state and what is wrong with it."""
        health, problem = await self._store.health(), await self._coordination.problem()
        return health if problem is None else replace(health, problems=(*health.problems, problem))

    @call(Route("POST", "/v1/backups"), local=("progress",))
    async def backup(self, target: str | Path, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Copies everything into a new folder; gives the number of users. On a service, `target` is a name there."""
        return await self._store.backup(str(target), progress=progress)
