import type { LanguageModelMiddleware } from "ai";
import type { Hitherto, Turn } from "./client.js";

type Middleware = Required<Pick<LanguageModelMiddleware, "transformParams" | "wrapGenerate" | "wrapStream">>;
type Given = Parameters<Middleware["transformParams"]>[0]["params"];
type Message = Given["prompt"][number];
type Answer = Awaited<ReturnType<Middleware["wrapGenerate"]>>["content"];
type Part = NonNullable<Turn["parts"]>[number];

export interface Whose {
  user: string;
  persona?: string;
  lane?: string;
  /** What a context is made of; the service's own recipe unless given. */
  recipe?: string;
  /** Told when memory fails. The conversation goes on without it. */
  onError?: (error: unknown) => void;
}

/**
 * A language model that remembers: `wrapLanguageModel({ model, middleware: withMemory(memory, { user }) })`.
 *
 * Before a call the conversation's past is put in front of the newest user message, in the place of what the application sent as
 * history; its own system messages stay. Afterwards the message and the answer, with tool calls and their results, are recorded.
 * Retries and the steps of a tool loop record nothing twice. A memory that fails is reported and passed over.
 */
export function withMemory(memory: Hitherto, { onError = console.error, ...whose }: Whose): LanguageModelMiddleware & Middleware {
  const { user, persona, lane, recipe } = whose;
  const ids = new WeakMap<Message, string>();
  const snapshots = new WeakMap<Message, string>();

  async function tried<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  /** What came in since the last answer: the user's message, or the results of the tools that the last step called. */
  async function recordAsked(prompt: readonly Message[]): Promise<void> {
    const asked = prompt.slice(prompt.findLastIndex(({ role }) => role !== "user" && role !== "tool") + 1);
    const turns = asked.slice(-1).map((message): Turn => {
      // A retry sends the same message again: under the same id it is the same turn.
      const id = ids.get(message) ?? crypto.randomUUID();
      ids.set(message, id);
      const said = message.role === "tool" ? { role: "tool" as const, text: "", parts: returns(message) } : { role: "user" as const, text: textOf(message) };
      return { user, persona, lane, id, ...said };
    });
    if (turns.length > 0) await tried(() => memory.record(turns));
  }

  async function recordAnswer(prompt: readonly Message[], text: string, calls: Part[]): Promise<void> {
    if (text === "" && calls.length === 0) return;
    const [message] = newest(prompt);
    const snapshot = message && snapshots.get(message);
    const parts = calls.length > 0 ? calls : undefined;
    await tried(() => memory.record({ user, persona, lane, role: "assistant", text, parts, snapshot }));
  }

  return {
    async transformParams({ params }) {
      const said = newest(params.prompt);
      const [message] = said;
      if (message?.role !== "user") return params;
      const context = await tried(() => memory.context({ user, persona, lane, recipe, message: textOf(message) }));
      if (context === undefined) return params;
      snapshots.set(message, context.snapshot);
      const own = params.prompt.filter(({ role }) => role === "system");
      return { ...params, prompt: [{ role: "system", content: context.system }, ...own, ...past(context.history), ...said] };
    },

    async wrapGenerate({ doGenerate, params }) {
      const [result] = await Promise.all([doGenerate(), recordAsked(params.prompt)]);
      await recordAnswer(params.prompt, spoken(result.content), calls(result.content));
      return result;
    },

    async wrapStream({ doStream, params }) {
      const [{ stream, ...rest }, _] = await Promise.all([doStream(), recordAsked(params.prompt)]);
      let text = "";
      const parts: Part[] = [];
      let recorded: Promise<void> | undefined;
      const heard = () => (recorded ??= recordAnswer(params.prompt, text, parts));
      const reader = stream.getReader();
      // Not a TransformStream: one does not tell when it is stopped halfway, and what was said until then was said.
      const listening: typeof stream = new ReadableStream({
        async pull(out) {
          const next = await reader.read().catch(async (error: unknown) => {
            await heard();
            throw error;
          });
          if (next.done) {
            await heard();
            return out.close();
          }
          if (next.value.type === "text-delta") text += next.value.delta;
          if (next.value.type === "tool-call") parts.push(call(next.value));
          out.enqueue(next.value);
        },
        async cancel(reason) {
          await Promise.all([reader.cancel(reason), heard()]);
        },
      });
      return { stream: listening, ...rest };
    },
  };
}

/** From the newest user message on: that message alone, or a tool loop under way. */
function newest(prompt: readonly Message[]): Message[] {
  return prompt.slice(prompt.findLastIndex(({ role }) => role === "user"));
}

function textOf(message: Message): string {
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** A context's earlier turns as messages of the SDK; tool calls that were settled long ago are told by what was said after them. */
function past(history: readonly { [name: string]: unknown }[]): Message[] {
  return history.flatMap(({ role, content }): Message[] => {
    if (typeof content !== "string" || content === "") return [];
    if (role === "user") return [{ role: "user", content: [{ type: "text", text: content }] }];
    return role === "assistant" ? [{ role: "assistant", content: [{ type: "text", text: content }] }] : [];
  });
}

function spoken(answer: Answer): string {
  return answer.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

function calls(answer: Answer): Part[] {
  return answer.flatMap((part) => (part.type === "tool-call" ? [call(part)] : []));
}

function call({ toolCallId, toolName, input }: { toolCallId: string; toolName: string; input: string }): Part {
  return { kind: "tool_call", id: toolCallId, name: toolName, args: input };
}

function returns(message: Message & { role: "tool" }): Part[] {
  return message.content.flatMap((part): Part[] => {
    if (part.type !== "tool-result") return [];
    const { output } = part;
    const value = "value" in output ? output.value : (output.type === "execution-denied" && output.reason) || output.type;
    const content = typeof value === "string" ? value : JSON.stringify(value);
    return [{ kind: "tool_return", id: part.toolCallId, name: part.toolName, content }];
  });
}
