"""The Python SDK, version 2: python_2.py http URL | stdio COMMAND ARGUMENT..."""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

KIND, COMMAND, *ARGS = sys.argv[1:]


def connected() -> Client:
    if KIND == "http":
        return Client(COMMAND)
    return Client(stdio_client(StdioServerParameters(command=COMMAND, args=ARGS)))


async def main() -> None:
    async with connected() as client:
        tools = (await client.list_tools()).tools
        before = await client.call_tool("manual_toc", {"manual_id": "m1"})
        await client.call_tool("manual_ls", {})
        asked = {"query": "対象外の例外", "manual_id": "m1", "required_terms": ["対象外"]}
        found = await client.call_tool("manual_find", asked)
        wrong = {"ref": {"manual_id": "m1", "path": "none.md"}}
        refused = await client.call_tool("manual_read", wrong)
        hit = found.structured_content["inline_hits"]["items"][0]
        ref = hit["ref"]
        lines = f"#L{ref['start_line']}-L{hit['end_line']}"
        cite = f"manual://{ref['manual_id']}/{ref['path']}{lines}{hit['cite']}"
        resources = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        (cited,) = (await client.read_resource(cite)).contents
        prompts = (await client.list_prompts()).prompts
        prompt = await client.get_prompt("careful_reading", {"question": "誰が対象ですか"})
        ref = {"type": "ref/prompt", "name": "careful_reading"}
        completed = await client.complete(ref, {"name": "manual", "value": "m"})
        missing = None
        try:
            await client.read_resource("manual://m1/none.md")
        except MCPError as error:
            missing = error.code
        told = {
            "server": client.server_info.name,
            "tools": [tool.name for tool in tools],
            "before": before.is_error,
            "found": found.structured_content,
            "text": found.content[0].text,
            "refused": refused.is_error,
            "cited": cited.text,
            "uri": str(cited.uri),
            "resources": [str(one.uri) for one in resources],
            "templates": [one.uri_template for one in templates],
            "prompts": [one.name for one in prompts],
            "prompt": prompt.messages[0].content.text,
            "values": completed.completion.values,
            "missing": missing,
        }
        print(json.dumps(told))


asyncio.run(main())
