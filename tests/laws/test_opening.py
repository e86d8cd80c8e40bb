"""Stages that need a resource: opened with the application, used in their running form, closed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from manuals import Done, write

PLUGIN = """
from contextlib import contextmanager
from pathlib import Path
from fumishirube import ConfigError, Document, Ranking, Run, Section, Source
from fumishirube.text import Lines
from fumishirube import Stage, Term, hook

LOG = Path(__file__).parent / "log.txt"


def note(text):
    with LOG.open("a") as log:
        log.write(text + "\\n")


class Resource(Stage):
    missing: bool = False

    @contextmanager
    def open(self):
        if self.missing:
            raise ConfigError("the dictionary is not installed; pip install it")
        name = type(self).__name__
        note(f"open {name}")
        try:
            yield globals()[f"Running{name}"]()
        finally:
            note(f"close {name}")

    def closed(self, *args):
        raise AssertionError("used without having been opened")

    sources = load = terms = narrow = plan = fuse = refine = score = closed


class Loader(Resource): ...
class Tokenizer(Resource): ...
class Scorer(Resource): ...
class Fuser(Resource): ...
class Refiner(Resource): ...


class RunningLoader:
    def sources(self, root):
        return [Source(entry.path) for entry in root.files()]

    def load(self, root, source):
        text = root.read_bytes(source.path).decode()
        end = len(text)
        section = Section("t", 1, Lines(text).total, 0, end, end, 0)
        return Document(source.path, "md", text, (section,))


class RunningTokenizer:
    def terms(self, text):
        return text.split()

    def narrow(self, text):
        return Term(text), False


class RunningScorer:
    generates = True

    def score(self, query, corpus, found):
        from fumishirube import Hit
        return [Hit(one.passage, 1.0) for one in corpus.search(Term(query.text), 5)]


class RunningFuser:
    def plan(self, query, corpus):
        return [Run("query", query)]

    def fuse(self, query, outcomes, corpus):
        return outcomes[0].ranking


class RunningRefiner:
    def refine(self, ranking, query, corpus):
        return ranking._replace(diagnostics={**ranking.diagnostics, "ran": True})


@hook
def register_loaders(register): register("resourceful", Loader)
@hook
def register_tokenizers(register): register("resourceful", Tokenizer)
@hook
def register_scorers(register): register("resourceful", Scorer)
@hook
def register_fusers(register): register("resourceful", Fuser)
@hook
def register_refiners(register): register("resourceful", Refiner)
"""

CONFIG = """
strict: true
pipelines:
  manual:
    loaders: [{use: resourceful}]
    tokenizer: {use: resourceful}
    scorers: [{use: resourceful}]
    fusers: [{use: resourceful}]
    refiners: [{use: resourceful}]
surfaces: [{use: manual}]
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    plugins = tmp_path / "plugins"
    info = plugins / "resourceful-1.0.dist-info"
    info.mkdir(parents=True)
    (plugins / "resourceful.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: resourceful\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fumishirube.v1]\nresourceful = resourceful\n")
    return write(tmp_path, {"m/a.md": "# one\nneedle here\n", "m/b.md": "# two\nhay\n"})


def find(workspace: Path) -> Done:
    done = subprocess.run(
        [sys.executable, "-m", "fumishirube", "find", "needle"],
        cwd=workspace,
        env={**os.environ, "PYTHONPATH": str(workspace / "plugins"), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def log(workspace: Path) -> list[str]:
    return (workspace / "plugins" / "log.txt").read_text().splitlines()


def test_every_stage_but_the_index_runs_in_the_form_that_it_opens(workspace: Path) -> None:
    (workspace / "fumishirube.yaml").write_text(CONFIG)
    done = find(workspace)
    assert done.code == 0, done.err
    assert "a.md" in done.out
    assert "b.md" not in done.out
    names = ["Loader", "Tokenizer", "Scorer", "Fuser", "Refiner"]
    opened, closed = log(workspace)[:5], log(workspace)[5:]
    assert opened == [f"open {name}" for name in names]
    assert closed == [f"close {name}" for name in reversed(names)]


CAREFUL = """\
        finally:
            note(f"close {name}")
"""
CARELESS = """\
        except Exception:
            pass  # it would hide what another stage raises
        note(f"close {name}")
"""


@pytest.mark.parametrize("closing", [CAREFUL, CARELESS], ids=["careful", "careless"])
def test_a_resource_that_is_missing_stops_the_start_and_what_was_opened_is_closed(
    workspace: Path, closing: str
) -> None:
    assert CAREFUL in PLUGIN
    (workspace / "plugins" / "resourceful.py").write_text(PLUGIN.replace(CAREFUL, closing))
    missing = "refiners: [{use: resourceful, with: {missing: true}}]"
    (workspace / "fumishirube.yaml").write_text(
        CONFIG.replace("refiners: [{use: resourceful}]", missing)
    )
    done = find(workspace)
    assert done.code == 2
    assert "the dictionary is not installed; pip install it" in done.err
    assert "Traceback" not in done.err
    assert [line for line in log(workspace) if "Tokenizer" in line] == [
        "open Tokenizer",
        "close Tokenizer",
    ]
