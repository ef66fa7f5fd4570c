import assert from "node:assert/strict";
import { test } from "node:test";
import { Busy, HithertoError } from "../src/index.js";
import { client, somebody } from "./service.js";

test("a short answer reaches the model with the question it answers", async () => {
  const memory = client();
  const user = somebody();
  const ids = await memory.record([
    { user, persona: "nikita", role: "user", text: "I start at Acme on Monday!" },
    { user, persona: "nikita", role: "assistant", text: "Shall I ask how it went?" },
  ]);
  assert.equal(ids.length, 2);
  const context = await memory.context({ user, persona: "nikita", message: "yes" });
  assert.equal(context.messages.at(-1)?.["content"], "yes");
  assert.match(JSON.stringify(context.messages), /Shall I ask how it went\?/);
  assert.ok(context.tokens > 0 && context.snapshot && context.prefix_hash);
  const again = await memory.replay({ user, snapshot: context.snapshot });
  assert.equal(again.system, context.system);
});

test("what is written by hand is found, changed, listed and forgotten", async () => {
  const memory = client();
  const user = somebody();
  const kept = await memory.remember({ user, text: "Ana is allergic to peanuts", importance: 3 });
  const [hit] = await memory.search({ user, query: "allergic to what?" });
  assert.equal(hit?.id, kept.id);
  const loop = await memory.add("loops", { user, text: "Book the flights", kind: "commitment", due: new Date("2027-05-14T09:00:00Z") });
  assert.equal(loop.due, "2027-05-14T09:00:00Z");
  await memory.update("loops", loop.id, { user, status: "done" });
  assert.deepEqual((await memory.loops({ user, status: "done" })).map(({ id }) => id), [loop.id]);
  assert.equal((await memory.history({ user, id: loop.id })).length, 2);
  const receipt = await memory.forget({ user, memory: kept.id });
  assert.equal(receipt.records["memory"], 1);
  assert.deepEqual(await memory.memories({ user }), []);
});

test("a list may be longer than what the service gives at once", async () => {
  const memory = client();
  const user = somebody();
  const said = Array.from({ length: 1203 }, (_, n) => ({ user, role: "user" as const, text: `line ${n}`, at: new Date(Date.UTC(2026, 0, 1) + n * 1000) }));
  for (let from = 0; from < said.length; from += 401) await memory.record(said.slice(from, from + 401));
  const turns = await memory.turns({ user, limit: 1500 });
  assert.deepEqual(turns.map(({ text }) => text), said.map(({ text }) => text));
  assert.equal((await memory.turns({ user, limit: 5 })).length, 5);
});

test("names may hold anything a path would take apart", async () => {
  const memory = client();
  const user = `${somebody()}/../x y?ü#%2F`;
  await memory.setUser({ user, zone: "Europe/Berlin", name: "Ana" });
  assert.equal((await memory.user(user)).name, "Ana");
  assert.throws(() => memory.user(".."), (error) => error instanceof HithertoError && error.kind === "invalid_input");
});

test("of a user of whom nothing was written there are empty lists", async () => {
  const memory = client();
  const user = somebody();
  assert.deepEqual(await memory.memories({ user }), []);
  assert.deepEqual(await memory.turns({ user }), []);
});

test("errors carry the service's name for them", async () => {
  const memory = client();
  await assert.rejects(memory.replay({ user: somebody(), snapshot: "none" }), (error) => error instanceof HithertoError && error.kind === "not_found" && error.status === 404 && !!error.requestId);
  await assert.rejects(client({ key: "rck_000000000000_nope" }).users(), (error) => error instanceof HithertoError && error.status === 401);
  const lost = client({ url: "http://127.0.0.1:9", retries: 0 });
  await assert.rejects(lost.users(), (error) => error instanceof HithertoError && error.kind === "service_error");
});

test("an answer that was lost is asked for again, and recorded once", async () => {
  const user = somebody();
  let asked = 0;
  const memory = client({
    fetch: async (...given) => {
      const response = await fetch(...given);
      if ((asked += 1) === 1) throw new TypeError("the connection broke after the service had answered");
      return response;
    },
  });
  await memory.record({ user, role: "user", text: "only once" });
  assert.equal(asked, 2);
  assert.equal((await client().turns({ user })).length, 1);
});

test("a busy service is asked again, and named when it stays busy", async () => {
  const busy = () => Promise.resolve(new Response(JSON.stringify({ error: { type: "busy", message: "later", request_id: "r" } }), { status: 503, headers: { "retry-after": "0" } }));
  await assert.rejects(client({ retries: 1, fetch: busy }).users(), (error) => error instanceof Busy && error.retryAfter === 1);
});

test("a whole memory goes out and comes in again", async () => {
  const memory = client();
  const [from, to] = [somebody(), somebody()];
  await memory.record({ user: from, role: "user", text: "Grüße aus Köln" });
  const lines = await memory.export(from);
  assert.ok((await memory.load({ user: to, lines })) > 0);
  assert.equal((await memory.turns({ user: to }))[0]?.text, "Grüße aus Köln");
});
