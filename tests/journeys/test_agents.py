"""Measuring an agent: real processes, real MCP, a scripted agent and a scripted judge."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from warm_start import warm_script

from fumishirube.errors import ConfigError
from fumishirube_eval.agent_commands import PLACEHOLDERS, AgentCommand
from fumishirube_eval.agent_grading import holds, judge_prompt
from fumishirube_eval.agent_questions import chosen_questions, load_agent_questions
from fumishirube_eval.agent_report import answer_pairs, chart_svg, compared, markdown, totals
from fumishirube_eval.agent_runs import OURS, SHELL, AgentAnswer, AgentRun, prompt_for

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "benchmarks" / "data" / "evidence_questions.jsonl"
GOLD = ROOT / "benchmarks" / "data" / "evidence_gold.jsonl"
SCRIPTED = Path(__file__).parents[1] / "support" / "scripted_agent.py"
FILES = ("--questions", QUESTIONS, "--gold", GOLD)

needs_shell = pytest.mark.skipif(
    os.name == "nt", reason="the scripted agent speaks to a POSIX shell"
)


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(ROOT / "manuals", folder / "manuals")
    return folder


def agents(workspace: Path, agent: str, *words: str | Path) -> Done:
    done = subprocess.run(
        [warm_script(), "eval", "agents", "--agent", agent, *map(str, words)],
        cwd=workspace,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def scripted(*words: str) -> str:
    return " ".join([shlex.join([sys.executable, str(SCRIPTED)]), *words])


def python(tmp_path: Path, code: str, *words: str) -> str:
    script = tmp_path / "agent.py"
    script.write_text(code, encoding="utf-8")
    return " ".join([shlex.join([sys.executable, str(script)]), *words])


# --- whole runs -----------------------------------------------------------------------------


@pytest.mark.slow
@needs_shell
def test_both_camps_are_run_logged_graded_and_compared(workspace: Path, tmp_path: Path) -> None:
    chosen = (*FILES, "--id", "s02", "--id", "s05")
    with_shell = scripted("shell", "{tools}", "{prompt}")
    shell = agents(
        workspace, with_shell, *chosen, "--tools", "shell", "--out", tmp_path / "shell", "--json"
    )
    assert shell.code == 0, shell.err
    report = json.loads(shell.out)
    assert report["totals"]["points"] == report["totals"]["facts"] == 4
    run = AgentRun.load(tmp_path / "shell" / "run.json")
    first = run.answers[0]
    assert [call["tool"] for call in first.calls] == ["shell"] * 3
    assert all(call["argument"].startswith("grep -rn") for call in first.calls)
    # What was shown is what the scripted agent answers with, a line break between the calls.
    assert first.total("characters") == pytest.approx(len(first.answer), abs=4)

    ours = agents(
        workspace,
        scripted("mcp", "{mcp_config}", "{prompt}"),
        *(*chosen, "--tools", "ours", "--out", tmp_path / "ours"),
        *("--against", tmp_path / "shell" / "run.json"),
    )
    assert ours.code == 0, ours.err
    assert "wins/losses/ties" in ours.out
    mine = AgentRun.load(tmp_path / "ours" / "run.json")
    assert [call["tool"] for call in mine.answers[0].calls] == [
        *("manual_ls", "manual_find", "manual_read"),
    ]
    assert mine.answers[0].tools_tokens > 1000
    assert totals(mine)["points"] == 4
    text = (tmp_path / "ours" / "report.md").read_text(encoding="utf-8")
    assert "| characters |" in text
    assert "95 % interval" in text
    assert ET.parse(tmp_path / "ours" / "chart.svg").getroot().tag.endswith("svg")


@needs_shell
def test_an_agent_that_fails_is_named_and_the_rest_is_measured(
    workspace: Path, tmp_path: Path
) -> None:
    agent = python(
        tmp_path,
        "import sys\nif '45' in sys.argv[1] or 'radio check' in sys.argv[1]:\n"
        "    sys.exit('out of credit')\nprint('1 泊 3,000 円を支払う。親族や知人の家')",
        "{prompt}",
    )
    done = agents(
        workspace, agent, *FILES, "--id", "s01", "--id", "s02", "--tools", "shell", "--json"
    )
    assert done.code == 1
    rows = {row["id"]: row for row in json.loads(done.out)["questions"]}
    assert rows["s01"]["error"] == "exit code 1: out of credit"
    assert rows["s01"]["points"] == 0
    assert (rows["s02"]["error"], rows["s02"]["points"], rows["s02"]["calls"]) == (None, 1, 0)


@pytest.mark.slow
def test_an_agent_that_hangs_is_stopped(workspace: Path, tmp_path: Path) -> None:
    agent = python(tmp_path, "import time\nprint('so far', flush=True)\ntime.sleep(60)")
    done = agents(
        workspace, agent, *FILES, "--id", "s02", "--tools", "shell", "--timeout", "1", "--json"
    )
    assert done.code == 1
    (row,) = json.loads(done.out)["questions"]
    assert row["error"] == "stopped after 1 seconds"
    assert row["seconds"] < 30


LEFT_WRITING = """
import os, time
print("so far", flush=True)
if os.fork() == 0:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    until = time.monotonic() + 3
    while time.monotonic() < until:
        for number in range(100):
            try:
                os.makedirs(f"left/{number}", exist_ok=True)
                open(f"left/{number}/{time.monotonic_ns()}", "w").close()
            except OSError:
                pass
"""


@needs_shell
def test_what_an_agent_left_running_may_write_into_its_folder(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    agent = python(tmp_path, LEFT_WRITING)
    done = agents(workspace, agent, *FILES, "--id", "s02", "--tools", "shell", "--json")
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["questions"]
    assert row["error"] is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others have other limits")
def test_a_question_too_long_for_a_word_fails_by_itself(workspace: Path, tmp_path: Path) -> None:
    questions, gold = tmp_path / "q.jsonl", tmp_path / "g.jsonl"
    texts = {"long": "ab " * 50_000, "short": "ab"}
    asked = ({"id": name, "question": text, "manual": "*"} for name, text in texts.items())
    questions.write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    facts = ({"id": name, "must_have": ["sofar"]} for name in texts)
    gold.write_text("\n".join(map(json.dumps, facts)), encoding="utf-8")
    judge = tmp_path / "judge.py"
    judge.write_text("print('[true]')", encoding="utf-8")
    words = ("--questions", questions, "--gold", gold, "--tools", "shell", "--json")
    told = "the prompt is too long for {prompt}: without that it is the standard input"

    done = agents(workspace, python(tmp_path, "print('sofar')", "{prompt}"), *words)
    assert done.code == 1, done.err
    rows = {row["id"]: (row["error"], row["points"]) for row in json.loads(done.out)["questions"]}
    assert rows == {"long": (told, 0), "short": (None, 1)}

    grader = f"{shlex.join([sys.executable, str(judge)])} {{prompt}}"
    done = agents(workspace, python(tmp_path, "print('sofar')"), *words, "--grader", grader)
    assert f"--grader: {told} on long" in done.err
    rows = {row["id"]: (row["error"], row["points"]) for row in json.loads(done.out)["questions"]}
    assert rows == {"long": (None, None), "short": (None, 1)}


def test_an_answer_with_nul_is_judged(workspace: Path, tmp_path: Path) -> None:
    judge = tmp_path / "judge.py"
    judge.write_text(
        "import sys\nassert 'so\\ufffdfar' in sys.argv[1]\nprint('[true]')", encoding="utf-8"
    )
    done = agents(
        workspace,
        python(tmp_path, "print('so\\0far')"),
        *(*FILES, "--id", "s01", "--tools", "shell", "--json"),
        *("--grader", f"{shlex.join([sys.executable, str(judge)])} {{prompt}}"),
    )
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["questions"]
    assert row["points"] == 1, done.err


def test_a_judge_is_blind_and_its_verdicts_count(workspace: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen.txt"
    judge = tmp_path / "judge.py"
    judge.write_text(
        f"import sys\nopen({str(seen)!r}, 'w', encoding='utf-8').write(sys.argv[1])\n"
        "print('Here you are: [true, false, true]')",
        encoding="utf-8",
    )
    agent = python(tmp_path, "print('an answer')", "{prompt}")
    words = (*FILES, "--id", "s05", "--tools", "shell", "--json")
    grader = f"{shlex.join([sys.executable, str(judge)])} {{prompt}}"
    done = agents(workspace, agent, *words, "--grader", grader)
    assert done.code == 0, done.err
    assert json.loads(done.out)["totals"]["points"] == 2
    prompt = seen.read_text(encoding="utf-8")
    assert "an answer" in prompt
    assert not {"shell", "ours", "mcp", "grep"} & set(prompt.lower().split())

    judge.write_text("print('I would rather not say')", encoding="utf-8")
    done = agents(workspace, agent, *words, "--grader", grader)
    assert "no verdicts on question s05" in done.err
    assert json.loads(done.out)["questions"][0]["points"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--tools", "ours", *FILES[:2]), "needs --gold"),
        ((*FILES, "--tools", "ours", "--known-item"), "--known-item does not go with"),
        ((*FILES, "--tools", "shell", "--id", "s99"), "there is no question 's99'"),
        ((*FILES, "--tools", "shell", "--against", GOLD), "it is not JSON"),
        ((*FILES, "--tools", "shell", "--timeout", "9" * 20), "a whole number of at most 1000000"),
        ((*FILES, "--tools", "shell", "--k", "3"), "--k does not go with eval agents"),
        ((*FILES, "--tools", "shell", "--gate", "g.toml"), "--gate does not go with eval agents"),
        ((*FILES, "--tools", "shell", "--everywhere"), "--everywhere does not go with"),
    ],
)
def test_wrong_options_are_refused(workspace: Path, words: Any, message: str) -> None:
    done = agents(workspace, "agent {prompt}", *words)
    assert done.code == 2
    assert message in done.err


@pytest.mark.slow
def test_folders_in_place_are_served_to_the_agent(workspace: Path, tmp_path: Path) -> None:
    shutil.copytree(workspace / "manuals" / "field-guide", tmp_path / "field-guide")
    agent = scripted("mcp", "{mcp_config}", "{prompt}")
    chosen = (*FILES, "--id", "s01", "--in", tmp_path / "field-guide")
    done = agents(workspace, agent, *chosen, "--tools", "ours", "--json")
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["questions"]
    assert (row["error"], row["calls"]) == (None, 3)
    done = agents(workspace, agent, *chosen, "--tools", "shell")
    assert (done.code, done.out) == (2, "")
    assert "--tools shell: it goes with a folder of manuals, and without --in" in done.err
    assert str(tmp_path) not in done.err


@pytest.mark.slow
def test_what_is_trusted_is_trusted_of_the_server_too(workspace: Path, tmp_path: Path) -> None:
    trusting = tmp_path / "trusting"
    trusting.mkdir()
    shutil.copytree(workspace / "manuals", tmp_path / "elsewhere")
    outside = json.dumps({"roots": {"manuals": str(tmp_path / "elsewhere")}})
    (trusting / "fumishirube.yaml").write_text(outside, encoding="utf-8")
    agent = scripted("mcp", "{mcp_config}", "{prompt}")
    chosen = (*FILES, "--id", "s02", "--tools", "ours", "--trust", "--json")
    done = agents(trusting, agent, *chosen)
    assert done.code == 0, done.err
    assert json.loads(done.out)["questions"][0]["calls"] == 3


def test_what_cannot_be_compared_or_written_is_known_before_the_agent_runs(
    workspace: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    agent = python(tmp_path, f"open({str(ran)!r}, 'w').close()")
    other = tmp_path / "other.json"
    AgentRun(SHELL, "a", "g", (answer("q3", 1, None),)).save(other)
    (tmp_path / "file").touch()
    words = (*FILES, "--id", "s02", "--tools", "shell")
    for option, place, told in (
        ("--against", other, "the two runs have no question in common"),
        ("--out", tmp_path / "file", "it cannot be made a folder"),
    ):
        done = agents(workspace, agent, *words, option, place)
        assert (done.code, done.out) == (2, "")
        assert told in done.err
    assert not ran.exists()


DAMAGED = [
    ({"calls": ["x"]}, "answers.0.calls.0"),
    ({"calls": [{"characters": 1, "tokens": 1}]}, "answers.0.calls.0"),
    ({"seconds": "x"}, "answers.0.seconds"),
    ({"seconds": float("nan")}, "answers.0.seconds"),
    ({"facts": []}, "answers.0.facts"),
    ({"id": None}, "answers.0.id"),
]


@pytest.mark.parametrize(("damage", "where"), DAMAGED)
def test_a_damaged_run_is_known_before_the_agent_runs(
    workspace: Path, tmp_path: Path, damage: Any, where: str
) -> None:
    ran, file = tmp_path / "ran", tmp_path / "other.json"
    AgentRun(SHELL, "a", "g", (answer("s02", 1, (True,)),)).save(file)
    run = json.loads(file.read_text(encoding="utf-8"))
    run["answers"][0] |= damage
    file.write_text(json.dumps(run), encoding="utf-8")
    agent = python(tmp_path, f"open({str(ran)!r}, 'w').close()")
    words = (*FILES, "--id", "s02", "--tools", "shell", "--against", file)
    done = agents(workspace, agent, *words)
    assert (done.code, done.out) == (2, "")
    assert f"other.json: it is incomplete or damaged at {where}" in done.err
    assert not ran.exists()


def test_two_lines_of_facts_for_a_question_are_refused(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": "a", "question": "?"}\n', encoding="utf-8")
    line = '{"id": "a", "must_have": ["x"]}\n'
    (tmp_path / "g.jsonl").write_text(line * 2, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"g\.jsonl: two lines have the id 'a'"):
        load_agent_questions(tmp_path / "q.jsonl", tmp_path / "g.jsonl")


def test_a_line_of_questions_is_an_object_and_one_named_twice_is_asked_once(tmp_path: Path) -> None:
    questions, gold = tmp_path / "q.jsonl", tmp_path / "g.jsonl"
    questions.write_text('{"id": "a", "question": "?"}\n', encoding="utf-8")
    gold.write_text('{"id": "a", "must_have": ["x"]}\n', encoding="utf-8")
    loaded = load_agent_questions(questions, gold)
    assert chosen_questions(loaded, ["a", "a"]) == loaded
    gold.write_text("[]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"g\.jsonl line 1: expected a JSON object"):
        load_agent_questions(questions, gold)


def test_names_with_bars_stay_in_their_cells() -> None:
    run = AgentRun(OURS, "a", "g", (replace(answer("q|1", 10, (True,)), kind="x|\ny"),))
    assert "| q\\|1 | x\\| y | 1/1 |" in "\n".join(markdown(run, None, "c.svg"))


def test_a_command_that_is_not_there_is_named(workspace: Path) -> None:
    done = agents(workspace, "no-such-agent {prompt}", *FILES, "--id", "s02", "--tools", "shell")
    assert done.code == 2
    assert "'no-such-agent' cannot be run" in done.err


# --- parts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fact", "answer", "right"),
    [
        ("KeepAliveInterval の既定値は 15 秒", "既定値は １５秒 (KeepAliveInterval) です", True),
        ("KeepAliveInterval の既定値は 15 秒", "KeepAliveInterval の既定値は 30 秒", False),
        ("KeepAliveInterval の既定値は 15 秒", "KeepAliveInterval の既定値は 150 秒", False),
        ("relay HR-10", "It uses the relay at HR-10.", True),
        ("1,398 m", "It stands at 1398 m.", True),
        ("1,398 m", "It stands at 11,398 m.", False),
        ("1,398,000.5 m", "It stands at 1398000.5 m.", True),
        ("lanes 3 and 5", "It uses the lanes 3,5", True),
        ("50 万ドルに引き上げた (もとの倍)", "資本金は50万ドルに増えた", True),
        ("14文字|十四文字", "十四文字以上", True),
        ("unhygienic", "They are Unhygienic", True),
        ("unhygienic", "They are hygienic", False),
        ("dotnet-ef", "dotnet-grpc", False),
        ("cannot be extended|no", "As far as I know, it can be.", False),
        ("cannot be extended|no", "No.", True),
        ("はい", "はい、できます", True),
        ("10 days|", "I have no idea", False),
        ("10 days||ten days", "I have no idea", False),
        ("10 days||ten days", "It takes ten days.", True),
        ("version 1.2.3", "It is version 1.2.9.", False),
        ("version 1.2.3", "It is version 1.2.3.", True),
        ("%", "about 50% of them", True),
        ("%", "about half of them", False),
        ("+x", "chmod a+x run", True),
        ("+x", "chmod a+xs run", False),
        ("c++", "It is written in C++17.", True),
    ],
)
def test_a_fact_is_held_by_its_figures_and_words(fact: str, answer: str, right: bool) -> None:
    assert holds(fact, answer) is right


def test_both_camps_are_asked_the_same_but_for_the_tools() -> None:
    for question in load_agent_questions(QUESTIONS, GOLD):
        ours = prompt_for(question, OURS, Path("/t/tools"))
        shell = prompt_for(question, SHELL, Path("/t/tools"))
        assert ours.partition("Use nothing but ")[0] == shell.partition("Use nothing but ")[0]
        assert ours.partition("; what you know")[2] == shell.partition("; what you know")[2]
        assert question.text in ours
        assert f"1. {question.facts[0]}" in judge_prompt(question, "")


def test_placeholders_are_filled_in_words_and_a_prompt_without_place_is_input() -> None:
    command = AgentCommand.parsed("--agent", "run 'a {tools}' {prompt}", PLACEHOLDERS)
    filled = command.words({"prompt": "two words {tools}", "tools": "T"})
    assert filled == (["run", "a T", "two words {tools}"], "")
    command = AgentCommand.parsed("--agent", "run -", PLACEHOLDERS)
    assert command.words({"prompt": "text"}) == (["run", "-"], "text")
    with pytest.raises(ConfigError, match=r"there is no \{promt\}"):
        AgentCommand.parsed("--agent", "run {promt}", PLACEHOLDERS)


def answer(name: str, characters: int, facts: tuple[bool, ...] | None) -> AgentAnswer:
    calls = ({"tool": "t", "characters": characters, "tokens": 1, "seconds": 0.1},)
    return AgentAnswer(name, "k", "text", 1.0, calls, facts=facts)


def test_runs_are_compared_on_the_questions_that_both_have(tmp_path: Path) -> None:
    ours = AgentRun(OURS, "a", "g", (answer("q1", 10, (True,)), answer("q2", 20, (True, True))))
    shell = AgentRun(SHELL, "a", "g", (answer("q2", 50, (True, False)), answer("q3", 1, None)))
    assert len(list(answer_pairs(ours, shell))) == 1
    figures = compared(ours, shell)
    assert figures["characters"].difference == -30
    assert (figures["characters"].wins, figures["points_share"].wins) == (1, 1)
    assert figures["points_share"].difference == pytest.approx(0.5)
    assert "| q1 | k | 1/1 | 1 | 10 |  | |  |" in "\n".join(markdown(ours, shell, "c.svg"))
    bars = chart_svg(ours, shell).count("<rect")
    assert bars == 2 + 3
    ours.save(tmp_path / "run.json")
    assert AgentRun.load(tmp_path / "run.json") == ours


@pytest.mark.slow
def test_a_run_that_cannot_be_written_leaves_the_former_one(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    saved = AgentRun(OURS, "a", "g", (answer("q1", 10, (True,)),))
    saved.save(file)
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from fumishirube_eval.agent_runs import AgentRun\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "AgentRun.load(Path(sys.argv[1])).save(Path(sys.argv[1]))\n"
    )
    if sys.platform != "win32":
        words = [sys.executable, "-c", code, str(file)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert "run.json: it cannot be written there" in done.stderr
        assert AgentRun.load(file) == saved
        assert [one.name for one in tmp_path.iterdir()] == ["run.json"]
    replace(saved, camp="\ud800").save(file)
    assert AgentRun.load(file).camp == "?"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert AgentRun.load(file).answers == saved.answers
    file.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(ConfigError, match="it is not JSON"):
        AgentRun.load(file)
    with pytest.raises(ConfigError, match=r"run\.json line 1: it is not usable as JSON"):
        load_agent_questions(file, file)
