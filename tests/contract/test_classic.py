"""The classic ``config.yaml`` is honoured, and can be written as ``fumishirube.yaml``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from manuals import ask, fumishirube, opened, write
from strangers import claim

from fumishirube import ConfigError
from fumishirube.host.application import Application

CLASSIC = """\
server:
  host: 127.0.0.1
  port: 8001
  base_path: /
paths:
  manuals_dir: data/manuals
  indices_dir: var/indices
  runtime_dir: var/run
search:
  engine: regex
  max_results: 2
cache:
  section_ttl_seconds: 60
  max_sections_in_memory: 12
  file: null
security:
  allowed_roots: [data/manuals]
  allow_symlink: false
toc:
  source: json_only
  path_pattern: manuals/{manual}/00_目次.json
manuals_root: ./data/manuals
"""
SURFACE = "surfaces: [{use: chapters}]\n"


def made(workspace: Path, classic: str = CLASSIC, own: str | None = SURFACE) -> Path:
    folder = workspace / "data"
    write(folder, {"編/00_目次.json": '{"manual":"編","toc":[]}'})
    (workspace / "config.yaml").write_text(classic, encoding="utf-8")
    if own is not None:
        (workspace / "fumishirube.yaml").write_text(own, encoding="utf-8")
    return workspace


def settings(application: Application) -> Mapping[str, Any]:
    surface: Any = application.surfaces[0].surface
    return {**surface.model_dump(), **application.config.roots.model_dump()}


def refused(workspace: Path, **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        assert not opened(workspace, **environ).tools, "what serves asks for them before it begins"
    return str(caught.value)


def test_the_classic_file_is_honoured(tmp_path: Path) -> None:
    application = opened(made(tmp_path))
    in_force = settings(application)
    assert {name: in_force[name] for name in (
        "manuals", "runtime", "indices_dir", "max_results", "section_ttl_seconds",
        "max_sections_in_memory", "cache_file", "allowed_roots",
    )} == {
        "manuals": "data/manuals",
        "runtime": "var/run",
        "indices_dir": "var/indices",
        "max_results": 2,
        "section_ttl_seconds": 60,
        "max_sections_in_memory": 12,
        "cache_file": None,
        "allowed_roots": ("data/manuals",),
    }  # fmt: skip
    assert application.config.server.port == 8001
    assert not application.warnings
    assert ask(application, "list_manuals") == {"manuals": ["編"]}


def test_without_the_surface_it_is_some_other_file(tmp_path: Path) -> None:
    workspace = made(tmp_path, "search: [nonsense", "roots: {manuals: data/manuals}\n")
    assert opened(workspace).config.server.port == 8765


def test_the_environment_wins_and_an_empty_variable_does_not(tmp_path: Path) -> None:
    workspace = made(tmp_path)
    assert settings(opened(workspace, FUMISHIRUBE_SEARCH_MAX_RESULTS="7"))["max_results"] == 7
    assert settings(opened(workspace, FUMISHIRUBE_SEARCH_MAX_RESULTS=""))["max_results"] == 2
    both = {"FUMISHIRUBE_PATHS_MANUALS_DIR": "data/manuals/.", "MANUALS_ROOT": "elsewhere"}
    assert settings(opened(workspace, **both))["manuals"] == "data/manuals/."


def test_the_sections_may_stand_in_the_own_file(tmp_path: Path) -> None:
    workspace = made(tmp_path, "", f"{SURFACE}{CLASSIC}")
    (workspace / "config.yaml").unlink()
    application = opened(workspace)
    assert settings(application)["max_results"] == 2
    assert application.config.server.port == 8001


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ("search: {max_results: 3}", ["search.max_results", "fumishirube.yaml", "config.yaml"]),
        ("server: {port: 9}", ["server.port", "fumishirube.yaml", "config.yaml"]),
        ("roots: {manuals: other}", ["roots.manuals", "fumishirube.yaml", "config.yaml"]),
    ],
)
def test_two_values_for_one_key_stop_the_start(tmp_path: Path, own: str, told: list[str]) -> None:
    message = refused(made(tmp_path, own=f"{SURFACE}{own}\n"))
    for word in told:
        assert word in message


def test_a_quoted_value_is_the_plain_one(tmp_path: Path) -> None:
    classic = CLASSIC.replace("8001", '"8001"').replace("symlink: false", 'symlink: "no"')
    with_ = "{max_results: 2, allow_symlink: false}"
    own = f"surfaces: [{{use: chapters, with: {with_}}}]\nserver: {{port: 8001}}\n"
    workspace = made(tmp_path, classic.replace("results: 2", 'results: "2"'), own)
    assert settings(opened(workspace))["max_results"] == 2
    assert opened(workspace).config.server.port == 8001


def test_a_setting_and_a_section_that_differ_stop_the_start(tmp_path: Path) -> None:
    own = "surfaces: [{use: chapters, with: {max_results: 3}}]\n"
    assert "surfaces[0].with.max_results" in refused(made(tmp_path, own=own))
    agreeing = "surfaces: [{use: chapters, with: {max_results: 2}}]\n"
    assert settings(opened(made(tmp_path, own=agreeing)))["max_results"] == 2


@pytest.mark.parametrize(
    ("classic", "told"),
    [
        ("search: {max_results: 500}", "config.yaml: search.max_results: expected integer >= 1"),
        ("search: {engine: vector}", "config.yaml: search.engine: expected regex, got 'vector'"),
        ("search: 5", "config.yaml: search: expected keys, got '5'"),
        ("server: {port: 0}", "server.port: "),
        ("search: [", "config.yaml line 1"),
        ("security: {allowed_roots: [elsewhere]}", "allowed_roots: "),
        ("security: {allowed_roots: manuals}", "allowed_roots: expected a list, got 'manuals'"),
        (
            "manuals_root: m1\npaths: {manuals_dir: m2}",
            "manuals_root in config.yaml says 'm1', paths.manuals_dir in config.yaml says 'm2'",
        ),
        ("toc: {path_pattern: 'x/{manual}/toc.json'}", "path_pattern: "),
        ("toc: {path_pattern: 'manuals/{manual}/../toc.json'}", "path_pattern"),
    ],
)
def test_what_is_unusable_stops_the_start(tmp_path: Path, classic: str, told: str) -> None:
    assert told in refused(made(tmp_path, classic))


def test_allowed_roots_are_paths_that_may_hold_any_separator(tmp_path: Path) -> None:
    application = opened(made(tmp_path, "security: {allowed_roots: [manuals, 'a:b;c,d']}\n"))
    assert settings(application)["allowed_roots"] == ("manuals", "a:b;c,d")
    value = os.pathsep.join(["manuals", "x,y"])
    application = opened(tmp_path, FUMISHIRUBE_SECURITY_ALLOWED_ROOTS=value)
    assert settings(application)["allowed_roots"] == ("manuals", "x,y")
    application = opened(tmp_path, FUMISHIRUBE_SECURITY_ALLOWED_ROOTS="none")
    assert settings(application)["allowed_roots"] == ()


def test_an_unknown_key_is_told_with_the_nearest(tmp_path: Path) -> None:
    text = "search: {max_result: 5, x: 1}\ntelemetry: {on: true}\n"
    near, short, none = opened(made(tmp_path, text)).warnings
    assert near.startswith("config.yaml: search.max_result: there is no such setting; did you mean")
    assert "'search.max_results'" in near
    assert short.endswith("search.x: there is no such setting; did you mean 'search.engine'?")
    assert none == "config.yaml: telemetry: there is no such setting; it is ignored"
    (section,) = opened(made(tmp_path, "serach: {max_results: 5}\n")).warnings
    assert section == "config.yaml: serach: there is no such setting; did you mean 'search'?"


def test_the_toc_may_have_another_name(tmp_path: Path) -> None:
    workspace = made(tmp_path, "toc: {path_pattern: 'manuals/{manual}/meta/toc.json'}\n")
    write(workspace, {"編/meta/toc.json": '{"toc":[{"id":"1","title":"章","file":"1.txt"}]}'})
    sections = ask(opened(workspace), "list_sections", manual_name="編")
    assert sections == {"manual": "編", "sections": ["1"]}


def test_an_import_writes_what_is_equal(tmp_path: Path) -> None:
    workspace = made(tmp_path)
    before = settings(opened(workspace))
    (workspace / "fumishirube.yaml").unlink()
    done = fumishirube("config", "import", "config.yaml", cwd=workspace)
    assert done.code == 0, done.err
    (workspace / "config.yaml").unlink()
    application = opened(workspace)
    assert settings(application) == before
    assert application.config.server.port == 8001
    again = fumishirube("config", "import", cwd=workspace)
    assert again.code != 0
    assert "there already" in again.err


def test_an_import_writes_rare_characters_so_that_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text('paths: {indices_dir: "a\\x7fb\\u2028c"}\n')
    assert fumishirube("config", "import", cwd=tmp_path).code == 0
    (tmp_path / "config.yaml").unlink()
    assert settings(opened(tmp_path))["indices_dir"] == "a\x7fb\u2028c"


def with_an_added_folder(place: Path) -> dict[str, str]:
    """Return the variables of a user who has added a folder."""
    own = {"XDG_CONFIG_HOME": str(place / "own"), "APPDATA": str(place / "own")}
    write(place / "elsewhere", {"a/a.md": "# A\n"})
    added = fumishirube("add", "specs", "elsewhere/manuals/a", cwd=place, environ=own)
    assert added.code == 0, added.err
    return own


def test_an_import_never_writes_the_own_configuration_of_a_user_with_added_folders(
    tmp_path: Path,
) -> None:
    own = with_an_added_folder(tmp_path)
    here = tmp_path / "here"
    here.mkdir()
    (here / "config.yaml").write_text("search: {max_results: 2}\n")
    done = fumishirube("config", "import", "--in", str(tmp_path), cwd=here, environ=own)
    assert (done.code, "without 'config import'" in done.err) == (2, True), done.err
    assert fumishirube("config", "import", cwd=here, environ=own).code == 0
    assert (here / "fumishirube.yaml").is_file()
    assert not [*(tmp_path / "own").rglob("fumishirube.yaml")]


def test_who_is_told_to_import_the_file_of_their_own_folder_is_told_to_do_it_there(
    tmp_path: Path,
) -> None:
    own = with_an_added_folder(tmp_path)
    (folder,) = (place.parent for place in (tmp_path / "own").rglob("manuals.json"))
    (folder / "config.yaml").write_text("search: {max_results: 2}\n")
    assert "config import' in its folder" in fumishirube("ls", cwd=tmp_path, environ=own).err
    assert fumishirube("config", "import", cwd=folder, environ=own).code == 0
    assert "config.yaml" not in fumishirube("ls", cwd=tmp_path, environ=own).err


def test_an_import_needs_the_surface(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("search: {max_results: 2}\n")
    site = claim(tmp_path / "site", "fumishirube", "stages = fumishirube_stages.registration")
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    done = fumishirube("config", "import", cwd=tmp_path, environ={"PYTHONPATH": path})
    assert (done.code, "no surface that is installed reads a config.yaml" in done.err) == (2, True)


def test_an_import_names_what_it_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("server: {port: 8000, prt: 1}\nmanuals_rot: x\n")
    done = fumishirube("config", "import", "mine.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "fumishirube.yaml: written\n")
    near, other = done.err.splitlines()
    assert near.startswith("warning: mine.yaml: server.prt: there is no such setting; did you mean")
    assert other.startswith("warning: mine.yaml: manuals_rot: there is no such setting; did you")


@pytest.mark.parametrize(
    ("classic", "told"),
    [
        ("toc: {source: txt_only}", "mine.yaml: toc.source: expected json_only, got 'txt_only'"),
        ("toc: 5", "mine.yaml: toc: expected keys, got '5'"),
        ("server: {port: 0}", "(mine.yaml line 1)"),
        ("manuals_root: a\npaths: {manuals_dir: b}", "mine.yaml says"),
    ],
)
def test_an_import_names_the_file_with_the_unusable_value(
    tmp_path: Path, classic: str, told: str
) -> None:
    (tmp_path / "mine.yaml").write_text(classic)
    done = fumishirube("config", "import", "mine.yaml", cwd=tmp_path)
    assert (done.code, told in done.err, "config.yaml" in done.err) == (2, True, False), done.err
    assert not (tmp_path / "fumishirube.yaml").exists()
