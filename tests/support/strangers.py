"""Installed plugins made up by a test: a module and the metadata of a distribution in a folder."""

from __future__ import annotations

from pathlib import Path

PLUGIN = """
from fumishirube import Stage, hook

class Plain(Stage):
    def refine(self, ranking, query, corpus):
        return ranking

@hook
def register_refiners(register):
    register("{name}", Plain)
"""


def stranger(
    folder: Path, name: str, code: str, entry: str | None = None, group: str = "fumishirube.v1"
) -> Path:
    """Put an installed distribution with one module into a folder."""
    module = name.replace("-", "_")
    folder.mkdir(exist_ok=True)
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    return claim(folder, name, f"{entry or name} = {module}", group)


def claim(folder: Path, name: str, entry: str, group: str = "fumishirube.v1") -> Path:
    """Put the metadata of a distribution with one entry point into a folder."""
    folder.mkdir(exist_ok=True)
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
    return folder
