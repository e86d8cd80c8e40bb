"""The glossary of a workspace: house words find what is written in usual words, and back."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from manuals import fumishirube, opened, write
from stdio import Fumishirube, Wire
from strangers import stranger
from warm_start import warm_script

from fumishirube.errors import ConfigError

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:ping is removed"),
]

BOARD = "# 社内掲示板\n社内掲示板の使い方を書く。\n# その他\n使い方の例。\n"
LEAVE = "# 休暇\n年次有給休暇は十日とする。\n# NOTES\nA token is kept in the vault.\n"
GLOSSARY = "ノーツ: 社内掲示板\n有休: [年次有給休暇, 年休]\nticket: token\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = write(tmp_path, {"m/a.md": BOARD, "m/b.md": LEAVE})
    (folder / "glossary.yaml").write_text(GLOSSARY, encoding="utf-8")
    return folder


def find(server: Fumishirube | Wire, query: str, term: str, **more: Any) -> dict[str, Any]:
    asked = {"query": query, "manual_id": "*", "required_terms": [term], **more}
    return server.ok("manual_find", **asked)


def command(workspace: Path, *words: str) -> subprocess.CompletedProcess[str]:
    run = [warm_script(), *words]
    return subprocess.run(run, cwd=workspace, capture_output=True, encoding="utf-8", check=False)


def best(answer: dict[str, Any]) -> Any:
    return answer["inline_hits"]["items"][0]


def test_a_house_word_finds_the_usual_word(workspace: Path) -> None:
    with Fumishirube(workspace) as server:
        answer = find(server, "ノーツの使い方", "ノーツ")
        assert best(answer)["title"] == "社内掲示板"
        assert best(answer)["lines"] == [[2, "社内掲示板の使い方を書く。"]]
        assert answer["glossary"] == {"ノーツ": ["社内掲示板"]}
        assert answer["terms"] == [["ノーツ", "ranked", 1]]
        assert answer["status"] == "required_effective"
        assert "missing" not in answer
        page = server.ok("manual_hits", trace_id=answer["trace_id"], kind="fusion_debug")
        assert page["items"][0]["ref"]["start_line"] == 1


def test_the_usual_word_finds_the_house_word(tmp_path: Path) -> None:
    folder = write(tmp_path, {"m/a.md": "# ノーツ\nノーツを開く。\n# 窓\n窓を開く。\n"})
    (folder / "glossary.yaml").write_text(GLOSSARY, encoding="utf-8")
    with Fumishirube(folder) as server:
        answer = find(server, "社内掲示板を開く", "社内掲示板")
        assert best(answer)["title"] == "ノーツ"
        assert answer["glossary"] == {"社内掲示板": ["ノーツ"]}


def test_each_usual_word_is_tried_and_words_of_letters_are_whole(workspace: Path) -> None:
    with Fumishirube(workspace) as server:
        assert best(find(server, "有休は何日", "有休"))["title"] == "休暇"
        assert best(find(server, "Where is my Ticket?", "ticket"))["title"] == "NOTES"
        assert "glossary" not in find(server, "ticketing desk", "ticketing")
        assert "glossary" not in find(server, "有休と年次有給休暇と年休", "有休")


def test_alternatives_are_searched_with_the_usual_words_too(workspace: Path) -> None:
    with Fumishirube(workspace) as server:
        answer = find(server, "予定を見る", "予定", alternatives=["ノーツの使い方"])
        assert best(answer)["title"] == "社内掲示板"


def test_without_words_of_the_glossary_the_answer_is_as_before(workspace: Path) -> None:
    with Fumishirube(workspace) as server:
        before = find(server, "休暇の日数", "休暇")
    (workspace / "glossary.yaml").unlink()
    with Fumishirube(workspace) as server:
        after = find(server, "休暇の日数", "休暇")
    assert before["inline_hits"]["items"] == after["inline_hits"]["items"]
    assert "glossary" not in before


def test_the_command_line_names_the_words(workspace: Path) -> None:
    done = command(workspace, "find", "-v", "ノーツの使い方")
    assert "glossary: searched 社内掲示板 beside ノーツ" in done.stdout
    done = command(workspace, "find", "ノーツの使い方", "--json")
    assert json.loads(done.stdout)["glossary"] == {"ノーツ": ["社内掲示板"]}


@pytest.mark.slow
def test_a_change_is_taken_in_while_tools_are_served_and_is_another_query(workspace: Path) -> None:
    file = workspace / "glossary.yaml"
    file.unlink()
    with Wire(workspace) as server:
        server.ok("manual_ls")
        assert "glossary" not in find(server, "ノーツの使い方", "ノーツ", use_cache=True)
        fresh = workspace / "fresh.yaml"
        fresh.write_text(GLOSSARY, encoding="utf-8")
        fresh.replace(file)
        deadline = time.monotonic() + 30
        answer: dict[str, Any] = {}
        while "glossary" not in answer and time.monotonic() < deadline:
            time.sleep(0.2)
            answer = find(server, "ノーツの使い方", "ノーツ", use_cache=True)
        assert best(answer)["title"] == "社内掲示板"


def test_a_pipeline_without_the_fuser_is_warned_of(workspace: Path) -> None:
    configured = "pipelines: {manual: {fusers: [{use: rrf}]}}\n"
    (workspace / "fumishirube.yaml").write_text(configured, encoding="utf-8")
    remedy = "add {use: glossary} to pipelines.manual.fusers"
    assert f"{UNUSED}; {remedy}" in command(workspace, "doctor").stdout
    with Wire(workspace) as server:
        server.ok("manual_ls")
        answer = find(server, "ノーツの使い方", "ノーツ", alternatives=["掲示板の使い方"])
    assert "glossary" not in answer
    assert answer["degraded"] == (
        "alternatives were not searched: no fuser in pipelines.manual.fusers takes them up"
    )


UNUSED = "glossary.yaml: no pipeline uses it"
OWN = """
import sys
from typing import Any, ClassVar
from fumishirube import Stage, Surface, hook

class Ends:
    def __get__(self, stage: Any, kind: type) -> Any:
        sys.exit(0)

class Own(Stage):
    needs: ClassVar[Any] = {needs}
    size: int

    def plan(self, query, corpus):
        return ()

    def fuse(self, query, outcomes, corpus):
        return ()

class Without(Stage):
    root: ClassVar[str] = "manuals"
    uses: ClassVar[tuple[str, ...]] = ("loaders", "tokenizer", "index", "scorers", "fusers")
    pipeline: ClassVar[dict[str, Any]] = {
        "loaders": [{"use": "markdown"}],
        "tokenizer": {"use": "bigram"},
        "index": {"use": "tantivy"},
        "scorers": [{"use": "lexical"}],
    }

    def tools(self, context):
        return ()

@hook
def register_fusers(register):
    register("a-fuser", Own)

@hook
def register_surfaces(register):
    register("without", Without)
"""


@pytest.mark.many_cases
@pytest.mark.parametrize(
    "needs", ['("fusers", "synonyms")', '("fusers", "links", "synonyms")', "Ends()", "3"]
)
def test_the_remedy_can_be_followed_whatever_plugins_offer(workspace: Path, needs: str) -> None:
    plugins = stranger(workspace / "plugins", "owner", OWN.replace("{needs}", needs))
    environ = {"PYTHONPATH": str(plugins)}
    surfaces = "surfaces: [{use: without}, {use: manual}]\n"
    rest = f"{surfaces}pipelines: {{manual: {{fusers: [{{use: rrf}}{{more}}]}}}}\n"
    file = workspace / "fumishirube.yaml"
    file.write_text(rest.replace("{more}", ""), encoding="utf-8")
    told = fumishirube("find", "token", cwd=workspace, environ=environ)
    assert f"{UNUSED}; add {{use: glossary}} to pipelines.manual.fusers" in told.err
    file.write_text(rest.replace("{more}", ", {use: glossary}"), encoding="utf-8")
    done = fumishirube("find", "ticket", cwd=workspace, environ=environ)
    assert (done.code, UNUSED in done.err) == (0, False), done.err
    file.write_text("surfaces: [{use: without}]\n", encoding="utf-8")
    alone = fumishirube("find", "token", cwd=workspace, environ=environ)
    assert f"{UNUSED}\n" in alone.err


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", "glossary.yaml: expected words, each with usual words of the same meaning"),
        ("a: b\nc: {d: e}\n", "glossary.yaml line 2: expected a word or a list of words"),
        ("a: b\n? [c]\n: d\n", "glossary.yaml"),
        ("a:\n- b\n- [c]\n", "glossary.yaml line 3: expected a word or a list of words"),
        ("a: b\nc: []\n", "glossary.yaml line 2: 'c' has no words"),
        ("a: b\nc:\n", "glossary.yaml line 2: 'c' has no words"),
        ("a: b\nc: ['　']\n", "glossary.yaml line 2: a word is blank"),
        ("a: b\nＡ: c\n", "glossary.yaml line 2: 'Ａ' is the same word as 'a' above"),
        ("a: b\na: c\n", "glossary.yaml line 2: the key 'a' occurs twice"),
        ("a: b\n'　': c\n", "glossary.yaml line 2"),
        ("a: b\nc: Ｃ\n", "glossary.yaml line 2: 'c' has itself as its meaning"),
        ("a: b\nc: [d\n", "glossary.yaml line 3"),
        (f"a: {'b' * 101}\n", "glossary.yaml line 1: a word has over 100 characters"),
    ],
)
def test_a_faulty_file_stops_the_start_with_its_line(
    workspace: Path, text: str, message: str
) -> None:
    (workspace / "glossary.yaml").write_text(text, encoding="utf-8")
    done = command(workspace, "find", "休暇")
    assert done.returncode == 2
    assert message in done.stderr


def test_a_link_shows_no_other_file(workspace: Path) -> None:
    (workspace / "glossary.yaml").unlink()
    (workspace / "secret.yaml").write_text("token: hunter2\n", encoding="utf-8")
    (workspace / "glossary.yaml").symlink_to("secret.yaml")
    with pytest.raises(ConfigError, match=r"^glossary\.yaml: symbolic links are not followed"):
        opened(workspace)
