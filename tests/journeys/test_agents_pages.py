"""AGENTS.md and llms.txt: short, and every command and path in them and in the guide is there."""

from __future__ import annotations

import itertools
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from manuals import fumishirube

PROJECT = Path(__file__).parents[2]
AGENTS = (PROJECT / "AGENTS.md").read_text(encoding="utf-8")
GUIDE = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LLMS = (PROJECT / "llms.txt").read_text(encoding="utf-8")

_CODE = re.compile(r"`([^`\n]+)`")
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)]+)\)")
_PROVIDED = {"lint-imports": "import-linter", "python": "pytest"}
"""Programs that a requirement of another name brings."""
COMMANDS = [line for block in _BLOCK.findall(GUIDE) for line in block.splitlines()]


def paths(text: str) -> set[str]:
    """Return the paths in a text: links, and code that looks like a path of the project."""
    code = {word for words in _CODE.findall(text) for word in words.split()}
    return {*_LINK.findall(text), *(word for word in code if re.search(r"\w/|\.\w+$", word))}


@pytest.mark.parametrize("text", [AGENTS, LLMS], ids=["AGENTS.md", "llms.txt"])
def test_every_path_is_there(text: str) -> None:
    named = {path for path in paths(text) if not path.startswith("manual://")}
    assert len(named) > 10
    assert {path for path in named if not (PROJECT / path).exists()} == set()


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_guide_is_there(command: str) -> None:
    program, *words = shlex.split(command)
    assert all((PROJECT / word).exists() for word in words if "/" in word)
    if not program.startswith(".venv/bin/"):
        assert command == "python3 -m venv .venv"
        return
    name = Path(program).name
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    required = itertools.chain(*extras["project"]["optional-dependencies"].values())
    assert any(one.startswith(_PROVIDED.get(name, name)) for one in required)
    installed = shutil.which(name, path=str(Path(sys.executable).parent))
    if installed is None:
        pytest.skip(f"{name} is not installed; it comes with the extra dev")
    asked = [installed, "--help"] if name == "lint-imports" else [installed, "--version"]
    assert subprocess.run(asked, capture_output=True, check=False).returncode == 0


def test_every_command_of_the_program_is_one(tmp_path: Path) -> None:
    told = fumishirube("--help", cwd=tmp_path).out
    named = {words.split()[1] for words in _CODE.findall(LLMS) if words.startswith("fumishirube ")}
    assert {"find", "serve", "init"} <= named
    assert all(re.search(rf"^    {name} ", told, re.MULTILINE) for name in named)


def test_llms_txt_has_the_usual_form() -> None:
    title, quote, *_ = LLMS.split("\n\n")
    assert title.startswith("# ")
    assert quote.startswith("> ")
    links = [line for line in LLMS.splitlines() if line.startswith("- ")]
    assert all(re.match(r"- \[.+?\]\([^)]+\)", line) for line in links)


@pytest.mark.parametrize("text", [AGENTS, LLMS], ids=["AGENTS.md", "llms.txt"])
def test_it_is_short(text: str) -> None:
    assert 150 < len(text.split()) < 400
