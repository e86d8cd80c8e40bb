"""The first minute with a wheel: run by uvx or installed by pipx, over a folder of documents."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # pytest imports the fixture's module itself, to explain its asserts
    from plugin_venv import PluginVenv

pytest_plugins = ["plugin_venv"]
BIN = "Scripts" if os.name == "nt" else "bin"


@pytest.fixture(scope="module")
def installers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of uv and pipx."""
    folder = tmp_path_factory.mktemp("installers")
    venv.create(folder, with_pip=True)
    install = [folder / BIN / "python", "-m", "pip", "install", "--quiet", "uv", "pipx"]
    subprocess.run(install, check=True)
    return folder / BIN


def said(home: Path, *words: str | Path) -> str:
    """Run a command in a home of its own, and return its output."""
    environ = {**os.environ, "HOME": str(home), "PIPX_HOME": str(home / "pipx")}
    environ |= {"PIPX_BIN_DIR": str(home / "bin"), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""}
    environ |= {"UV_PYTHON": sys.executable, "PIPX_DEFAULT_PYTHON": sys.executable}
    done = subprocess.run(
        [*words], cwd=home, env=environ, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "pump.md").write_text("# Pump\n\nIt needs oil each spring.\n")
    return tmp_path


def test_uvx_runs_the_wheel(bare_venv: PluginVenv, installers: Path, home: Path) -> None:
    wheel = bare_venv.wheels["fumishirube"]
    words = ("fumishirube", "find", "pump", "oil", "--in", "specs")
    assert "manual://specs/pump.md#L1" in said(home, installers / "uvx", "--from", wheel, *words)


def test_pipx_installs_the_wheel(bare_venv: PluginVenv, installers: Path, home: Path) -> None:
    said(home, installers / "pipx", "install", bare_venv.wheels["fumishirube"])
    command = home / "bin" / "fumishirube"
    said(home, command, "add", "specs", "specs")
    assert "manual://specs/pump.md#L1" in said(home, command, "find", "pump", "oil")
