"""What is on its way out: it goes on working for a while, and whoever uses it is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import NamedTuple, TextIO

FACADE = "fumishirube"


class Deprecation(DeprecationWarning):
    """Something of Fumishirube's that will go; the message says when, and what to use instead.

    A function or class is marked with ``typing_extensions.deprecated(told, category=Deprecation)``,
    which type checkers know, and a setting with pydantic's ``Field(deprecated=told)``.
    """


class RenamedExport(NamedTuple):
    """What a name of the façade is called now, since which version, and when the old one goes."""

    now: str
    since: str
    until: str


RENAMED: Mapping[str, RenamedExport] = {}
"""The old names of the façade that still work."""


def resolve_former_name(name: str) -> object:
    """Return what an old name of the façade stands for, and warn whoever asks for it.

    Raises:
        AttributeError: when it is no old name either.
    """
    renamed = RENAMED.get(name)
    if renamed is None:
        raise AttributeError(f"module {FACADE!r} has no attribute {name!r}")
    message = (
        f"{FACADE}.{name} is called {renamed.now} since {renamed.since}; it goes in {renamed.until}"
    )
    warnings.warn(message, Deprecation, stacklevel=2)
    return getattr(import_module(FACADE), renamed.now)


@contextmanager
def collect_deprecations() -> Iterator[list[str]]:
    """Give what is said of deprecated things meanwhile, each once. All warnings go their way."""
    messages: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", Deprecation)
        show = warnings.showwarning

        def heard(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, Deprecation) and str(message) not in messages:
                messages.append(str(message))
            show(message, category, filename, lineno, file, line)

        warnings.showwarning = heard
        yield messages
