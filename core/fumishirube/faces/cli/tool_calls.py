"""Calls of a tool by a command that prints the answer in its own way."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

from fumishirube.errors import ConfigError
from fumishirube.faces.cli.exit_codes import OK
from fumishirube.faces.cli.output import print_json
from fumishirube.host.application import Application
from fumishirube.host.surfaces import how_to_offer
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call


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
