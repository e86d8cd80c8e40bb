"""Loading plugins that are really installed: the good, and each kind of bad."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from manuals import fumishirube, write
from strangers import PLUGIN, claim, stranger

if TYPE_CHECKING:  # pytest imports the fixture's module itself, to explain its asserts
    from plugin_venv import Loaded, PluginVenv

pytest_plugins = ["plugin_venv"]

BUILT_INS = {
    *("addressed", "authoring", "chapters", "clients", "eval", "graph", "http", "inspect"),
    *("manual", "stages", "vault"),
}


@pytest.fixture(scope="module")
def everything(plugin_venv: PluginVenv) -> Loaded:
    """All examples, loaded together."""
    return plugin_venv.load()


# --- the examples, all at once --------------------------------------------------------------


@pytest.mark.parametrize(
    ("plugin", "status", "message"),
    [
        ("broken-import", "refused", "cannot be imported: ImportError: the quarry is closed"),
        ("broken-exit", "refused", "cannot be imported: SystemExit: usage: broken-exit FILE"),
        ("broken-hook", "refused", "there is no hook 'register_scorrers'; the hooks are: "),
        ("broken-kind", "refused", "NoFuser is no fuser: it has no method plan()"),
        ("broken-empty", "refused", "it registers nothing; add a hook such as register_scorers"),
        ("broken-clash", "loaded", "fuser 'contested' is also offered by broken-rival"),
        ("broken-rival", "loaded", "fuser 'contested' is also offered by broken-clash"),
        ("broken-builtin-name", "loaded", "fuser 'rrf' is the name of a built-in; choose another"),
    ],
)
def test_a_broken_plugin_is_reported_by_name(
    everything: Loaded, plugin: str, status: str, message: str
) -> None:
    report = everything.reports[plugin]
    assert report["status"] == status
    assert report["distribution"] == (plugin if plugin == "broken-rival" else "broken-plugins")
    assert len(report["problems"]) == 1
    assert report["problems"][0].startswith(message)


@pytest.mark.parametrize(
    ("plugin", "offer"),
    [
        ("borda", "fuser borda"),
        ("noisy-print", "refiner noisy"),
        ("broken-scorer", "scorer failing-scorer"),
        ("broken-fuser", "fuser failing-fuser"),
        ("broken-rival", "fuser uncontested"),
    ],
)
def test_what_is_sound_is_offered_among_the_broken(
    everything: Loaded, plugin: str, offer: str
) -> None:
    report = everything.reports[plugin]
    assert report["status"] == "loaded"
    assert report["offers"] == [offer]
    assert everything.offered[offer] == plugin


def test_the_built_ins_are_loaded_among_the_broken(everything: Loaded) -> None:
    assert set(list(everything.reports)[: len(BUILT_INS)]) == BUILT_INS
    for name in BUILT_INS:
        report = everything.reports[name]
        assert (report["status"], report["distribution"], report["problems"]) == (
            "loaded",
            "fumishirube",
            [],
        )
    for name in ("rrf", "required-terms", "decompose"):
        assert everything.offered[f"fuser {name}"] == "stages"


def test_every_installed_plugin_has_a_report(plugin_venv: PluginVenv, everything: Loaded) -> None:
    assert set(everything.reports) == {*BUILT_INS, *plugin_venv.plugins}


def test_of_two_strangers_with_one_name_neither_is_offered(everything: Loaded) -> None:
    assert "fuser contested" not in everything.offered


def test_a_built_in_s_name_cannot_be_taken(everything: Loaded) -> None:
    assert everything.offered["fuser rrf"] == "stages"
    assert everything.reports["broken-builtin-name"]["offers"] == []


def test_a_refused_plugin_offers_nothing(everything: Loaded) -> None:
    for plugin, report in everything.reports.items():
        if report["status"] == "refused":
            assert report["offers"] == []
            assert plugin not in everything.offered.values()


def test_what_plugins_print_goes_to_standard_error(everything: Loaded) -> None:
    # That standard output is one JSON text and nothing else, the fixture has seen already.
    said = everything.stderr.splitlines()
    assert "noisy: imported" in said
    assert "noisy: imported, past sys.stdout" in said
    assert "noisy: registering" in said


@pytest.mark.parametrize(
    ("group", "remedy"),
    [("fumishirube.v0", "update stranger"), ("fumishirube.v2", "update fumishirube")],
)
def test_a_plugin_of_another_api_version_is_named_with_the_remedy(
    plugin_venv: PluginVenv, tmp_path: Path, group: str, remedy: str
) -> None:
    stranger(tmp_path, "stranger", "raise SystemExit('never imported')", group=group)
    loaded = plugin_venv.load(path=tmp_path)
    report = loaded.reports["stranger"]
    assert report["status"] == "refused"
    (problem,) = report["problems"]
    assert problem == f"it is for the plugin API {group}, and this is fumishirube.v1: {remedy}"
    assert "stranger" not in loaded.modules
    assert "stranger" not in plugin_venv.load(path=tmp_path, strangers=False).reports


def test_a_plugin_for_several_api_versions_is_no_problem(
    plugin_venv: PluginVenv, tmp_path: Path
) -> None:
    stranger(tmp_path, "stranger", PLUGIN.format(name="both"))
    points = tmp_path / "stranger-1.0.dist-info" / "entry_points.txt"
    points.write_text(points.read_text() + "[fumishirube.v2]\nstranger = stranger_two\n")
    report = plugin_venv.load(path=tmp_path).reports["stranger"]
    assert (report["status"], report["problems"]) == ("loaded", [])


def test_a_plugin_of_another_api_version_is_never_imported(everything: Loaded) -> None:
    assert everything.reports["old-api"]["problems"] == [
        "it is for the plugin API fumishirube.v0, and this is fumishirube.v1: update old-api"
    ]
    assert "old_api" not in everything.modules
    assert "old-api" not in everything.stderr


def test_without_strangers_only_the_built_ins_are_imported(plugin_venv: PluginVenv) -> None:
    alone = plugin_venv.load(strangers=False)
    assert alone.modules.isdisjoint(plugin_venv.plugins.values())
    assert set(alone.offered.values()) == BUILT_INS - {
        *("authoring", "clients", "eval", "http", "inspect"),
    }
    assert {alone.reports.pop(name)["status"] for name in BUILT_INS} == {"loaded"}
    assert {report["status"] for report in alone.reports.values()} == {"disabled"}
    assert "borda" in alone.reports


# --- installing and removing ----------------------------------------------------------------


def test_the_order_of_installation_does_not_matter(
    plugin_venv: PluginVenv, everything: Loaded
) -> None:
    pair = ("broken-plugins", "broken-rival")
    for order in (pair, pair[::-1]):
        plugin_venv.uninstall(*pair)
        plugin_venv.install(*order)
        again = plugin_venv.load()
        assert again.reports == everything.reports
        assert again.offered == everything.offered


def test_a_clash_ends_when_a_rival_is_removed(plugin_venv: PluginVenv) -> None:
    with plugin_venv.without("broken-rival"):
        loaded = plugin_venv.load()
        assert loaded.offered["fuser contested"] == "broken-clash"
        assert loaded.reports["broken-clash"]["problems"] == []


def test_a_plugin_is_gone_when_removed_and_back_when_added(
    plugin_venv: PluginVenv, everything: Loaded
) -> None:
    with plugin_venv.without("fumishirube-borda"):
        gone = plugin_venv.load()
        assert "borda" not in gone.reports
        assert "fuser borda" not in gone.offered
    assert plugin_venv.load().offered == everything.offered


def test_a_plugin_comes_and_goes_while_tools_are_served(
    plugin_venv: PluginVenv, tmp_path: Path
) -> None:
    (tmp_path / "manuals").mkdir()
    with plugin_venv.without("fumishirube-borda"), served(plugin_venv, tmp_path) as said:
        write_configuration = (tmp_path / "fumishirube.yaml").write_text
        write_configuration("pipelines: {manual: {fusers: [{use: borda}]}}\n")
        missing = "reload refused: pipelines.manual.fusers[0]: no fuser is called 'borda'"
        assert said("reload").startswith(missing)
        plugin_venv.install("fumishirube-borda")
        assert said("reload") == "reloaded\n"
        plugin_venv.uninstall("fumishirube-borda")
        assert said("reload").startswith(missing)
        plugin_venv.install("fumishirube-borda")
        write_configuration("pipelines: {manual: {fusers: [{use: borda}], refiners: []}}\n")
        assert said("reload") == "reloaded\n"
        plugin_venv.uninstall("fumishirube-borda")


@contextmanager
def served(plugin_venv: PluginVenv, workspace: Path) -> Iterator[Callable[[str], str]]:
    """Serve a workspace; give what returns the next line on standard error that begins so."""
    command = [plugin_venv.bin / "fumishirube", "serve", "--workspace", workspace]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=plugin_venv.environment, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        told = process.stderr
        process.stdin.write(f"{json.dumps({**_PING, 'params': {}})}\n")
        process.stdin.flush()
        assert process.stdout.readline(), "it answers, so it is up"

        def said(start: str) -> str:
            return next(line for line in told if line.startswith(start))

        yield said
        process.kill()


_PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


# --- strangers made up for the occasion -----------------------------------------------------


def test_two_plugins_of_one_name_are_told_apart(plugin_venv: PluginVenv, tmp_path: Path) -> None:
    stranger(tmp_path, "first-maker", PLUGIN.format(name="first"), entry="tuner")
    stranger(tmp_path, "second-maker", PLUGIN.format(name="second"), entry="tuner")
    loaded = plugin_venv.load(path=tmp_path)
    assert loaded.offered["refiner first"] == "first-maker:tuner"
    assert loaded.offered["refiner second"] == "second-maker:tuner"
    assert loaded.reports["first-maker:tuner"]["problems"] == []


def test_nobody_else_has_the_name_of_a_built_in(plugin_venv: PluginVenv, tmp_path: Path) -> None:
    stranger(tmp_path, "pretender", PLUGIN.format(name="pretended"), entry="stages")
    loaded = plugin_venv.load(path=tmp_path)
    assert loaded.reports["stages"]["distribution"] == "fumishirube"
    assert loaded.offered["fuser rrf"] == "stages"
    assert loaded.offered["refiner pretended"] == "pretender:stages"
    alone = plugin_venv.load(strangers=False, path=tmp_path)
    assert alone.reports["stages"]["status"] == "loaded"
    assert alone.reports["pretender:stages"]["status"] == "disabled"


def test_one_module_is_one_plugin(plugin_venv: PluginVenv, tmp_path: Path) -> None:
    stranger(tmp_path, "original", PLUGIN.format(name="original"))
    claim(tmp_path, "copycat", "zz-copycat = original")
    loaded = plugin_venv.load(path=tmp_path)
    assert loaded.reports["original"]["status"] == "loaded"
    assert loaded.offered["refiner original"] == "original"
    assert loaded.reports["zz-copycat"]["problems"] == [
        "its module is loaded already, as 'original'"
    ]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise BaseException('a panic')", "cannot be imported: BaseException: a panic"),
        ("raise ValueError('9' * 3_000_000)", f"cannot be imported: ValueError: {'9' * 2000}"),
        ("def broken(:", "cannot be imported: SyntaxError: "),
        ("import no_such_module", "cannot be imported: ModuleNotFoundError: No module named "),
        (
            PLUGIN.format(name="a") + "    raise KeyError('late')",
            "a hook failed: KeyError: 'late'",
        ),
        (PLUGIN.format(name="a") + "    exit(3)", "a hook failed: SystemExit: 3"),
        (PLUGIN.format(name="Not Kebab"), "refiner name 'Not Kebab' is not kebab-case"),
        (PLUGIN.format(name="defaults"), "a refiner cannot be called 'defaults'"),
        (PLUGIN.format(name="odd\\n"), "refiner name 'odd\\n' is not kebab-case"),
        (
            PLUGIN.format(name="twice") + "    register('twice', Plain)",
            "it registers two refiners called 'twice'",
        ),
        (PLUGIN.replace("(register)", "(shelf)"), "a hook is declared incorrectly: "),
        (
            PLUGIN.format(name="a").replace("Plain)", "Plain())"),
            "refiner 'a' is not a subclass of fumishirube.Stage",
        ),
        (PLUGIN.format(name="a").replace("(Stage)", ""), "refiner 'a' is not a subclass of "),
        (
            PLUGIN.format(name="a").replace("def register", "async def register"),
            "register_refiners() is a coroutine or a generator: make it a plain function",
        ),
        (
            PLUGIN.format(name="a") + "    yield\n",
            "register_refiners() is a coroutine or a generator: make it a plain function",
        ),
        (
            "from fumishirube import hook\n@hook\nasync def search_finished(trace): ...\n",
            "search_finished() is a coroutine or a generator: make it a plain function",
        ),
    ],
)
def test_a_bad_stranger_is_refused(
    plugin_venv: PluginVenv, tmp_path: Path, code: str, message: str
) -> None:
    loaded = plugin_venv.load(path=stranger(tmp_path, "stranger", code))
    report = loaded.reports["stranger"]
    assert report["status"] == "refused"
    assert report["problems"][0].startswith(message)
    assert len(report["problems"][0]) < 3000
    assert "stranger" not in loaded.offered.values()
    assert loaded.offered["fuser borda"] == "borda"


def test_an_observer_needs_no_offers(plugin_venv: PluginVenv, tmp_path: Path) -> None:
    code = "from fumishirube import hook\n@hook\ndef search_finished(trace): ...\n"
    loaded = plugin_venv.load(path=stranger(tmp_path, "watcher", code))
    report = loaded.reports["watcher"]
    assert (report["status"], report["problems"]) == ("loaded", [])


# --- a loader that reads a file in another way ------------------------------------------------

READER = """
from typing import ClassVar
from fumishirube import Source, Stage, Unreadable, hook
from fumishirube_stages.loaders.markdown import Markdown

class Reader(Stage):
    revision: ClassVar[int] = {revision}

    def sources(self, root):
        return [Source(entry.path) for entry in root.files() if entry.name.endswith(".md")]

    def load(self, root, source):
        if {revision} == 1:
            raise Unreadable("not yet", "undecodable", path=source.path)
        return Markdown().load(root, source)

@hook
def register_loaders(register):
    register("reader", Reader)
"""


def test_a_loader_of_another_revision_reads_unchanged_files_again(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": "The pump needs oil.\n"})
    (tmp_path / "fumishirube.yaml").write_text("pipelines: {manual: {loaders: [{use: reader}]}}")
    for revision, code, told in ((1, 1, "0 sections in 0 files"), (2, 0, "1 section in 1 file")):
        stranger(tmp_path / str(revision), "reader", READER.format(revision=revision))
        environ = {"PYTHONPATH": str(tmp_path / str(revision))}
        assert fumishirube("find", "oil", cwd=tmp_path, environ=environ).code == code
        assert told in fumishirube("index", cwd=tmp_path, environ=environ).out
