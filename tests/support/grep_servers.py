"""A workspace of files to search for every place, and a server of it.

A test module asks for them with ``pytest_plugins = ["grep_servers"]`` and the fixtures' names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from grep_files import FILES
from manuals import write
from stdio import Fumishirube


@pytest.fixture(scope="session")
def grep_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write(tmp_path_factory.mktemp("grep"), FILES)
    (folder / "outside.md").write_text("5 秒\n", encoding="utf-8")
    (folder / "manuals" / "m" / "link.md").symlink_to(folder / "outside.md")
    return folder


@pytest.fixture(scope="module")
def grep_server(grep_workspace: Path) -> Iterator[Fumishirube]:
    with Fumishirube(grep_workspace) as connected:
        connected.ok("manual_ls")
        yield connected
