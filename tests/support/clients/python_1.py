"""The Python SDK, version 1: python_1.py http URL | stdio COMMAND ARGUMENT..."""

import asyncio
import json
import sys

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import PromptReference
from pydantic import AnyUrl

KIND, COMMAND, *ARGS = sys.argv[1:]


def connected():
    if KIND == "http":
        return streamablehttp_client(COMMAND)
    return stdio_client(StdioServerParameters(command=COMMAND, args=ARGS))


async def main() -> None:
    async with connected() as (read, write, *_), ClientSession(read, write) as session:
        server = await session.initialize()
        tools = (await session.list_tools()).tools
        before = await session.call_tool("manual_toc", {"manual_id": "m1"})
        await session.call_tool("manual_ls", {})
        asked = {"query": "対象外の例外", "manual_id": "m1", "required_terms": ["対象外"]}
        found = await session.call_tool("manual_find", asked)
        wrong = {"ref": {"manual_id": "m1", "path": "none.md"}}
        refused = await session.call_tool("manual_read", wrong)
        hit = found.structuredContent["inline_hits"]["items"][0]
        ref = hit["ref"]
        lines = f"#L{ref['start_line']}-L{hit['end_line']}"
        cite = f"manual://{ref['manual_id']}/{ref['path']}{lines}{hit['cite']}"
        resources = (await session.list_resources()).resources
        templates = (await session.list_resource_templates()).resourceTemplates
        (cited,) = (await session.read_resource(AnyUrl(cite))).contents
        prompts = (await session.list_prompts()).prompts
        prompt = await session.get_prompt("careful_reading", {"question": "誰が対象ですか"})
        ref = PromptReference(type="ref/prompt", name="careful_reading")
        completed = await session.complete(ref, {"name": "manual", "value": "m"})
        missing = None
        try:
            await session.read_resource(AnyUrl("manual://m1/none.md"))
        except McpError as error:
            missing = error.error.code
        told = {
            "server": server.serverInfo.name,
            "tools": [tool.name for tool in tools],
            "before": before.isError,
            "found": found.structuredContent,
            "text": found.content[0].text,
            "refused": refused.isError,
            "cited": cited.text,
            "uri": str(cited.uri),
            "resources": [str(one.uri) for one in resources],
            "templates": [one.uriTemplate for one in templates],
            "prompts": [one.name for one in prompts],
            "prompt": prompt.messages[0].content.text,
            "values": completed.completion.values,
            "missing": missing,
        }
        print(json.dumps(told))


asyncio.run(main())
