// The same journey with whatever client: what comes back is one line of JSON.
export async function journey(client, call) {
  const { tools } = await client.listTools();
  const before = await call("manual_toc", { manual_id: "m1" });
  await call("manual_ls", {});
  const found = await call("manual_find", {
    query: "対象外の例外",
    manual_id: "m1",
    required_terms: ["対象外"],
  });
  const refused = await call("manual_read", { ref: { manual_id: "m1", path: "none.md" } });
  const hit = found.structuredContent.inline_hits.items[0];
  const lines = `#L${hit.ref.start_line}-L${hit.end_line}`;
  const cite = `manual://${hit.ref.manual_id}/${hit.ref.path}${lines}${hit.cite}`;
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const cited = await client.readResource({ uri: cite });
  const { prompts } = await client.listPrompts();
  const prompt = await client.getPrompt({
    name: "careful_reading",
    arguments: { question: "誰が対象ですか" },
  });
  const completed = await client.complete({
    ref: { type: "ref/prompt", name: "careful_reading" },
    argument: { name: "manual", value: "m" },
  });
  let missing = null;
  try {
    await client.readResource({ uri: "manual://m1/none.md" });
  } catch (error) {
    missing = error.code;
  }
  process.stdout.write(
    JSON.stringify({
      server: client.getServerVersion()?.name ?? null,
      tools: tools.map((tool) => tool.name),
      before: before.isError === true,
      found: found.structuredContent,
      text: found.content[0].text,
      refused: refused.isError === true,
      cited: cited.contents[0].text,
      uri: cited.contents[0].uri,
      resources: resources.map((one) => one.uri),
      templates: resourceTemplates.map((one) => one.uriTemplate),
      prompts: prompts.map((one) => one.name),
      prompt: prompt.messages[0].content.text,
      values: completed.completion.values,
      missing,
    }) + "\n",
  );
}
