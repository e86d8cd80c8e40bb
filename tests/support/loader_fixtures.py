"""Fixtures that write files for loaders, and load a Markdown text.

A test module asks for them with ``pytest_plugins = ["loader_fixtures"]`` and their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fumishirube import Document, Root, Source
from fumishirube_stages.loaders import Markdown


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], Root]:
    def written(files: Mapping[str, str | bytes]) -> Root:
        for path, content in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return Root(tmp_path)

    return written


Write = Callable[[Mapping[str, str | bytes]], Root]


@pytest.fixture
def markdown(write: Write) -> Callable[[str | bytes], Document]:
    def loaded(content: str | bytes) -> Document:
        root = write({"rules.md": content})
        return Markdown().load(root, Source("rules.md"))

    return loaded


Loaded = Callable[[str | bytes], Document]
