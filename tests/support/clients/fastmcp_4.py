"""The client of fastmcp: fastmcp_4.py http URL | stdio COMMAND ARGUMENT..."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp import MCPError
from mcp_types import PromptReference

KIND, COMMAND, *ARGS = sys.argv[1:]


async def main() -> None:
    where = COMMAND if KIND == "http" else StdioTransport(COMMAND, ARGS)
    async with Client(where) as client:
        tools = await client.list_tools()
        before = await client.call_tool_mcp("manual_toc", {"manual_id": "m1"})
        await client.call_tool_mcp("manual_ls", {})
        asked = {"query": "対象外の例外", "manual_id": "m1", "required_terms": ["対象外"]}
        found = await client.call_tool_mcp("manual_find", asked)
        wrong = {"ref": {"manual_id": "m1", "path": "none.md"}}
        refused = await client.call_tool_mcp("manual_read", wrong)
        hit = found.structured_content["inline_hits"]["items"][0]
        ref = hit["ref"]
        lines = f"#L{ref['start_line']}-L{hit['end_line']}"
        cite = f"manual://{ref['manual_id']}/{ref['path']}{lines}{hit['cite']}"
        resources = await client.list_resources()
        templates = await client.list_resource_templates()
        (cited,) = await client.read_resource(cite)
        prompts = await client.list_prompts()
        prompt = await client.get_prompt("careful_reading", {"question": "誰が対象ですか"})
        ref = PromptReference(name="careful_reading")
        completed = await client.complete(ref, {"name": "manual", "value": "m"})
        missing = None
        try:
            await client.read_resource("manual://m1/none.md")
        except MCPError as error:
            missing = error.code
        told = {
            "server": "fumishirube",
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
            "values": completed.values,
            "missing": missing,
        }
        print(json.dumps(told))


asyncio.run(main())
