"""Vectors in the manual pipeline, from a plugin's embedder, by command line and by server."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from manuals import Done, fumishirube, stranger, write
from stdio import Wire
from warm_start import kill, warm_script

SENSES = '''
import time
from pathlib import Path
from fumishirube import Stage, hook

GROUPS = [("newborn", "maternity"), ("ill", "sickness"), ("trip", "travel"), ("door", "entrance")]


class Senses(Stage):
    """One axis a meaning, and a last one for texts without any; logs what it embeds."""

    log: str
    pause: float = 0.0

    def embed(self, texts, role):
        log = Path(self.log)
        broken = log.parent / "broken"
        if broken.exists():
            match broken.read_text():
                case "nothing":
                    return None
                case "no number":
                    return [[float("nan")]] * len(texts)
                case "too few":
                    return []
            raise RuntimeError("no luck")
        made = []
        for text in texts:
            time.sleep(self.pause)
            axes = [float(any(word in text.lower() for word in group)) for group in GROUPS]
            axes.append(0.0 if any(axes) else 1.0)
            length = sum(axes) ** 0.5
            made.append([axis / length for axis in axes])
            with log.open("a") as file:
                file.write(f"{role} {text.splitlines()[0]}\\n")
        return made


@hook
def register_embedders(register):
    register("senses", Senses)
'''
MANUAL = {
    "m/benefits.md": "# Maternity grant\nEvery parent is paid a grant.\n# Sickness pay\nPaid.\n",
    "m/travel.md": "# Travel\nTickets are bought by the office.\n",
    "m/rooms.md": "# Entrance\nIt is locked at night.\n",
}
QUESTION = "what do I get for my newborn"
SCORERS = "scorers: [{use: lexical}, {use: vector}], fusers: [], refiners: [{use: cutoff}]"


class Workspace:
    """A workspace with the plugin and its log."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ws"
        self.log = folder / "embedded.log"
        self.environ = {"PYTHONPATH": stranger(folder, SENSES)}
        write(self.path, MANUAL)
        self.configure()

    def configure(self, pause: float = 0.0, scorers: str = SCORERS) -> None:
        with_settings = json.dumps({"log": str(self.log), "pause": pause})
        embedder = f"embedder: {{use: senses, with: {with_settings}}}"
        yaml = f"pipelines: {{manual: {{{embedder}, {scorers}}}}}\n"
        (self.path / "fumishirube.yaml").write_text(yaml, encoding="utf-8")

    def run(self, *words: str) -> Done:
        return fumishirube(*words, cwd=self.path, environ=self.environ)

    def paths(self, question: str = QUESTION) -> list[str]:
        found = self.run("find", question, "--manual", "m", "--json")
        assert found.code in (0, 1), found.err
        return [hit["ref"]["path"] for hit in found.json["hits"]]

    def embedded(self) -> list[str]:
        """Return the headings of the passages embedded so far, and forget them."""
        if not self.log.exists():
            return []
        lines = self.log.read_text().splitlines()
        self.log.unlink()
        return [line.partition(" ")[2] for line in lines if line.startswith("passage")]

    def vectors(self) -> Path:
        (file,) = (self.path / ".fumishirube" / "index" / "m").glob("vectors-*/vectors.db")
        return file


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def eventually(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 30
    while not (seen := look()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)
    return seen


@contextmanager
def served(workspace: Workspace) -> Iterator[Wire]:
    with Wire(workspace.path, **workspace.environ) as wire:
        wire.ok("manual_ls")
        yield wire


def find(wire: Wire, question: str = QUESTION) -> dict[str, Any]:
    return wire.ok("manual_find", query=question, manual_id="m", required_terms=["newborn"])


def test_a_question_in_other_words_finds_the_section_by_its_meaning(workspace: Workspace) -> None:
    assert workspace.paths() == ["benefits.md"]
    workspace.configure(scorers="scorers: [{use: lexical}, {use: vector}], refiners: []")
    assert workspace.paths()[0] == "benefits.md"  # with the default fusers too


def test_headings_without_a_text_take_no_place_among_the_nearest(workspace: Workspace) -> None:
    headings = "".join(f"# Maternity {number}\n" for number in range(12))
    write(workspace.path, {"m/benefits.md": headings + MANUAL["m/benefits.md"]})
    assert workspace.paths() == ["benefits.md"]
    assert len(workspace.embedded()) == 4
    with closing(sqlite3.connect(workspace.vectors())) as base, base:  # as earlier versions did
        base.execute(
            "INSERT INTO vectors (key, vector) SELECT 'heading', vector FROM vectors LIMIT 1"
        )
        base.execute("UPDATE files SET sections = '[[\"heading\"]]'")
        base.execute("UPDATE files SET stamp = replace(stamp, ' texts 2', '')")
    assert workspace.run("index").code == 0
    assert workspace.embedded() == []
    with closing(sqlite3.connect(workspace.vectors())) as base:
        assert base.execute("SELECT count(*) FROM vectors").fetchone() == (4,)


@pytest.mark.parametrize("sections", ["no JSON", "5"])
def test_vectors_whose_files_cannot_be_read_are_made_again(
    workspace: Workspace, sections: str
) -> None:
    assert workspace.run("index").code == 0
    assert len(workspace.embedded()) == 4
    with closing(sqlite3.connect(workspace.vectors())) as base, base:
        base.execute("UPDATE files SET sections = ?", (sections,))
    assert workspace.paths() == ["benefits.md"]
    assert len(workspace.embedded()) == 4


def test_only_new_texts_are_embedded(workspace: Workspace) -> None:
    assert workspace.run("index").code == 0
    assert sorted(workspace.embedded()) == ["Entrance", "Maternity grant", "Sickness pay", "Travel"]
    assert workspace.run("index").code == 0
    assert workspace.embedded() == []
    write(workspace.path, {"m/travel.md": "# Travel\nOne trip a year.\n# Hotels\nFree.\n"})
    (workspace.path / "manuals/m/rooms.md").rename(workspace.path / "manuals/m/doors.md")
    assert workspace.run("index").code == 0
    assert sorted(workspace.embedded()) == ["Hotels", "Travel"]
    assert workspace.paths("newborn, ill, trip, door")[:2] == ["doors.md", "travel.md"]


def test_another_setting_of_the_embedder_has_vectors_and_answers_of_its_own(
    workspace: Workspace,
) -> None:
    workspace.paths()
    assert len(workspace.embedded()) == 4
    workspace.configure(pause=0.001)
    workspace.paths()
    assert len(workspace.embedded()) == 4


def test_doctor_takes_vectors_for_no_index_of_another_version(workspace: Workspace) -> None:
    assert workspace.run("index").code == 0
    told = workspace.run("doctor").out.splitlines()
    assert [line for line in told if "another version" in line] == []


def test_a_grep_embeds_nothing(workspace: Workspace) -> None:
    assert workspace.run("grep", "grant", "--manual", "m").code == 0
    assert workspace.embedded() == []


@pytest.mark.slow
def test_a_server_embeds_in_the_background_and_says_how_far_it_is(workspace: Workspace) -> None:
    workspace.configure(pause=0.4)
    with served(workspace) as wire:
        first = find(wire)
        assert "not every file is embedded yet (0 of 3 are)" in first["degraded"]
        eventually(lambda: "degraded" not in find(wire))
        answer = find(wire)
        hits = wire.ok("manual_hits", trace_id=answer["trace_id"])["items"]
        assert [hit["ref"]["path"] for hit in hits] == ["benefits.md"]
        write(workspace.path, {"m/new.md": "# Newborn\nTell the office.\n"})
        eventually(lambda: find(wire)["candidates"] == 2 and "degraded" not in find(wire))


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("", "RuntimeError: no luck"),
        ("nothing", "TypeError: 'NoneType' object is not iterable"),
        (
            "no number",
            "ValueError: the embedder 'senses' made a vector whose length is no usable number",
        ),
        (
            "too few",
            "ValueError: the embedder 'senses' made 0 vectors of [] dimensions for 1 texts",
        ),
    ],
)
def test_an_embedder_that_fails_leaves_words_and_is_named(
    workspace: Workspace, how: str, error: str
) -> None:
    broken = workspace.log.parent / "broken"
    broken.write_text(how)
    found = workspace.run("find", "grant", "--manual", "m", "--json")
    assert [hit["ref"]["path"] for hit in found.json["hits"]] == ["benefits.md"]
    failed = f"embedder 'senses' of plugin stranger failed: {error.partition(':')[0]}"
    assert f"words alone decide: {failed}" in found.out
    error = error.format("the embedder 'senses'")
    assert f"problem: plugin stranger: embedder 'senses' failed: {error}" in found.err
    broken.unlink()
    assert workspace.paths() == ["benefits.md"]


def test_several_manuals_are_compared_as_one(workspace: Workspace) -> None:
    write(workspace.path, {"other/baby.md": "# Newborn\nCongratulations.\n"})
    found = workspace.run("find", QUESTION, "--json").json
    places = {(hit["ref"]["manual_id"], hit["ref"]["path"]) for hit in found["hits"]}
    assert places == {("m", "benefits.md"), ("other", "baby.md")}


def spoil(file: Path) -> None:
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("UPDATE vectors SET vector = x'00', id = id + 1000")
        base.execute("UPDATE identity SET value = 'another'")


def spoil_text(file: Path) -> None:
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("UPDATE vectors SET key = CAST(x'ff' AS TEXT) WHERE id = 1")
        base.execute("UPDATE identity SET value = 'another'")


@pytest.mark.many_cases
@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda file: file.write_bytes(b"no database at all" * 99), id="overwritten"),
        pytest.param(lambda file: os.truncate(file, file.stat().st_size // 2), id="truncated"),
        pytest.param(lambda file: file.write_bytes(b""), id="emptied"),
        pytest.param(lambda file: file.unlink(), id="removed"),
        pytest.param(spoil, id="vector-of-other-length"),
        pytest.param(spoil_text, id="no-utf-8"),
    ],
)
def test_a_damaged_file_of_vectors_is_made_again(
    workspace: Workspace, harm: Callable[[Path], None]
) -> None:
    workspace.paths()
    with served(workspace) as wire:
        eventually(lambda: "degraded" not in find(wire))
        harm(workspace.vectors())
        eventually(lambda: "degraded" not in find(wire, "my newborn's grant"))
        assert find(wire, "for the newborn")["candidates"] == 1
    workspace.embedded()
    harm(workspace.vectors())
    assert workspace.paths() == ["benefits.md"]
    assert len(workspace.embedded()) == 4


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_process_loses_one_batch_at_most(workspace: Workspace) -> None:
    many = {f"m/{n:03}.md": f"# Door {n}\nNumber {n} is a door.\n" for n in range(200)}
    write(workspace.path, many)
    workspace.configure(pause=0.005)
    process = subprocess.Popen(
        [warm_script(), "index"], cwd=workspace.path, env=os.environ | workspace.environ
    )
    eventually(lambda: workspace.log.exists() and len(workspace.log.read_text().splitlines()) > 99)
    kill(process)
    before = len(workspace.embedded())
    assert workspace.run("index").code == 0
    after = len(workspace.embedded())
    assert before >= 64
    assert 204 - before <= after <= 204 - before + 64 + 1
    assert workspace.paths("a way in: the entrance") == [
        "rooms.md",
        "000.md",
        "001.md",
        "002.md",
        "003.md",
    ]


@pytest.mark.slow
def test_two_processes_share_the_work(workspace: Workspace) -> None:
    many = {f"m/{n:03}.md": f"# Door {n}\nNumber {n} is a door.\n" for n in range(150)}
    write(workspace.path, many)
    workspace.configure(pause=0.005)
    processes = [
        subprocess.Popen(
            [warm_script(), "index"], cwd=workspace.path, env=os.environ | workspace.environ
        )
        for _ in range(2)
    ]
    assert [process.wait(60) for process in processes] == [0, 0]
    embedded = workspace.embedded()
    assert len(embedded) == len(set(embedded)) == 154
