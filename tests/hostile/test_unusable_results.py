"""Tokenizers and scorers of plugins that return what nothing can use: named, not their callers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chapter_manuals import FIRST, NAME, SURFACE, entry, made
from manuals import Done, fumishirube, write
from stdio import Wire
from strangers import stranger

PLUGIN = """
from pathlib import Path
from typing import ClassVar
from fumishirube import Bool, Hit, Phrase, Stage, Term, hook
from fumishirube_stages.tokenizers.bigram import Bigram

class Word(str):
    __hash__ = None

class Unclear:
    __bool__ = None

class Words(Bigram):
{body}

class Scores(Stage):
    def score(self, query, corpus, candidates):
        return [Hit(passage, 1e300) for passage in candidates.values()]

class Vectors(Stage):
    def embed(self, texts, role):
        return [[1.0] + [0.0] * (role == "query") for _ in texts]

class Unusable(Stage):
    def embed(self, texts, role):
        vector = (Path(__file__).parent.parent / "vector").read_text(encoding="utf-8")
        return [eval(vector)] * len(texts)

class Exits(Stage):
    def embed(self, texts, role):
        raise SystemExit

class Opens(Exits):
    def open(self):
        raise OSError("no socket")

@hook
def register_embedders(register):
    register("own", Vectors)
    register("exits", Exits)
    register("opens", Opens)
    register("unusable", Unusable)

@hook
def register_tokenizers(register):
    register("own", Words)

@hook
def register_scorers(register):
    register("own", Scores)
"""
TOKENIZER = "tokenizer: {use: own}"
SCORER = "scorers: [{use: lexical}, {use: own}]"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    pages = {"m/a.md": "# Oil\n\nChange the oil.\n# Air\n\nChange the air.\n"}
    return write(tmp_path / "work", pages)


def run(workspace: Path, stages: str, body: str, *words: str) -> Done:
    plugins = workspace.parent / "plugins"
    if not plugins.exists():
        stranger(plugins, "owner", PLUGIN.replace("{body}", f"    {body}"))
        text = f"pipelines: {{manual: {{{stages}}}}}\n"
        (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")
    return fumishirube(*words, cwd=workspace, environ={"PYTHONPATH": str(plugins)})


@pytest.mark.parametrize(
    ("stages", "body", "problem"),
    [
        (
            TOKENIZER,
            "def narrow(self, text): return None, True",
            "tokenizer 'own' failed: TypeError: it returned no clause with the right values",
        ),
        (
            TOKENIZER,
            "def query_terms(self, text): return 'oil'",
            "tokenizer 'own' failed: TypeError: it returned something else than texts",
        ),
        (
            TOKENIZER,
            "def form_finder(self, term): return 42",
            "tokenizer 'own' failed: TypeError: it returned a int and no function",
        ),
        (
            TOKENIZER,
            "def form_finder(self, term): return lambda text: 1 / 0",
            "tokenizer 'own' failed: ZeroDivisionError: division by zero",
        ),
        (
            TOKENIZER,
            "query_terms: ClassVar[int] = 5",
            "tokenizer 'own' failed: TypeError: 'int' object is not callable",
        ),
        (SCORER, "...", "scorer 'own' failed: a score is too large a number"),
        (
            "embedder: {use: own}, scorers: [{use: lexical}, {use: vector}]",
            "...",
            "embedder 'own' failed: ValueError: one call gives vectors of other dimensions than",
        ),
    ],
)
@pytest.mark.many_cases
def test_what_cannot_be_used_is_a_fault_of_the_plugin_that_returned_it(
    workspace: Path, stages: str, body: str, problem: str
) -> None:
    done = run(workspace, stages, body, "find", "change the oil", "--json")
    assert done.code == 0, done.err
    assert done.json["hits"]
    assert f"problem: plugin owner: {problem}" in done.err
    assert done.json["coverage"]["degraded"]
    assert "'siblings'" not in str(done.json["coverage"]["degraded"])
    doctor = run(workspace, stages, body, "doctor", "--json")
    assert any(problem in c["finding"] for c in doctor.json if c["subject"] == "plugin owner")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("def narrow(self, text): return Bool(should=('x',)), True", "no clause with the right"),
        ("def narrow(self, text): return Term(3), True", "no clause with the right values: Term"),
        ("def narrow(self, text): return Phrase((None,)), True", "something else than texts"),
        ("def narrow(self, text): return Term('oil'), Unclear()", "TypeError"),
        ("def terms(self, text): return ['oil', '\\ud800']", "UnicodeEncodeError"),
        ("def written_beside(self, text, others): return ('oil', '', 5), ()", "is not iterable"),
        ("def written_beside(self, text, others): return 5, ()", "cannot unpack non-iterable int"),
        ("def written_beside(self, text, others): return None", "cannot unpack non-iterable None"),
    ],
)
@pytest.mark.many_cases
def test_a_tokenizer_whose_results_cannot_be_used_is_named_in_the_error(
    workspace: Path, body: str, problem: str
) -> None:
    done = run(workspace, TOKENIZER, body, "find", "oil", "--require", "oil", "--json")
    assert "problem: plugin owner: tokenizer 'own' failed: " in done.err
    assert problem in done.err
    assert "stage 'lexical'" not in done.err
    assert "'required-terms'" not in done.err
    doctor = run(workspace, TOKENIZER, body, "doctor", "--json")
    assert any(problem in c["finding"] for c in doctor.json if c["subject"] == "plugin owner")


@pytest.mark.parametrize(
    "body",
    [
        "def terms(self, text): return [Word(term) for term in super().terms(text)]",
        "query_terms: ClassVar[None] = None",
    ],
    ids=["texts of a class below str", "a method that is none"],
)
def test_what_a_tokenizer_may_have_instead_is_no_fault(workspace: Path, body: str) -> None:
    done = run(workspace, TOKENIZER, body, "find", "oil", "--json")
    assert [hit["title"] for hit in done.json["hits"]] == ["Oil"]
    assert "problem" not in done.err


@pytest.mark.many_cases
@pytest.mark.parametrize("vector", ["[]", "[1e300, 0.0]", "[1e39]", "[float('nan')]"])
def test_an_embedder_whose_vectors_cannot_be_stored_is_named(workspace: Path, vector: str) -> None:
    stages = "embedder: {use: unusable}, scorers: [{use: lexical}, {use: vector}]"
    (workspace.parent / "vector").write_text(vector, encoding="utf-8")
    run(workspace, stages, "...", "index")
    done = run(workspace, stages, "...", "find", "oil", "--json")
    assert [hit["title"] for hit in done.json["hits"]] == ["Oil"]
    doctor = run(workspace, stages, "...", "doctor", "--json")
    named = [c["finding"] for c in doctor.json if c["subject"] == "plugin owner"]
    assert any(finding.startswith("embedder 'unusable' failed: ValueError") for finding in named)


def test_the_embedder_of_the_cache_is_named_when_it_fails(workspace: Path) -> None:
    plugins = stranger(workspace.parent / "plugins", "owner", PLUGIN.replace("{body}", "    ..."))
    configuration = workspace / "fumishirube.yaml"
    configuration.write_text("cache: {embedder: exits}\n", encoding="utf-8")
    with Wire(workspace, PYTHONPATH=str(plugins)) as wire:
        wire.ok("manual_ls")
        asked = {"query": "oil", "manual_id": "m", "required_terms": ["oil"]}
        assert wire.ok("manual_find", **asked)["candidates"] == 1
        assert "plugin owner: embedder 'exits' failed: SystemExit" in wire.hang_up()
    configuration.write_text("cache: {embedder: opens}\n", encoding="utf-8")
    done = fumishirube("find", "oil", cwd=workspace, environ={"PYTHONPATH": str(plugins)})
    assert done.code == 2
    assert "cache.embedder: embedder 'opens' of plugin owner: OSError: no socket" in done.err


CHAPTERS = """
from typing import ClassVar
from fumishirube import Stage, hook

class Own(Stage):
    generates: ClassVar[bool] = True

    def score(self, query, corpus, candidates):
        return ["no hit"]

@hook
def register_scorers(register):
    register("own", Own)
"""


def test_a_scorer_that_a_surface_takes_from_its_pipeline_is_checked_too(tmp_path: Path) -> None:
    plugins = stranger(tmp_path / "plugins", "owner", CHAPTERS)
    scorers = "[{use: own, as: plain}, {use: regex}, {use: loose}, {use: exceptions}]"
    settings = f"{SURFACE}pipelines: {{chapters: {{scorers: {scorers}}}}}\n"
    toc = [entry("01", "第1章 総則")]
    workspace = made(tmp_path / "work", toc, settings, **{"01": FIRST})
    asked = {"manual_name": NAME, "query": "給付", "mode": "plain"}
    arguments = json.dumps(asked, ensure_ascii=False)
    environ = {"PYTHONPATH": str(plugins)}
    done = fumishirube("call", "search_text", arguments, cwd=workspace, environ=environ)
    assert done.code == 1
    assert done.json["message"].startswith("scorer 'plain' of plugin owner failed: ")
    told = "scorer 'plain' failed: WrongResult: it returned something else than a Hit"
    assert f"problem: plugin owner: {told}" in done.err
