"""Calls of one tool for a command with an output of its own."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fumishirube.errors import ConfigError, NotFound, did_you_mean
from fumishirube.faces.cli.exit_codes import OK
from fumishirube.faces.cli.output import print_json
from fumishirube.host.application import Application
from fumishirube.text.folding import nfc
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
        names = dict.fromkeys([*(known.name for known in application.surfaces), surface])
        uses = ", ".join(f"{{use: {use}}}" for use in names)
        raise ConfigError(
            f"no surface offers {name}; write into fumishirube.yaml: surfaces: [{uses}]"
        )
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


def suggest(what: str, word: str, known: Mapping[str, Any] | list[str]) -> NotFound:
    """Return a message about an unknown name, with the nearest one."""
    missing, hint = f"there is no {what} {word[:80]!r}", did_you_mean(nfc(word), known, "")
    return NotFound(f"{missing}; {hint}" if hint else missing)
