"""``fumishirube call`` and ``fumishirube tools``: every tool, as an MCP client sees it."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import Any

from fumishirube.errors import NotFound, ToolError
from fumishirube.faces.cli.output import print_json, table
from fumishirube.faces.cli.parser import Commands, add_json, not_known
from fumishirube.faces.cli.workspace import Bar, opened
from fumishirube.host.calls import call_tool
from fumishirube.tools.definitions import Call, Tool
from fumishirube.tools.schemas import input_schema, output_schema


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = commands.add("call", call, """fumishirube call manual_ls '{"id": "manuals"}'""")
    parser.add_argument("tool", metavar="TOOL", help="the tool's name, as 'tools' shows it")
    help_text = "its arguments as a JSON object; - reads them from standard input (default: {})"
    parser.add_argument("arguments", metavar="JSON", nargs="?", default="{}", help=help_text)
    help_text = "print JSON (it always does)"
    parser.add_argument("--json", action="store_true", default=True, help=help_text)
    parser = commands.add("tools", tools, "fumishirube tools --json")
    add_json(parser)


def call(options: Namespace) -> int:
    """Call one tool, and print its answer or its error, each as one line of JSON."""
    arguments = _parsed(options)
    with opened(options) as application:
        bar = Bar()
        try:
            tool = application.tools.get(options.tool)
            if tool is None:
                raise NotFound(not_known("tool", options.tool, application.tools))
            print_json(call_tool(tool, arguments, Call(progress=bar.progress)), compact=True)
        except ToolError as error:
            print_json(error.payload(), compact=True)
            return 1
        finally:
            bar.close()
    return 0


def tools(options: Namespace) -> int:
    """List the tools, and print the schemas of their arguments and answers if asked for JSON."""
    with opened(options) as application:
        application.drop_faulty_tools()
        offered = list(application.tools.values())
    if options.json:
        print_json([_described(tool) for tool in offered])
    else:
        rows = [(tool.name, tool.title, _first_sentence(tool.summary)) for tool in offered]
        for line in table(rows):
            print(line)
    return 0


def _parsed(options: Namespace) -> object:
    """Return the arguments; that they are an object is for the tool to say."""
    text = options.arguments
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8-sig", "replace") if sys.stdin else ""
    try:
        parsed: object = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        message = f"{error.msg}, at line {error.lineno} column {error.colno}"
        options.parser.error(f"JSON: {message}; put it in single quotes, or give - and pipe it in")
    except RecursionError:
        options.parser.error("JSON: it is nested too deeply")
    return parsed


def _described(tool: Tool[Any, Any]) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.summary,
        "input_schema": input_schema(tool),
        "output_schema": output_schema(tool),
    }


def _first_sentence(text: str) -> str:
    first = " ".join(text.split()).partition(". ")[0]
    return first if first.endswith(".") else f"{first}."
