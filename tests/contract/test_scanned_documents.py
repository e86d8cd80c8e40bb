"""A loader of any plugin may say that its documents are read by scanning only."""

from __future__ import annotations

from pathlib import Path

from manuals import write
from stdio import Wire

PLUGIN = """
from fumishirube import Document, Section, Source, Stage, hook


class Settings(Stage):
    def sources(self, root):
        return [Source(one.path) for one in root.files() if one.path.endswith(".ini")]

    def load(self, root, source):
        text = root.read_bytes(source.path).decode()
        section = Section(source.path, 1, text.count("\\n"), 0, len(text), len(text), 0)
        return Document(source.path, "ini", text, (section,), scan_only=True)


@hook
def register_loaders(register):
    register("settings", Settings)
"""
YAML = """
surfaces: [{use: manual}]
pipelines: {manual: {loaders: [{use: markdown}, {use: json}, {use: settings}]}}
"""


def test_it_is_found_and_scanned_but_not_read(tmp_path: Path) -> None:
    plugins, info = tmp_path / "plugins", tmp_path / "plugins" / "settings-1.0.dist-info"
    info.mkdir(parents=True)
    (plugins / "settings_loader.py").write_text(PLUGIN, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: settings\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fumishirube.v1]\nsettings = settings_loader\n")
    files = {
        "m/a.ini": "[zebra]\nstripes = 40\n",
        "m/b.json": '{"zebra": 1}',
        "m/c.md": "# zebra\nIt has stripes.\n",
    }
    workspace = write(tmp_path / "work", files)
    (workspace / "fumishirube.yaml").write_text(YAML, encoding="utf-8")
    with Wire(workspace, PYTHONPATH=str(plugins)) as server:
        server.ok("manual_ls")
        found = server.ok("manual_find", query="zebra", manual_id="m", required_terms=["zebra"])
        assert found["candidates"] == 3
        for path, kind in (("a.ini", "INI"), ("b.json", "JSON")):
            ref = {"manual_id": "m", "path": path, "start_line": 1}
            error = server.refused("manual_read", ref=ref)
            assert error["code"] == "invalid_scope"
            assert error["message"].endswith(f"use manual_scan for {kind}")
            assert "zebra" in server.ok("manual_scan", manual_id="m", path=path)["text"]
        ref = {"manual_id": "m", "path": "c.md", "start_line": 1}
        assert server.ok("manual_read", ref=ref)["text"] == "# zebra\nIt has stripes.\n"
