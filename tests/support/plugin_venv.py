"""A virtual environment in which the project and the example packages are really installed.

A test module asks for it with ``pytest_plugins = ["plugin_venv"]`` and the fixture of that name;
``serving`` starts servers there, of the module's own ``workspace``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import stdio
from stdio import Wire

PROJECT = Path(__file__).parents[2]
EXAMPLES = [*(PROJECT / "examples").rglob("pyproject.toml")]

Serving = Callable[[], Wire]

_PROBE = """
import json, sys
from fumishirube.plugins.discovery import load_plugins
loaded = load_plugins(strangers={strangers})
print(json.dumps({{
    "reports": {{
        r.plugin: {{
            "distribution": r.distribution,
            "status": r.status,
            "offers": [f"{{noun}} {{name}}" for noun, name in r.offers],
            "problems": [p.sentence for p in r.problems],
        }}
        for r in loaded.reports
    }},
    "offered": {{f"{{kind.noun}} {{o.name}}": o.plugin for kind, o in loaded.registry.offers()}},
    "modules": sorted(sys.modules),
}}))
"""

# What pip asks of each package's backend, in one process for all of them.
_BUILD = """
import os, sys
from hatchling.build import build_wheel
for source in sys.argv[2:]:
    os.chdir(source)
    build_wheel(sys.argv[1])
"""


class Loaded(NamedTuple):
    """What ``load_plugins`` came to, in a fresh process."""

    reports: Mapping[str, Any]
    offered: Mapping[str, str]
    modules: frozenset[str]
    stderr: str


@dataclass(frozen=True)
class PluginVenv:
    """The environment's folder, and a wheel of the project and each example by name."""

    folder: Path
    wheels: Mapping[str, Path]

    @property
    def plugins(self) -> dict[str, str]:
        """The modules of the examples by plugin."""
        tables = [tomllib.loads(file.read_text(encoding="utf-8")) for file in EXAMPLES]
        groups = [group for table in tables for group in table["project"]["entry-points"].values()]
        return {name: module for group in groups for name, module in group.items()}

    @property
    def bin(self) -> Path:
        """The folder of its commands."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.bin / ("python.exe" if os.name == "nt" else "python")

    @property
    def environment(self) -> dict[str, str]:
        """The variables to run its commands with: nothing of the tests' own environment."""
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "PIP"))
        }
        return {**kept, "PYTHONUTF8": "1", "VIRTUAL_ENV": str(self.folder)}

    def run(self, *arguments: str | Path, path: Path | None = None) -> str:
        """Run its interpreter, and return what it printed; ``path`` is imported from too."""
        return self._finished(arguments, path).stdout

    def fumishirube(self, workspace: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run its command line over a workspace."""
        return subprocess.run(
            [self.bin / "fumishirube", *words, "--workspace", str(workspace)],
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )

    def install(self, *names: str) -> None:
        """Install examples, in this order."""
        for name in names:
            self._pip("install", "--no-deps", "--no-index", self.wheels[name])

    def uninstall(self, *names: str) -> None:
        """Remove examples."""
        self._pip("uninstall", "--yes", *names)

    @contextmanager
    def without(self, *names: str) -> Iterator[None]:
        """Remove examples for a while."""
        self.uninstall(*names)
        try:
            yield
        finally:
            self.install(*names)

    def load(self, *, strangers: bool = True, path: Path | None = None) -> Loaded:
        """Load the plugins in a fresh process; what it prints has to be one JSON text."""
        done = self._finished(["-c", _PROBE.format(strangers=strangers)], path)
        told = json.loads(done.stdout)
        modules = frozenset(told["modules"])
        return Loaded(told["reports"], told["offered"], modules, done.stderr)

    def _pip(self, *arguments: str | Path) -> None:
        _pip("--python", self.python, *arguments)

    def _finished(
        self, arguments: Sequence[str | Path], path: Path | None
    ) -> subprocess.CompletedProcess[str]:
        extra = {"PYTHONPATH": str(path)} if path else {}
        done = subprocess.run(
            [self.python, *arguments],
            env={**self.environment, **extra},
            cwd=self.folder,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"exit {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done


@pytest.fixture(scope="session")
def plugin_venv(tmp_path_factory: pytest.TempPathFactory) -> PluginVenv:
    """Return an environment with the project and all examples; tests leave it as they found it."""
    return _made(tmp_path_factory.mktemp("plugins"), PROJECT, *(file.parent for file in EXAMPLES))


@pytest.fixture(scope="session")
def bare_venv(tmp_path_factory: pytest.TempPathFactory) -> PluginVenv:
    """Return an environment with the project alone, into which one test installs something."""
    return _made(tmp_path_factory.mktemp("bare"), PROJECT)


def _made(folder: Path, *sources: Path) -> PluginVenv:
    """Make an environment with wheels of some sources."""
    wheels = folder / "wheels"
    wheels.mkdir()
    subprocess.run([sys.executable, "-c", _BUILD, wheels, *sources], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    built = {wheel.name.split("-")[0].replace("_", "-"): wheel for wheel in wheels.iterdir()}
    venv = PluginVenv(folder / "venv", built)
    _pip("--python", venv.python, "install", "--no-deps", "--no-index", *built.values())
    _borrow_dependencies(venv)
    return venv


@pytest.fixture
def serving(
    plugin_venv: PluginVenv, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Serving]:
    """Start servers of the environment in which the plugins are installed."""
    script = str(plugin_venv.bin / "fumishirube")
    monkeypatch.setattr(
        stdio, "command_line", lambda folder: [script, "serve", "--workspace", str(folder)]
    )
    started: list[Wire] = []

    def start() -> Wire:
        started.append(Wire(workspace))
        return started[-1]

    yield start
    for wire in started:
        wire.__exit__()


def _borrow_dependencies(venv: PluginVenv) -> None:
    """Put the packages of the tests' own environment behind those of the new one."""
    borrowed = [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages")]
    where = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(venv.run(*where).strip())
    assert packages != Path(sysconfig.get_path("purelib")), "the environment is not a new one"
    (packages / "borrowed.pth").write_text("\n".join(borrowed), encoding="utf-8")


def _pip(*arguments: str | Path) -> None:
    quiet = ["--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", *quiet, *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
