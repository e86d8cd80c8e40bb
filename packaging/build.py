"""Build the bundle for desktop clients, and the entry for a registry of servers.

    python packaging/build.py [--out DIR] [--url URL]

Writes ``fumishirube-VERSION.mcpb`` and ``server.json``. Names, version, description and licence are
those of ``pyproject.toml``; the tools are those of the code. ``--url`` is where the bundle will be
downloaded from; without it the entry names no package.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fumishirube.host.startup import open_application

PROJECT = Path(__file__).parent.parent
CARRIED = ("LICENSE", "README.md", "pyproject.toml", "core", "plugins", "skills")
"""What is in the bundle: all that the project is built from."""
MANIFEST = "manifest.json"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

_UNCARRIED = {"__pycache__"}
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
    entry.write_text(_json(server(told, bundle, asked.url)), encoding="utf-8")
    for made in (bundle, entry):
        print(f"{made}: {made.stat().st_size} bytes")


def described() -> dict[str, Any]:
    """Return what ``pyproject.toml`` says of the project, with its name for registries."""
    text = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    whole = tomllib.loads(text)
    return {**whole["project"], "registered": whole["tool"]["fumishirube"]["mcp-name"]}


def tools() -> list[dict[str, str]]:
    """Return the tools that are offered without any settings, each with its first sentence."""
    with tempfile.TemporaryDirectory() as workspace:
        Path(workspace, "manuals").mkdir()
        offered = open_application(Path(workspace), strangers=False, environ={}).tools
        return [
            {"name": tool.name, "description": tool.summary.partition(". ")[0].rstrip(".") + "."}
            for tool in offered.values()
        ]


def manifest(told: Mapping[str, Any], offered: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return what a desktop client reads: how to start the server, and what to ask a person."""
    start = ["run", "--directory", "${__dirname}", "--no-dev", "fumishirube", "serve"]
    return {
        "manifest_version": "0.4",
        "name": told["name"],
        "display_name": "Fumishirube",
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
                "description": "Any of coverage, cite, est_tokens, refers_to, addressed; or none.",
                "default": "coverage,cite",
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
        "name": told["registered"],
        "title": "Fumishirube",
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
        made.writestr(_info(MANIFEST), _json(read_by_clients))
        for file in carried():
            made.writestr(_info(file.relative_to(PROJECT).as_posix()), file.read_bytes())


def carried() -> Iterator[Path]:
    """Yield the files of the project that the bundle holds, sorted."""
    for name in CARRIED:
        place = PROJECT / name
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if file.is_file() and not _UNCARRIED.intersection(file.parts):
                yield file


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    main()
