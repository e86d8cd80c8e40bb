"""Deprecations: old names and settings still work for a while, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import NamedTuple

FACADE = "fumishirube"


class Deprecation(DeprecationWarning):
    """A deprecated part of Fumishirube; the message says until when, and what to use instead.

    Mark a function or class with ``typing_extensions.deprecated(message, category=Deprecation)``,
    which type checkers know, and a setting with pydantic's ``Field(deprecated=message)``.
    """


class RenamedExport(NamedTuple):
    """The new name of an export, the version that renamed it, and the one that drops the old."""

    now: str
    since: str
    until: str


RENAMED: Mapping[str, RenamedExport] = {}
"""The former names of the façade that still work."""


def resolve_former_name(name: str) -> object:
    """Return the object of a former name of the façade, with a warning."""
    renamed = RENAMED.get(name)
    if renamed is None:
        raise AttributeError(f"module {FACADE!r} has no attribute {name!r}")
    message = (
        f"{FACADE}.{name} is called {renamed.now} since {renamed.since}; it goes in {renamed.until}"
    )
    warnings.warn(message, Deprecation, stacklevel=3)
    return getattr(import_module(FACADE), renamed.now)


@contextmanager
def collect_deprecations() -> Iterator[list[str]]:
    """Yield a list of deprecation messages of the body, each once. Warnings are shown as usual."""
    messages: list[str] = []
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", Deprecation)
            yield messages
    finally:
        ours = (str(each.message) for each in caught if issubclass(each.category, Deprecation))
        messages += dict.fromkeys(ours)
        for each in caught:
            warnings.showwarning(each.message, each.category, each.filename, each.lineno)
