"""Calls of tools: ``fumishirube call``, with arguments in JSON, and those of other commands."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from fumishirube.errors import ConfigError, NotFound, ToolError
from fumishirube.faces.cli.exit_codes import FAILURE, OK
from fumishirube.faces.cli.output import print_json
from fumishirube.faces.cli.parser import not_known
from fumishirube.faces.cli.progress import Bar
from fumishirube.faces.cli.workspace import opened
from fumishirube.host.application import Application
from fumishirube.host.surfaces import how_to_offer
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call
from fumishirube.tools.pages import paged


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("tool", metavar="TOOL", help="the tool's name, as 'tools' shows it")
    help_text = "its arguments as a JSON object; - reads them from standard input (default: {})"
    parser.add_argument("arguments", metavar="JSON", nargs="?", default="{}", help=help_text)
    help_text = "print the whole answer as JSON, not as a model reads it"
    parser.add_argument("--json", action="store_true", help=help_text)


def run(options: Namespace) -> int:
    """Call one tool, and print its answer as a model reads it; an error is a line of JSON."""
    arguments = _parsed(options)
    with opened(options) as application, closing(Bar()) as bar:
        try:
            tool = application.tools.get(options.tool)
            if tool is None:
                raise NotFound(not_known("tool", options.tool, application.tools))
            answer = call_tool(paged(tool), arguments, Call(progress=bar.progress))
            if tool.text and not options.json:
                print(tool.text(answer))
            else:
                print_json(answer, compact=True)
        except ToolError as error:
            print_json(error.payload(), compact=True)
            return FAILURE
    return OK


def _parsed(options: Namespace) -> object:
    """Return the parsed arguments; the tool itself checks that they are an object."""
    text = options.arguments
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8-sig", "replace") if sys.stdin else ""
    try:
        parsed: object = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        message = f"{error.msg}, at line {error.lineno} column {error.colno}"
        options.parser.error(f"JSON: {message}; put it in single quotes, or give - and pipe it in")
    except ValueError:
        options.parser.error("JSON: a number in it has too many digits")
    except RecursionError:
        options.parser.error("JSON: it is nested too deeply")
    return parsed


# --- by other commands ------------------------------------------------------------------------


def call_by_name(application: Application, name: str, *, surface: str, **arguments: Any) -> Any:
    """Call a tool with those arguments that are not ``None``, outside any session.

    Tools that a surface offers to the command line alone can be called too.

    Raises:
        ConfigError: when no surface offers the tool; ``surface`` is one that does.
        ToolError: when the tool refuses.
    """
    tool = application.tools.get(name) or application.commands.get(name)
    if tool is None:
        remedy = how_to_offer(surface, application.loaded, application.surfaces)
        raise ConfigError(f"no surface offers {name}; {remedy}")
    present = {key: value for key, value in arguments.items() if value is not None}
    return call_tool(tool, present, Call())


def show(answer: Any, options: Namespace, render: Callable[[Any], Iterator[str]]) -> int:
    """Print an answer as JSON with ``--json``, else with the command's own function."""
    if options.json:
        print_json(answer)
    else:
        for line in render(answer):
            print(line)
    return OK
