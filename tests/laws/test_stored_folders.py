"""Folders whose files a store has are read as those on the disk are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fumishirube import Root
from fumishirube.disk import StoredFile
from fumishirube.disk.stored import StoredRoot
from fumishirube.disk.survey import RootLimits

FILES = ("oil.md", "pump/parts/seal.md", "pump/start.md")


class Store:
    """Files whose bytes are their paths."""

    def files(self) -> Mapping[str, StoredFile]:
        return {path: StoredFile(path, len(path), 1, "") for path in FILES}

    def read(self, path: str) -> bytes:
        return path.encode()


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Root, Root]:
    """Return a manual in a store, and the same one on the disk."""
    for path in FILES:
        file = tmp_path / "m" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path, encoding="utf-8")
    return StoredRoot(tmp_path, RootLimits(), "m", store=Store()), Root(tmp_path).child("m")


@pytest.mark.parametrize("folder", ["", "pump", "pump/parts"])
def test_a_folder_inside_has_the_files_below_it(roots: tuple[Root, Root], folder: str) -> None:
    stored, on_disk = (root.child(folder) for root in roots)
    paths = [entry.path for entry in on_disk.survey().files]
    assert paths
    assert [entry.path for entry in stored.survey().files] == paths
    for path in paths:
        assert stored.read_bytes(path) == on_disk.read_bytes(path)
