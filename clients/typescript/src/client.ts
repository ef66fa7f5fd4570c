import type * as api from "./api.js";
import { HithertoError } from "./errors.js";
import { type Options, type Query, quoted, Transport } from "./transport.js";

type Operations = api.operations;
type Asked<O extends keyof Operations> = NonNullable<Operations[O]["parameters"]["query"]>;
type Times<T> = { [K in keyof T]: K extends "at" | "due" | "since" | "until" | "valid_from" | "valid_to" ? T[K] | Date : T[K] };
/** What a list is narrowed by; `limit` counts over all pages. */
type Filter<O extends keyof Operations> = Times<Omit<Asked<O>, "cursor">>;
type Of<T> = { user: string } & Times<Omit<T, "user">>;
interface Page<T> {
  items: T[];
  next?: string | null;
}

export type Turn = Times<api.NewTurn> & { user: string };

/** The nouns that are written by hand, under the names of their paths. */
export interface Shelves {
  memories: [api.NewMemory, api.MemoryChange, api.Memory];
  episodes: [api.NewEpisode, api.EpisodeChange, api.Episode];
  loops: [api.NewLoop, api.LoopChange, api.Loop];
  thoughts: [api.NewThought, api.ThoughtChange, api.Thought];
  summaries: [api.NewSummary, api.SummaryChange, api.Summary];
  entities: [api.NewEntity, api.EntityChange, api.Entity];
  slots: [api.NewSlot, api.SlotChange, api.Slot];
}

/** How many rows a list has unless `limit` says otherwise, and how many are asked for at once. */
const LISTED = 1_000;

/**
 * A memory on a service: the calls of the Python library under the same names (`set_user` is `setUser`), with the same fields.
 * Times may be given as `Date`; answers hold ISO 8601 texts.
 */
export class Hitherto {
  readonly #service: Transport;

  constructor(options: Options) {
    this.#service = new Transport(options);
  }

  // --- turns and contexts ---

  /** Stores one turn or many, durable when it resolves; their ids in the order given. */
  async record(turns: Turn | readonly Turn[]): Promise<string[]> {
    const json = Array.isArray(turns) ? turns : [turns];
    if (json.length === 0) return [];
    return (await this.#service.ask<api.Recorded>("POST", "/v1/turns", { json })).ids;
  }

  /** What the model should see for this message: `system`, `messages`, and a receipt of both. */
  context(asked: Of<api.ContextRequest>): Promise<api.Context> {
    return this.#service.ask("POST", "/v1/context", { json: asked });
  }

  /** The turns, memories, episodes and summaries that answer best, best first. */
  async search(asked: Of<api.SearchRequest>): Promise<api.Hit[]> {
    return (await this.#service.ask<Page<api.Hit>>("POST", "/v1/search", { json: asked })).items;
  }

  turns({ user, ...filter }: { user: string } & Filter<"turns">): Promise<api.StoredTurn[]> {
    return this.#list(user, "turns", filter);
  }

  /** A new version of a turn; what the old words alone had taught is taken back. */
  revise({ user, turn, text }: { user: string; turn: string; text: string }): Promise<api.StoredTurn> {
    return this.#service.ask("PATCH", of(user, "turns", turn), { json: { text } });
  }

  snapshots({ user, ...filter }: { user: string } & Filter<"snapshots">): Promise<api.Snapshot[]> {
    return this.#list(user, "snapshots", filter);
  }

  /** A past context again, byte for byte, from its snapshot. */
  replay({ user, snapshot }: { user: string; snapshot: string }): Promise<api.Context> {
    return this.#service.ask("GET", of(user, "snapshots", snapshot, "replay"));
  }

  diff({ user, a, b }: { user: string; a: string; b: string }): Promise<api.Difference> {
    return this.#service.ask("GET", of(user, "diff"), { query: { a, b } });
  }

  backtest({ user, ...asked }: Of<api.BacktestRequest>): Promise<api.Trial[]> {
    return this.#service.ask("POST", of(user, "backtest"), { json: asked });
  }

  // --- what is remembered ---

  memories({ user, ...filter }: { user: string } & Filter<"memories">): Promise<api.Memory[]> {
    return this.#list(user, "memories", filter);
  }

  episodes({ user, ...filter }: { user: string } & Filter<"episodes">): Promise<api.Episode[]> {
    return this.#list(user, "episodes", filter);
  }

  loops({ user, ...filter }: { user: string } & Filter<"loops">): Promise<api.Loop[]> {
    return this.#list(user, "loops", filter);
  }

  thoughts({ user, ...filter }: { user: string } & Filter<"thoughts">): Promise<api.Thought[]> {
    return this.#list(user, "thoughts", filter);
  }

  summaries({ user, ...filter }: { user: string } & Filter<"summaries">): Promise<api.Summary[]> {
    return this.#list(user, "summaries", filter);
  }

  sessions({ user, ...filter }: { user: string } & Filter<"sessions">): Promise<api.Session[]> {
    return this.#list(user, "sessions", filter);
  }

  entities({ user, ...filter }: { user: string } & Filter<"entities">): Promise<api.Entity[]> {
    return this.#list(user, "entities", filter);
  }

  /** Writes a memory by hand. */
  remember({ user, ...memory }: { user: string } & Times<api.NewMemory>): Promise<api.Memory> {
    return this.#service.ask("POST", of(user, "memories"), { json: memory });
  }

  /** Writes any other record by hand: `add("loops", { user, text, kind: "promise" })`. */
  add<S extends keyof Shelves>(shelf: S, { user, ...record }: { user: string } & Times<Shelves[S][0]>): Promise<Shelves[S][2]> {
    return this.#service.ask("POST", of(user, shelf), { json: record });
  }

  /** The next version of a record: `update("loops", id, { user, status: "done" })`. */
  update<S extends keyof Shelves>(shelf: S, id: string, { user, ...change }: { user: string } & Times<Shelves[S][1]>): Promise<Shelves[S][2]> {
    return this.#service.ask("PATCH", of(user, shelf, id), { json: change });
  }

  /** Every version of one record, oldest first. */
  async history({ user, id }: { user: string; id: string }): Promise<api.RecordVersions["versions"]> {
    return (await this.#service.ask<api.RecordVersions>("GET", of(user, "records", id, "versions"))).versions;
  }

  /** This was never so: the record goes, and does not come back from the same turns. */
  reject({ user, id }: { user: string; id: string }): Promise<api.AnyRecord> {
    return this.#service.ask("POST", of(user, "records", id, "reject"));
  }

  /** Keeps or rejects what was held back. */
  review({ user, id, ...verdict }: { user: string; id: string } & api.ReviewRequest): Promise<api.Memory> {
    return this.#service.ask("POST", of(user, "memories", id, "review"), { json: verdict });
  }

  /** Two entities are one: everything that speaks of either follows. */
  merge({ user, ...asked }: { user: string } & api.MergeRequest): Promise<api.Entity> {
    return this.#service.ask("POST", of(user, "entities", "merge"), { json: asked });
  }

  /** One entity is two. */
  split({ user, ...asked }: { user: string } & api.SplitRequest): Promise<api.Entity> {
    return this.#service.ask("POST", of(user, "entities", "split"), { json: asked });
  }

  /** A profile that is known before the first message, as memories. */
  seed({ user, ...asked }: { user: string } & api.SeedRequest): Promise<api.Memory[]> {
    return this.#service.ask("POST", of(user, "seed"), { json: asked });
  }

  // --- who there is ---

  definePersona({ id, ...persona }: { id: string } & api.NewPersona): Promise<api.Persona> {
    return this.#service.ask("PUT", `/v1/personas/${quoted(id)}`, { json: persona });
  }

  personas(): Promise<api.Persona[]> {
    return this.#service.ask("GET", "/v1/personas");
  }

  setUser({ user, ...profile }: { user: string } & api.ProfileChange): Promise<api.Profile> {
    return this.#service.ask("PATCH", of(user), { json: profile });
  }

  user(user: string): Promise<api.Profile> {
    return this.#service.ask("GET", of(user));
  }

  users(): Promise<string[]> {
    return this.#pages("/v1/users", { limit: LISTED });
  }

  /** The number of the newest entry in a user's log. */
  async head(user: string): Promise<number> {
    return (await this.#service.ask<api.Head>("GET", of(user, "head"))).head;
  }

  state({ user, persona }: { user: string; persona?: string }): Promise<api.State> {
    return this.#service.ask("GET", of(user, "state"), { query: { persona } });
  }

  setState({ user, persona, ...change }: { user: string; persona?: string } & api.StateChange): Promise<api.State> {
    return this.#service.ask("PATCH", of(user, "state"), { query: { persona }, json: change });
  }

  /** From now on this id of a channel means this user. */
  async link(asked: api.NewLink): Promise<void> {
    await this.#service.ask("POST", "/v1/links", { json: asked });
  }

  /** From now on it means nobody; false if it meant nobody before. */
  async unlink(asked: api.UnlinkRequest): Promise<boolean> {
    return (await this.#service.ask<api.Unlink>("POST", "/v1/links/remove", { json: asked })).removed;
  }

  /** The user that an id of a channel means, or null. */
  async resolve(asked: api.ResolveRequest): Promise<string | null> {
    return (await this.#service.ask<api.Resolve>("POST", "/v1/links/resolve", { json: asked })).user ?? null;
  }

  recipes(): Promise<api.Recipe[]> {
    return this.#service.ask("GET", "/v1/recipes");
  }

  /** A recipe under a name of your own, with the fields that `recipes` shows. */
  defineRecipe({ name, ...recipe }: { name: string } & Record<string, unknown>): Promise<api.Recipe> {
    return this.#service.ask("PUT", `/v1/recipes/${quoted(name)}`, { json: recipe });
  }

  // --- what people may ask of their memory ---

  /** Forgets for good, and says what went: a turn, a memory, an entity, a lane, a persona, what came before a time, everything. */
  forget({ user, ...asked }: Of<api.ForgetRequest>): Promise<api.Receipt> {
    return this.#service.ask("POST", of(user, "forget"), { json: asked });
  }

  events({ user, ...filter }: { user: string } & Filter<"events">): Promise<api.Event[]> {
    return this.#list(user, "events", filter);
  }

  retention(user: string): Promise<Record<string, number>> {
    return this.#service.ask("GET", of(user, "retention"));
  }

  setRetention({ user, ...change }: { user: string } & api.RetentionChange): Promise<Record<string, number | null>> {
    return this.#service.ask("PATCH", of(user, "retention"), { json: change });
  }

  /** Removes what is older than the retention allows; `dry_run` only counts. Of everybody if no user is named. */
  retain({ user, dry_run }: { user?: string; dry_run?: boolean } = {}): Promise<Record<string, api.Receipt>> {
    return this.#service.ask("POST", user === undefined ? "/v1/retain" : of(user, "retain"), { query: { dry_run } });
  }

  /** Overwrites what forgetting has left free on the disk. */
  scrub(): Promise<api.Scrubbed> {
    return this.#service.ask("POST", "/v1/scrub");
  }

  /** Everything that is kept of a user, as JSON lines. */
  async export(user: string): Promise<string> {
    return (await this.#service.send("GET", of(user, "export"))).text();
  }

  /** Takes an export in; how many entries it held. */
  async load({ user, lines }: { user: string; lines: string }): Promise<number> {
    return (await this.#service.ask<api.Done>("POST", of(user, "import"), { body: lines })).count;
  }

  /** Copies everything into a new folder of that name beside the service; the number of users. */
  async backup(name: string): Promise<number> {
    return (await this.#service.ask<api.Done>("POST", "/v1/backups", { json: { name } })).count;
  }

  // --- the work behind the answers ---

  /** Runs all work that is due now. */
  settle(user: string): Promise<Record<string, api.Settled>> {
    return this.#service.ask("POST", of(user, "settle"));
  }

  workStatus(user: string): Promise<api.Status> {
    return this.#service.ask("GET", of(user, "steps"));
  }

  async retry({ user, step }: { user: string; step?: string }): Promise<number> {
    return (await this.#service.ask<api.Done>("POST", of(user, "retry"), { query: { step } })).count;
  }

  progress({ user, persona }: { user: string; persona?: string }): Promise<api.SessionState> {
    return this.#service.ask("GET", of(user, "progress"), { query: { persona } });
  }

  /** What learning has asked of models, by day. */
  costs({ user, since }: { user: string; since?: string }): Promise<api.Spent[]> {
    return this.#service.ask("GET", of(user, "costs"), { query: { since } });
  }

  /** Makes the vectors anew that another embedder made; how many. */
  reindex(user?: string): Promise<Record<string, number>> {
    return this.#service.ask("POST", user === undefined ? "/v1/reindex" : of(user, "reindex"));
  }

  audit(user: string): Promise<api.Audit> {
    return this.#service.ask("GET", of(user, "audit"));
  }

  health(): Promise<api.Health> {
    return this.#service.ask("GET", "/v1/health");
  }

  /** A user of whom nothing was written has empty lists; the service itself does not tell who there is. */
  async #list<T>(user: string, noun: string, filter: object): Promise<T[]> {
    try {
      return await this.#pages<T>(of(user, noun), filter as Query);
    } catch (error) {
      if (error instanceof HithertoError && error.kind === "not_found") return [];
      throw error;
    }
  }

  async #pages<T>(path: string, filter: Query): Promise<T[]> {
    const limit = typeof filter["limit"] === "number" ? filter["limit"] : LISTED;
    const found: T[] = [];
    let cursor: string | undefined;
    while (found.length < limit) {
      const query = { ...filter, limit: Math.min(LISTED, limit - found.length), cursor };
      const { items, next } = await this.#service.ask<Page<T>>("GET", path, { query });
      found.push(...items);
      if (!next) break;
      cursor = next;
    }
    return found;
  }
}

function of(user: string, ...rest: string[]): string {
  return ["/v1/users", quoted(user), ...rest.map(quoted)].join("/");
}
