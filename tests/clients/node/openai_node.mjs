// OpenAI's own client for Node. Arguments: address, key, "" or "-lowest".
const [url, apiKey, version] = process.argv.slice(2);
const { default: OpenAI } = await import(`openai${version}`);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
const messages = [];
for (const words of ["one", "weather?"]) {
  messages.push({ role: "user", content: words });
  for (;;) {
    const answer = await client.chat.completions.create({ model: "small", messages });
    const { message } = answer.choices[0];
    messages.push(message);
    if (!message.tool_calls) break;
    for (const call of message.tool_calls) {
      call.function.arguments = JSON.stringify(JSON.parse(call.function.arguments));
      messages.push({ role: "tool", tool_call_id: call.id, content: "grey" });
    }
  }
  console.log(messages.at(-1).content);
}
const stream = await client.chat.completions.create({
  model: "small",
  messages: [...messages, { role: "user", content: "three" }],
  stream: true,
});
let said = "";
for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? "";
console.log(said);
const response = await client.responses.create({ model: "small", input: "four" });
console.log(response.output_text);
const kept = await client.responses.retrieve(response.id);
if (kept.id !== response.id) throw new Error("another response");
await client.embeddings.create({ model: "small", input: "x", encoding_format: "float" });
try {
  await client.files.list();
} catch (error) {
  if (!(error instanceof OpenAI.NotFoundError) || error.code !== "not_found") throw error;
}
