"""A configuration or a link that came with a clone leads nowhere until the person has said so."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manuals import Done, fumishirube
from stdio import Fumishirube
from torture import examples

from fumishirube.errors import ConfigError
from fumishirube.host.startup import open_application

BOTH = "surfaces: [{use: manual}, {use: vault}]\n"
CHAPTERS = "surfaces: [{use: chapters}]\n"
STORE = "config/fumishirube/trust.json"


class Clone:
    """A workspace, a home outside of it, and a person with a configuration of their own."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.workspace = top / "clone"
        for folder in ("clone/manuals/m", "clone/vault", "clone/docs", "home/m"):
            (top / folder).mkdir(parents=True)
        (top / "clone/manuals/m/a.md").write_text("# Leave\nleave is granted\n")
        (top / "home/m/a.md").write_text("# Secret\nsecret leave\n")
        (top / "home/.bashrc").write_text("alias a=b\n")
        (top / "home/notes.md").write_text("old\n")
        self.environ = {"XDG_CONFIG_HOME": str(top / "config")}

    def write(self, text: str, name: str = "fumishirube.yaml") -> None:
        (self.workspace / name).write_text(text)

    def link(self, name: str, target: str = "../home") -> None:
        place = self.workspace / name
        if place.is_dir() and not place.is_symlink():
            for file in sorted(place.rglob("*"), reverse=True):
                file.rmdir() if file.is_dir() else file.unlink()
            place.rmdir()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def run(self, *words: str, environ: Mapping[str, str] | None = None) -> Done:
        both = {**self.environ, **(environ or {})}
        return fumishirube(*words, cwd=self.workspace, environ=both)

    def outside(self) -> dict[str, bytes]:
        files = (path for path in (self.top / "home").rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files}


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def vault_above(clone: Clone) -> None:
    clone.write(BOTH + "roots: {vault: ../home}\n")


def manuals_absolute(clone: Clone) -> None:
    clone.write(BOTH + f"roots: {{manuals: {clone.top / 'home'}}}\n")


def state_above(clone: Clone) -> None:
    clone.write(BOTH + "roots: {state: ../home/state}\n")


def statistics_above(clone: Clone) -> None:
    clone.write(BOTH + "adaptive: {file: ../home/stats.jsonl}\n")


def linked_vault(clone: Clone) -> None:
    clone.link("vault")


def linked_manuals(clone: Clone) -> None:
    clone.link("manuals")


def linked_state(clone: Clone) -> None:
    clone.link(".fumishirube")


def behind_a_link(clone: Clone) -> None:
    clone.link("inner/way", "../../home")
    clone.write(BOTH + "roots: {vault: inner/way/notes}\n")


def linked_documents(clone: Clone) -> None:
    clone.link("docs")
    clone.write("surfaces: [{use: graph}]\n")


def classic_documents(clone: Clone) -> None:
    clone.link("pages")
    (clone.workspace / ".ubp").mkdir()
    clone.write("surfaces: [{use: graph}]\n")
    clone.write(json.dumps({"docs_dir": "pages"}), ".ubp/config.json")


def classic_manuals(clone: Clone) -> None:
    clone.write(CHAPTERS)
    clone.write("manuals_root: ../home\n", "config.yaml")


def classic_folders(clone: Clone) -> None:
    clone.write(CHAPTERS)
    clone.write("security: {allowed_roots: ['/'], allow_symlink: true}\n", "config.yaml")


def linked_allowed_root(clone: Clone) -> None:
    clone.link("data")
    allowed = "allowed_roots: [data, manuals], allow_symlink: true"
    clone.write(f"surfaces: [{{use: chapters, with: {{{allowed}}}}}]\n")


def cache_above(clone: Clone) -> None:
    clone.write("surfaces: [{use: chapters, with: {cache_file: ../home/cache.db}}]\n")


def opened_names(clone: Clone) -> None:
    clone.write("surfaces: [{use: manual}, {use: vault, with: {allow_hidden: [.notes]}}]\n")


def vault_of_git(clone: Clone) -> None:
    clone.write(BOTH + "roots: {vault: .git}\n")


def vault_below_git(clone: Clone) -> None:
    clone.write(BOTH + "roots: {vault: notes/../.git/hooks}\n")


def vault_linked_to_git(clone: Clone) -> None:
    (clone.workspace / ".git").mkdir()
    clone.link("vault", ".git")


def statistics_above_the_vault(clone: Clone) -> None:
    clone.write(BOTH + 'adaptive: {file: "${VAULT_ROOT}/../../home/stats.jsonl"}\n')


def statistics_of_git(clone: Clone) -> None:
    clone.write(BOTH + "adaptive: {file: .git/config}\n")


def statistics_linked_to_git(clone: Clone) -> None:
    (clone.workspace / ".git").mkdir()
    clone.link("vault/.system", "../.git")


def linked_statistics(clone: Clone) -> None:
    clone.link("vault/.system", "../../home")


def linked_configuration(clone: Clone) -> None:
    (clone.top / "other.yaml").write_text(BOTH + "roots: {vault: ../home}\n")
    clone.link("fumishirube.yaml", "../other.yaml")


WAYS: list[tuple[Callable[[Clone], None], str]] = [
    (vault_above, "roots.vault (fumishirube.yaml line 2)"),
    (manuals_absolute, "roots.manuals (fumishirube.yaml line 2)"),
    (state_above, "roots.state (fumishirube.yaml line 2)"),
    (statistics_above, "adaptive.file (fumishirube.yaml line 2)"),
    (statistics_above_the_vault, "adaptive.file (fumishirube.yaml line 2)"),
    (statistics_of_git, "adaptive.file (fumishirube.yaml line 2)"),
    (statistics_linked_to_git, "adaptive.file (a symbolic link)"),
    (linked_statistics, "adaptive.file (a symbolic link)"),
    (linked_configuration, "roots.vault (fumishirube.yaml line 2)"),
    (linked_vault, "roots.vault (a symbolic link)"),
    (linked_manuals, "roots.manuals (a symbolic link)"),
    (linked_state, "roots.state (a symbolic link)"),
    (behind_a_link, "roots.vault (a symbolic link)"),
    (linked_documents, "roots.docs (a symbolic link)"),
    (classic_documents, "roots.docs (a symbolic link)"),
    (classic_manuals, "roots.manuals (config.yaml line 1)"),
    (classic_folders, "surfaces[0].with.allowed_roots (config.yaml line 1)"),
    (linked_allowed_root, "surfaces[0].with.allowed_roots (a symbolic link)"),
    (cache_above, "surfaces[0].with.cache_file (fumishirube.yaml line 1)"),
    (opened_names, "surfaces[1].with.allow_hidden (fumishirube.yaml line 1)"),
    (vault_of_git, "roots.vault (fumishirube.yaml line 2)"),
    (vault_below_git, "roots.vault (fumishirube.yaml line 2)"),
    (vault_linked_to_git, "roots.vault (a symbolic link)"),
]


@pytest.mark.parametrize(("way", "said"), WAYS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.many_cases
def test_what_leads_outside_stops_the_start_until_it_is_trusted(
    clone: Clone, way: Callable[[Clone], None], said: str
) -> None:
    way(clone)
    before = clone.outside()
    for words in (("tools",), ("serve",)):
        refused = clone.run(*words)
        assert refused.code == 2, refused.out
        assert refused.err.startswith(f"configuration error: {said}"), refused.err
        assert "fumishirube trust" in refused.err
        assert "--trust" in refused.err
        assert str(clone.top) not in refused.err
    assert clone.outside() == before
    trusted = clone.run("trust")
    assert trusted.code == 0, trusted.err
    assert f"trusted: {said}: " in trusted.out
    assert clone.run("tools").code == 0


@pytest.mark.parametrize("way", [vault_above, linked_manuals, classic_folders, cache_above])
def test_a_command_or_a_process_can_be_trusted_once(
    clone: Clone, way: Callable[[Clone], None]
) -> None:
    way(clone)
    assert clone.run("tools", "--trust").code == 0
    assert clone.run("tools").code == 2, "--trust is for once"
    assert clone.run("tools", environ={"FUMISHIRUBE_TRUST": "true"}).code == 0
    assert clone.run("tools", environ={"FUMISHIRUBE_TRUST": "0"}).code == 2


@pytest.mark.parametrize(("setting", "value"), [("model", "./model"), ("download", "true")])
def test_a_stage_that_runs_what_a_stranger_names_needs_trust(
    clone: Clone, setting: str, value: str
) -> None:
    """A model may bring code; whether the library for it is installed does not matter."""
    embedder = f"{{use: sentence-transformers, with: {{{setting}: {value}}}}}"
    clone.write(f"pipelines: {{docs: {{embedder: {embedder}}}}}\nsurfaces: [{{use: graph}}]\n")
    said = f"pipelines.docs.embedder.with.{setting} (fumishirube.yaml line 1)"
    assert clone.run("tools").err.startswith(f"configuration error: {said}: this leads out")
    assert said not in clone.run("tools", "--trust").err


@pytest.mark.parametrize("way", [vault_above, linked_vault])
def test_no_note_is_changed_outside(clone: Clone, way: Callable[[Clone], None]) -> None:
    way(clone)
    before = clone.outside()
    words = ("vault", "replace", "notes.md", "old", "new")
    assert clone.run(*words).code == 2
    assert clone.outside() == before
    assert clone.run(*words, "--trust").code == 0
    assert (clone.top / "home/notes.md").read_text() == "new\n"


def test_it_is_asked_again_when_the_file_changes(clone: Clone) -> None:
    vault_above(clone)
    assert clone.run("trust").code == 0
    assert clone.run("tools").code == 0
    clone.write(BOTH + "roots: {vault: ../home}\nlimits: {depth: 9}\n")
    assert clone.run("tools").code == 2
    assert clone.run("trust").code == 0
    clone.write("manuals_root: manuals\n", "config.yaml")
    assert clone.run("tools").code == 2


def test_it_is_asked_again_when_a_link_leads_elsewhere(clone: Clone) -> None:
    linked_vault(clone)
    assert clone.run("trust").code == 0
    (clone.workspace / "vault").unlink()
    clone.link("vault", "../home/m")
    assert clone.run("tools").code == 2


@pytest.mark.slow
def test_trust_is_for_one_workspace_and_can_be_taken_back(clone: Clone) -> None:
    vault_above(clone)
    assert clone.run("trust").code == 0
    other = clone.top / "other"
    (other / "manuals").mkdir(parents=True)
    (other / "fumishirube.yaml").write_text((clone.workspace / "fumishirube.yaml").read_text())
    assert fumishirube("tools", cwd=other, environ=clone.environ).code == 2
    assert clone.run("trust", "--remove").code == 0
    assert clone.run("tools").code == 2
    entries = json.loads((clone.top / STORE).read_text())["workspaces"]
    assert entries == {}


@pytest.mark.slow
def test_trust_is_kept_where_no_workspace_decides(clone: Clone) -> None:
    vault_above(clone)
    assert clone.run("trust").code == 0
    store = clone.top / STORE
    assert store.stat().st_mode & 0o077 == 0
    written = store.read_text()
    store.write_text("not json")
    assert clone.run("tools").code == 2
    for targets in (None, 5, [[1]], "home", {}):
        damaged = json.loads(written)
        damaged["workspaces"][str(clone.workspace)]["targets"] = targets
        store.write_text(json.dumps(damaged))
        done = clone.run("tools")
        assert (done.code, "this leads out of the workspace" in done.err) == (2, True)
    store.write_text(written)
    assert clone.run("tools").code == 0


def test_a_variable_is_the_persons_own_word(clone: Clone) -> None:
    done = clone.run("ls", environ={"MANUALS_ROOT": str(clone.top / "home")})
    assert done.code == 0, done.err
    assert "m/" in done.out


def test_a_configuration_of_the_person_is_trusted_but_no_link_of_the_clone(clone: Clone) -> None:
    own = clone.top / "mine.yaml"
    own.write_text(BOTH + "roots: {vault: ../home}\n")
    assert clone.run("tools", "--config", str(own)).code == 0
    clone.link("manuals")
    assert clone.run("tools", "--config", str(own)).code == 2


def test_what_stays_inside_needs_no_trust(clone: Clone) -> None:
    clone.link("notes", "vault")
    clone.write(BOTH + "roots: {vault: notes, manuals: ./manuals/../manuals, runtime: logs}\n")
    assert clone.run("tools").code == 0
    clone.write(
        "surfaces: [{use: chapters, with: {allowed_roots: [manuals], allow_symlink: true}}]"
    )
    assert clone.run("tools").code == 0
    clone.write(BOTH + "roots: {runtime: logs}\nadaptive: {file: logs/statistics.jsonl}\n")
    nothing = clone.run("trust")
    assert "nothing leads out" in nothing.out
    assert not (clone.top / "config").exists() or "clone" not in (clone.top / STORE).read_text()


@pytest.mark.slow
def test_init_trusts_what_it_writes_and_shows_it_before(clone: Clone) -> None:
    vault_above(clone)
    words = ("init", "--client", "claude-code", "--project", str(clone.top))
    shown = clone.run(*words)
    assert "to be trusted: roots.vault (fumishirube.yaml line 2)" in shown.out
    assert clone.run("tools").code == 2
    written = clone.run(*words, "--write")
    assert written.code == 0, written.err
    assert "trusted: roots.vault" in written.out
    entry = json.loads((clone.top / ".mcp.json").read_text())["mcpServers"]["fumishirube"]
    command = [entry["command"], *entry["args"]]
    with Fumishirube(clone.workspace, started=command, **clone.environ) as server:
        assert "notes.md" in json.dumps(server.ok("vault_ls"))


@pytest.mark.slow
def test_a_server_takes_no_change_that_leads_outside(clone: Clone) -> None:
    clone.write(BOTH)
    with Fumishirube(clone.workspace, **clone.environ) as server:
        assert server.ok("vault_ls")["items"] == []
        vault_above(clone)
        for _ in range(20):
            assert "notes.md" not in json.dumps(server.ok("vault_ls"))
            time.sleep(0.15)


PARTS = st.lists(st.sampled_from(["..", ".", "a", "way", "in", "manuals"]), min_size=1, max_size=5)


@settings(suppress_health_check=list(HealthCheck), max_examples=examples(60))
@given(PARTS)
def test_a_root_is_refused_exactly_when_it_is_outside(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    workspace = tmp_path_factory.mktemp("clone") / "clone"
    (workspace / "a/manuals").mkdir(parents=True)
    (workspace / "way").symlink_to("..")
    (workspace / "in").symlink_to("a")
    written = "/".join(parts)
    (workspace / "fumishirube.yaml").write_text(f"roots: {{manuals: '{written}'}}\n")
    inside = (workspace / written).resolve().is_relative_to(workspace)
    environ = {"XDG_CONFIG_HOME": str(workspace.parent / "config")}
    with nullcontext() if inside else pytest.raises(ConfigError, match=r"^roots\.manuals \("):
        open_application(workspace, strangers=False, empty=True, environ=environ).close()
