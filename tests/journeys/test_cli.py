"""What holds for every command, and the commands `call`, `tools` and `serve`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_runs import environment, fumishirube, indexed_samples
from manuals import RULES, stranger, write
from warm_start import warm_script

from fumishirube.faces.cli import main
from fumishirube.faces.cli.parser import COMMANDS
from fumishirube.plugins.discovery import load_plugins
from fumishirube_manual.commands import ls

VERBS = [*load_plugins(strangers=False).commands.verbs(), *COMMANDS]

EVERY_COMMAND = [
    ["find", "申請"],
    ["ls"],
    ["toc", "field-guide"],
    ["read", "field-guide/power.md"],
    ["scan", "reference", "sensors.json"],
    ["call", "manual_ls"],
    ["tools"],
    ["serve"],
    ["cite", "check", "manual://field-guide/power.md"],
    ["index"],
    ["doctor"],
    ["config", "show"],
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed_samples(tmp_path_factory.mktemp("workspace"))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A workspace that a test may change: one small manual."""
    return write(tmp_path, {"m1/rules.md": RULES})


# --- call, tools, serve ----------------------------------------------------------------------


def test_call_prints_the_answer_as_one_line_of_json(workspace: Path) -> None:
    done = fumishirube("call", "manual_ls", '{"id": "給付金編"}', cwd=workspace)
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    assert done.json["id"] == "給付金編"
    assert "給付金編" in done.out
    piped = fumishirube(
        "call", "manual_ls", "-", cwd=workspace, stdin='{"id":"給付金編"}'.encode("utf-8-sig")
    )
    assert piped.out == done.out
    late = fumishirube("call", "manual_ls", "--workspace", ".", '{"id": "給付金編"}', cwd=workspace)
    assert late.out == done.out
    assert fumishirube("call", "manual_ls", cwd=workspace).json["id"] == "manuals"


def test_call_prints_the_error_object_of_a_tool(workspace: Path) -> None:
    refused = fumishirube("call", "manual_find", '{"query":"x","manual_id":"m"}', cwd=workspace)
    assert refused.code == 1
    assert refused.json["code"] == "invalid_parameter"
    assert (
        fumishirube("call", "manual_ls", "[1]", cwd=workspace).json["code"] == "invalid_parameter"
    )
    unknown = fumishirube("call", "manual_fnd", "{}", cwd=workspace)
    assert unknown.code == 1
    assert unknown.json["code"] == "not_found"
    assert "did you mean 'manual_find'?" in unknown.json["message"]


@pytest.mark.parametrize("text", ["{oops", "[" * 5000, "{'id': 1}"])
def test_call_refuses_what_is_not_json(workspace: Path, text: str) -> None:
    done = fumishirube("call", "manual_ls", text, cwd=workspace)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_call_replaces_lone_surrogates(own: Path) -> None:
    done = fumishirube("call", "manual_ls", r'{"id": "\ud800"}', cwd=own)
    assert done.code == 1
    assert done.json["code"] == "invalid_parameter"


def test_tools_are_listed_with_their_schemas(workspace: Path) -> None:
    human = fumishirube("tools", cwd=workspace).out.splitlines()
    assert [line.split()[0] for line in human] == [
        "manual_ls",
        "manual_toc",
        "manual_find",
        "manual_grep",
        "manual_hits",
        "manual_read",
        "manual_scan",
        "manual_batch",
        "vault_ls",
        "vault_create",
        "vault_read",
        "vault_scan",
        "vault_replace",
    ]
    for tool in fumishirube("tools", "--json", cwd=workspace).json:
        assert tool["input_schema"]["additionalProperties"] is False
        assert tool["output_schema"]["type"] == "object"
        assert tool["description"]


def test_serve_answers_the_protocol_and_nothing_else(workspace: Path) -> None:
    requests = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "0"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    stdin = "".join(json.dumps(one) + "\n" for one in requests).encode()
    done = fumishirube("serve", cwd=workspace, stdin=stdin)
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert answers[0]["result"]["serverInfo"]["name"] == "fumishirube"


def test_serve_tells_plugin_problems_on_standard_error(own: Path) -> None:
    path = stranger(own, "print('noise')\nraise RuntimeError('no luck')\n")
    done = fumishirube("serve", cwd=own, PYTHONPATH=path)
    assert (done.code, done.out) == (0, "")
    assert "plugin stranger: cannot be imported: RuntimeError: no luck" in done.err


# --- every command --------------------------------------------------------------------------


ASKING = [words for words in EVERY_COMMAND if words != ["serve"]]


@pytest.mark.parametrize("words", ASKING, ids=lambda words: words[0])
def test_an_empty_folder_is_told_and_how_to_name_another(tmp_path: Path, words: list[str]) -> None:
    done = fumishirube(*words, cwd=tmp_path)
    assert done.code == 2
    if words[0] == "doctor":
        assert re.search("FAIL +configuration +this folder has neither.*--workspace", done.out)
        assert done.err == ""
    else:
        assert done.err.startswith("configuration error: this folder has neither")
        assert "--workspace" in done.err
        assert (done.err.count("\n"), done.out) == (1, "")
    assert not list(tmp_path.iterdir())


def test_an_empty_folder_is_served_because_it_may_be_filled(tmp_path: Path) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    done = fumishirube("serve", cwd=tmp_path, stdin=json.dumps(ping).encode() + b"\n")
    assert (done.code, json.loads(done.out)["id"]) == (0, 1)
    assert done.err.startswith("warning: roots.manuals: there is no folder 'manuals'")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", [["plugins"], ["config", "schema"], ["config", "env"]], ids=lambda words: words[-1]
)
def test_what_needs_no_workspace_works_without_and_says_so(
    tmp_path: Path, words: list[str]
) -> None:
    done = fumishirube(*words, cwd=tmp_path)
    assert done.code == 0
    assert done.out
    assert "--workspace" in done.err


def test_common_options_stand_before_or_after_the_command(workspace: Path) -> None:
    wanted = fumishirube("ls", cwd=workspace).out
    here = workspace.parent
    name = workspace.name
    assert fumishirube("--workspace", name, "ls", cwd=here).out == wanted
    assert fumishirube("ls", "--workspace", name, cwd=here).out == wanted
    assert fumishirube(f"--workspace={name}", "ls", "--no-plugins", cwd=here).out == wanted
    assert fumishirube("ls", cwd=here, WORKSPACE_ROOT=name).out == wanted
    missing = fumishirube("ls", "--workspace", "nowhere", cwd=here)
    assert missing.code == 2
    assert "there is no folder 'nowhere'" in missing.err
    assert fumishirube("ls", "--config", "nowhere.yaml", cwd=workspace).code == 2


def test_options_may_divide_a_list_of_words(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": "# Oil\n\nOil.\n", "m/b.md": "# Pump\n\nA pump.\n-x\n"})
    words = ("oil", "--manual", "m", "pump", "--count", "--json", "--", "-x")
    answer = fumishirube("grep", *words, cwd=tmp_path).json
    assert {row["text"] for row in answer["texts"]} == {"oil", "pump", "-x"}


def test_the_version_is_printed_also_before_a_command(tmp_path: Path) -> None:
    done = fumishirube("--version", "ls", cwd=tmp_path)
    assert (done.code, done.out.split()[0]) == (0, "fumishirube"), done.err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["fnd", "x"], "'find'"),
        (["--workspace", ".", "doctr"], "'doctor'"),
        (["--workspac", ".", "ls"], "'--workspace'"),
        (["find", "x", "--limmit", "3"], "'--limit'"),
        (["find", "--limmit", "3"], "'--limit'"),
        (["ls", "--worksapce", "."], "'--workspace'"),
        (["config", "shwo"], "'show'"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_one(
    workspace: Path, words: list[str], meant: str
) -> None:
    done = fumishirube(*words, cwd=workspace)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"did you mean {meant}?" in done.err


@pytest.mark.many_cases
@pytest.mark.parametrize("verb", [[], *([verb] for verb in VERBS)], ids=str)
def test_help_has_an_example(tmp_path: Path, verb: list[str]) -> None:
    done = fumishirube(*verb, "--help", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "--workspace" in done.out
    assert "example" in done.out or "first steps" in done.out
    assert fumishirube(cwd=tmp_path).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "en_US.ISO-8859-1"])
def test_output_is_utf_8_whatever_the_locale(workspace: Path, locale: str) -> None:
    words = ("find", "申請", "--manual", "給付金編", "--limit", "1")
    done = fumishirube(*words, cwd=workspace, LANG=locale, LC_ALL=locale)
    assert done.code == 0
    assert "manual://給付金編/" in done.out
    with_encoding = fumishirube(*words, cwd=workspace, PYTHONIOENCODING="ascii")
    same = [re.sub("[0-9a-f]{32}", "TRACE", out) for out in (done.out, with_encoding.out)]
    assert same[0] == same[1]


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe shows itself differently")
def test_a_reader_that_hangs_up_is_no_error(workspace: Path) -> None:
    process = subprocess.Popen(
        [warm_script(), "scan", "reference", "sensors.json"],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 130
    assert b"Error" not in err
    assert b"Traceback" not in err


def test_an_interrupt_is_quiet(
    own: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(ls, "run", interrupted)
    assert main(["ls", "--workspace", str(own)]) == 130
    assert capsys.readouterr() == ("", "")


BROKEN_FUSER = """
from fumishirube import Register, Fuser, Stage, hook

class Broken(Stage):
    def plan(self, query, corpus):
        raise ValueError("secret of /etc/passwd")
    def fuse(self, query, outcomes, corpus):
        raise ValueError

@hook
def register_fusers(register):
    register("broken", Broken)
"""


def test_the_unexpected_is_one_line_with_an_id(own: Path) -> None:
    path = stranger(own, BROKEN_FUSER)
    (own / "fumishirube.yaml").write_text(
        "strict: true\npipelines: {manual: {fusers: [{use: broken}]}}\n"
    )
    done = fumishirube("find", "対象", cwd=own, PYTHONPATH=path)
    assert (done.code, done.out) == (1, "")
    assert "error_id" in done.err
    assert "Traceback" not in done.err
    told = fumishirube("find", "対象", "--verbose", cwd=own, PYTHONPATH=path)
    assert "Traceback" in told.err
    assert "passwd" in told.err


@pytest.mark.slow
def test_verbose_tells_even_what_goes_wrong_with_the_command_itself(own: Path) -> None:
    script = (
        "import sys; sys.modules['fumishirube_manual.commands.result_lines'] = None; "
        "from fumishirube.faces.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    for words, told in ((["--verbose"], True), ([], False), (["--", "--verbose"], False)):
        call = [sys.executable, "-c", script, "find", "対象", *words]
        done = subprocess.run(call, cwd=own, capture_output=True, env=environment(), check=False)
        assert done.returncode == 1
        assert (b"Traceback" in done.stderr) is told


def test_the_module_is_the_command(own: Path) -> None:
    words = [sys.executable, "-m", "fumishirube", "ls"]
    done = subprocess.run(words, cwd=own, capture_output=True, env=environment(), check=True)
    assert done.stdout.decode() == "m1/\n"


def test_only_the_chosen_command_is_imported(own: Path) -> None:
    script = (
        "import sys; from fumishirube.faces.cli import main; main(['plugins']); "
        "rooms = ('fumishirube.faces.cli.', 'fumishirube_manual.'); "
        "imported = [m for m in sys.modules if m.startswith(rooms)]; "
        "print(imported, file=sys.stderr); "
        "assert 'mcp' not in sys.modules and 'tqdm' not in sys.modules"
    )
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, cwd=own, capture_output=True, env=environment(), check=True)
    assert b"fumishirube.faces.cli.plugins" in done.stderr
    assert b"fumishirube_manual.commands" not in done.stderr
    assert b"fumishirube.faces.cli.doctor" not in done.stderr
