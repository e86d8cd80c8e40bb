"""Isolated loaders that keep their processes from test to test, and what they read."""

from __future__ import annotations

import atexit
import functools
from pathlib import Path

from fumishirube_documents.isolated_loader import IsolatedLoader, ParsedLoader

from fumishirube import Document, Loader, Root, Source
from fumishirube.testing import LoaderContract
from fumishirube.text import Lines


@functools.cache
def running(stage: IsolatedLoader) -> ParsedLoader:
    """Return a loader at work, until the tests end."""
    context = stage.open()
    atexit.register(context.__exit__, None, None, None)
    return context.__enter__()


def load(folder: Path, name: str, data: bytes, stage: IsolatedLoader) -> Document:
    """Write a file, and return what a loader reads of it."""
    (folder / name).write_bytes(data)
    return running(stage).load(Root(folder), Source(name))


def line_of(document: Document, text: str) -> int:
    """Return the line in which a text first begins."""
    return Lines(document.text).at(document.text.index(text))


class RunningContract(LoaderContract):
    """The contract of loaders, for one whose processes stay."""

    stage: IsolatedLoader

    def make(self) -> ParsedLoader:
        """Return the loader at work."""
        return running(self.stage)

    def use(self, stage: Loader, folder: Path) -> None:
        """Use the loader at work, also where its settings are looked at."""
        super().use(running(stage) if isinstance(stage, IsolatedLoader) else stage, folder)

    def test_use_does_not_change_it(self, tmp_path: Path) -> None:
        """The settings are the same after they were at work."""
        before = self.stage.model_copy(deep=True)
        self.use(self.stage, tmp_path / "own")
        assert self.stage == before

    def settings(self) -> IsolatedLoader:
        """Return the loader as what holds its settings."""
        return self.stage
