"""What ``config`` tells of files: the origin of each value, what differs, and the schema."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import jsonschema
import pytest
import yaml
from warm_start import warm_script

from fumishirube.config.configuration import Config
from fumishirube_manual.surface import ManualSurface

PROJECT = Path(__file__).parents[2]

FILE = """\
# a comment
limits:
  depth: 7
pipelines:
  manual:
    tokenizer: {use: ngram, with: {n: 4}}
    scorers:
      - use: lexical
        with:
          coverage_weight: 0.6
      - {use: phrase}
    refiners: []
search: {max_results: 7}
surfaces:
- use: manual
- {use: chapters}
"""
BROKEN = [
    "surfaces: [{use: manaul}]",
    "limits: {depth: 0}",
    "limits: {dept: 3}",
    "pipelines: {manual: {scorers: [{use: lexical, with: {coverage: 1}}]}}",
    "pipelines: {manual: {scorers: {use: lexical}}}",
    "pipelines: {manual: {tokenizer: [{use: ngram}]}}",
    "roots: {manuals: 3}",
    "version: 2",
    "search: {max_result: 3}",
    "server: {port: 70000}",
]
STRANGERS = {"borda", "outdated"}
"""Stages of packages that the documents speak of, and that are not installed here."""


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def own(tmp_path: Path) -> Path:
    chapter = tmp_path / "manuals" / "m1" / "rules.md"
    chapter.parent.mkdir(parents=True)
    chapter.write_text("# 総則\n対象です。\n", encoding="utf-8")
    return tmp_path


def config(folder: Path, *words: str, **environ: str) -> Done:
    known = {name: value for name, value in os.environ.items() if name != "WORKSPACE_ROOT"}
    done = subprocess.run(
        [warm_script(), "config", *words],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**known, **environ},
        check=False,
    )
    assert "Traceback" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def written(folder: Path, text: str, name: str = "fumishirube.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


# --- where each value comes from --------------------------------------------------------------


def test_every_value_says_where_it_comes_from(own: Path) -> None:
    written(own, FILE)
    told = json.loads(config(own, "show", "--json", LEXICAL_COVERAGE_WEIGHT="0.7").out)
    origins = told["origins"]
    assert {at: said for at, said in origins.items() if said != "default"} == {
        "limits.depth": "fumishirube.yaml line 3",
        "pipelines.manual.tokenizer.use": "fumishirube.yaml line 6",
        "pipelines.manual.tokenizer.with.n": "fumishirube.yaml line 6",
        "pipelines.manual.scorers[0].use": "fumishirube.yaml line 8",
        "pipelines.manual.scorers[0].with.coverage_weight": "LEXICAL_COVERAGE_WEIGHT",
        "pipelines.manual.scorers[1].use": "fumishirube.yaml line 11",
        "pipelines.manual.refiners": "fumishirube.yaml line 12",
        "surfaces[0].use": "fumishirube.yaml line 15",
        "surfaces[1].use": "fumishirube.yaml line 16",
        "surfaces[1].with.max_results": "fumishirube.yaml line 13",
    }
    for coordinate in origins:
        assert at(told["config"], coordinate) not in ({"more": 1}, [1])


def test_stages_that_defaults_brings_say_where_they_come_from(own: Path) -> None:
    lines = ["pipelines:", "  manual:", "    refiners:", "    - {use: cutoff, with: {limit: 7}}"]
    written(own, "\n".join([*lines, "    - defaults", "    scorers: [defaults, regex]", ""]))
    decided = {"MANUAL_FIND_EXPLORATION_RATIO": "0.3", "LEXICAL_COVERAGE_WEIGHT": "0.7"}
    told = json.loads(config(own, "show", "--json", **decided).out)
    refiners = told["config"]["pipelines"]["manual"]["refiners"]
    places = {use["use"]: f"pipelines.manual.refiners[{n}]" for n, use in enumerate(refiners)}
    scorers = told["config"]["pipelines"]["manual"]["scorers"]
    places |= {use["use"]: f"pipelines.manual.scorers[{n}]" for n, use in enumerate(scorers)}
    assert {at: said for at, said in told["origins"].items() if said != "default"} == {
        f"{places['cutoff']}.use": "fumishirube.yaml line 4",
        f"{places['cutoff']}.with.limit": "fumishirube.yaml line 4",
        f"{places['exploration']}.with.ratio": "MANUAL_FIND_EXPLORATION_RATIO",
        f"{places['lexical']}.with.coverage_weight": "LEXICAL_COVERAGE_WEIGHT",
        f"{places['regex']}.use": "fumishirube.yaml line 6",
    }
    assert sorted(told["from_environment"].values()) == sorted(decided)


def at(value: Any, coordinate: str) -> Any:
    for part in coordinate.replace("[", ".").replace("]", "").split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def test_the_origin_stands_beside_each_value_and_changes_nothing(own: Path) -> None:
    written(own, FILE)
    shown = config(own, "show").out
    assert "  depth: 7  # fumishirube.yaml line 3\n" in shown
    assert "  files: 100000  # default\n" in shown or "# default\n" in shown
    assert yaml.safe_load(shown) == json.loads(config(own, "show", "--json").out)["config"]
    for line in shown.splitlines():
        assert "  # " in line or line.endswith((":", "-")), line


def test_surfaces_that_share_a_pipeline_start_with_what_is_shown(own: Path) -> None:
    """Of the stages on which they differ, the list is shown as it is written."""
    shared = "{use: graph, with: {pipeline: manual}}"
    written(own, f"surfaces: [manual, {shared}]\npipelines: {{manual: {{fusers: [defaults]}}}}\n")
    (own / "docs").mkdir()
    shown = config(own, "show").out
    assert "- use: defaults  # fumishirube.yaml line 2" in shown
    written(own, shown)
    again = config(own, "show")
    assert again.code == 0, again.err
    assert yaml.safe_load(again.out) == yaml.safe_load(shown)


def test_a_value_of_the_classic_file_says_so(own: Path) -> None:
    written(own, "surfaces: [{use: chapters}]\n")
    written(own, "server:\n  port: 4000\nsearch:\n  max_results: 9\n", "config.yaml")
    origins = json.loads(config(own, "show", "--json").out)["origins"]
    assert origins["server.port"] == "config.yaml line 2"
    assert origins["surfaces[0].with.max_results"] == "config.yaml line 4"


def test_what_another_program_left_says_so(own: Path) -> None:
    (own / "docs").mkdir()
    (own / ".ubp").mkdir()
    written(own / ".ubp", '{"source": {"include": ["*.md"]}}', "config.json")
    written(own, "surfaces: [{use: graph}]\n")
    origins = json.loads(config(own, "show", "--json").out)["origins"]
    known = {at for at, said in origins.items() if said == ".ubp/config.json"}
    assert "pipelines.docs.loaders[0].with.include[0]" in known


def test_the_keys_of_the_earlier_program_that_the_page_names_count(own: Path) -> None:
    page = (PROJECT / "docs" / "documents.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```json\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (own / ".ubp").mkdir()
    written(own / ".ubp", block, "config.json")
    written(own, "surfaces: [{use: graph}]\n")
    origins = json.loads(config(own, "show", "--json").out)["origins"]
    counted = {at.split(".")[-1].split("[")[0] for at, by in origins.items() if "ubp" in by}
    keys = {key for part in json.loads(block).values() if isinstance(part, dict) for key in part}
    assert keys <= counted
    assert origins["roots.docs"] == ".ubp/config.json"


def test_yaml_that_refers_to_itself_is_no_trouble(own: Path) -> None:
    written(own, "limits: &l {depth: 7}\nx: &x [*x]\n")
    refused = (
        "configuration error: fumishirube.yaml line 2: an alias names a value that contains it"
    )
    assert config(own, "show").err.startswith(refused)
    written(own, "a: &a {depth: 7}\nlimits: {<<: *a}\n")
    assert "there is no such setting" in config(own, "show").err


# --- differences ------------------------------------------------------------------------------


def test_two_files_are_compared_after_their_defaults(own: Path) -> None:
    one = written(own, FILE)
    other = written(own, "limits: {depth: 7}\nsurfaces: [{use: manual}]\n", "other.yaml")
    found = config(own, "diff", one.name, other.name)
    assert found.code == 1
    assert "pipelines.manual.tokenizer.with.n: 4 -> 2" in found.out.splitlines()
    assert 'surfaces: ["manual", "chapters"] -> ["manual"]' in found.out
    assert "limits" not in found.out
    assert not any(line.startswith("pipelines.chapters") for line in found.out.splitlines())


def test_stages_are_compared_by_name_wherever_they_stand(own: Path) -> None:
    head = "pipelines: {manual: {scorers: "
    one = written(own, f"{head}[{{use: lexical}}, {{use: plain}}]}}}}\n", "a.yaml")
    written(
        own,
        f"{head}[{{use: plain}}, {{use: lexical, with: {{coverage_weight: 0.9}}}}]}}}}\n",
        "b.yaml",
    )
    found = json.loads(config(own, "diff", one.name, "b.yaml", "--json").out)
    assert [row["coordinate"] for row in found] == [
        "pipelines.manual.scorers",
        "pipelines.manual.scorers[0].with.coverage_weight",
    ]
    assert (found[0]["a"], found[0]["b"]) == (["lexical", "plain"], ["plain", "lexical"])
    assert (found[1]["b"], found[1]["a_from"]) == (0.9, "default")
    assert found[1]["b_from"] == "b.yaml line 1"


def test_a_file_is_compared_with_what_is_in_force_or_with_the_defaults(own: Path) -> None:
    written(own, "limits: {depth: 7}\n")
    assert config(own, "diff", "fumishirube.yaml") == Done(0, "", "")
    assert config(own, "diff", "defaults", "defaults") == Done(0, "", "")
    changed = config(own, "diff", "fumishirube.yaml", FUMISHIRUBE_LIMIT_DEPTH="8")
    assert changed == Done(1, "limits.depth: 7 -> 8\n", "")
    told = config(own, "diff", "fumishirube.yaml", "defaults", FUMISHIRUBE_LIMIT_DEPTH="8").out
    assert told.startswith("limits.depth: 7 -> ")


def test_a_file_is_compared_with_the_classic_file_that_its_surface_reads(own: Path) -> None:
    written(own, "surfaces: [{use: chapters}]\n")
    written(own, "search: {max_results: 3}\nserver: {port: 9000}\n", "config.yaml")
    assert config(own, "diff", "fumishirube.yaml") == Done(0, "", "")
    assert "server.port: 9000 -> 8765" in config(own, "diff", "fumishirube.yaml", "defaults").out


def test_a_file_elsewhere_is_compared_as_one_of_this_workspace(own: Path) -> None:
    written(own, "server: {port: 9000}\n", "config.yaml")
    (own / "other").mkdir()
    written(own / "other", "surfaces: [{use: chapters}]\n")
    written(own / "other", "server: {port: 7000}\n", "config.yaml")
    told = config(own, "diff", "other/fumishirube.yaml", "defaults").out
    assert "server.port: 9000 -> 8765" in told


def test_what_cannot_be_compared_is_named(own: Path) -> None:
    assert config(own, "diff").code == 2
    assert "there is no file 'x.yaml'" in config(own, "diff", "x.yaml").err
    assert "unexpected argument 'c'" in config(own, "diff", "a", "b", "c").err
    assert "unexpected argument 'a'" in config(own, "show", "a").err


# --- the schema -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("schema")
    (folder / "manuals").mkdir()
    made = json.loads(config(folder, "schema").out)
    jsonschema.Draft202012Validator.check_schema(made)
    return made


def pages() -> list[Path]:
    return sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md")])


def package_blocks() -> list[Any]:
    """Return the YAML in the pages of the packages and examples of this repository."""
    found = (*PROJECT.glob("examples/*/README.md"), *PROJECT.glob("plugins/packages/*/README.md"))
    form = re.compile(r"^```yaml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    return [
        pytest.param(block, id=f"{page.parent.name} {number}")
        for page in sorted(found)
        for number, block in enumerate(form.findall(page.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize("block", package_blocks())
def test_a_package_page_switches_no_default_stage_off(block: str) -> None:
    """A fuser that comes first may take the place of one default fuser."""
    for kind, uses in yaml.safe_load(block).get("pipelines", {"manual": {}})["manual"].items():
        if isinstance(uses, list):
            names = {use if isinstance(use, str) else use["use"] for use in uses}
            usual = {*ManualSurface.pipeline[kind]}
            missing = set() if "defaults" in names else usual - names
            assert len(missing) <= (kind == "fusers"), (kind, missing)
            assert kind != "loaders" or "defaults" in names, "those of packages are defaults too"


def samples() -> list[str]:
    """Return every piece of YAML in the documents that is a configuration, and some more."""
    texts = [FILE, "", "limits: {file_bytes: 64 MiB}"]
    for page in pages():
        blocks = page.read_text(encoding="utf-8").split("```yaml\n")[1:]
        texts += [dedent(block.partition("```")[0]) for block in blocks]
    return [text for text in texts if not isinstance(yaml.safe_load(text), list)]


@pytest.mark.many_cases
@pytest.mark.parametrize("text", samples())
def test_the_schema_knows_what_the_documents_show(schema: Any, text: str) -> None:
    unknown = set(re.findall(r"use: ([a-z-]+)", text)) - known(schema)
    assert unknown <= STRANGERS
    if not any(re.search(rf"\b{name}\b", text) for name in STRANGERS):
        jsonschema.validate(yaml.safe_load(text) or {}, schema)


def test_no_configuration_in_the_documents_goes_unchecked() -> None:
    opening = re.compile(rf"^```(?!yaml\n).*\n+({'|'.join(Config.model_fields)}):", re.MULTILINE)
    for page in pages():
        assert not opening.search(page.read_text(encoding="utf-8")), page.name


def known(schema: Any) -> set[str]:
    """Return the names of all stages."""
    one_of = [one for kind in schema["$defs"].values() for one in kind.get("oneOf", ())]
    return {one["properties"]["use"]["const"] for one in one_of}


@pytest.mark.many_cases
@pytest.mark.parametrize("text", BROKEN)
def test_the_schema_refuses_what_the_program_refuses(schema: Any, own: Path, text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), schema)
    written(own, text)
    done = config(own, "show")
    assert done.code == 2 or "there is no such setting" in done.err


def test_what_is_in_force_fits_the_schema(schema: Any, own: Path) -> None:
    written(own, FILE)
    jsonschema.validate(json.loads(config(own, "show", "--json").out)["config"], schema)
