"""The commands `index`, `plugins`, `doctor` and `config`, as real processes."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from command_runs import fumishirube, indexed_samples
from manuals import RULES, stranger, write
from warm_start import warm_script


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed_samples(tmp_path_factory.mktemp("workspace"))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A workspace that a test may change: one small manual."""
    return write(tmp_path, {"m1/rules.md": RULES})


@pytest.mark.slow
def test_index_follows_the_files_until_it_is_interrupted(own: Path) -> None:
    command = [warm_script(), "index", "m1", "--follow"]
    with subprocess.Popen(command, cwd=own, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        before = process.stdout.readline()
        (own / "manuals" / "m1" / "later.md").write_text("# Later\n\nIt came while it ran.\n")
        after = process.stdout.readline()
        process.terminate()
        assert process.wait(20) == 0
    counts = [int(line.split()[1].replace(",", "")) for line in (before, after)]
    assert counts[1] == counts[0] + 1, (before, after)


@pytest.mark.slow
def test_index_follows_manuals_that_come_later(own: Path) -> None:
    command = [warm_script(), "index", "--follow"]
    with subprocess.Popen(command, cwd=own, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "m1  3 sections in 1 file\n"
        write(own, {"m2/later.md": "# Later\n\nIt came while it ran.\n"})
        assert process.stdout.readline() == "m2  1 section in 1 file\n"
        process.terminate()
        assert process.wait(20) == 0


def test_index_tells_sections_and_rebuilds(own: Path) -> None:
    first = fumishirube("index", cwd=own)
    assert first.out == "m1  3 sections in 1 file\n"
    made = {path.name for path in (own / ".fumishirube/index/m1").rglob("*") if path.is_file()}
    again = fumishirube("index", "m1", "--rebuild", "--json", cwd=own)
    remade = {path.name for path in (own / ".fumishirube/index/m1").rglob("*") if path.is_file()}
    assert again.json == [
        {"manual_id": "m1", "files": 1, "sections": 3, "skipped": [], "degraded": None}
    ]
    assert made != remade
    assert fumishirube("index", "m2", cwd=own).code == 1


def test_a_plugin_that_fails_is_reported_and_stops_nothing(own: Path) -> None:
    path = stranger(own, "raise RuntimeError('no luck')\n")
    plugins = fumishirube("plugins", cwd=own, PYTHONPATH=path)
    assert plugins.code == 0
    assert "stranger  stranger 1.2  refused" in plugins.out
    assert "problem: cannot be imported: RuntimeError: no luck" in plugins.out
    plain = fumishirube("plugins", "--json", cwd=own, PYTHONPATH=path).json
    *built_ins, own_report = plain
    assert own_report["plugin"] == "stranger"
    assert {report["distribution"] for report in built_ins} == {"fumishirube"}
    offers = {report["plugin"]: report["offers"] for report in built_ins}
    slices = {"addressed", "authoring", "chapters", "clients", "eval", "graph", "http", "inspect"}
    assert offers.keys() == {*slices, "manual", "stages", "vault"}
    assert {"kind": "fuser", "name": "required-terms"} in offers["stages"]
    doctor = fumishirube("doctor", cwd=own, PYTHONPATH=path)
    assert doctor.code == 1
    assert "FAIL  plugin stranger" in doctor.out
    assert fumishirube("find", "対象", cwd=own, PYTHONPATH=path).code == 0
    alone = fumishirube("--no-plugins", "doctor", cwd=own, PYTHONPATH=path)
    assert alone.code == 0
    assert "disabled, stranger 1.2" in alone.out


def test_a_line_on_which_nothing_starts_names_commands_and_no_tools(workspace: Path) -> None:
    done = fumishirube("read", "field-guide/power.md", "--line", "2", cwd=workspace)
    assert done.code == 1
    assert "manual_toc" not in done.err
    first, listing, nearest = done.err.splitlines()
    assert first == "error: no section starts on line 2 [not_found]"
    assert listing == "sections: fumishirube toc field-guide --deep --prefix power.md"
    for line in (listing, nearest):
        words = shlex.split(line.partition(": ")[2])[1:]
        assert fumishirube(*words, cwd=workspace).code == 0


def test_doctor_finds_all_well(workspace: Path) -> None:
    done = fumishirube("doctor", cwd=workspace)
    assert (done.code, done.err) == (0, "")
    assert {line.split()[0] for line in done.out.splitlines()} == {"ok"}
    assert "indexed: 83 sections in 10 files" in done.out
    checks = fumishirube("doctor", "--json", cwd=workspace).json
    assert all(set(check) == {"status", "subject", "finding", "remedy"} for check in checks)


def test_doctor_names_what_is_off_and_a_remedy(own: Path) -> None:
    (own / "manuals" / "m1" / "bad.md").write_bytes(b"\x81 \xff \x81")
    (own / "manuals" / "empty").mkdir()
    done = fumishirube("doctor", cwd=own)
    assert done.code == 1
    assert "no known encoding: bad.md; save it as UTF-8" in done.out
    assert "warn  manual empty" in done.out


def test_doctor_tells_what_stops_the_start(own: Path) -> None:
    (own / "fumishirube.yaml").write_text("surfaces: [{use: manaul}]\n")
    done = fumishirube("doctor", cwd=own)
    assert done.code == 2
    assert "ok    python" in done.out
    assert "FAIL  configuration" in done.out
    assert done.out.count("did you mean 'manual'?") == 1
    assert done.err == ""


def test_config_show_is_a_configuration_that_says_the_same(own: Path) -> None:
    shown = fumishirube("config", "show", cwd=own)
    plain = fumishirube("config", "show", "--json", cwd=own).json
    assert yaml.safe_load(shown.out) == plain["config"]
    assert plain["from_environment"] == {}
    (own / "fumishirube.yaml").write_text(shown.out, encoding="utf-8")
    again = fumishirube("config", "show", "--json", cwd=own).json
    assert again["config"] == plain["config"]
    assert set(again["origins"].values()) > {"fumishirube.yaml line 1"}


def test_config_show_marks_what_the_environment_decided(own: Path) -> None:
    env = {"LEXICAL_COVERAGE_WEIGHT": "0.7", "FUMISHIRUBE_SURFACE_EXTRAS": "none"}
    shown = fumishirube("config", "show", cwd=own, **env).out
    assert "coverage_weight: 0.7  # LEXICAL_COVERAGE_WEIGHT" in shown
    assert "extras: []  # FUMISHIRUBE_SURFACE_EXTRAS" in shown


def test_config_schema_knows_every_stage(own: Path) -> None:
    schema = fumishirube("config", "schema", cwd=own).json
    uses = [one["properties"] for one in schema["$defs"]["scorer"]["oneOf"]]
    lexical = next(one for one in uses if one["use"]["const"] == "lexical")
    assert lexical["with"]["properties"]["coverage_weight"]["default"] == 0.5
    assert lexical["with"]["additionalProperties"] is False
    for reference in _references(schema):
        assert reference.removeprefix("#/$defs/") in schema["$defs"]


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def test_config_env_lists_every_variable(own: Path) -> None:
    lines = fumishirube("config", "env", cwd=own, TRACE_TTL_SEC="60").out.splitlines()
    assert lines[0].split() == ["VARIABLE", "TAKES", "DEFAULT", "SETTING"]
    assert any(line.startswith("TRACE_TTL_SEC *") and "integer >= 1" in line for line in lines)
    rows = fumishirube("config", "env", "--json", cwd=own).json
    weight = next(row for row in rows if row["name"] == "LEXICAL_COVERAGE_WEIGHT")
    assert weight["default"] == "0.5"
    assert weight["setting"] == "scorer lexical: coverage_weight"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pipelines: {manual: {fusers: [{use: rff}]}}", "fusers[0]: no fuser is called 'rff'"),
        ("versoin: 1", "did you mean 'version'?"),
        ("a: [", "fumishirube.yaml"),
        ("roots: {manuals: fumishirube.yaml}", "roots.manuals"),
    ],
)
def test_a_configuration_error_is_one_line(own: Path, text: str, told: str) -> None:
    (own / "fumishirube.yaml").write_text(text)
    done = fumishirube("ls", cwd=own)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("configuration error: ")
    assert told in done.err


def test_a_bad_variable_is_named_once(own: Path) -> None:
    done = fumishirube("serve", cwd=own, TRACE_TTL_SEC="abc")
    wanted = 'configuration error: TRACE_TTL_SEC: expected integer >= 1, got "abc"\n'
    assert (done.code, done.out, done.err) == (2, "", wanted)
