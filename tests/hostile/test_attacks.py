"""No path leads out of a root, whichever tool or command is given it; the kernel is the witness."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from arguments import Place, places
from attacks import attacks
from manuals import RULES, fumishirube, write
from stdio import Wire
from torture import TORTURE, times
from witness import HERE, Witness

from fumishirube.disk.names import trap

CANARY = "canary-that-sings"
ROOTS = ("manuals", "vault", "docs", ".fumishirube")
LEAST = 300
ABSOLUTE = ("/etc", "/proc", "/dev", "/root", "/home", "/tmp", "/usr", "/var", "C:/")
TOOLS = {"manual_ls", "manual_toc", "manual_find", "manual_hits", "manual_read", "manual_scan"}

pytestmark = pytest.mark.skipif(not HERE, reason="the witness needs Linux")


class World(NamedTuple):
    """A workspace, and around it what nobody may touch."""

    top: Path
    workspace: Path

    @property
    def outside(self) -> Path:
        return self.top / "outside"

    def witness(self) -> Witness:
        return Witness.outside(self.top, self.workspace, ROOTS)

    def around(self) -> dict[str, tuple[int, int, bytes]]:
        """Return everything outside the roots, as it is."""
        kept = [p for p in self.top.rglob("*") if not self._in_a_root(p)]
        return {
            str(path): (path.lstat().st_ino, path.lstat().st_mtime_ns, path.read_bytes())
            for path in kept
            if path.is_file()
        }

    def _in_a_root(self, path: Path) -> bool:
        return any(path.is_relative_to(self.workspace / root) for root in ROOTS)


def made(top: Path) -> World:
    workspace = top / "ws"
    for name in (
        "canary.md",
        "secret.md",
        "outside/secret.md",
        "outside/m/rules.md",
        "ws/secret.md",
    ):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(f"# {CANARY}\n対象外 {CANARY}\n")
    files = {"m/rules.md": RULES, "m/sub/a.md": RULES, "m/data.json": '{"対象外": 1}'}
    write(workspace, files)
    (workspace / "docs").mkdir()
    for place in (workspace / "manuals" / "m", workspace / "manuals" / "m" / "sub"):
        _trap(place, top / "outside")
    (workspace / "manuals" / "linked").symlink_to(top / "outside")
    (workspace / "vault" / "sub").mkdir(parents=True)
    for place in (workspace / "vault", workspace / "vault" / "sub"):
        (place / "rules.md").write_text(RULES)
        _trap(place, top / "outside")
    return World(top, workspace)


def _trap(place: Path, outside: Path) -> None:
    (place / "link.md").symlink_to(outside / "secret.md")
    (place / "linked").symlink_to(outside)
    (place / "dangling.md").symlink_to(outside / "not-yet.md")
    (place / "loop").symlink_to("loop")
    (place / "up").symlink_to("..")
    os.mkfifo(place / "fifo")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = made(tmp_path_factory.mktemp("attacks"))
    done = fumishirube("index", cwd=world.workspace)
    assert done.code == 0, done.err
    return world


@pytest.fixture
def server(world: World) -> Iterator[Wire]:
    with Wire(world.workspace) as server:
        server.ok("manual_ls")
        server.ok("manual_find", query="対象外", manual_id="m", required_terms=["対象外"])
        yield server


def schemas(server: Wire) -> dict[str, dict[str, Any]]:
    listed = server.request("tools/list", {})["result"]["tools"]
    return {tool["name"]: tool["inputSchema"] for tool in listed}


def harmless(told: str, world: World) -> None:
    """Hold what was answered against what may never be in an answer.

    A relative path that the caller gave may be told again, whatever it looks like inside.
    """
    assert CANARY not in told
    assert "root:x:0" not in told
    plain = told.replace("\\\\", "/").replace("\\", "/")
    beginnings = "|".join(re.escape(each) for each in (*ABSOLUTE, str(world.top), sys.prefix))
    found = re.search(rf"(?:^|[\"'\s(=,/])(?:{beginnings})(?:$|[\"'\s),/])", plain)
    assert not found, plain


def untouched(world: World, witness: Witness, before: object) -> None:
    assert not witness.touched()
    assert world.around() == before
    written = [path for path in (world.workspace / "vault").rglob("*") if path.is_file()]
    assert not [path.name for path in written if trap(path.name)]


# --- the witness ----------------------------------------------------------------------------


def test_the_witness_sees_what_leaves_the_roots_and_nothing_else(world: World) -> None:
    with world.witness() as witness:
        (world.workspace / "manuals" / "m" / "rules.md").read_text()
        list((world.workspace / "vault").iterdir())
        assert not witness.touched()
        (world.workspace / "manuals" / "m" / "link.md").read_text()
        assert witness.touched() == {str(world.outside / "secret.md")}
        list((world.workspace / "manuals" / "linked").iterdir())
        assert str(world.outside) in {path.rstrip("/.") for path in witness.touched()}
        (world.workspace / "secret.md").read_text()
        assert witness.touched() == {str(world.workspace / "secret.md")}
        (world.outside / "new.md").touch()
        (world.outside / "new.md").unlink()
        assert witness.touched() == {str(world.outside / "new.md")}


# --- the battery ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_tool_leaves_its_root(server: Wire, world: World) -> None:
    battery = attacks(world.outside)
    assert len(battery) >= 2 * LEAST, "half of them go to the command line too"
    shapes = schemas(server)
    assert shapes.keys() >= TOOLS
    aims = [place for name, shape in shapes.items() for place in places(name, shape)]
    assert {aim.tool for aim in aims} >= TOOLS, "each of them names something"
    before = world.around()
    with world.witness() as witness:
        for attack in battery:
            for aim in aims:
                answer = server.call(aim.tool, aim.filled(shapes[aim.tool], attack))
                harmless(json.dumps(answer.payload, ensure_ascii=False), world)
            touched = witness.touched()
            assert not touched, (attack, touched)
        server.ping()
        untouched(world, witness, before)


_DRIVER = """
import contextlib, io, json, sys
from fumishirube.faces.cli import main
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(json.loads(line))
        except SystemExit as error:
            code = error.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


def _commands(attack: str, calls: list[tuple[str, str]]) -> list[list[str]]:
    """Return the command lines that carry an attack: the verbs, and every tool by its name."""
    return [
        ["ls", attack],
        ["ls", f"m/{attack}"],
        ["toc", attack],
        ["toc", "m", "--prefix", attack, "--deep"],
        ["scan", "m", attack],
        ["scan", attack, "rules.md"],
        ["read", f"manual://m/{attack}#L1"],
        ["read", f"manual://{attack}/rules.md#L1"],
        ["read", f"m/{attack}", "--line", "1"],
        ["cite", "check", f"manual://m/{attack}#L1@abcdef"],
        ["find", "対象外", "--manual", attack],
        ["coverage", attack],
        *(["call", *call] for call in calls),
    ]


@pytest.mark.slow
@pytest.mark.timeout(times(300, 3600))
def test_no_command_leaves_its_root(server: Wire, world: World) -> None:
    """Of many processes only what makes them up is run again: the command's own entry."""
    shapes = schemas(server)
    aims = [place for name, shape in shapes.items() for place in places(name, shape)]
    before = world.around()
    command = [sys.executable, "-c", _DRIVER]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(
            command, stdin=pipe, stdout=pipe, cwd=world.workspace, encoding="utf-8"
        ) as driver,
        world.witness() as witness,
    ):
        assert driver.stdin is not None
        assert driver.stdout is not None
        for number, attack in enumerate(attacks(world.outside)):
            offset_maps = _commands(attack, _calls(aims, shapes, attack))
            chosen = (
                offset_maps if TORTURE else offset_maps[number % len(offset_maps) :][: number % 2]
            )
            for words in chosen:
                driver.stdin.write(json.dumps(words) + "\n")
                driver.stdin.flush()
                code, out, err = json.loads(driver.stdout.readline())
                assert code in (0, 1, 2), (words, code, err)
                assert "Traceback" not in out + err, words
                # What was typed may be told again, as it is or as Python writes it.
                told = (out + err).replace(repr(attack)[1:-1], "").replace(attack, "")
                harmless(told, world)
                touched = witness.touched()
                assert not touched, (words, touched)
        driver.stdin.close()
        untouched(world, witness, before)


def _calls(
    aims: list[Place], shapes: dict[str, dict[str, Any]], attack: str
) -> list[tuple[str, str]]:
    return [(aim.tool, json.dumps(aim.filled(shapes[aim.tool], attack))) for aim in aims]


@pytest.mark.parametrize(
    "words",
    [
        ("scan", "m", "../../secret.md"),
        ("scan", "m", "link.md"),
        ("scan", "..", "secret.md"),
        ("read", "manual://m/../../secret.md#L1"),
        ("ls", "linked"),
        ("ls", "dir::m::Li4vLi4"),
        ("call", "manual_scan", '{"manual_id": "m", "path": "/etc/passwd"}'),
        ("cite", "check", "manual://m/../../secret.md#L1@abcdef"),
    ],
)
def test_a_process_does_not_leave_its_root_either(world: World, words: tuple[str, ...]) -> None:
    with world.witness() as witness:
        done = fumishirube(*words, cwd=world.workspace)
        assert done.code != 0
        harmless(done.out + done.err, world)
        touched = witness.touched() - {str(world.workspace / "fumishirube.yaml")}
        assert not touched


# --- what changes meanwhile -----------------------------------------------------------------


def _swapping(place: Path, target: Path, kept: Path, stop: threading.Event) -> None:
    """Put a link where a file or folder is, and back, as often as there is time."""
    while not stop.is_set():
        place.rename(kept)
        place.symlink_to(target)
        place.unlink()
        kept.rename(place)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_link_that_is_swapped_in_while_calls_run_leads_nowhere(
    server: Wire, world: World
) -> None:
    manual = world.workspace / "manuals" / "m"
    (manual / "swap.md").write_text(RULES)
    (manual / "swap").mkdir()
    (manual / "swap" / "secret.md").write_text(RULES)
    stop = threading.Event()
    pairs = [("swap.md", world.outside / "secret.md"), ("swap", world.outside)]
    threads = [
        threading.Thread(
            target=_swapping, args=(manual / name, target, manual / f".{name}-kept", stop)
        )
        for name, target in pairs
    ]
    reads = {"m": ("swap.md", "swap/secret.md")}
    answered = 0
    with world.witness() as witness:
        for thread in threads:
            thread.start()
        try:
            for _ in range(times(40, 400)):
                for path in reads["m"]:
                    ref = {"manual_id": "m", "path": path, "start_line": 1}
                    for tool, arguments in (
                        ("manual_scan", {"manual_id": "m", "path": path}),
                        ("manual_read", {"ref": ref}),
                        ("manual_ls", {"id": "dir::m::c3dhcA"}),
                        ("manual_toc", {"manual_id": "m", "path_prefix": path, "depth": "deep"}),
                    ):
                        answer = server.call(tool, arguments)
                        answered += not answer.is_error
                        harmless(json.dumps(answer.payload, ensure_ascii=False), world)
                assert not witness.touched()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert not witness.touched()
    assert answered, "nothing was ever read"
    with suppress(FileNotFoundError):
        (manual / "swap.md").unlink()


def test_a_hard_link_is_a_file_like_any_other(server: Wire, world: World) -> None:
    """Nobody can tell which of the two names came first; see decision 9."""
    other = world.workspace / "manuals" / "twin.txt"
    other.write_text("# 双子\n対象です。\n")
    (world.workspace / "manuals" / "m" / "hard.md").hardlink_to(other)
    assert "双子" in server.ok("manual_scan", manual_id="m", path="hard.md")["text"]


@pytest.mark.parametrize("name", ["traces", "index"])
def test_state_is_not_written_through_a_link(tmp_path: Path, name: str) -> None:
    world = made(tmp_path)
    (world.workspace / ".fumishirube").mkdir()
    (world.workspace / ".fumishirube" / name).symlink_to(world.outside)
    before = world.around()
    asked = {"query": "対象外", "manual_id": "m", "required_terms": ["対象外"]}
    with Wire(world.workspace) as server:
        server.ok("manual_ls")
        with world.witness() as witness:
            answer = server.call("manual_find", asked)
            assert answer.is_error == (name == "index"), answer
            said = server.hang_up()
            assert not witness.touched()
    assert world.around() == before
    if name == "traces":
        assert "warning: roots.state: traces are not written to files: symbolic links" in said
    else:
        assert answer.payload["code"] == "forbidden"
