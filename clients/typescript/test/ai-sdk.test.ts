import assert from "node:assert/strict";
import { test } from "node:test";
import { generateText, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { withMemory } from "../src/ai-sdk.js";
import { client, somebody } from "./service.js";

type Content = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>["content"];
const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };

/** A provider that answers these, one a call. */
function provider(...answers: Content[]): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: answers.map((content) => {
      const unified = content.some(({ type }) => type === "tool-call") ? ("tool-calls" as const) : ("stop" as const);
      return { content, usage, warnings: [], finishReason: { unified, raw: undefined } };
    }),
  });
}

test("a conversation is remembered without sending it along", async () => {
  const memory = client();
  const user = somebody();
  const inner = provider([{ type: "text", text: "Shall I ask how it went?" }], [{ type: "text", text: "I will." }]);
  const model = wrapLanguageModel({ model: inner, middleware: withMemory(memory, { user }) });
  await generateText({ model, prompt: "I start at Acme on Monday!", instructions: "Be brief." });
  await generateText({ model, prompt: "yes" });
  const second = JSON.stringify(inner.doGenerateCalls[1]?.prompt);
  assert.match(second, /I start at Acme on Monday!/);
  assert.match(second, /Shall I ask how it went\?/);
  assert.match(JSON.stringify(inner.doGenerateCalls[0]?.prompt), /Be brief\./);
  const turns = await memory.turns({ user });
  assert.deepEqual(turns.map(({ role, text }) => [role, text]), [
    ["user", "I start at Acme on Monday!"],
    ["assistant", "Shall I ask how it went?"],
    ["user", "yes"],
    ["assistant", "I will."],
  ]);
  assert.ok(turns.at(-1)?.snapshot, "the answer names the context it was given");
});

test("the steps of a tool loop are recorded once each, calls with their results", async () => {
  const memory = client();
  const user = somebody();
  const inner = provider(
    [{ type: "tool-call", toolCallId: "call-1", toolName: "weather", input: '{"city":"Lisbon"}' }],
    [{ type: "text", text: "Sunny in Lisbon." }],
  );
  const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `sunny in ${city}` });
  const model = wrapLanguageModel({ model: inner, middleware: withMemory(memory, { user }) });
  const { text } = await generateText({ model, prompt: "Weather?", tools: { weather }, stopWhen: stepCountIs(3) });
  assert.equal(text, "Sunny in Lisbon.");
  const turns = await memory.turns({ user });
  assert.deepEqual(turns.map(({ role }) => role), ["user", "assistant", "tool", "assistant"]);
  assert.match(JSON.stringify(turns[1]?.parts), /Lisbon/);
  assert.match(JSON.stringify(turns[2]?.parts), /sunny in Lisbon/);
  assert.equal(inner.doGenerateCalls[1]?.prompt.at(-1)?.role, "tool");
});

test("a stream passes through piece by piece and is recorded at its end", async () => {
  const memory = client();
  const user = somebody();
  const inner = new MockLanguageModelV4({
    doStream: async () => ({
      stream: convertArrayToReadableStream([
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "Hello " },
        { type: "text-delta", id: "t", delta: "Ana" },
        { type: "text-end", id: "t" },
        { type: "finish", usage, finishReason: { unified: "stop", raw: undefined } },
      ]),
    }),
  });
  const model = wrapLanguageModel({ model: inner, middleware: withMemory(memory, { user }) });
  const pieces: string[] = [];
  for await (const piece of streamText({ model, prompt: "hi" }).textStream) pieces.push(piece);
  assert.deepEqual(pieces, ["Hello ", "Ana"]);
  assert.deepEqual((await memory.turns({ user })).map(({ text }) => text), ["hi", "Hello Ana"]);
});

test("a stream that is stopped halfway is recorded as far as it was heard", async () => {
  const memory = client();
  const user = somebody();
  const stop = new AbortController();
  const inner = new MockLanguageModelV4({
    doStream: async () => ({
      stream: new ReadableStream({
        start(out) {
          out.enqueue({ type: "stream-start", warnings: [] });
          out.enqueue({ type: "text-start", id: "t" });
          out.enqueue({ type: "text-delta", id: "t", delta: "One and" });
          stop.signal.addEventListener("abort", () => out.error(stop.signal.reason));
        },
      }),
    }),
  });
  const model = wrapLanguageModel({ model: inner, middleware: withMemory(memory, { user }) });
  for await (const _ of streamText({ model, prompt: "count", abortSignal: stop.signal }).textStream) stop.abort();
  const end = Date.now() + 20_000;
  while ((await memory.turns({ user })).length < 2 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual((await memory.turns({ user })).map(({ text }) => text), ["count", "One and"]);
});

test("a provider that fails once is asked again, and nothing is recorded twice", async () => {
  const memory = client();
  const user = somebody();
  let asked = 0;
  const answering = provider([{ type: "text", text: "Here." }]);
  const inner = new MockLanguageModelV4({
    doGenerate: async (options) => {
      if ((asked += 1) === 1) throw Object.assign(new Error("overloaded"), { name: "AI_APICallError", isRetryable: true, [Symbol.for("vercel.ai.error")]: true, [Symbol.for("vercel.ai.error.AI_APICallError")]: true });
      return answering.doGenerate(options);
    },
  });
  const model = wrapLanguageModel({ model: inner, middleware: withMemory(memory, { user }) });
  await generateText({ model, prompt: "Are you there?", maxRetries: 1 });
  assert.equal(asked, 2);
  assert.deepEqual((await memory.turns({ user })).map(({ text }) => text), ["Are you there?", "Here."]);
});

test("without its memory the conversation goes on", async () => {
  const failures: unknown[] = [];
  const lost = client({ url: "http://127.0.0.1:9", retries: 0 });
  const inner = provider([{ type: "text", text: "Still here." }]);
  const model = wrapLanguageModel({ model: inner, middleware: withMemory(lost, { user: "ana", onError: (error) => failures.push(error) }) });
  assert.equal((await generateText({ model, prompt: "hello?" })).text, "Still here.");
  assert.equal(failures.length, 3, "the context, the message and the answer");
});
