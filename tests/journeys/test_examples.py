"""The packages under examples/: complete, really installed, and swapped in by configuration.

A package whose libraries are not installed is skipped: ``pip install ./examples/NAME`` brings them.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import http_server
import pytest
from manuals import write

if TYPE_CHECKING:  # pytest imports the fixture's module itself, to explain its asserts
    from plugin_venv import PluginVenv, Serving
    from stdio import Wire

pytest_plugins = ["plugin_venv"]

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("fumishirube-*"))
NAMES = [folder.name for folder in EXAMPLES]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path


def project(folder: Path) -> dict[str, Any]:
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text)["project"])


def needs(name: str) -> None:
    """Skip the test unless the libraries of an example are installed."""
    folder = EXAMPLES[NAMES.index(name)]
    for requirement in project(folder)["dependencies"]:
        library = re.split(r"[<>=\[; ]", requirement)[0]
        try:
            version(library)
        except PackageNotFoundError:
            pytest.skip(f"{library} is not installed: pip install ./examples/{name}")


def configure(workspace: Path, pipeline: str, name: str = "manual") -> None:
    text = f"pipelines:\n  {name}:\n    {pipeline}\n"
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")


# --- every one of them ----------------------------------------------------------------------


@pytest.mark.parametrize("folder", EXAMPLES, ids=NAMES)
def test_an_example_is_a_complete_package(folder: Path) -> None:
    said = project(folder)
    module = folder.name.replace("-", "_")
    assert said["name"] == folder.name
    assert said["dependencies"][0] == "fumishirube>=0.1,<0.2"
    assert said["optional-dependencies"]["test"] == ["fumishirube[testing]>=0.1,<0.2"]
    assert said["entry-points"] == {
        "fumishirube.v1": {folder.name.removeprefix("fumishirube-"): module}
    }
    assert (folder / "src" / module / "py.typed").exists()
    readme = (folder / said["readme"]).read_text(encoding="utf-8")
    assert readme.startswith(f"# {folder.name}\n")
    assert "```yaml" in readme
    assert f"fumishirube-{folder.name}" not in readme
    assert any("Contract" in file.read_text(encoding="utf-8") for file in folder.rglob("test_*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_passes_its_own_tests_as_it_is_installed(
    plugin_venv: PluginVenv, name: str
) -> None:
    needs(name)
    module = name.replace("-", "_")
    where = f"import fumishirube, {module} as m; print(fumishirube.__file__, m.__file__, sep='\\n')"
    for file in plugin_venv.run("-c", where).splitlines():
        assert Path(file).is_relative_to(plugin_venv.folder), f"{file} is not the installed one"
    tests = EXAMPLES[NAMES.index(name)] / "tests"
    # The extra has no pytest-timeout, a setting of which the project around the example has.
    without = ("-p", "no:timeout", "-p", "no:cacheprovider")
    plugin_venv.run("-m", "pytest", "-q", *without, tests)


# --- swapped in -----------------------------------------------------------------------------


def find(wire: Wire, query: str, *required: str) -> list[dict[str, Any]]:
    """Search the manual ``m``, and return the hits."""
    wire.ok("manual_ls")
    asked = {"query": query, "manual_id": "m", "required_terms": [*required]}
    trace = wire.ok("manual_find", **asked)["trace_id"]
    return list(wire.ok("manual_hits", trace_id=trace)["items"])


def test_borda_searches_each_term_by_itself(serving: Serving, workspace: Path) -> None:
    text = "# Power\nThe solar panel has a winter schedule.\n# Water\nSolar pumps rest in winter.\n"
    write(workspace, {"m/a.md": text})
    configure(workspace, "fusers: [{use: borda}]")
    wire = serving()
    assert len(find(wire, "solar winter", "solar", "winter")) == 2
    asked = {"query": "solar winter", "manual_id": "m", "required_terms": ["solar", "winter"]}
    trace = wire.ok("manual_find", **asked)["trace_id"]
    best = wire.ok("manual_hits", trace_id=trace, kind="fusion_debug", limit=1)["items"][0]
    gates = {contribution["gate"] for contribution in best["contributions"]}
    assert gates == {"query", "term solar", "term winter"}


def test_sudachi_finds_words_in_another_spelling(
    plugin_venv: PluginVenv, serving: Serving, workspace: Path
) -> None:
    needs("fumishirube-sudachi")
    hospital, leave = "附属病院のコンピュータを管理する。", "年次有給休暇は十日とする。"
    write(workspace, {"m/a.md": f"# 病院\n{hospital}\n", "m/b.md": f"# 休暇\n{leave}\n"})
    assert find(serving(), "付属品", "付属") == []
    configure(
        workspace,
        "tokenizer: {use: sudachi}\n    scorers: [{use: lexical}, {use: other-spellings}]",
    )
    (hit,) = find(serving(), "付属品", "付属")
    assert hit["ref"]["path"] == "a.md"
    (section,) = find(serving(), "有給休暇", "休暇")
    assert section["ref"]["path"] == "b.md"
    config = workspace / "fumishirube.yaml"
    text = config.read_text(encoding="utf-8")
    full = text.replace("{use: sudachi}", "{use: sudachi, with: {dictionary: full}}")
    config.write_text(full, encoding="utf-8")
    done = plugin_venv.fumishirube(workspace, "find", "休暇")
    assert done.returncode == 2
    assert "pip install sudachidict-full" in done.stderr


def test_the_newest_of_two_that_say_the_same_comes_first(serving: Serving, workspace: Path) -> None:
    rule = "# Travel\nThe daily allowance is {} yen.\n"
    write(workspace, {"m/2021-04-01.md": rule.format(2000), "m/2024-04-01.md": rule.format(3000)})
    paths = [hit["ref"]["path"] for hit in find(serving(), "daily allowance", "allowance")]
    assert paths == ["2021-04-01.md", "2024-04-01.md"]
    page = EXAMPLES[NAMES.index("fumishirube-newest")] / "README.md"
    (block,) = re.findall(
        r"^```yaml\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    (workspace / "fumishirube.yaml").write_text(block, encoding="utf-8")
    paths = [hit["ref"]["path"] for hit in find(serving(), "daily allowance", "allowance")]
    assert paths == ["2024-04-01.md", "2021-04-01.md"]


def test_the_glossary_answers_the_same_at_every_face(
    plugin_venv: PluginVenv, serving: Serving, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "# Terms\n- **sprocket**: a wheel with teeth\n\nA sprocket drives a chain.\n"
    write(workspace, {"m/terms.md": text, "m/leave.md": "# 用語\n- **有給休暇**: 賃金の出る休み\n"})
    (workspace / "fumishirube.yaml").write_text("surfaces: [{use: manual}, {use: glossary}]\n")
    asked = {"term": "Sprocket"}
    answer = serving().ok("glossary_lookup", **asked)
    assert answer["definitions"] == [
        {
            "manual_id": "m",
            "path": "terms.md",
            "start_line": 2,
            "end_line": 2,
            "section": "Terms",
            "form": "entry",
            "text": "- **sprocket**: a wheel with teeth",
            "cite": "manual://m/terms.md#L2-L2",
        }
    ]
    called = plugin_venv.fumishirube(workspace, "call", "glossary_lookup", json.dumps(asked))
    assert json.loads(called.stdout) == answer
    monkeypatch.setattr(http_server, "warm_script", lambda: str(plugin_venv.bin / "fumishirube"))
    with http_server.HttpServer(workspace) as server:
        assert server.client.get("/glossary", params=asked).json() == answer
        assert "/glossary" in server.client.get("/openapi.json").json()["paths"]
        refused = server.client.get("/glossary", params={"term": "x", "manual_id": "absent"})
        assert refused.status_code == 404
        _assert_the_page_calls(server)


def _assert_the_page_calls(server: http_server.HttpServer) -> None:
    """Check that the request which the package's page shows gets an answer."""
    page = EXAMPLES[NAMES.index("fumishirube-glossary")] / "README.md"
    (line,) = re.findall(r"^\$ (curl .*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    curl, *words = shlex.split(line)
    if shutil.which(curl):
        called = [word.replace("http://127.0.0.1:8765", server.url) for word in words]
        assert called != words
        done = subprocess.run([curl, *called], capture_output=True, check=True)
        assert [one["path"] for one in json.loads(done.stdout)["definitions"]] == ["leave.md"]
