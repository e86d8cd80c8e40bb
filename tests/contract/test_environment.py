"""Every environment variable that is promised is listed, checked, and reaches its setting."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from manuals import fumishirube
from stdio import Wire, command_line

from fumishirube import ConfigError
from fumishirube.faces.cli import main
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application

ANY = None
FLAG, SHARE, WEIGHT, COUNT = "true or false", "number >= 0 <= 1", "number >= 0", "integer >= 1"

# The name, what it takes, its default as it is written, and a value that is not the default.
TABLE: list[tuple[str, str | None, Any, str]] = [
    ("MANUALS_ROOT", ANY, "manuals", "books"),
    ("VAULT_ROOT", ANY, "vault", "notes"),
    ("ADAPTIVE_TUNING", FLAG, True, "false"),
    ("ADAPTIVE_STATS_PATH", ANY, "${VAULT_ROOT}/.system/adaptive_stats.jsonl", "stats.jsonl"),
    ("ADAPTIVE_MIN_RECALL", SHARE, 0.90, "0.5"),
    ("ADAPTIVE_CANDIDATE_LOW_BASE", "integer >= 1 <= 50", 3, "4"),
    ("ADAPTIVE_FILE_BIAS_BASE", SHARE, 0.80, "0.7"),
    ("COVERAGE_MIN_RATIO", SHARE, 0.90, "0.5"),
    ("MARGINAL_GAIN_MIN", SHARE, 0.02, "0.5"),
    ("SPARSE_QUERY_COVERAGE_WEIGHT", WEIGHT, 0.35, "1"),
    ("LEXICAL_COVERAGE_WEIGHT", WEIGHT, 0.50, "1"),
    ("LEXICAL_PHRASE_WEIGHT", WEIGHT, 0.50, "1"),
    ("LEXICAL_NUMBER_CONTEXT_BONUS", WEIGHT, 0.80, "1"),
    ("LEXICAL_PROXIMITY_BONUS_NEAR", WEIGHT, 1.00, "2.5"),
    ("LEXICAL_PROXIMITY_BONUS_FAR", WEIGHT, 0.50, "1"),
    ("LEXICAL_LENGTH_PENALTY_WEIGHT", WEIGHT, 0.20, "1"),
    ("MANUAL_FIND_EXPLORATION_ENABLED", FLAG, True, "no"),
    ("MANUAL_FIND_EXPLORATION_RATIO", SHARE, 0.20, "0.5"),
    ("MANUAL_FIND_EXPLORATION_MIN_CANDIDATES", "integer >= 0", 2, "0"),
    ("MANUAL_FIND_EXPLORATION_SCORE_SCALE", SHARE, 0.35, "0.5"),
    ("MANUAL_FIND_QUERY_DECOMP_ENABLED", FLAG, True, "off"),
    ("MANUAL_FIND_QUERY_DECOMP_MAX_SUB_QUERIES", "integer >= 1 <= 8", 3, "8"),
    ("MANUAL_FIND_QUERY_DECOMP_RRF_K", "integer >= 1 <= 1000000", 60, "1"),
    ("MANUAL_FIND_QUERY_DECOMP_BASE_WEIGHT", SHARE, 0.30, "0.5"),
    ("MANUAL_FIND_SCAN_HARD_CAP", COUNT, 5000, "1"),
    ("MANUAL_FIND_PER_FILE_CANDIDATE_CAP", COUNT, 8, "1"),
    ("MANUAL_FIND_FILE_PRESCAN_ENABLED", FLAG, True, "0"),
    ("MANUAL_FIND_CLAIM_GRAPH_ENABLED", FLAG, True, "0"),
    ("TRACE_MAX_KEEP", COUNT, 100, "1"),
    ("TRACE_TTL_SEC", COUNT, 1800, "1"),
    ("ALLOW_FILE_SCOPE", FLAG, False, "1"),
    ("SEM_CACHE_ENABLED", FLAG, True, "0"),
    ("SEM_CACHE_TTL_SEC", COUNT, 1800, "1"),
    ("SEM_CACHE_MAX_KEEP", COUNT, 500, "1"),
    ("SEM_CACHE_SIM_THRESHOLD", SHARE, 0.92, "0.5"),
    ("SEM_CACHE_EMBEDDING_PROVIDER", ANY, "none", "hashing"),
    ("SEM_CACHE_MAX_SUMMARY_GAP", "integer >= -1", -1, "0"),
    ("SEM_CACHE_MAX_SUMMARY_CONFLICT", "integer >= -1", -1, "0"),
    ("SCAN_MAX_CHARS", "integer >= 256 <= 50000", 12_000, "256"),
]
NAMES = [row[0] for row in TABLE]
CHECKED = [(name, takes) for name, takes, _, _ in TABLE if takes is not ANY]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for folder in ("manuals", "books"):
        file = tmp_path / folder / "m1" / "rules.md"
        file.parent.mkdir(parents=True)
        file.write_text("# 総則\n対象です。\n## 例外\nこの場合は対象外です。\n", "utf-8")
    return tmp_path


def opened(workspace: Path, environ: Mapping[str, str]) -> Application:
    return open_application(workspace, strangers=False, environ=environ)


def settings(application: Application) -> dict[str, Any]:
    """Return every setting in force, flat."""
    flat: dict[str, Any] = {}
    for name, value in application.config.model_dump().items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        flat |= {f"{name}.{key}".rstrip("."): one for key, one in inner}
    for one in application.surfaces:
        staged = {named.name: named.stage for stages in one.stages.values() for named in stages}
        for name, stage in {**staged, one.name: one.surface}.items():
            flat |= {f"{name}: {key}": value for key, value in stage.model_dump().items()}
    return flat


@pytest.fixture
def listed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, dict[str, str]]:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    command = ["config", "env", "--json", "--workspace", str(workspace), "--no-plugins"]
    assert main(command) == 0
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)}


def test_every_variable_is_listed_with_what_it_takes_and_its_default(
    listed: dict[str, dict[str, str]],
) -> None:
    assert {"WORKSPACE_ROOT", "FUMISHIRUBE_SURFACE_EXTRAS", *NAMES} <= listed.keys()
    for name, takes, default, _ in TABLE:
        assert listed[name]["takes"] == (takes or "text")
        assert json.loads(listed[name]["default"]) == default


@pytest.mark.many_cases
@pytest.mark.parametrize(("name", "takes"), CHECKED)
def test_an_unusable_value_stops_the_start_and_is_named(
    workspace: Path, name: str, takes: str
) -> None:
    for value in ("x", "y", "-2", "1.5e400", "nan"):
        with pytest.raises(ConfigError) as caught:
            opened(workspace, {name: value})
        said = f'{name}: expected {takes}, got "{value}"'
        assert str(caught.value) == said


def test_an_unknown_extra_is_told_with_those_of_every_surface(workspace: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected none, or any of .*, append, got") as caught:
        opened(workspace, {"FUMISHIRUBE_SURFACE_EXTRAS": "+apend"})
    extras = str(caught.value).partition("any of ")[2].partition(", got")[0]
    opened(workspace, {"FUMISHIRUBE_SURFACE_EXTRAS": extras.replace(" ", "")})


@pytest.mark.parametrize("names", ["curser", "+curser", "cursor,none", "None"])
@pytest.mark.parametrize("surfaces", ["[chapters]", "[vault]", "[graph, chapters]"])
def test_an_unknown_extra_is_refused_by_surfaces_that_share_the_variable(
    workspace: Path, surfaces: str, names: str
) -> None:
    (workspace / "fumishirube.yaml").write_text(f"surfaces: {surfaces}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"EXTRAS: expected none, or any of .*cursor") as caught:
        opened(workspace, {"FUMISHIRUBE_SURFACE_EXTRAS": names})
    assert str(caught.value).endswith(f'got "{names}"')
    for known in ("cursor", "+coverage,+append", "none", "none,", " ", ","):
        opened(workspace, {"FUMISHIRUBE_SURFACE_EXTRAS": known})


def test_a_value_that_a_surface_refuses_names_its_variable(workspace: Path) -> None:
    (workspace / "fumishirube.yaml").write_text("surfaces: [chapters]\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        opened(workspace, {"FUMISHIRUBE_TOC_PATH_PATTERN": "x/toc.json"})
    assert str(caught.value) == (
        "FUMISHIRUBE_TOC_PATH_PATTERN: must be 'manuals/{manual}/' and a file inside the manual's "
        'folder, got "x/toc.json"'
    )


@pytest.mark.many_cases
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, _, _, value in TABLE])
def test_a_value_reaches_one_setting_and_no_other(workspace: Path, name: str, value: str) -> None:
    before, after = settings(opened(workspace, {})), opened(workspace, {name: value})
    changed = {key: one for key, one in settings(after).items() if one != before[key]}
    assert len(changed) == 1
    assert list(after.loaded.origins.values()) == [name]
    if value not in ("0", "1", "no", "off", "false"):
        assert [str(one) for one in changed.values()] == [value]


@pytest.mark.parametrize("name", ["MANUALS_ROOT", "roots.manuals"])
def test_a_folder_of_manuals_that_is_not_there_is_told(workspace: Path, name: str) -> None:
    environ = {name: "nowhere"} if name == "MANUALS_ROOT" else {"FUMISHIRUBE_TRUST": "1"}
    if name != "MANUALS_ROOT":
        (workspace / "fumishirube.yaml").write_text("roots: {manuals: /somewhere/nowhere}\n")
    told = f"{name}: there is no folder 'nowhere', so there are no manuals"
    (absent,) = opened(workspace, environ).absent
    assert absent.startswith(told)
    for words in (["ls"], ["find", "x"], ["doctor"]):
        done = fumishirube(*words, cwd=workspace, environ=environ)
        assert done.err.startswith(f"warning: {told}")
        assert "/somewhere" not in done.out + done.err
    assert done.code == 1
    assert "there is no folder 'nowhere'; create it, or set " + name in done.out
    with Wire(workspace, **environ) as wire:
        assert wire.ok("manual_ls")["items"] == []
        assert f"warning: {told}" in wire.hang_up()


def test_the_whole_file_scope_is_reserved_and_says_so(workspace: Path) -> None:
    assert opened(workspace, {}).warnings == []
    (warning,) = opened(workspace, {"ALLOW_FILE_SCOPE": "true"}).warnings
    assert warning.startswith("ALLOW_FILE_SCOPE: it is reserved and changes nothing")
    with Wire(workspace, ALLOW_FILE_SCOPE="true") as wire:
        wire.ok("manual_ls")
        assert f"warning: {warning}\n" in wire.hang_up()


def test_an_unknown_embedder_stops_the_server_with_one_line(workspace: Path) -> None:
    environ = {**os.environ, "SEM_CACHE_EMBEDDING_PROVIDER": "nothing"}
    command = command_line(workspace)
    done = subprocess.run(
        command, env=environ, capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    said = "configuration error: SEM_CACHE_EMBEDDING_PROVIDER: no embedder is called 'nothing'"
    assert line.startswith(said)


@pytest.mark.many_cases
@pytest.mark.parametrize("root", ["manuals", "vault", "state"])
@pytest.mark.parametrize("words", [("ls",), ("serve",), ("doctor",)])
def test_a_root_that_no_folder_can_have_is_named(
    tmp_path: Path, root: str, words: tuple[str, ...]
) -> None:
    file = tmp_path / "fumishirube.yaml"
    for folder in ("a" * 5000, "/".join(["a" * 200] * 30)):
        file.write_text(f"version: 1\nroots:\n  {root}: {folder}\n", encoding="utf-8")
        done = fumishirube(*words, cwd=tmp_path)
        assert done.code == 2
        said = done.out if words == ("doctor",) else done.err
        assert f"roots.{root}: no folder can have this name (fumishirube.yaml line 3)" in said
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    file.write_text(f"version: 1\nroots:\n  {root}: one\n", encoding="utf-8")
    done = fumishirube(*words, cwd=tmp_path)
    assert done.code == 2
    said = done.out if words == ("doctor",) else done.err
    assert f"roots.{root}: symbolic links lead in a ring (fumishirube.yaml line 3)" in said


@pytest.mark.parametrize("words", [("ls",), ("ls", "--workspace", "."), ("ls", "--in", "m")])
@pytest.mark.parametrize("leads", ["fumishirube.yaml", "nowhere.yaml", "m"])
def test_a_configuration_that_is_no_file_is_not_taken_for_none(
    tmp_path: Path, words: tuple[str, ...], leads: str
) -> None:
    for folder in (tmp_path / "manuals" / "m", tmp_path / "m"):
        folder.mkdir(parents=True)
        (folder / "a.md").write_text("# A\n", encoding="utf-8")
    (tmp_path / "fumishirube.yaml").symlink_to(leads)
    done = fumishirube(*words, cwd=tmp_path)
    if "--in" in words:  # the configuration of this folder is not that of the user
        assert (done.code, "m" in done.out) == (0, True), done.err
    else:
        assert done.code == 2
        assert "fumishirube.yaml: it is no file, or a link that leads to none" in done.err


def test_a_variable_that_names_no_folder_is_named(tmp_path: Path) -> None:
    done = fumishirube("ls", cwd=tmp_path, environ={"MANUALS_ROOT": "a" * 5000})
    assert done.code == 2
    assert "MANUALS_ROOT: no folder can have this name" in done.err
