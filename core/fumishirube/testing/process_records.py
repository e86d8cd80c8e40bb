"""Results of a stage, compared with those of a process with another order of sets."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel, JsonValue

TEST = "test_it_does_the_same_in_another_process"

_FOLDER = "FUMISHIRUBE_CONTRACT_RECORDS"
_SECONDS = 600
_TAIL = 2000


def record(value: object) -> JsonValue:
    """Return a value as JSON: sets and keys sorted, numbers to six digits, no addresses.

    Of a dataclass only fields that count in comparisons are included.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return f"{value:.6g}"
        case bytes():
            return value.hex()
        case BaseModel():
            return record(value.model_dump(mode="json"))
        case Mapping():
            return sorted(([str(key), record(inner)] for key, inner in value.items()), key=repr)
        case set() | frozenset():
            return sorted(map(record, value), key=repr)
        case Sequence():
            return [record(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        compared = (field.name for field in fields(value) if field.compare)
        return [[name, record(getattr(value, name))] for name in compared]
    return record(list(value)) if isinstance(value, Iterable) else type(value).__name__


def is_recording_process() -> bool:
    """Tell whether this is the other process."""
    return _FOLDER in os.environ


def save_record(request: pytest.FixtureRequest, outcome: JsonValue) -> None:
    """Save the result of a contract for the first process."""
    text = json.dumps(outcome)
    Path(os.environ[_FOLDER], _name(request)).write_text(text, encoding="utf-8")


def other_process_record(request: pytest.FixtureRequest) -> JsonValue:
    """Return the result of this contract in the other process, which runs once a test file."""
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
    """Return the name of the file for one test: the same in both processes."""
    label = f"{request.node.parent.name} {request.node.name}"
    return hashlib.sha256(label.encode()).hexdigest()
