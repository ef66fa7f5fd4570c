// A bot on the terminal that remembers. With a service (`hitherto serve`, which prints a key) and a provider's key:
//   HITHERTO_URL=http://127.0.0.1:8080 HITHERTO_KEY=rck_… OPENAI_API_KEY=sk-… node dist/examples/bot.js ana
import { createInterface } from "node:readline/promises";
import { Hitherto } from "../src/index.js";

const { HITHERTO_URL = "http://127.0.0.1:8080", HITHERTO_KEY = "", OPENAI_API_KEY = "", OPENAI_BASE_URL = "https://api.openai.com/v1", MODEL = "gpt-5-mini" } = process.env;
const memory = new Hitherto({ url: HITHERTO_URL, key: HITHERTO_KEY });
const user = process.argv[2] ?? "ana";
const persona = "nikita";

await memory.definePersona({ id: persona, name: "Nikita", text: "You are Nikita, a warm and curious friend. You answer in a sentence or two." });

async function answer(messages: unknown[]): Promise<string> {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${OPENAI_API_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model: MODEL, messages }),
  });
  if (!response.ok) throw new Error(`the model's provider answered ${response.status}: ${await response.text()}`);
  const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
  return choices[0].message.content;
}

const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: `${user}: ` });
terminal.prompt();
for await (const message of terminal) {
  if (message.trim()) {
    const context = await memory.context({ user, persona, message });
    const text = await answer([{ role: "system", content: context.system }, ...context.messages]);
    await memory.record([
      { user, persona, role: "user", text: message },
      { user, persona, role: "assistant", text, snapshot: context.snapshot },
    ]);
    console.log(`Nikita: ${text}`);
  }
  terminal.prompt();
}
