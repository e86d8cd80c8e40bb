"""Build the bundle for desktop clients, and the entry for a registry of servers.

    python packaging/build.py [--out DIR] [--url URL]

Writes ``fumishirube-VERSION.mcpb`` and ``server.json``. Names, version, description and licence are
those of ``pyproject.toml``; the tools are those of the code. ``--url`` is where the bundle will be
downloaded from; without it the entry names no package.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from project import PROJECT, as_json, described, tools

CARRIED = ("LICENSE", "README.md", "pyproject.toml", "core", "plugins", "skills")
"""What is in the bundle: all that the project is built from."""
MANIFEST = "manifest.json"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

_TIME = (1980, 1, 1, 0, 0, 0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write both files, and say where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PROJECT / "dist", metavar="DIR")
    parser.add_argument("--url", help="where the bundle will be downloaded from")
    asked = parser.parse_args(arguments)
    told = described()
    asked.out.mkdir(parents=True, exist_ok=True)
    bundle = asked.out / f"{told['name']}-{told['version']}.mcpb"
    packed(bundle, manifest(told, tools()))
    entry = asked.out / "server.json"
    entry.write_text(as_json(server(told, bundle, asked.url)), encoding="utf-8")
    for made in (bundle, entry):
        print(f"{made}: {made.stat().st_size} bytes")


def manifest(told: Mapping[str, Any], offered: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return what a desktop client reads: how to start the server, and what to ask a person."""
    start = ["run", "--directory", "${__dirname}", "--no-dev", "fumishirube", "serve"]
    return {
        "manifest_version": "0.4",
        "name": told["name"],
        "display_name": told["title"],
        "version": told["version"],
        "description": told["description"],
        "author": told["authors"][0],
        "license": told["license"],
        "keywords": told["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "core/fumishirube/__main__.py",
            "mcp_config": {
                "command": "uv",
                "args": [*start, "--workspace", "${user_config.workspace}"],
                "env": {"FUMISHIRUBE_SURFACE_EXTRAS": "${user_config.extras}"},
            },
        },
        "tools": [*offered],
        "user_config": {
            "workspace": {
                "type": "directory",
                "title": "Workspace",
                "description": "The folder that holds 'manuals', a folder for each manual.",
                "required": True,
            },
            "extras": {
                "type": "string",
                "title": "Extra keys of answers",
                "description": "Any of +coverage, +est_tokens, +refers_to, +addressed; or none.",
                "default": "+coverage",
                "required": False,
            },
        },
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": told["requires-python"]},
        },
    }


def server(told: Mapping[str, Any], bundle: Path, url: str | None) -> dict[str, Any]:
    """Return the entry for a registry."""
    entry: dict[str, Any] = {
        "$schema": SCHEMA,
        "name": told["mcp-name"],
        "title": told["title"],
        "description": told["description"],
        "version": told["version"],
    }
    if url:
        digest = hashlib.sha256(bundle.read_bytes()).hexdigest()
        package = {"registryType": "mcpb", "identifier": url, "fileSha256": digest}
        entry["packages"] = [{**package, "transport": {"type": "stdio"}}]
    return entry


def packed(bundle: Path, read_by_clients: Mapping[str, Any]) -> None:
    """Write the bundle; the same files give the same bytes."""
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(_info(MANIFEST), as_json(read_by_clients))
        for file in carried():
            made.writestr(_info(file.relative_to(PROJECT).as_posix()), file.read_bytes())


def carried() -> Iterator[Path]:
    """Yield the files of the project that the bundle holds, sorted: those that git has."""
    done = subprocess.run(  # noqa: S603 - the words are those above
        ["git", "ls-files", "-z", "--", *CARRIED],  # noqa: S607 - wherever git is installed
        cwd=PROJECT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    files = (PROJECT / name for name in done.stdout.split("\0") if name)
    yield from sorted(file for file in files if file.is_file())


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


if __name__ == "__main__":
    main()
