"""Indexes of plugins whose vectors fail or take too long: named, and only for their own faults."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from manuals import Done, fumishirube, write
from stdio import Wire
from strangers import stranger

PLUGIN = """
import os, time
from fumishirube import hook, Stage
from fumishirube.tools import EmbeddingCounts
from fumishirube_stages.indexes.tantivy import Tantivy

PART, _, RESULT = os.environ.get("WRONG", "").partition("=")

class Vectors:
    def __init__(self):
        self.complete, self.rows = {}, []

    def stamps(self):
        return self.complete

    def update(self, stamps, read, embed, go_on):
        for path, stamp in stamps.items():
            for number, pieces in enumerate(read(path)):
                vectors = embed([text for _, text in pieces]) if pieces else []
                self.rows += [(path, number, vector) for vector in vectors]
            self.complete = {**self.complete, path: stamp}
        return EmbeddingCounts(len(self.rows))

    def nearest(self, vector, stamps, limit, within, per_file, on):
        found = [(p, n, sum(x * y for x, y in zip(v, vector))) for p, n, v in self.rows]
        return sorted(found, key=lambda section: -section[2])[:limit]

    def __getattribute__(self, name):
        if name != PART:
            return super().__getattribute__(name)
        return lambda *arguments: eval(RESULT)

class Part:
    def __init__(self, inner):
        self.inner, self.vectors = inner, Vectors()

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def vector_store(self, identity):
        return self.vectors

    def vector_note(self):
        return ""

class Own(Tantivy):
    def open(self, folder, fields):
        return Part(super().open(folder, fields))

class Axes(Stage):
    def embed(self, texts, role):
        if PART == "embed":
            raise RuntimeError("no luck")
        return [[1.0, 0.0] if "oil" in text.lower() else [0.0, 1.0] for text in texts]

@hook
def register_indexes(register):
    register("own", Own)

@hook
def register_embedders(register):
    register("axes", Axes)
"""
NAMED = "index 'own' of plugin owner"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    return os.fspath(stranger(tmp_path_factory.mktemp("plugins") / "site", "owner", PLUGIN))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    write(tmp_path, {"m/a.md": "# Grease\nOil.\n", "m/b.md": "# Winter\nSnow.\n"})
    pipeline = "index: {use: own}, embedder: axes, scorers: [lexical, vector]"
    (tmp_path / "fumishirube.yaml").write_text(f"pipelines: {{manual: {{{pipeline}}}}}\n")
    return tmp_path


def found(workspace: Path, site: str, query: str, wrong: str = "", *words: str) -> Done:
    environ = {"PYTHONPATH": site, "WRONG": wrong}
    return fumishirube("find", query, "--json", *words, cwd=workspace, environ=environ)


def faults(workspace: Path, site: str) -> list[str]:
    listed = fumishirube("plugins", "--json", cwd=workspace, environ={"PYTHONPATH": site}).json
    return [fault for each in listed if each["plugin"] == "owner" for fault in each["faults"]]


def test_an_index_of_a_plugin_compares_vectors(workspace: Path, site: str) -> None:
    done = found(workspace, site, "oily things")
    assert done.json["hits"][0]["ref"]["path"] == "a.md"
    assert done.json["coverage"]["degraded"] == []
    assert done.err == ""


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("stamps=1/0", "ZeroDivisionError: division by zero"),
        ("stamps=None", "TypeError: 'stamps' of its vectors gave a NoneType and no Mapping"),
        ("update=1/0", "ZeroDivisionError: division by zero"),
        (
            "update=None",
            "TypeError: 'update' of its vectors gave a NoneType and no EmbeddingCounts",
        ),
        ("nearest=1/0", "ZeroDivisionError: division by zero"),
        ("nearest=[('a.md', 0, None)]", "TypeError: 'nearest' of its vectors gave a list"),
    ],
)
def test_an_index_whose_vectors_fail_is_named_in_the_answer_and_the_list(
    workspace: Path, site: str, wrong: str, problem: str
) -> None:
    done = found(workspace, site, "oil", wrong)
    assert f"{NAMED} failed: " in done.out + done.err
    assert f"problem: plugin owner: index 'own' failed: {problem}" in done.err
    (fault,) = faults(workspace, site)
    assert problem in fault


def test_an_embedder_that_fails_in_an_update_of_an_index_is_named_itself(
    workspace: Path, site: str
) -> None:
    done = found(workspace, site, "oil", "embed=")
    assert [hit["ref"]["path"] for hit in done.json["hits"]] == ["a.md"]
    named = "words alone decide: embedder 'axes' of plugin owner failed: RuntimeError"
    assert done.json["coverage"]["degraded"] == [f"m: {named}"]
    (fault,) = faults(workspace, site)
    assert fault.startswith("embedder 'axes' failed: RuntimeError: no luck")


@pytest.mark.slow
@pytest.mark.parametrize("part", ["stamps", "update", "nearest"])
def test_an_index_whose_vectors_sleep_is_named_at_the_end_of_the_time(
    workspace: Path, site: str, part: str
) -> None:
    began = time.monotonic()
    words = ("--full", "--manual", "m", "--require", "oil", "--time-ms", "2000")
    done = found(workspace, site, "oil", f"{part}=time.sleep(60)", *words)
    assert time.monotonic() - began < 30
    assert "problem: plugin owner: index 'own' failed: it was abandoned after" in done.err


@pytest.mark.slow
def test_words_decide_while_the_vectors_of_an_index_sleep(workspace: Path, site: str) -> None:
    with Wire(workspace, PYTHONPATH=site, WRONG="stamps=time.sleep(60)") as wire:
        wire.ok("manual_ls")
        search = {"query": "oil", "manual_id": "m", "required_terms": ["oil"]}
        answer = wire.ok("manual_find", **search, budget={"time_ms": 500})
        assert answer["candidates"] == 1
        assert f"words alone decide: {NAMED} " in answer["degraded"]
        wire.kill()


@pytest.mark.slow
def test_no_search_goes_on_without_the_vectors_of_an_index_if_it_has_to_be_strict(
    workspace: Path, site: str
) -> None:
    assert found(workspace, site, "oil").code == 0
    with (workspace / "fumishirube.yaml").open("a") as configured:
        configured.write("strict: true\n")
    with Wire(workspace, PYTHONPATH=site, WRONG="stamps=time.sleep(60)") as wire:
        wire.ok("manual_ls")
        search = {"query": "oil", "manual_id": "m", "required_terms": ["oil"]}
        call = {"name": "manual_find", "arguments": {**search, "budget": {"time_ms": 500}}}
        refused = wire.request("tools/call", call)["result"]["_meta"]["fumishirube/error"]
        assert refused["code"] == "internal_error"
        assert refused["message"].startswith(f"{NAMED} was abandoned after ")
        wire.kill()
