"""What the engine offers to a loader at work: a cache of texts, and reports of pages read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol


class TextCache(Protocol):
    """Stores texts by keys, beside the documents of ``remembered`` loaders; threads may share it.

    Where one of these has ``caching(texts)``, the loader that this returns is used instead.
    """

    def text(self, key: str) -> str | None:
        """Return a stored text, or ``None``."""
        ...

    def put_text(self, key: str, text: str) -> None:
        """Store a text, if possible."""
        ...


class PagesRead(NamedTuple):
    """How many pages of a file are read, of how many."""

    done: int
    total: int


PageReporter = Callable[[PagesRead], None]
_REPORTER: ContextVar[PageReporter | None] = ContextVar("_REPORTER", default=None)


def report_pages(done: int, total: int) -> None:
    """Report how many pages of the file are read that this thread loads, of how many.

    A loader may call this after each page; progress and notes on slow files then say so.
    """
    reporter = _REPORTER.get()
    if reporter is not None:
        reporter(PagesRead(done, total))


@contextmanager
def reporting_pages(reporter: PageReporter) -> Iterator[None]:
    """Call ``reporter`` with the pages of files that this thread loads."""
    token = _REPORTER.set(reporter)
    try:
        yield
    finally:
        _REPORTER.reset(token)
