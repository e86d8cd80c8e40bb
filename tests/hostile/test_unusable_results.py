"""Tokenizers and scorers of plugins that return what nothing can use: named, not their callers."""

from __future__ import annotations

from pathlib import Path

import pytest
from manuals import Done, fumishirube, write
from strangers import stranger

PLUGIN = """
from fumishirube import Hit, Stage, hook
from fumishirube_stages.tokenizers.bigram import Bigram

class Words(Bigram):
{body}

class Scores(Stage):
    def score(self, query, corpus, candidates):
        return [Hit(passage, 1e300) for passage in candidates.values()]

class Vectors(Stage):
    def embed(self, texts, role):
        return [[1.0] + [0.0] * (role == "query") for _ in texts]

@hook
def register_embedders(register):
    register("own", Vectors)

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
            "tokenizer 'own' failed: TypeError: it returned a NoneType and no clause",
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
        (SCORER, "...", "scorer 'own' failed: a score is too large a number"),
        (
            "embedder: {use: own}, scorers: [{use: lexical}, {use: vector}]",
            "...",
            "embedder 'own' failed: ValueError: one call gives vectors of other dimensions than",
        ),
    ],
)
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
