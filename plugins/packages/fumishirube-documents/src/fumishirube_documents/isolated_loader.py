"""The base of loaders for foreign formats, whose parsers never run in the server."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import Document, Root, Source, Stage, Unreadable
from fumishirube.disk import OFFICE_LOCKS
from fumishirube.parsing import PageView, Picture, TextCache
from fumishirube_documents.processes import ParseRequest, ParserProcesses

_INSTALLED = ".dist-info"
"""The end of the name of a folder with the metadata of a distribution; before it is its version."""


class IsolatedLoader(Stage):
    """Reads files of some suffixes with a parser in a worker process.

    ``parser`` names it as ``module:function``. The function receives the bytes of a file, the stem
    of its name, and the loader's settings, and returns a document, whose path is ignored, or raises
    ``Unreadable``. It receives no path, and its process is limited to ``parse_seconds`` and
    ``parse_bytes`` of memory; where it gets too little processor time for that, to three times as
    many seconds. Texts that take long, of parts that may return in other files, are cached by
    ``cached_text``.

    Results are cached by the file's content, the settings but ``limits``, ``surroundings``, and
    ``revision``, which is to be raised whenever the parser reads the same file differently. A file
    that was skipped is tried again with other settings, limits included, and other versions of the
    ``distributions``.

    ``drawer`` names a function that draws pages: it receives the bytes, a ``PageView`` instead of
    the name, and the settings, and returns a ``Picture``, within the same limits.
    """

    parser: ClassVar[str]
    drawer: ClassVar[str] = ""
    remembered: ClassVar[bool] = True
    limits: ClassVar[frozenset[str]] = frozenset({"suffixes", "parse_seconds", "parse_bytes"})
    """The settings that decide whether a file is read, but not what is read of it."""
    distributions: ClassVar[tuple[str, ...]] = ()
    """The names of the package with the parser, and of those that it uses."""

    suffixes: tuple[str, ...] = ()
    parse_seconds: Annotated[float, Field(gt=0)] = 60.0
    parse_bytes: Annotated[int, Field(ge=1)] = 2 * 1024**3

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of all settings, the surroundings, and the distributions."""
        return self.fingerprint_with(self.surroundings + _versions(self.distributions))

    @cached_property
    def parsed_fingerprint(self) -> str:
        """The fingerprint of what decides how a file that is read is read."""
        return self.fingerprint_with(self.surroundings, without=self.limits)

    @property
    def surroundings(self) -> str:
        """What outside the settings decides how files are read, such as installed programs."""
        return ""

    def sources(self, root: Root) -> list[Source]:
        """Return every file with one of the suffixes, in any case."""
        endings = tuple(suffix.lower() for suffix in self.suffixes)
        named = [entry for entry in root.files() if entry.name.lower().endswith(endings)]
        paths = [entry.path for entry in named if not entry.name.startswith(OFFICE_LOCKS)]
        return [Source(path) for path in dict.fromkeys(paths)]

    @contextmanager
    def open(self) -> Iterator[ParsedLoader]:
        """Yield a loader whose processes are reused for further files."""
        with closing(ParserProcesses()) as processes:
            yield ParsedLoader(self, processes)

    def load(self, root: Root, source: Source) -> Document:
        """Read a file in a process for it alone.

        Raises:
            Unreadable: when the parser refuses the file, crashes, or exceeds a limit.
        """
        with self.open() as running:
            return running.load(root, source)

    @property
    def request(self) -> ParseRequest:
        """Return the request to a worker."""
        settings = self.model_dump(mode="json", exclude=set(IsolatedLoader.limits))
        return ParseRequest(self.parser, settings, self.parse_seconds, self.parse_bytes)


@dataclass(frozen=True)
class ParsedLoader:
    """The running form of an isolated loader; threads may load several files at a time."""

    isolated: ClassVar[bool] = True

    settings: IsolatedLoader
    processes: ParserProcesses
    texts: TextCache | None = None

    def caching(self, texts: TextCache) -> ParsedLoader:
        """Return this loader, with a cache for texts of parts of files."""
        return replace(self, texts=texts)

    def sources(self, root: Root) -> list[Source]:
        """Return the files that the settings select."""
        return self.settings.sources(root)

    @property
    def draws_pages(self) -> bool:
        """Whether there is a function that draws pages."""
        return bool(self.settings.drawer)

    def picture(self, root: Root, source: Source, view: PageView) -> Picture:
        """Draw a page.

        Raises:
            Unreadable: when it cannot be drawn, or exceeds a limit.
        """
        settings = self.settings
        request = settings.request._replace(
            parser=settings.drawer, seconds=settings.parse_seconds, seconds_of="parse_seconds"
        )
        return self.processes.draw(request, root.read_bytes(source.path), source.path, view)

    def load(self, root: Root, source: Source) -> Document:
        """Read a file.

        Raises:
            Unreadable: when the file is empty, the parser refuses it, crashes, or exceeds a limit.
        """
        data = root.read_bytes(source.path)
        if not data:
            raise Unreadable("the file is empty", "empty", path=source.path)
        return self.processes.parse(self.settings.request, data, source.path, self.texts)


def _versions(distributions: tuple[str, ...]) -> str:
    return "".join(f" {name} {_installed().get(_normal(name), '')}" for name in distributions)


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "_", distribution).lower()


@functools.cache
def _installed() -> Mapping[str, str]:
    """Return the versions of the installed distributions, by their normal names.

    The names of their folders say them; to read their metadata takes many times as long.
    """
    versions: dict[str, str] = {}
    for entry in sys.path:
        with suppress(OSError):  # no folder, such as a ZIP file
            for name in os.listdir(entry or "."):  # noqa: PTH208 - a path for each takes longer
                if name.endswith(_INSTALLED):
                    distribution, _, version = name.removesuffix(_INSTALLED).partition("-")
                    versions.setdefault(_normal(distribution), version)
    return versions
