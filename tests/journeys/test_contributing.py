"""The guide for contributors is true: its package is built from its own words, and works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fumishirube.plugins.registry import KINDS

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

_TEST = "tests/test_fumishirube_recent.py"
_BLOCK = re.compile(r"^ *```(?P<kind>\w+)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    found = [block for block in _BLOCK.finditer(GUIDE) if block["kind"] == kind]
    return [re.sub(r"^ {3}", "", block["text"], flags=re.MULTILINE) for block in found]


@pytest.mark.slow
def test_the_stage_of_the_guide_passes_its_contract(tmp_path: Path) -> None:
    stage, test = blocks("python")
    (made,) = (
        line for block in blocks("sh") for line in block.splitlines() if "new-plugin" in line
    )
    subprocess.run([sys.executable, "-m", *made.split()], cwd=tmp_path, check=True)
    package = tmp_path / "fumishirube-recent"
    for place, text in (("src/fumishirube_recent/__init__.py", stage), (_TEST, test)):
        assert (package / place).is_file(), "the guide replaces what is there"
        assert f"`{place}`" in GUIDE
        (package / place).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "."],
        cwd=package,
        env={**os.environ, "PYTHONPATH": str(package / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_every_hook_is_in_the_guide() -> None:
    named = set(re.findall(r"`(register_\w+|search_finished)`", GUIDE))
    assert named == {f"register_{kind.kind_name}" for kind in KINDS} | {
        "register_commands",
        "search_finished",
    }


def test_every_file_on_the_map_is_there() -> None:
    rows = re.findall(r"^\| [^|]+ \| ([^|]*`[^|]*) \|$", GUIDE, re.MULTILINE)
    places = [name for row in rows for name in re.findall(r"`([\w/]+(?:\.py|/))`", row)]
    assert len(places) > 20
    for place in places:
        assert (ROOT / place).exists() or (ROOT / "core" / "fumishirube" / place).exists(), place


def test_the_yaml_names_known_stages() -> None:
    (block,) = blocks("yaml")
    refiners = yaml.safe_load(block)["pipelines"]["manual"]["refiners"]
    assert [use if isinstance(use, str) else use["use"] for use in refiners] == [
        "recent",
        "defaults",
    ]
