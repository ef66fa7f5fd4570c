// Four turns with the AI SDK, the second with two tool calls. Arguments: address, key, "responses" or "chat", "whole" or "text"
// (what the client keeps of an answer: all of its messages, or its text alone), "generate" or "stream", "" or "-lowest".
import { z } from "zod";

const [url, apiKey, api, keeps, way, version] = process.argv.slice(2);
const { createOpenAI } = await import(`@ai-sdk/openai${version}`);
const { generateText, stepCountIs, streamText, tool } = await import(`ai${version}`);
const provider = createOpenAI({ baseURL: `${url}/v1`, apiKey });
const model = api === "responses" ? provider("small") : provider.chat("small");
const weather = tool({
  description: "The weather in a city",
  inputSchema: z.object({ city: z.string(), unit: z.string() }),
  execute: async ({ city }) => ({ city, sky: "grey" }),
});
const messages = [];
for (const words of ["one", "weather?", "three", "four"]) {
  messages.push({ role: "user", content: words });
  const asked = { model, messages, tools: { weather }, stopWhen: stepCountIs(4), system: "You are Ahab." };
  const result = way === "stream" ? streamText(asked) : await generateText(asked);
  if (way === "stream") await result.consumeStream();
  const text = await result.text;
  if (keeps === "whole") messages.push(...(await result.response).messages);
  else messages.push({ role: "assistant", content: text });
  console.log(text);
}
