"""``find --json`` with a stage of a plugin that fails in any way: always one JSON object."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from manuals import fumishirube, write
from strangers import stranger

PLUGIN = """
import os, sys
from fumishirube import ConfigError, Source, Stage, hook

def fail():
    match os.environ["FAULT"]:
        case "raises": raise RuntimeError("hostile")
        case "leaves": sys.exit(3)
        case "refuses": raise ConfigError("hostile")
        case "text": return "text"
        case "nothing": return None
        case "prints": print("hostile"); raise RuntimeError("hostile")

class Words(Stage):
    def terms(self, text): return fail()
    def narrow(self, text): return fail()

class Store(Stage):
    def open(self, folder, fields): return fail()

class Lister(Stage):
    def sources(self, root): return fail()
    def load(self, root, source): return fail()

class Reader(Stage):
    def sources(self, root): return [Source("a.md")]
    def load(self, root, source): return fail()

class Picky(Stage):
    model: str
    def refine(self, ranking, query, corpus): return ranking
    def open(self):
        at = "pipelines.manual.refiners[0].with.model"
        raise ConfigError(f"there is no model: {self.model}", at=at)

@hook
def register_refiners(register):
    register("picky", Picky)

@hook
def register_tokenizers(register):
    register("hostile", Words)

@hook
def register_indexes(register):
    register("hostile", Store)

@hook
def register_loaders(register):
    register("lister", Lister)
    register("reader", Reader)
"""
TOKENIZER = "tokenizer: {use: hostile}"
INDEX = "index: {use: hostile}"
LISTER = "loaders: [{use: lister}, {use: markdown}]"
READER = "loaders: [{use: reader}, {use: markdown}]"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stranger(tmp_path_factory.mktemp("plugins") / "site", "hostile", PLUGIN)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, {"m/a.md": "# Sun\nSolar.\n", "m/b.md": "# Winter\nSolar winter.\n"})


def found(workspace: Path, site: Path, stages: str, fault: str) -> tuple[int, dict[str, object]]:
    (workspace / "fumishirube.yaml").write_text(f"pipelines: {{manual: {{{stages}}}}}\n")
    environ = {"PYTHONPATH": os.fspath(site), "FAULT": fault}
    done = fumishirube("find", "solar winter", "--json", cwd=workspace, environ=environ)
    return done.code, done.json


@pytest.mark.many_cases
@pytest.mark.parametrize("fault", ["raises", "leaves", "text", "nothing", "prints"])
@pytest.mark.parametrize("stages", [TOKENIZER, INDEX], ids=["tokenizer", "index"])
def test_a_stage_without_which_nothing_is_found_is_named_in_an_error_object(
    workspace: Path, site: Path, stages: str, fault: str
) -> None:
    code, answer = found(workspace, site, stages, fault)
    kind = stages.partition(":")[0]
    assert (code, answer["code"]) == (1, "internal_error")
    assert str(answer["message"]).startswith(f"{kind} 'hostile' of plugin hostile failed: ")


@pytest.mark.many_cases
@pytest.mark.parametrize("fault", ["raises", "leaves", "text", "nothing", "prints", "refuses"])
@pytest.mark.parametrize("stages", [LISTER, READER], ids=["lists", "reads"])
def test_without_a_loader_the_other_files_are_found(
    workspace: Path, site: Path, stages: str, fault: str
) -> None:
    code, answer = found(workspace, site, stages, fault)
    assert code == 0, answer
    assert "'b.md'" in str(answer["hits"])


@pytest.mark.parametrize("stages", [TOKENIZER, INDEX], ids=["tokenizer", "index"])
def test_a_configuration_that_a_stage_refuses_is_an_error_object(
    workspace: Path, site: Path, stages: str
) -> None:
    code, answer = found(workspace, site, stages, "refuses")
    assert (code, answer["code"]) == (2, "configuration_error")
    assert str(answer["message"]).endswith(" 'hostile' of plugin hostile failed: hostile")


def test_a_configuration_that_cannot_be_read_is_an_error_object(
    workspace: Path, site: Path
) -> None:
    code, answer = found(workspace, site, "tokenizer: {use: nobody}", "raises")
    assert (code, answer["code"]) == (2, "configuration_error")
    assert "no tokenizer is called 'nobody'" in str(answer["message"])


def test_a_plugin_s_error_about_a_setting_says_its_line(workspace: Path, site: Path) -> None:
    code, answer = found(workspace, site, "\n  refiners: [{use: picky, with: {model: a}}]", "")
    assert (code, answer["code"]) == (2, "configuration_error")
    where = "pipelines.manual.refiners[0].with.model"
    assert answer["message"] == f"{where}: there is no model: a (fumishirube.yaml line 2)"
