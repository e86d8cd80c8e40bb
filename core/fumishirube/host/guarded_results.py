"""Tools, resources, prompts and surfaces' scorers of plugins: what they return is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from pydantic_core import PydanticSerializationError

from fumishirube.engine.stage_results import checked_ranking
from fumishirube.errors import Cancelled, FumishirubeError, ToolError
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.guarded_stages import GuardedStage, NamedInErrors
from fumishirube.host.offered_types import (
    check_contents,
    check_error,
    check_listed,
    check_question,
    check_text,
    check_texts,
    checking,
)
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.interrupts import is_interrupt
from fumishirube.stages import Scorer
from fumishirube.tools.calls import dumped
from fumishirube.tools.definitions import Call, Tool, check_answer
from fumishirube.tools.resources import Prompt, Resources

T = TypeVar("T")


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

    watched = partial(guard.watched, work, answers=(ToolError,), named=True)
    or_nothing = partial(_or_nothing, guard, work, answers=(ToolError,))
    before, refused, text, question = tool.before, tool.refused, tool.text, tool.question
    return replace(
        tool,
        run=watched("run")(run),
        before=before and watched("before")(before),
        refused=refused and watched("refused")(checking(check_error, refused)),
        text=text and watched("text")(checking(check_text, text)),
        question=question and or_nothing("question", checking(check_question, question), None),
    )


def guarded_resources(resources: Resources, work: ForeignWork, guard: PluginGuard) -> Resources:
    """Return resources whose functions run watched, and whose results are checked."""
    work = work._replace(stage=f"resources {resources.scheme!r}")
    watched = partial(guard.watched, work, answers=(ToolError,), named=True)
    or_nothing, stamp = partial(_or_nothing, guard, work), resources.stamp
    return replace(
        resources,
        listed=or_nothing("listed", checking(check_listed, resources.listed), ()),
        read=watched("read")(checking(check_contents, resources.read)),
        complete=watched("complete")(checking(check_texts, resources.complete)),
        stamp=stamp and or_nothing("stamp", checking(check_text, stamp), "", (ToolError,)),
    )


def _or_nothing(
    guard: PluginGuard,
    work: ForeignWork,
    method: str,
    verb: Callable[..., T],
    nothing: T,
    answers: tuple[type[FumishirubeError], ...] = (),
) -> Callable[..., T]:
    """Return a function that returns what plugin code does, or ``nothing`` if that fails.

    Clients get one list of all surfaces, and one watch over it: a failure, which is recorded, must
    not end the others, nor a call whose question to a person fails.
    """

    def watched(*arguments: Any) -> T:
        try:
            with guard.watched(work, method, answers):
                return verb(*arguments)
        except Cancelled:
            raise
        except BaseException as error:
            if is_interrupt(error) or isinstance(error, answers):
                raise
            return nothing

    return watched


def guarded_prompt(prompt: Prompt, work: ForeignWork, guard: PluginGuard) -> Prompt:
    """Return a prompt whose functions run watched, and whose results are checked."""
    work = work._replace(stage=f"prompt {prompt.name!r}")
    watched = partial(guard.watched, work, answers=(ToolError,), named=True)
    return replace(
        prompt,
        write=watched("write")(checking(check_text, prompt.write)),
        complete=watched("complete")(checking(check_texts, prompt.complete)),
    )


GUARDED_OFFERS: Mapping[type, Callable[[Any, ForeignWork, PluginGuard], Any]] = {
    Tool: guarded_tool,
    Resources: guarded_resources,
    Prompt: guarded_prompt,
}
"""The guards by the kind of what a surface offers."""


class GuardedScorer(NamedInErrors[Scorer]):
    """A scorer of a plugin that a surface calls: no search checks it, or goes on without it."""

    @classmethod
    def of(cls, scorer: Scorer) -> Scorer:
        """Return a running scorer for a surface; one that is not guarded is a built-in."""
        return scorer.guarded_by(cls) if isinstance(scorer, GuardedStage) else scorer

    def _checked(self, method: str, result: Any) -> Any:
        return checked_ranking(result) if method == "score" else super()._checked(method, result)
