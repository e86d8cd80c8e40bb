"""The process that reads files for an index: it receives their names, and answers sections."""

from __future__ import annotations

import gc
import marshal
import pickle
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fumishirube.disk.roots import Root
from fumishirube.documents import Document, Source
from fumishirube.engine.indexed_files import read_file
from fumishirube.engine.stage_results import document_fault
from fumishirube.model import Passage
from fumishirube.parsing.worker import Channel
from fumishirube.stages import Loader

_OBJECTS = 50_000
"""The new objects after which garbage is collected."""


class ReadingSetup(NamedTuple):
    """What a process needs to read the files of a manual.

    ``prepare`` makes of a section what the index takes instead of it, if it can.
    """

    root: Root
    loaders: Sequence[Loader]
    prepare: Callable[[Passage], object] | None


def serve(channel: Channel, setup: bytes) -> None:
    """Answer requests until the input ends; the first answer says that the process is ready."""
    reading: ReadingSetup = pickle.loads(setup)  # noqa: S301 - written by the process that began this one
    # Sections make no cycles, and a full look at all objects of the process takes long.
    gc.freeze()
    gc.set_threshold(_OBJECTS)
    gc.enable()
    channel.send(b"")
    while (request := channel.receive()) is not None:
        files = marshal.loads(request)  # noqa: S302 - see above
        channel.send(marshal.dumps([_answer(reading, *file) for file in files]))


def _answer(
    setup: ReadingSetup, loader: int, path: str, governed_by: tuple[str, ...], stamp: str
) -> bytes | None:
    """Return the record and the sections of a file as bytes; ``None`` for one that fails here.

    The process that serves the tools reads that file again, where failures are reported.
    """

    def load() -> Document:
        document = setup.loaders[loader].load(setup.root, Source(path, governed_by))
        if fault := document_fault(document, path):
            raise TypeError(fault)
        return document

    prepare = setup.prepare or tuple
    try:
        page, sections = read_file(load, path, stamp)
        return marshal.dumps((tuple(page), [prepare(section) for section in sections]))
    except Exception:  # loaders raise anything
        return None
