"""The command line as a real process, on copies of the sample manuals."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from manuals import Done
from warm_start import warm_script

SAMPLES = Path(__file__).parents[2] / "manuals"
NEUTRAL = ("PYTHONIOENCODING", "PYTHONUTF8", "WORKSPACE_ROOT", "MANUALS_ROOT", "LC_ALL", "LANG")


def environment(**more: str) -> dict[str, str]:
    """Return the variables of this process without those that change what is printed."""
    neutral = {name: value for name, value in os.environ.items() if name not in NEUTRAL}
    return {**neutral, "LANG": "C", "COLUMNS": "80", **more}


def fumishirube(*words: str, cwd: Path, stdin: bytes = b"", **env: str) -> Done:
    """Run a command; what it prints has neither a traceback nor the path of its folder."""
    done = subprocess.run(
        [warm_script(), *words],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=environment(**env),
        timeout=120,
        check=False,
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    if "--verbose" not in words:
        for text in (out, err):
            assert "Traceback" not in text
            assert str(cwd) not in text
            assert "site-packages" not in text
    return Done(done.returncode, out, err)


def indexed_samples(folder: Path) -> Path:
    """Make a folder a workspace with the sample manuals and their indexes."""
    shutil.copytree(SAMPLES, folder / "manuals")
    assert fumishirube("index", cwd=folder).code == 0
    return folder
