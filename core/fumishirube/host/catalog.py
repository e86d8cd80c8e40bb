"""What a server offers its clients: tools, resources and prompts, and the news of a change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeAlias

from fumishirube.model import Tool
from fumishirube.surfaces import Commanding, Desk, Prompting, Readable, Surface
from fumishirube.tools.prompts import Prompt, check_prompt
from fumishirube.tools.resources import Resources, check_resources
from fumishirube.tools.schemas import input_schema, output_schema

Served: TypeAlias = Sequence[tuple[Surface, Desk]]


@dataclass(frozen=True)
class Menu:
    """What is offered at a time; ``instructions`` are told to who comes later than the first."""

    tools: Sequence[Tool[Any, Any]] = ()
    resources: Sequence[Resources] = ()
    prompts: Sequence[Prompt] = ()
    instructions: str = ""

    def looks_like(self, other: Menu) -> bool:
        """Tell whether clients are shown the same; how it is done may differ."""
        return _shown(self) == _shown(other)


class Board:
    """Where the menu of the day hangs. Who watches is told when there is another one."""

    def __init__(self, menu: Menu) -> None:
        self._menu = menu
        self._watching: dict[object, Callable[[], None]] = {}
        self._lock = Lock()

    @property
    def menu(self) -> Menu:
        """What is offered now."""
        return self._menu

    def hang(self, menu: Menu, *, news: bool = True) -> None:
        """Offer something else from now on. Any thread may call this.

        Without ``news`` nobody is told: clients are shown what they know.
        """
        with self._lock:
            self._menu = menu
            watching = [*self._watching.values()] if news else []
        for told in watching:
            told()

    def watch(self, told: Callable[[], None]) -> Callable[[], None]:
        """Have a function called after each change, in the thread that made it; return the end."""
        token = object()
        with self._lock:
            self._watching[token] = told

        def end() -> None:
            with self._lock:
                self._watching.pop(token, None)

        return end


def _shown(menu: Menu) -> Sequence[object]:
    tools = [
        (
            (tool.name, tool.title, tool.summary, [*tool.examples]),
            (tool.read_only, tool.destructive, tool.idempotent),
            (input_schema(tool), output_schema(tool)),
        )
        for tool in menu.tools
    ]
    resources = [(one.scheme, [*one.templates]) for one in menu.resources]
    prompts = [(one.name, one.title, one.summary, [*one.arguments]) for one in menu.prompts]
    return tools, resources, prompts, menu.instructions


def tools_of(served: Served, problems: list[str]) -> dict[str, Tool[Any, Any]]:
    """Return the surfaces' tools by name; what is left out joins the problems."""
    tools: dict[str, Tool[Any, Any]] = {}
    for surface, desk in served:
        for tool in surface.tools(desk):
            if tool.name in tools:
                problems.append(
                    f"tool {tool.name}: left out: another surface offers a tool of this name"
                )
            else:
                tools[tool.name] = tool
    return tools


def commands_of(served: Served) -> dict[str, Tool[Any, Any]]:
    """Return what only the command line and callers in the process are offered, by name."""
    found: dict[str, Tool[Any, Any]] = {}
    for surface, desk in served:
        if isinstance(surface, Commanding):
            for tool in surface.commands(desk):
                found.setdefault(tool.name, tool)
    return found


def resources_of(served: Served, problems: list[str]) -> Sequence[Resources]:
    """Return what can be read by URI, a scheme once; what is left out joins the problems."""
    found: dict[str, Resources] = {}
    for surface, desk in served:
        if isinstance(surface, Readable):
            given = surface.resources(desk)
            faults = [*check_resources(given)]
            if given.scheme in found:
                faults.append("another surface offers resources of this scheme")
            if faults:
                problems.append(f"resources {given.scheme}: left out: {'; '.join(faults)}")
            else:
                found[given.scheme] = given
    return tuple(found.values())


def prompts_of(served: Served, problems: list[str]) -> Sequence[Prompt]:
    """Return the prompts, a name once; what is left out joins the problems."""
    found: dict[str, Prompt] = {}
    for surface, desk in served:
        for prompt in surface.prompts(desk) if isinstance(surface, Prompting) else ():
            faults = [*check_prompt(prompt)]
            if prompt.name in found:
                faults.append("another surface offers a prompt of this name")
            if faults:
                problems.append(f"prompt {prompt.name}: left out: {'; '.join(faults)}")
            else:
                found[prompt.name] = prompt
    return tuple(found.values())
