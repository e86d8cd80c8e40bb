"""The guide for contributors is true: it names every hook, and files that are there."""

from __future__ import annotations

import re
from pathlib import Path

from fumishirube.plugins.registry import KINDS

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


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
