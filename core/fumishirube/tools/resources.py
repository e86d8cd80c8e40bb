"""Resources, which clients read by URI; prompts, which a person chooses and fills in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from fumishirube.tools.definitions import Call

Completer: TypeAlias = Callable[[str, str, Mapping[str, str]], Iterable[str]]
"""Proposes values of an argument, given its typed beginning and the other arguments."""

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_PROMPT_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class Resource(NamedTuple):
    """A resource as it is listed; ``name`` is for people."""

    uri: str
    name: str
    mime: str = "text/plain"


class Template(NamedTuple):
    """A URI template (RFC 6570), whose variables can be completed."""

    uri: str
    name: str
    title: str
    summary: str
    mime: str | None = None


class Content(NamedTuple):
    """The content of a resource or of a part of it, text or bytes, with its URI."""

    uri: str
    body: str | bytes
    mime: str = "text/plain"


def no_values(_argument: str, _typed: str, _others: Mapping[str, str]) -> Iterable[str]:
    """Propose nothing."""
    return ()


@dataclass(frozen=True)
class Resources:
    """The resources of one URI scheme.

    ``listed`` returns all, in any order. ``read`` returns what a URI names, in one part or several,
    or raises a ``ToolError``. ``complete`` proposes values of the templates' variables. ``stamp``
    returns what changes with the content of a URI, or raises as ``read`` does; without it, clients
    cannot subscribe. All may be called from several threads.
    """

    scheme: str
    listed: Callable[[], Iterable[Resource]]
    read: Callable[[str, Call], Sequence[Content]]
    templates: Sequence[Template] = ()
    complete: Completer = no_values
    stamp: Callable[[str], str] | None = None


def check_resources(resources: Resources) -> Iterator[str]:
    """Yield why resources cannot be offered, as sentences."""
    if not _SCHEME.fullmatch(resources.scheme):
        yield f"the scheme {resources.scheme!r} does not match {_SCHEME.pattern}"
    for template in resources.templates:
        if not template.uri.startswith(f"{resources.scheme}:"):
            yield f"the template {template.uri!r} is of another scheme"
        if not (template.name.strip() and template.title.strip() and template.summary.strip()):
            yield f"the template {template.uri!r} has no name, title or summary"


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
    if not _PROMPT_NAME.fullmatch(prompt.name):
        yield f"the name {prompt.name!r} does not match {_PROMPT_NAME.pattern}"
    for what in ("title", "summary"):
        if not str(getattr(prompt, what)).strip():
            yield f"it has no {what}"
    names = [argument.name for argument in prompt.arguments]
    for name in names:
        if not _PROMPT_NAME.fullmatch(name) or names.count(name) > 1:
            yield f"the argument {name!r} is no name, or is there twice"
