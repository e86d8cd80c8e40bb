"""The file for the hosted tests names what exists: systems, versions, extras, commands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
JOBS: dict[str, Any] = yaml.safe_load(
    (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
)["jobs"]


def test_the_three_systems_run_every_version() -> None:
    matrix = JOBS["tests"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    versions = {*matrix["python"], *(more["python"] for more in matrix["include"])}
    offered = {
        match[1]
        for line in PROJECT["project"]["classifiers"]
        if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    }
    assert versions == offered
    assert min(offered) in matrix["python"]
    assert PROJECT["project"]["requires-python"] == f">={min(offered)}"


def test_its_commands_are_those_of_the_repository() -> None:
    commands = [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]
    assert 'python -m pip install -e ".[dev]"' in commands
    assert "dev" in PROJECT["project"]["optional-dependencies"]
    scripts = [command for command in commands if command.startswith(".")]
    assert scripts == [".ci/run"]
    assert all((ROOT / script).is_file() for script in scripts)
