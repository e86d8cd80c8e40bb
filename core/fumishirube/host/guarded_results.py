"""Tools, resources and prompts of plugins: watched, and what they return checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic_core import PydanticSerializationError

from fumishirube.errors import ToolError
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.offered_types import check_result
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.tools.calls import dumped
from fumishirube.tools.definitions import Call, Tool, check_answer
from fumishirube.tools.resources import Prompt, Resources


def guarded_tool(tool: Tool[Any, Any], work: ForeignWork, guard: PluginGuard) -> Tool[Any, Any]:
    """Return a tool whose functions run watched, and whose answers are checked."""
    work = work._replace(stage=f"tool {tool.name!r}")

    def run(params: Any, call: Call) -> Any:
        answer = tool.run(params, call)
        check_answer(tool, answer)
        try:
            dumped(answer)  # here, so that values that do not fit are a fault of the plugin
        except PydanticSerializationError as error:
            raise TypeError(" ".join(str(error).split())) from error
        return answer

    watched = partial(_watched, tool, work, guard)
    return replace(
        tool,
        run=guard.watched(work, "run", (ToolError,), named=True)(run),
        before=watched("before"),
        refused=watched("refused"),
        text=watched("text"),
        question=_or_nothing(tool, work, guard, "question", None, (ToolError,)),
    )


def guarded_resources(resources: Resources, work: ForeignWork, guard: PluginGuard) -> Resources:
    """Return resources whose functions run watched, and whose results are checked."""
    work = work._replace(stage=f"resources {resources.scheme!r}")
    watched = partial(_watched, resources, work, guard)
    return replace(
        resources,
        listed=_or_nothing(resources, work, guard, "listed", (), ()),
        read=watched("read"),
        complete=watched("complete"),
        stamp=_or_nothing(resources, work, guard, "stamp", "", (ToolError,)),
    )


def guarded_prompt(prompt: Prompt, work: ForeignWork, guard: PluginGuard) -> Prompt:
    """Return a prompt whose functions run watched, and whose results are checked."""
    work = work._replace(stage=f"prompt {prompt.name!r}")
    watched = partial(_watched, prompt, work, guard)
    return replace(prompt, write=watched("write"), complete=watched("complete"))


def _watched(offer: object, work: ForeignWork, guard: PluginGuard, name: str) -> Any:
    """Return a function of an offer, if it has it: watched, and its result checked."""
    function = getattr(offer, name)
    checked = partial(_checked, type(offer), name, function)
    return function and guard.watched(work, name, (ToolError,), named=True)(checked)


def _or_nothing(
    offer: object,
    work: ForeignWork,
    guard: PluginGuard,
    name: str,
    nothing: object,
    answers: tuple[type[ToolError], ...],
) -> Any:
    """Return a function that returns nothing if that of an offer fails, which is recorded.

    Clients get one list of all surfaces, and one watch over it: a failure must not end the others,
    nor a call whose question to a person fails.
    """
    function = getattr(offer, name)

    def attempted(*arguments: Any) -> Any:
        call = partial(_checked, type(offer), name, function, *arguments)
        return guard.attempt(work, name, call, nothing, answers)

    return function and attempted


def _checked(kind: type, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    return check_result(kind, name, function(*arguments))
