"""The command `eval` as a real process, and cases for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from manuals import Done
from warm_start import warm_script

from fumishirube_eval.cases import Case

SAMPLES = Path(__file__).parents[2] / "manuals"
NEUTRAL = ("WORKSPACE_ROOT", "MANUALS_ROOT", "FUMISHIRUBE_STATE_ROOT", "COLUMNS")

RAW = {
    "case_id": "c1",
    "query": "battery",
    "manual_id": "field-guide",
    "required_terms": ["battery"],
    "expected_paths": ["power.md"],
}


def fumishirube(*words: str | Path, cwd: Path) -> Done:
    """Run a command; what it prints has neither a traceback nor the path of its folder."""
    done = subprocess.run(
        [warm_script(), *map(str, words)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={name: value for name, value in os.environ.items() if name not in NEUTRAL},
        timeout=100,
        check=False,
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert "Traceback" not in out + err
    assert str(cwd) not in out + err
    return Done(done.returncode, out, err)


def samples(folder: Path) -> Path:
    """Make a folder a workspace with the sample manuals."""
    shutil.copytree(SAMPLES, folder / "manuals")
    return folder


def case(**more: Any) -> Case:
    """Return a case with one right file, changed as named."""
    given = {
        "case_id": "c1",
        "query": "battery",
        "manual_id": "m",
        "required_terms": ("battery",),
        "expected_paths": ("a.md",),
    }
    return Case.model_validate(given | more)


def written(file: Path, *objects: Any) -> Path:
    """Write objects as lines of JSON."""
    file.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return file


def gate_file(folder: Path, text: str) -> str:
    """Write a file of thresholds."""
    (folder / "gate.toml").write_text(text, encoding="utf-8")
    return str(folder / "gate.toml")
