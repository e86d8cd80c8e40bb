"""The same contracts in another process, whose hashes, and so whose sets, have another order."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from pydantic import JsonValue

TEST = "test_it_does_the_same_in_another_process"

_FOLDER = "FUMISHIRUBE_CONTRACT_RECORDS"
_SECONDS = 600
_TAIL = 2000


def is_recording_process() -> bool:
    """Tell whether this is the other process."""
    return _FOLDER in os.environ


def save_record(request: pytest.FixtureRequest, outcome: JsonValue) -> None:
    """Leave what came of a contract to the process that asked for it."""
    text = json.dumps(outcome)
    Path(os.environ[_FOLDER], _name(request)).write_text(text, encoding="utf-8")


def other_process_record(request: pytest.FixtureRequest) -> JsonValue:
    """Return what came of this contract in the other process, which runs once a test file."""
    config = request.config
    options = [f"--import-mode={config.getoption('importmode')}", f"--rootdir={config.rootpath}"]
    options += ["-c", str(config.inipath)] if config.inipath else []
    records, output = _recorded(
        str(request.path), str(config.invocation_params.dir), tuple(options)
    )
    name = _name(request)
    assert name in records, f"the other process could not run it:\n{output}"
    return records[name]


@cache
def _recorded(
    file: str, folder: str, options: tuple[str, ...]
) -> tuple[Mapping[str, JsonValue], str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["PYTHONHASHSEED"] = "2" if environment.get("PYTHONHASHSEED") == "1" else "1"
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    quiet = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", "-k", TEST]
    command = [sys.executable, "-m", "pytest", *quiet, *options, file]
    with tempfile.TemporaryDirectory() as records:
        done = subprocess.run(  # noqa: S603 - the same tests once more
            command,
            cwd=folder,
            env={**environment, _FOLDER: records},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
        records_by_name = {
            record_file.name: json.loads(record_file.read_text(encoding="utf-8"))
            for record_file in Path(records).iterdir()
        }
    return records_by_name, (done.stdout + done.stderr)[-_TAIL:]


def _name(request: pytest.FixtureRequest) -> str:
    """Return a name for the file of one test: the same in both processes."""
    label = f"{request.node.parent.name} {request.node.name}"
    return hashlib.sha256(label.encode()).hexdigest()
