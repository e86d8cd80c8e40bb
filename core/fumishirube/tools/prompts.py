"""Prompts: instructions for the agent, which a person chooses and fills in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fumishirube.tools.resources import Completer, no_values

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class PromptParameter(NamedTuple):
    """A parameter of a prompt."""

    name: str
    summary: str
    required: bool = True


@dataclass(frozen=True)
class Prompt:
    """A prompt. ``write`` receives the arguments, and returns the text for the agent.

    It is called only with all required arguments and no unknown ones, and may raise a
    ``ToolError``. ``complete`` proposes values of an argument.
    """

    name: str
    title: str
    summary: str
    write: Callable[[Mapping[str, str]], str]
    arguments: Sequence[PromptParameter] = ()
    complete: Completer = no_values


def check_prompt(prompt: Prompt) -> Iterator[str]:
    """Yield why a prompt cannot be offered, as sentences."""
    if not _NAME.fullmatch(prompt.name):
        yield f"the name {prompt.name!r} does not match {_NAME.pattern}"
    for what in ("title", "summary"):
        if not str(getattr(prompt, what)).strip():
            yield f"it has no {what}"
    names = [argument.name for argument in prompt.arguments]
    for name in names:
        if not _NAME.fullmatch(name) or names.count(name) > 1:
            yield f"the argument {name!r} is no name, or is there twice"
