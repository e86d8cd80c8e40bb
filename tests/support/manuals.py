"""Small manuals, and short ways to ask about them from inside and outside the process."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from warm_start import warm_script

from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call

RULES = "# 総則\n対象です。\n## 例外\nこの場合は対象外です。\n### 参照\n別表を参照。\n"

NEUTRAL = ("WORKSPACE_ROOT", "MANUALS_ROOT")


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def write(workspace: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below ``manuals``, and return the workspace."""
    for name, content in files.items():
        path = workspace / "manuals" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return workspace


def stranger(folder: Path, source: str) -> str:
    """Make an installed plugin of a few lines; return the path to import it from."""
    place = folder / "installed"
    info = place / "stranger-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[fumishirube.v1]\nstranger = stranger_plugin\n")
    (place / "stranger_plugin.py").write_text(source)
    return str(place)


def appears(path: Path) -> None:
    """Wait until a file is there, which another thread or process is about to write."""
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} was never written"
        time.sleep(0.01)


def trace_appears(workspace: Path, trace_id: str) -> None:
    """Wait until a trace is kept as a file, for other processes."""
    appears(workspace / ".fumishirube" / "traces" / f"{trace_id}.json")


def citation(item: Mapping[str, Any]) -> str:
    """Return the citation of a hit, which its place and the end of its ``cite`` make up."""
    ref = item["ref"]
    lines = f"#L{ref['start_line']}-L{item['end_line']}"
    return f"manual://{ref['manual_id']}/{ref['path']}{lines}{item['cite']}"


def opened(workspace: Path, **environ: str) -> Application:
    """Open the application of a workspace in this process."""
    return open_application(workspace, strangers=False, environ=environ)


def ask(application: Application, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool without a session."""
    return call_tool(application.tools[name], arguments, Call())


def full(application: Application, **arguments: Any) -> dict[str, Any]:
    """Ask for the full answer of a search."""
    return call_tool(application.commands["manual_find"], arguments, Call())


def fumishirube(
    *words: str, cwd: Path, stdin: str = "", environ: Mapping[str, str] | None = None
) -> Done:
    """Run the command line as a process."""
    neutral = {name: value for name, value in os.environ.items() if name not in NEUTRAL}
    done = subprocess.run(
        [warm_script(), *words],
        cwd=cwd,
        input=stdin.encode(),
        capture_output=True,
        env={**neutral, "LANG": "C", **(environ or {})},
        timeout=120,
        check=False,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in out + err
    return Done(done.returncode, out, err)
