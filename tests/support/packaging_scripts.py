"""The scripts of ``packaging/`` as modules, and programs from npm that check their files."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

NODE = os.environ.get("FUMISHIRUBE_NODE")
"""A folder for programs from npm; ``tox -e bundle`` names one."""

_PACKAGING = Path(__file__).parents[2] / "packaging"


@cache
def script(name: str) -> ModuleType:
    """Return a script as a module."""
    spec = importlib.util.spec_from_file_location(f"packaging_{name}", _PACKAGING / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def npm_program(name: str, package: str) -> str:
    """Return a program of a package from npm, installed where tox says; else skip."""
    npm = shutil.which("npm")
    if NODE is None or npm is None:
        pytest.skip("npm is not installed" if NODE else "run tox -e bundle: it installs this")
    folder = Path(NODE, name)
    program = folder / "node_modules" / ".bin" / name
    if not program.exists():
        quiet = ("--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=0")
        command = [npm, "install", *quiet, "--prefix", str(folder), package]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        if done.returncode:
            pytest.skip(f"npm cannot install {package}: {done.stderr.strip()[-200:]}")
    return str(program)
