"""Indexes of plugins that return what nothing can use: named, not those that read them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from manuals import fumishirube, write
from stdio import Wire
from strangers import stranger

from fumishirube.engine.recoverable_index import REBUILT

SEARCH = {"query": "solar winter", "manual_id": "m", "required_terms": ["solar"]}
PLUGIN = """
import itertools, os, shutil, time
from contextlib import contextmanager
from fumishirube import IndexDamaged, hook
from fumishirube_stages.indexes.tantivy import Tantivy

PART, _, RESULT = os.environ.get("WRONG", "").partition("=")

class Part:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        value = getattr(self.inner, name)
        if name == "corpus" and PART != "corpus":
            return lambda manual_id: Part(value(manual_id))
        if name != PART:
            return value
        if RESULT == "no method":
            return 5
        def result(*arguments, **named):
            names = {"real": lambda: value(*arguments, **named), "first": (*arguments, None)[0]}
            return eval(RESULT, {**globals(), **names})

        return result if callable(value) else eval(RESULT)

@contextmanager
def failing():
    raise RuntimeError
    yield

@contextmanager
def ending():
    yield True
    raise RuntimeError

def damaged():
    raise IndexDamaged("always")

def changed(matches, **values):
    return [match._replace(passage=match.passage._replace(**values)) for match in matches]

class Lost(Part):
    # It is damaged from the loss of its files until it is written again.
    def refresh(self):
        if PART == "lost" and os.path.exists(RESULT):
            raise IndexDamaged("lost")
        self.inner.refresh()

    def corpus(self, manual_id):
        return LostCorpus(self.inner.corpus(manual_id))

    def sync(self, *pages):
        self.inner.sync(*pages)
        if os.path.exists(RESULT):
            os.unlink(RESULT)

class LostCorpus(Part):
    def search(self, *arguments, **named):
        if os.path.exists(RESULT):
            raise IndexDamaged("lost")
        return self.inner.search(*arguments, **named)

class Stale(Part):
    # A method fails from the loss of the files until the index is opened again.
    def __init__(self, inner):
        super().__init__(inner)
        self.before = not os.path.exists(RESULT)

    def __getattr__(self, name):
        if name == PART.removeprefix("stale ") and self.before and os.path.exists(RESULT):
            raise IndexDamaged("stale")
        return getattr(self.inner, name)

class Own(Tantivy):
    def open(self, folder, fields):
        if "lost" in PART and os.path.exists(RESULT):
            for file in folder.path.iterdir():
                file.unlink()
        opened = super().open(folder, fields)
        if "lost" in PART:
            return Lost(opened)
        if "stale" in PART:
            return Stale(opened)
        return Part(opened) if os.environ.get("ONLY", "m") in folder.path.parts else opened

@hook
def register_indexes(register):
    register("own", Own)
"""
NONE, TEXT = "gave a NoneType and no ", "gave a str and no "
DAMAGED = "it says that its files are damaged, however often it is opened"
WRONG = [
    ("pages=None", "'pages' of its index " + NONE + "Mapping"),
    ("pages={'a.md': 1}", "'pages' of its index gave a int and no IndexedFile"),
    ("writing=None", "TypeError"),
    ("writing=failing()", "RuntimeError"),
    ("corpus='text'", "it gave a str and no corpus"),
    ("manual_id=3", "'manual_id' of its index gave a int and no str"),
    ("manual_id=1/0", "ZeroDivisionError: division by zero"),
    ("size=None", "'size' of its index " + NONE + "int"),
    ("size=-5", "'size' of its index gave a negative number"),
    ("terms=[1]", "it returned something else than texts"),
    ("search=None", "'search' of its index " + NONE + "Sequence"),
    ("search=itertools.count()", "'search' of its index gave a count and no Sequence"),
    ("search='text'", "'search' of its index " + TEXT + "IndexMatch"),
    ("count=3", "'count' of its index gave a int and no Count"),
    ("frequencies=None", "'frequencies' of its index " + NONE + "Mapping"),
    ("search=changed(real(), path='/etc/passwd')", "gave a passage of a file that it lacks"),
    ("search=changed(real(), path=None)", "gave a passage with wrong values"),
    ("search=changed(real(), start_line='1')", "gave a passage with wrong values"),
    ("search=changed(real(), start_line=-5)", "gave a passage with wrong values"),
    ("search=changed(real(), ancestors=None)", "gave a passage with wrong values"),
    ("search=changed(real(), fields={})", "gave a passage with wrong values"),
    *(
        (f"{method}=damaged()", DAMAGED)
        for method in ("search", "refresh", "sync", "pages", "corpus")
    ),
    ("frequencies={}", "KeyError"),
    ("frequencies=dict.fromkeys(first, -1)", "'frequencies' of its index gave a negative number"),
    (
        "pages={path: file._replace(stamp=None) for path, file in real().items()}",
        "'pages' of its index gave a file with wrong values",
    ),
    (
        "pages={'b' + path: file for path, file in real().items()}",
        "'sync' of its index did not store",
    ),
    ("sync=None", "'sync' of its index did not store what it was given"),
    ("size=1", "its index has lost sections, or has some that it was not given"),
    ("writing=ending()", "RuntimeError"),
    *(
        (f"{method}=no method", "TypeError: 'int' object is not callable")
        for method in ("search", "count", "frequencies", "terms", "query_terms", "average_length")
    ),
    ("average_length=None", "'average_length' of its index gave no finite length"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    return os.fspath(stranger(tmp_path_factory.mktemp("plugins") / "site", "owner", PLUGIN))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    write(tmp_path, {"m/a.md": "# Sun\nSolar.\n", "m/b.md": "# Winter\nSolar winter.\n"})
    (tmp_path / "fumishirube.yaml").write_text("pipelines: {manual: {index: {use: own}}}\n")
    return tmp_path


@pytest.mark.parametrize(("wrong", "problem"), WRONG, ids=[wrong for wrong, _ in WRONG])
@pytest.mark.many_cases
def test_the_index_is_named_in_the_answer_the_log_and_the_list(
    workspace: Path, site: str, wrong: str, problem: str
) -> None:
    environ = {"PYTHONPATH": site, "WRONG": wrong}
    with Wire(workspace, **environ) as wire:
        wire.ok("manual_ls")
        answer = wire.request("tools/call", {"name": "manual_find", "arguments": SEARCH})["result"]
        named = "index 'own' of plugin owner failed: "
        assert named in answer.get("structuredContent", {}).get(
            "degraded", answer["content"][0]["text"]
        )
        assert "plugin owner: index 'own' failed: " in wire.hang_up()
    listed = fumishirube("plugins", "--json", cwd=workspace, environ={"PYTHONPATH": site}).json
    (fault,) = (fault for each in listed if each["plugin"] == "owner" for fault in each["faults"])
    assert problem in fault


def test_an_index_that_is_always_damaged_is_named_where_it_is_updated(
    workspace: Path, site: str
) -> None:
    environ = {"PYTHONPATH": site, "WRONG": "refresh=damaged()"}
    done = fumishirube("index", cwd=workspace, environ=environ)
    assert done.code == 1
    assert f"error: index 'own' of plugin owner failed: {DAMAGED}" in done.err
    checks = fumishirube("doctor", "--json", cwd=workspace, environ=environ).json
    (finding,) = (check["finding"] for check in checks if check["subject"] == "manual m")
    assert finding == f"index 'own' of plugin owner failed: {DAMAGED}"


def test_an_index_that_cannot_empty_itself_as_it_says_is_named(workspace: Path, site: str) -> None:
    environ = {"PYTHONPATH": site, "WRONG": "rebuilding=no method"}
    done = fumishirube("index", "--rebuild", cwd=workspace, environ=environ)
    assert done.code == 1
    assert "error: index 'own' of plugin owner failed: TypeError" in done.err


@pytest.mark.parametrize("seen", ["lost", "found lost by a search"])
def test_an_index_that_is_damaged_until_it_is_written_again_is_rebuilt(
    workspace: Path, site: str, seen: str
) -> None:
    lost = workspace / "lost"
    with Wire(workspace, PYTHONPATH=site, WRONG=f"{seen}={lost}") as wire:
        wire.ok("manual_ls")
        assert wire.ok("manual_find", **SEARCH)["candidates"] == 2
        lost.touch()
        answer = wire.ok("manual_find", **SEARCH, use_cache=False)
        assert (answer["candidates"], answer["degraded"]) == (2, REBUILT)
        assert "degraded" not in wire.ok("manual_find", **SEARCH)
        assert "failed" not in wire.hang_up()


@pytest.mark.parametrize("method", ["pages", "writing", "sync", "corpus"])
def test_an_index_is_opened_again_whichever_of_its_methods_says_that_it_is_damaged(
    workspace: Path, site: str, method: str
) -> None:
    lost = workspace / "lost"
    with Wire(workspace, PYTHONPATH=site, WRONG=f"stale {method}={lost}") as wire:
        wire.ok("manual_ls")
        assert wire.ok("manual_find", **SEARCH)["candidates"] == 2
        lost.touch()
        write(workspace, {"m/c.md": "# Late\nSolar winter.\n"})
        answer = wire.ok("manual_find", **SEARCH, use_cache=False)
        assert (answer["candidates"], answer["degraded"]) == (3, REBUILT)
        assert "degraded" not in wire.ok("manual_find", **SEARCH)
        assert "failed" not in wire.hang_up()


def test_an_index_that_is_always_damaged_leaves_the_other_manuals_searched(
    workspace: Path, site: str
) -> None:
    write(workspace, {"other/a.md": "# Rain\nSolar rain.\n"})
    with Wire(workspace, PYTHONPATH=site, WRONG="refresh=damaged()", ONLY="m") as wire:
        answer = wire.ok("manual_find", **{**SEARCH, "manual_id": "*"})
        assert answer["candidates"] == 1
        reason = f"index 'own' of plugin owner failed: {DAMAGED}"
        assert answer["degraded"] == f"m: not searched: {reason}"
    environ = {"WRONG": "refresh=damaged()", "ONLY": "m", "FUMISHIRUBE_STRICT": "true"}
    with Wire(workspace, PYTHONPATH=site, **environ) as wire:
        call = {"name": "manual_find", "arguments": {**SEARCH, "manual_id": "*"}}
        answer = wire.request("tools/call", call)["result"]
        assert answer["isError"]
        assert reason in answer["content"][0]["text"]


def test_linked_documents_in_an_index_that_is_always_damaged_are_indexed_once_a_call(
    tmp_path: Path, site: str
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nSee [b](b.md).\n")
    (tmp_path / "docs" / "b.md").write_text("# B\n")
    (tmp_path / "fumishirube.yaml").write_text(
        "surfaces: [{use: graph}]\npipelines: {docs: {index: {use: own}}}\n"
    )
    environ = {"PYTHONPATH": site, "WRONG": "refresh=damaged()", "ONLY": "graph"}
    done = fumishirube("docs", "index", cwd=tmp_path, environ=environ)
    assert (done.code, done.out.partition(",")[0]) == (0, "2 documents"), done.err
    done = fumishirube("call", "ubp_get_graph", cwd=tmp_path, environ=environ)
    assert (done.code, len(done.json["nodes"]), len(done.json["edges"])) == (0, 2, 1), done.err
    assert REBUILT in done.out


@pytest.mark.parametrize("wrong", ["close=1/0", ""])
def test_a_server_ends_well_whatever_its_index_does_at_the_end(
    workspace: Path, site: str, wrong: str
) -> None:
    with Wire(workspace, PYTHONPATH=site, WRONG=wrong) as wire:
        wire.ok("manual_ls")
        assert wire.ok("manual_find", **SEARCH)["candidates"] == 2
        told = wire.hang_up()
    assert ("plugin owner: index 'own' failed: ZeroDivisionError" in told) is bool(wrong)


@pytest.mark.slow
def test_an_index_that_sleeps_ends_the_search_at_its_time_and_is_named(
    workspace: Path, site: str
) -> None:
    with Wire(workspace, PYTHONPATH=site, WRONG="search=time.sleep(60)") as wire:
        wire.ok("manual_ls")
        arguments = {**SEARCH, "budget": {"time_ms": 500}}
        call = {"name": "manual_find", "arguments": arguments}
        answer = wire.request("tools/call", call)["result"]
        assert answer["isError"]
        assert "while index 'own' of plugin owner was at work" in answer["content"][0]["text"]
        assert "plugin owner: index 'own' failed: it was abandoned after" in wire.hang_up()
