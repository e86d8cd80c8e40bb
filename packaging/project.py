"""What is published of the project: the texts of pyproject.toml, the tools, the skill."""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fumishirube.host.startup import open_application

PROJECT = Path(__file__).parent.parent
SKILL = "skills/fumishirube/SKILL.md"


def described() -> dict[str, Any]:
    """Return what ``pyproject.toml`` says of the project, with the texts for clients."""
    text = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    whole = tomllib.loads(text)
    return {**whole["project"], **whole["tool"]["fumishirube"]}


def tools() -> list[dict[str, str]]:
    """Return the tools that are offered without any settings, each with its first sentence."""
    with tempfile.TemporaryDirectory() as workspace:
        Path(workspace, "manuals").mkdir()
        application = open_application(Path(workspace), strangers=False, environ={})
        try:
            offered = application.tools
        finally:
            application.close()
        return [
            {"name": tool.name, "description": tool.summary.partition(". ")[0].rstrip(".") + "."}
            for tool in offered.values()
        ]


def as_json(value: Mapping[str, Any]) -> str:
    """Return a file of JSON, as clients and people read it."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
