"""The command line as a person meets it: colours, notes, exit codes, ids, editors, completion."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manuals import Done, fumishirube, write
from warm_start import installed_script, warm_script

from fumishirube.faces.cli.completion import whole_parser
from fumishirube.faces.cli.parser import Parser
from fumishirube.plugins.discovery import load_plugins

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)

import pty

ROOT = Path(__file__).parents[2]
ESCAPE = "\x1b["
_ROW = re.compile(r"^\| (\d+) \| .*\| `(fumishirube [^`]+)` \|$", re.MULTILINE)
EXAMPLES = _ROW.findall((ROOT / "docs" / "command-line.md").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(ROOT / "manuals", folder / "manuals")
    (folder / "vault").mkdir()
    (folder / "vault" / "plan.md").write_text("A draft.\n")
    assert fumishirube("index", cwd=folder).code == 0
    return folder


def on_terminal(cwd: Path, *words: str, **more: str) -> str:
    """Run the command on a terminal of its own, and return all that it shows."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LANG": "C", **more}
    process = subprocess.Popen(
        [warm_script(), *words], cwd=cwd, env=environ, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    process.wait(60)
    return shown.decode().replace("\r\n", "\n")


def test_a_trace_is_listed_with_its_query_on_a_terminal(tmp_path: Path) -> None:
    name = "operating-instructions-of-the-generator"
    write(tmp_path, {f"{name}/a.md": "# Battery\n\nCharge the battery.\n"})
    assert fumishirube("find", "charge the battery", cwd=tmp_path).code == 0
    [line] = on_terminal(tmp_path, "trace", "ls").splitlines()
    assert line.endswith("  operating-instructi…  1 hit  charge the battery")
    [line] = on_terminal(tmp_path, "trace", "ls", COLUMNS="60").splitlines()
    assert (line[-1], len(line)) == ("…", 60)


@pytest.mark.many_cases
@pytest.mark.parametrize(("code", "command"), EXAMPLES, ids=[command for _, command in EXAMPLES])
def test_the_table_of_exit_codes_is_true(workspace: Path, code: str, command: str) -> None:
    done = fumishirube(*shlex.split(command)[1:], cwd=workspace)
    assert done.code == int(code), done.err


def runnable(parser: Parser) -> Iterator[Parser]:
    """Yield the parsers of all commands that can be run."""
    groups = [action for action in parser.actions if isinstance(action.choices, dict)]
    if "run" in parser._defaults and not any(group.required for group in groups):
        yield parser
    for group in groups:
        for below in (group.choices or {}).values():
            yield from runnable(below)


def test_every_command_with_results_prints_json() -> None:
    commands = {each.prog: each for each in runnable(whole_parser(load_plugins(strangers=False)))}
    assert len(commands) > 50
    without = {name for name, each in commands.items() if "--json" not in each.known}
    names = ("completion", "docs serve", "inspect", "man", "serve")
    assert without == {f"fumishirube {name}" for name in names}


def test_the_page_has_every_option_of_grep_toc_read_and_scan_and_only_options_there_are() -> None:
    commands = {each.prog: each for each in runnable(whole_parser(load_plugins(strangers=False)))}
    known = {name.partition(" ")[2]: {*each.known} for name, each in commands.items()}
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (`-.*) \| (`.*`) \| .* \|$", page, re.MULTILINE)
    assert len(table) > 10
    for options, names in table:
        shown = {option.split()[0] for option in re.findall("`([^`]+)`", options)}
        assert all(shown <= known[name] for name in re.findall("`([^`]+)`", names)), options
    for name in ("grep", "toc", "read", "scan"):
        own = {option for option in known[name] - known["ls"] if option.startswith("--")}
        assert {option for option in own if f"`{option}" not in page} == set()


@pytest.mark.slow
def test_json_may_stand_before_a_command_of_a_command(workspace: Path) -> None:
    for words in (("vault",), ("vault", "ls"), ("trace",), ("trace", "ls"), ("plugins",)):
        plain = fumishirube(*words, cwd=workspace)
        with pytest.raises(ValueError, match=r"Expecting value|Extra data"):
            json.loads(plain.out)
        for mixed in ((words[0], "--json", *words[1:]), (*words, "--json")):
            assert json.loads(fumishirube(*mixed, cwd=workspace).out) is not None


def test_the_table_has_a_row_for_each_code_of_the_help(workspace: Path) -> None:
    told = fumishirube("--help", cwd=workspace).out.partition("exit codes: ")[2]
    table = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    codes = re.findall(r"\b(\d) ", told)
    assert {*codes} == {"0", "1", "2", "4"}
    assert all(f"\n| {code} | " in table for code in codes)


def returned(function: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            value = node.value
            yield from (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)


def test_every_command_returns_a_code_of_the_table() -> None:
    places = ("core/fumishirube/faces/cli/*.py", "plugins/fumishirube_*/**/*command*.py")
    files = [file for place in places for file in ROOT.glob(place)]
    files += ROOT.glob("plugins/fumishirube_*/commands/*.py")
    literal = [
        f"{file.name}: {function.name}"
        for file in files
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef) and function.name != "_columns"
        if function.returns is not None and ast.unparse(function.returns) == "int"
        if any(isinstance(value, ast.Constant) for value in returned(function))
    ]
    assert len(files) > 40
    assert literal == []


def in_a_deleted_folder(gone: Path, *words: str) -> Done:
    gone.mkdir()
    script = f"rmdir {shlex.quote(str(gone))} && exec {shlex.join([installed_script(), *words])}"
    done = subprocess.run(
        ["sh", "-c", script], cwd=gone, capture_output=True, encoding="utf-8", check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
def test_a_deleted_current_folder_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": "# Oil\n\nOil.\n"})
    gone = tmp_path / "gone"
    told = "the current folder does not exist any more; change to another one"
    for words in (["init"], ["find", "oil", "--in", "."], ["add", "a", "."]):
        done = in_a_deleted_folder(gone, *words)
        assert (done.code, done.err) == (2, f"configuration error: {told}\n"), words
    done = in_a_deleted_folder(gone, "ls", "--workspace", str(tmp_path))
    assert (done.code, done.out.splitlines()[0]) == (0, "m/")


@pytest.mark.slow
@pytest.mark.parametrize("words", [("find", "battery"), ("grep", "battery")])
def test_matched_words_are_coloured_on_a_terminal_alone(
    workspace: Path, words: tuple[str, ...]
) -> None:
    shown = on_terminal(workspace, *words)
    assert re.search(r"\x1b\[1;31m[Bb]atter(y|ies)\x1b\[0m", shown)
    plain = fumishirube(*words, cwd=workspace, environ={"COLUMNS": "80"}).out
    assert ESCAPE not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", shown).startswith(plain)
    for quiet in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert ESCAPE not in on_terminal(workspace, *words, **quiet)


def test_two_lines_of_notes_follow_the_hits_and_the_rest_is_an_option_away(
    workspace: Path,
) -> None:
    done = fumishirube("find", "battery", "care", cwd=workspace)
    notes = done.out.rpartition("\n\n")[2].splitlines()
    assert [note.partition(" ")[0] for note in notes] == ["searched", "next:"]
    more = fumishirube("find", "battery", "care", "-v", cwd=workspace).out.rpartition("\n\n")[2]
    assert notes[-1] == more.splitlines()[-1]
    for line in ("picked terms: ", "skipped 1 file", "account: "):
        assert f"\n{line}" in f"\n{more}"


def test_files_that_were_not_searched_are_counted(tmp_path: Path) -> None:
    (tmp_path / "manuals" / "m").mkdir(parents=True)
    (tmp_path / "manuals" / "m" / "a.md").write_text("# Oil\n\nOil.\n")
    (tmp_path / "manuals" / "m" / "bad.md").write_bytes(b"\x81 \xff \x81")
    (tmp_path / "manuals" / "loose.md").write_text("# Oil\n")
    assert "; 2 files not searched (-v: which)\n" in fumishirube("find", "oil", cwd=tmp_path).out


def test_a_trace_is_named_by_the_beginning_of_its_id(workspace: Path) -> None:
    found = fumishirube("find", "battery", "--json", "--manual", "field-guide", cwd=workspace)
    trace_id = found.json["traces"]["field-guide"]
    for words in (("coverage",), ("trace", "export")):
        done = fumishirube(*words, trace_id[:8], cwd=workspace)
        assert done.code == 0, done.err
        assert trace_id in done.out
    assert fumishirube("coverage", trace_id[:7], cwd=workspace).code == 1
    hits = f'{{"trace_id": "{trace_id[:8]}"}}'
    assert fumishirube("call", "manual_hits", hits, cwd=workspace).code == 1
    traces = workspace / ".fumishirube" / "traces"
    twin = trace_id[:8] + "0" * 24
    shutil.copy(traces / f"{trace_id}.json", traces / f"{twin}.json")
    done = fumishirube("coverage", trace_id[:8], cwd=workspace)
    assert (done.code, "2 traces begin so" in done.err) == (1, True)


def opened_by(workspace: Path, tmp_path: Path, editor: str, *words: str) -> tuple[Done, list[str]]:
    """Run a command with an editor that writes down its arguments."""
    program, seen = tmp_path / editor, tmp_path / "seen"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{seen}"\n')
    program.chmod(0o755)
    done = fumishirube(*words, cwd=workspace, environ={"EDITOR": str(program), "VISUAL": ""})
    return done, seen.read_text().splitlines() if seen.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("editor", "expected"),
    [("vim", ["+{line}", "{file}"]), ("code", ["--goto", "{file}:{line}"]), ("ed", ["{file}"])],
)
def test_a_hit_is_opened_in_the_editor_at_its_line(
    workspace: Path, tmp_path: Path, editor: str, expected: list[str]
) -> None:
    words = ("find", "battery", "--manual", "field-guide")
    ref = fumishirube(*words, "--json", cwd=workspace).json["hits"][1]["ref"]
    file = workspace / "manuals" / "field-guide" / ref["path"]
    done, seen = opened_by(workspace, tmp_path, editor, *words, "--open", "2")
    assert done.code == 0, done.err
    assert seen == [word.format(line=ref["start_line"], file=file) for word in expected]
    done, _ = opened_by(workspace, tmp_path, editor, *words, "--open", "99")
    assert (done.code, "there is no hit 99" in done.err) == (1, True)


def test_an_editor_with_a_quotation_mark_too_few_is_named(workspace: Path) -> None:
    environ = {"EDITOR": "vi '", "VISUAL": ""}
    done = fumishirube("find", "battery", "--open", cwd=workspace, environ=environ)
    assert done.code != 0
    assert "EDITOR" in done.err
    assert "cannot be started" in done.err


def test_without_an_editor_the_system_opens_a_hit(workspace: Path, tmp_path: Path) -> None:
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{seen}"\n')
    browser.chmod(0o755)
    environ = {"EDITOR": "", "VISUAL": "", "BROWSER": f"{browser} %s"}
    done = fumishirube("find", "battery", "--open", cwd=workspace, environ=environ)
    assert done.code == 0, done.err
    assert seen.read_text().startswith("file:///")


def test_bash_completes_commands_and_options(workspace: Path, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(fumishirube("completion", "bash", cwd=workspace).out)

    def completed(*words: str) -> list[str]:
        line = " ".join(["fumishirube", *map(shlex.quote, words)])
        asked = f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_fumishirube"
        shown = 'printf "%s\\n" "${COMPREPLY[@]}"'
        command = ["bash", "-c", f"source {script}; {asked}; {shown}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    assert completed("gr") == ["grep"]
    assert "--open" in completed("find", "--o")
    assert "replace" in completed("vault", "re")
    assert completed("init", "--client", "cl") == ["claude-code", "claude-desktop"]
    assert completed("new-plugin", "x", "--kind", "sc") == ["scorer"]
    assert completed("docs", "get-graph", "--format", "d") == ["dot"]
    for words in (("find", "--in"), ("add", "name"), ("--workspace",)):
        assert completed(*words, str(workspace / "man")) == [str(workspace / "manuals")]
    note = workspace / "vault" / "plan.md"
    assert completed("cite", "check", str(note)[:-3]) == [str(note)]


BLOCKS = re.findall(
    r"^```sh\n(mkdir .*?)^```",
    (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_documented_commands_write_a_completion(block: str, tmp_path: Path) -> None:
    """They work in the home folder of a new user, as they are written."""
    path = f"{Path(warm_script()).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "HOME": str(tmp_path), "PATH": path}
    subprocess.run(["bash", "-euc", block], cwd=tmp_path, env=environ, check=True)
    (script,) = (file for file in tmp_path.rglob("*fumishirube*") if file.is_file())
    assert "coverage" in script.read_text(encoding="utf-8")


def test_every_shell_has_a_documented_command_and_the_help_has_the_first(workspace: Path) -> None:
    assert len(BLOCKS) == 3
    told = fumishirube("completion", "--help", cwd=workspace).out
    assert all(line in told for line in BLOCKS[0].splitlines())


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_completion_of_other_shells_is_valid(
    workspace: Path, tmp_path: Path, shell: str
) -> None:
    script = tmp_path / f"_{shell}"
    script.write_text(fumishirube("completion", shell, cwd=workspace).out)
    assert "coverage" in script.read_text()
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([program, "-n", str(script)], check=True)


@pytest.mark.parametrize(
    ("word", "meant"), [("search", "find"), ("help", "--help"), ("rm", "add NAME --remove")]
)
def test_a_command_by_its_name_elsewhere_is_refused_with_ours(
    workspace: Path, word: str, meant: str
) -> None:
    done = fumishirube(word, "oil", cwd=workspace)
    assert (done.code, done.out) == (2, "")
    assert f"there is no command {word!r}; did you mean {meant!r}?" in done.err


def test_an_unknown_shell_is_refused(workspace: Path) -> None:
    assert "did you mean 'bash'?" in fumishirube("completion", "bsh", cwd=workspace).err


def test_the_manual_page_has_every_command(workspace: Path) -> None:
    page = fumishirube("man", cwd=workspace).out
    assert page.startswith(".TH FUMISHIRUBE 1 ")
    told = fumishirube("--help", cwd=workspace).out
    commands = re.findall(r"^    ([a-z][a-z-]+) ", told, re.MULTILINE)
    assert "vault" in commands
    for name in commands:
        assert f".SS\nfumishirube {name}\n".replace("-", "\\-") in page
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    command = [groff, "-man", "-Tutf8", "-Kutf8", "-ww"]
    done = subprocess.run(command, input=page, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "--why-not" in re.sub(r".\x08", "", done.stdout)


def test_a_file_instead_of_a_folder_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    for words in (["find", "a", "--in", "a.md"], ["ls", "--workspace", "a.md"]):
        done = fumishirube(*words, cwd=tmp_path)
        assert done.code == 2
        told = f"configuration error: {words[-2]}: 'a.md' is a file; name the folder that it is in"
        assert done.err == f"{told}\n"


def test_a_configuration_in_the_home_folder_is_named_as_in_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "mine.yaml").write_text("typo: 1\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for words in (["--config=~/mine.yaml"], ["--config", "~/mine.yaml"]):
        done = fumishirube("ls", *words, cwd=tmp_path)
        assert (done.code, "(mine.yaml line 1)" in done.err) == (2, True), done.err
    done = fumishirube("ls", "--config=~nobody-has-this-name/mine.yaml", cwd=tmp_path)
    assert (done.code, "there is no home folder" in done.err) == (2, True), done.err


@pytest.mark.parametrize("words", [("find", "--", "--version"), ("grep", "--", "--version")])
def test_the_name_of_an_option_can_be_searched_for(tmp_path: Path, words: tuple[str, ...]) -> None:
    write(tmp_path, {"m/a.md": "# Options\n\n`--version` prints the version.\n"})
    done = fumishirube(*words, cwd=tmp_path)
    assert (done.code, "prints the version" in done.out) == (0, True), done.err


def test_a_next_command_can_be_typed_where_a_word_begins_with_a_hyphen(tmp_path: Path) -> None:
    lines = "".join(f"{number} runs of {'x' * 300} need --verbose\n" for number in range(200))
    write(tmp_path, {"-m/a.md": f"# A\n\n{lines}", "-m/b.md": "# B\n"})
    for words in (
        ("ls",),
        ("toc", "--max-files", "1", "--", "-m"),
        ("grep", "--without=-q", "--manual=-m", "--", "--verbose", "runs"),
    ):
        told = fumishirube(*words, cwd=tmp_path).err.rpartition("next: fumishirube ")[2]
        done = fumishirube(*shlex.split(told), cwd=tmp_path)
        assert (done.code, done.out != "") == (0, True), (told, done.err)


@pytest.mark.parametrize("settings", [{"choices": ["a", "b"]}, {"action": "append"}])
def test_words_that_an_option_divides_are_checked_as_others_are(settings: dict[str, Any]) -> None:
    parser = Parser(prog="told")
    parser.add_argument("words", nargs="+", **settings)
    parser.add_argument("--json", action="store_true")
    with pytest.raises(SystemExit) as ended:
        parser.parse(["a", "--json", "zzz"])
    assert ended.value.code == 2


def test_an_option_may_divide_words_that_an_argument_collects() -> None:
    parser = Parser(prog="told")
    parser.add_argument("words", nargs="+", action="extend")
    parser.add_argument("--json", action="store_true")
    assert parser.parse(["a", "--json", "b"]).words == ["a", "b"]


def test_a_next_command_can_be_typed_where_a_name_has_a_line_separator(tmp_path: Path) -> None:
    path = "it's\u2028\u3000.md"
    write(tmp_path, {f"m/{path}": "# A\n\nText.\n"})
    told = fumishirube("read", f"m/{path}", "--line", "2", cwd=tmp_path).err.splitlines()
    assert told[1] == ("sections: fumishirube toc m --deep --prefix $'it\\'s\\U00002028\u3000.md'")
    typed = ["bash", "-c", f"printf %s {told[1].rpartition('--prefix ')[2]}"]
    done = subprocess.run(typed, capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert done.stdout.decode() == path


def test_a_next_command_repeats_that_the_workspace_is_trusted(tmp_path: Path) -> None:
    workspace = write(tmp_path / "inner", {"m/a.md": "# Pump\n\nIt needs oil.\n"})
    outside = "roots: {runtime: ../outside}\n"
    (workspace / "fumishirube.yaml").write_text(outside, encoding="utf-8")
    words = ("--workspace", "inner", "--trust")
    done = fumishirube("find", "oil", *words, cwd=tmp_path)
    following = shlex.split(done.out.splitlines()[-1].removeprefix("next: fumishirube "))
    assert fumishirube(*following, cwd=tmp_path).code == 0
    assert fumishirube(*following[:-1], cwd=tmp_path).code == 2


LONG = "a" * 300


@pytest.mark.parametrize(
    "words",
    [
        ("ls", "--workspace", LONG),
        ("find", "x", "--in", LONG),
        ("add", "x", LONG),
        ("ls", "--config", LONG),
        ("config", "diff", LONG),
    ],
)
def test_a_name_that_is_too_long_is_named_as_such(tmp_path: Path, words: tuple[str, ...]) -> None:
    write(tmp_path, {"m/a.md": "# A\n"})
    done = fumishirube(*words, cwd=tmp_path, environ={"HOME": str(tmp_path)})
    assert (done.code, "unexpected happened" in done.err) == (2, False), done.err


def test_a_number_of_too_many_digits_is_no_argument(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": "# A\n"})
    done = fumishirube("call", "manual_ls", f'{{"id": {"9" * 5000}}}', cwd=tmp_path)
    assert (done.code, "JSON: a number in it has too many digits" in done.err) == (2, True)


@pytest.mark.parametrize("value", ["!!bool maybe", "!!timestamp maybe", '!!int ""'])
def test_a_value_that_its_tag_forbids_is_named(tmp_path: Path, value: str) -> None:
    write(tmp_path, {"m/a.md": "# A\n"})
    (tmp_path / "fumishirube.yaml").write_text(f"strict: {value}\n")
    done = fumishirube("ls", cwd=tmp_path)
    assert (done.code, "fumishirube.yaml" in done.err) == (2, True), done.err
    assert "unexpected" not in done.err


def test_a_configuration_is_imported_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "mine.yaml").write_text("server: {prt: 1}\n")
    words = ("config", "import", "mine.yaml", "--workspace", "inner", "--json")
    done = fumishirube(*words, cwd=tmp_path)
    (warning,) = done.json["warnings"]
    assert (done.json["written"], "server.prt" in warning) == ("fumishirube.yaml", True)
    assert (tmp_path / "inner" / "fumishirube.yaml").is_file()
