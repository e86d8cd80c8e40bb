"""Prompts: ways to work that a person may choose, written out for the agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fumishirube.tools.resources import Completer, no_values

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class PromptParameter(NamedTuple):
    """What a prompt has to be told."""

    name: str
    summary: str
    required: bool = True


@dataclass(frozen=True)
class Prompt:
    """A way to work. ``write`` is given the arguments, and returns what the agent is told.

    It is called only when all required arguments are there, and no unknown ones, and may raise a
    ``ToolError``. ``complete`` proposes values of an argument.
    """

    name: str
    title: str
    summary: str
    write: Callable[[Mapping[str, str]], str]
    arguments: Sequence[PromptParameter] = ()
    complete: Completer = no_values


def check_prompt(prompt: Prompt) -> Iterator[str]:
    """Yield what keeps a prompt from being offered, as sentences."""
    if not _NAME.fullmatch(prompt.name):
        yield f"the name {prompt.name!r} does not match {_NAME.pattern}"
    for what in ("title", "summary"):
        if not str(getattr(prompt, what)).strip():
            yield f"it has no {what}"
    names = [argument.name for argument in prompt.arguments]
    for name in names:
        if not _NAME.fullmatch(name) or names.count(name) > 1:
            yield f"the argument {name!r} is no name, or is there twice"
