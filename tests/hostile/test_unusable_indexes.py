"""Indexes of plugins that return what nothing can use: named, not those that read them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from manuals import fumishirube, write
from stdio import Wire
from strangers import stranger

SEARCH = {"query": "solar winter", "manual_id": "m", "required_terms": ["solar"]}
PLUGIN = """
import itertools, os, time
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

class Own(Tantivy):
    def open(self, folder, fields):
        return Part(super().open(folder, fields))

@hook
def register_indexes(register):
    register("own", Own)
"""
WRONG = [
    ("pages=None", "pages() is NoneType instead of Mapping"),
    ("pages={'a.md': 1}", "pages().values() is int instead of IndexedFile"),
    ("writing=None", "TypeError"),
    ("writing=failing()", "RuntimeError"),
    ("corpus='text'", "it gave str instead of Corpus"),
    ("manual_id=3", "manual_id() is int instead of str"),
    ("manual_id=1/0", "ZeroDivisionError: division by zero"),
    ("size=None", "size() is NoneType instead of int"),
    ("size=-5", "size() is negative"),
    ("terms=[1]", "its result[0] is int instead of str"),
    ("search=None", "search() is NoneType instead of Sequence"),
    ("search=itertools.count()", "search() is count instead of Sequence"),
    ("search='text'", "search() is str instead of Sequence"),
    ("count=3", "count() is int instead of Count"),
    ("frequencies=None", "frequencies() is NoneType instead of Mapping"),
    (
        "search=changed(real(), path='/etc/passwd')",
        "search() has a passage of a file that its index lacks",
    ),
    ("search=changed(real(), path=None)", "search()[0].passage.path is NoneType instead of"),
    ("search=changed(real(), start_line='1')", "search()[0].passage.start_line is str"),
    ("search=changed(real(), start_line=-5)", "has a passage without its lines or fields"),
    ("search=changed(real(), ancestors=None)", "[0].passage.ancestors is NoneType instead of"),
    ("search=changed(real(), fields={})", "has a passage without its lines or fields"),
    ("search=damaged()", "it says that its files are damaged, however often it is opened"),
    ("frequencies={}", "KeyError"),
    ("frequencies=dict.fromkeys(first, -1)", "frequencies() is negative"),
    (
        "pages={path: file._replace(stamp=None) for path, file in real().items()}",
        "pages().values().stamp is NoneType instead of str",
    ),
    (
        "pages={'b' + path: file for path, file in real().items()}",
        "'sync' of its index did not store",
    ),
    ("sync=None", "'sync' of its index did not store what it was given"),
    ("size=1", "its index has lost sections, or has some that it was not given"),
    ("writing=ending()", "RuntimeError"),
    ("average_length=None", "average_length() is NoneType instead of float"),
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
