"""Small folders of documents, and short ways to ask about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manuals import Done, fumishirube

from fumishirube.config.pipelines import Use
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call

INSTALL = "# Install\n\nRun the setup.\n"
SEARCH = """---
title: Search design
doc_type: design
source_refs: [src/search.py]
---
# Search design

## Ranking

設計 uses [[install|depends_on]] and [[roadmap]].
"""
PAIR = {"guide/install.md": INSTALL, "design/search.md": SEARCH}


def documents(workspace: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below ``docs``, and return the workspace."""
    for name, content in files.items():
        path = workspace / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    (workspace / "docs").mkdir(exist_ok=True)
    return workspace


def graph(workspace: Path, **settings: Any) -> Application:
    """Open the surface alone, in this process."""
    use = Use.model_validate({"use": "graph", "with": settings})
    return open_application(workspace, strangers=False, environ={}, only=use)


def call_named(application: Application, name: str, **arguments: Any) -> Any:
    """Call a tool, or a command of that name."""
    tool = application.tools.get(name) or application.commands[name]
    return call_tool(tool, arguments, Call())


def docs(*words: str, cwd: Path) -> Done:
    """Run one of the commands over documents."""
    return fumishirube("docs", *words, cwd=cwd)


def docs_json(*words: str, cwd: Path) -> Any:
    """Run one of the commands for its JSON."""
    return json.loads(docs(*words, "--json", cwd=cwd).out)
