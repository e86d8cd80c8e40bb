"""``fumishirube tools``: list every tool, as MCP clients see it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from fumishirube.faces.cli.exit_codes import OK
from fumishirube.faces.cli.output import print_json, table
from fumishirube.faces.cli.parser import add_json
from fumishirube.faces.cli.workspace import opened
from fumishirube.tools.definitions import Tool
from fumishirube.tools.schemas import input_schema, output_schema


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    add_json(parser)


def run(options: Namespace) -> int:
    """List the tools; with ``--json``, print the schemas of their arguments and answers."""
    with opened(options) as application:
        offered = application.drop_faulty_tools().listed
    if options.json:
        print_json([_described(tool) for tool in offered])
    else:
        rows = [(tool.name, tool.title, _first_sentence(tool.summary)) for tool in offered]
        for line in table(rows):
            print(line)
    return OK


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
