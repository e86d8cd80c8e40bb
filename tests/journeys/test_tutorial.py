"""The tutorial works as it is written: its files are made, its commands run, in one environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from plugin_venv import PluginVenv

pytest_plugins = ["plugin_venv"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its commands are a POSIX shell's")

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"

_BLOCK = re.compile(
    r"(?:^<!-- file: (?P<name>\S+) -->\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A file to save, or a transcript without a name."""

    name: str | None
    kind: str
    text: str


def blocks() -> Iterator[Block]:
    for found in _BLOCK.finditer(TUTORIAL.read_text(encoding="utf-8")):
        yield Block(found["name"], found["kind"], found["text"])


def steps(transcript: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", transcript, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def matches(output: str, expected: str) -> bool:
    """Tell whether an output is the expected one, in which ``…`` stands for anything."""
    parts = [re.escape(" ".join(part.split())) for part in expected.split("…")]
    return re.fullmatch(r"\s*.*?\s*".join(parts), " ".join(output.split())) is not None


def test_every_block_does_what_the_tutorial_says(bare_venv: PluginVenv, tmp_path: Path) -> None:
    environ = bare_venv.environment | {
        "PATH": f"{bare_venv.bin}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    folder, marker = tmp_path, tmp_path / "folder"
    commands = 0
    for block in blocks():
        if block.kind == "text":
            told = [file.read_text("utf-8") for file in folder.rglob("*.toml")]
            assert any(block.text in text for text in told), "a text is a part of a file"
            continue
        if block.kind != "console":
            assert block.name, f"a block of {block.kind} says which file it is:\n{block.text}"
            file = folder / block.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
            continue
        for command, expected in steps(block.text):
            done = subprocess.run(
                ["bash", "-ec", f"{command}\npwd > {marker}"],
                cwd=folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                check=False,
                timeout=240,
            )
            assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
            assert matches(done.stdout, expected), f"$ {command}\n{done.stdout}{done.stderr}"
            folder = Path(marker.read_text(encoding="utf-8").strip())
            commands += 1
    assert commands > 10


@pytest.mark.parametrize(
    ("output", "expected", "same"),
    [
        ("a\nb\nc\n", "a\n…\nc\n", True),
        ("a\nc\n", "a\n…\nc\n", True),
        ("a b\n", "a  …\n", True),
        ("a\nb\n", "a\n", False),
        ("", "…", True),
        ("x", "", False),
    ],
)
def test_an_ellipsis_stands_for_anything_and_nothing_else_does(
    output: str, expected: str, same: bool
) -> None:
    assert matches(output, expected) == same


def test_the_tutorial_takes_a_quarter_of_an_hour_to_read() -> None:
    """At 200 words a minute, code included, and with as much time again to type."""
    words = len(TUTORIAL.read_text(encoding="utf-8").split())
    assert 800 < words < 2000
