"""The skill file names only what the tools have, is short, and comes with the wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from manuals import RULES, opened, write

from fumishirube.tools.schemas import input_schema, output_schema
from fumishirube_manual.diagnosis import CutoffReason, Status
from fumishirube_manual.surface import Extra
from fumishirube_manual.tools.hits import Kind

PROJECT = Path(__file__).parents[2]
SKILL = PROJECT / "skills" / "fumishirube" / "SKILL.md"
PLACE = "share/fumishirube/skills/fumishirube/SKILL.md"
WORDS = 500
ROWS = {"ref"}
"""Keys of rows, which a schema leaves open."""


def words(text: str) -> set[str]:
    return set(re.findall(r"`([a-z_]+)`", text))


def properties(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        schema = [*schema.values()]
    for part in schema if isinstance(schema, list) else ():
        yield from properties(part)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    workspace = write(tmp_path_factory.mktemp("skill"), {"m1/rules.md": RULES})
    tools = opened(workspace).tools
    told = {*tools, *ROWS}
    for tool in tools.values():
        told.update(properties(input_schema(tool)), properties(output_schema(tool)))
    return told.union(*map(get_args, (Status, CutoffReason, Kind, Extra)))


def test_the_skill_names_only_what_there_is(known: set[str]) -> None:
    named = words(SKILL.read_text(encoding="utf-8"))
    assert {"manual_ls", "manual_find", "manual_hits", "manual_read", "manual_scan"} <= named
    assert set(get_args(Status)) <= named
    assert named <= known
    assert not words("`manual_seek`") <= known


def test_the_skill_is_short_and_says_when_it_is_of_use() -> None:
    text = SKILL.read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    told = yaml.safe_load(front)
    assert told.keys() == {"name", "description"}
    assert told["name"] == SKILL.parent.name
    assert 0 < len(told["description"]) <= 1024
    assert len(body.split()) <= WORDS


@pytest.mark.slow
def test_the_skill_comes_with_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        held = packed.read(f"{wheel.stem.split('-py')[0]}.data/data/{PLACE}")
    assert held == SKILL.read_bytes()
