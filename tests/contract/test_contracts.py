"""The contracts can fail: for every law there is a stage that breaks it, and no other."""

from __future__ import annotations

import inspect
import os
import runpy
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from fumishirube.testing import (
    EmbedderContract,
    FuserContract,
    IndexContract,
    LoaderContract,
    RefinerContract,
    ScorerContract,
    StageContract,
    SurfaceContract,
    TokenizerContract,
)
from fumishirube.testing.process_records import record
from fumishirube.testing.side_effects import side_effects

WRONG = Path(__file__).parents[1] / "support" / "wrong"
CONTRACTS: Mapping[str, type[StageContract[Any]]] = {
    "stages": StageContract,
    "loaders": LoaderContract,
    "tokenizers": TokenizerContract,
    "embedders": EmbedderContract,
    "indexes": IndexContract,
    "scorers": ScorerContract,
    "fusers": FuserContract,
    "refiners": RefinerContract,
    "surfaces": SurfaceContract,
}


def laws(contract: type[StageContract[Any]]) -> set[str]:
    """The tests of a contract; those of all kinds are those of ``StageContract``."""
    names = {name for name in dir(contract) if name.startswith("test_")}
    return names if contract is StageContract else names - laws(StageContract)


def run(file: Path, folder: Path) -> tuple[dict[str, dict[str, str]], set[str], str]:
    """Run a file with pytest.

    Returns the messages of the failed tests by class, the classes with passed ones, and the output.
    """
    report = folder / "report.xml"
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--junit-xml={report}"]
    options += ["-o", f"pythonpath={WRONG.parent}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, file],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    failed: dict[str, dict[str, str]] = {}
    passed: set[str] = set()
    for case in ET.parse(report).iter("testcase"):
        name, failure = case.attrib["classname"].rpartition(".")[2], case.find("failure")
        assert case.find("error") is None, done.stdout
        if failure is None:
            passed.add(name)
        else:
            failed.setdefault(name, {})[case.attrib["name"]] = failure.attrib["message"]
    return failed, passed, done.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", CONTRACTS)
def test_a_wrong_stage_fails_the_test_that_names_what_is_wrong(kind: str, tmp_path: Path) -> None:
    file = WRONG / f"{kind}.py"
    written = {
        name: one
        for name, one in runpy.run_path(str(file)).items()
        if inspect.isclass(one) and issubclass(one, CONTRACTS[kind]) and name.startswith("Test")
    }
    expected = {name: set(one.breaks) for name, one in written.items()}
    failed, passed, told = run(file, tmp_path)
    assert passed == set(expected), told
    assert {name: set(failed.get(name, {})) for name in expected} == expected, told
    for name, one in written.items():
        if says := getattr(one, "says", None):
            assert says in failed[name][one.breaks[0]]
    assert () in {one.breaks for one in written.values()}, "a sound one breaks nothing"
    proven = {one.breaks[0] for one in written.values() if one.breaks}
    assert laws(CONTRACTS[kind]) - proven == set(), "no stage breaks these"


@pytest.mark.parametrize("kind", CONTRACTS)
def test_every_kind_is_held_to_a_dozen_laws_and_more(kind: str) -> None:
    assert len(laws(StageContract)) >= 12
    assert len(laws(CONTRACTS[kind])) >= 9


def test_who_calls_while_the_door_is_closed_reaches_nobody(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        host, port = server.getsockname()
        with side_effects().confined_to(tmp_path) as attempts:
            with pytest.raises(PermissionError):
                socket.create_connection((host, port), timeout=5)
            with pytest.raises(OSError, match="may not"):
                urllib.request.urlopen(f"http://{host}:{port}/", timeout=5)
            with pytest.raises(PermissionError), socket.socket() as one:
                one.connect((host, port))
            with pytest.raises(PermissionError), socket.socket() as one:
                one.bind((host, 0))
            with pytest.raises(PermissionError), socket.socket(type=socket.SOCK_DGRAM) as one:
                one.sendto(b"x", (host, port))
        assert len(attempts) == 5
        with pytest.raises(BlockingIOError):
            server.accept()
        socket.create_connection((host, port), timeout=5).close()


def test_what_is_written_while_the_door_is_closed_stays_inside(tmp_path: Path) -> None:
    inside, beside = tmp_path / "inside", tmp_path / "beside.txt"
    inside.mkdir()
    beside.write_text("here")
    (inside / "way-out").symlink_to(tmp_path)
    changes = (
        lambda: beside.write_text("changed"),
        lambda: (inside / "way-out" / "new.txt").write_text("new"),
        lambda: os.close(os.open(tmp_path / "new.txt", os.O_CREAT | os.O_WRONLY)),
        beside.unlink,
        lambda: beside.rename(inside / "moved.txt"),
        (tmp_path / "folder").mkdir,
        lambda: (tmp_path / "link").symlink_to(inside),
        lambda: beside.chmod(0o600),
    )
    with side_effects().confined_to(inside) as attempts:
        (inside / "kept.txt").write_text("kept")
        (inside / "kept.txt").rename(inside / "renamed.txt")
        assert beside.read_text() == "here"
        for change in changes:
            with pytest.raises(PermissionError, match="may not"):
                change()
    assert len(attempts) == len(changes)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["beside.txt", "inside"]
    assert beside.read_text() == "here"


def test_records_tell_apart_what_differs_and_nothing_else() -> None:
    assert record({"b": {1, 2}, "a": 0.1 + 0.2}) == record({"a": 0.3, "b": {2, 1}})
    for one, other in (([1], [2]), (1.0, 1.1), ({"a": 1}, {"b": 1}), ("1", 1), ((), None)):
        assert record(one) != record(other)
