"""`fumishirube init`: the server named in a client's own file, and taken out again."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path
from typing import Any

import pytest
from manuals import Done, fumishirube, write
from stdio import Fumishirube
from warm_start import warm_script

from fumishirube import ConfigError
from fumishirube_clients.client_files import ClientFile
from fumishirube_clients.client_specs import CLIENTS

FILES = {
    "claude-code": "project/.mcp.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": "project/.vscode/mcp.json",
    "codex": ".codex/config.toml",
    "copilot": ".copilot/mcp-config.json",
    "gemini": ".gemini/settings.json",
    "kiro": ".kiro/settings/mcp.json",
    "opencode": ".config/opencode/opencode.json",
}
KEYS = {"vscode": "servers", "codex": "mcp_servers", "opencode": "mcp"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write(tmp_path / "work", {"handbook/a.md": "# Rules\nAll of them.\n"})
    (tmp_path / "project").mkdir()
    return tmp_path


def init(home: Path, client: str, *options: str, workspace: str = "work") -> Done:
    given = ("--client", client, "--project", "project", *options)
    # Where a client looks is the business of its own variables, too.
    words = ("init", *given, "--workspace", workspace)
    return fumishirube(*words, cwd=home, environ=of_home(home))


def of_home(home: Path, path: str = os.defpath) -> dict[str, str]:
    """Return the variables of a user with this home folder, and no program of a client."""
    unset = ("XDG_CONFIG_HOME", "CODEX_HOME", "COPILOT_HOME", "APPDATA")
    return {"HOME": str(home), "PATH": path, **dict.fromkeys(unset, "")}


def servers(home: Path, client: str) -> Any:
    text = (home / FILES[client]).read_text(encoding="utf-8")
    content = tomllib.loads(text) if client == "codex" else json.loads(text)
    return content.get(KEYS.get(client, "mcpServers"))


@pytest.mark.parametrize("client", FILES)
def test_the_change_is_shown_and_nothing_is_written(home: Path, client: str) -> None:
    done = init(home, client)
    assert done.code == 0, done.err
    assert "+" in done.out
    assert str(home / "work") in done.out
    assert "nothing is changed yet; --write" in done.out
    assert not (home / FILES[client]).exists()


@pytest.mark.slow
def test_what_is_written_starts_a_server_from_anywhere(home: Path) -> None:
    written: set[tuple[str, ...]] = set()
    for client in FILES:
        assert init(home, client, "--write").code == 0
        entry = servers(home, client)["fumishirube"]
        together = client == "opencode"
        written.add(tuple(entry["command"] if together else [entry["command"], *entry["args"]]))
    (words,) = written
    assert Path(words[0]).is_absolute()
    with Fumishirube(home, started=[*words]) as connected:
        connected.ok("manual_ls")
        asked = {"query": "rules", "manual_id": "handbook", "required_terms": ["rules"]}
        assert connected.ok("manual_find", **asked)["candidates"] == 1


@pytest.mark.many_cases
@pytest.mark.parametrize("client", FILES)
def test_writing_twice_changes_nothing_more_and_removing_undoes_it(home: Path, client: str) -> None:
    init(home, client, "--write")
    written = (home / FILES[client]).read_bytes()
    assert "nothing to change" in init(home, client, "--write").out
    assert (home / FILES[client]).read_bytes() == written
    removed = init(home, client, "--remove")
    assert removed.code == 0
    assert "had nothing else in it, and is deleted" in removed.out
    assert f"next: restart {CLIENTS[client].title}\n" in removed.out
    file = home / FILES[client]
    [copy] = file.parent.glob(f"{file.name}.*.bak")
    assert (file.exists(), copy.read_bytes()) == (False, written)
    assert "nothing to change" in init(home, client, "--remove").out


def test_all_else_in_the_file_stays_and_is_copied_first(home: Path) -> None:
    file = home / FILES["gemini"]
    file.parent.mkdir()
    before = '{\n\t"theme": "暗い",\n\t"mcpServers": {"other": {"command": "x"}},\n\t"z": 1\n}\n'
    file.write_text(before, encoding="utf-8")
    file.chmod(0o640)
    assert init(home, "gemini", "--write").code == 0
    after = json.loads(file.read_text(encoding="utf-8"))
    assert list(after) == ["theme", "mcpServers", "z"]
    assert list(after["mcpServers"]) == ["other", "fumishirube"]
    assert '\n\t"theme": "暗い"' in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    [copy] = file.parent.glob("settings.json.*.bak")
    assert copy.read_text(encoding="utf-8") == before


def test_what_a_person_added_to_the_entry_stays(home: Path) -> None:
    added = {"env": {"K": "v"}, "disabled": True, "tools": ["manual_find"], "enabled": False}
    file = home / FILES["copilot"]
    file.parent.mkdir()
    for client in ("copilot", "opencode"):
        init(home, client, "--write")
        made = servers(home, client)["fumishirube"]
        content = {KEYS.get(client, "mcpServers"): {"fumishirube": {**added, "command": "old"}}}
        (home / FILES[client]).write_text(json.dumps(content))
        assert init(home, client, "--write").code == 0
        assert servers(home, client)["fumishirube"] == {**made, **added}
        assert "nothing to change" in init(home, client, "--write").out


def test_what_a_person_added_to_a_toml_entry_stays(home: Path) -> None:
    file = home / FILES["codex"]
    file.parent.mkdir()
    file.write_text(
        '[mcp_servers.fumishirube]\ncommand = "old" # mine\nstartup_timeout_sec = 9\n\n'
        '[mcp_servers.fumishirube.env]\nK = "v"\n\n[other]\na = 1\n'
    )
    init(home, "codex", "--write")
    entry = servers(home, "codex")["fumishirube"]
    assert {*entry} == {"command", "args", "startup_timeout_sec", "env"}
    assert (entry["command"] != "old", entry["env"]) == (True, {"K": "v"})
    assert " # mine\n" in file.read_text()
    assert "nothing to change" in init(home, "codex", "--write").out


def test_an_entry_that_names_an_address_is_replaced(home: Path) -> None:
    init(home, "cursor", "--write")
    made = servers(home, "cursor")
    remote = {"url": "http://localhost:8765/mcp", "headers": {}}
    (home / FILES["cursor"]).write_text(json.dumps({"mcpServers": {"fumishirube": remote}}))
    init(home, "cursor", "--write")
    assert servers(home, "cursor") == made


@pytest.mark.parametrize(
    ("client", "before"),
    [
        ("gemini", '\ufeff{\r\n  "theme": "暗い",\r\n  "z": 1\r\n}\r\n'),
        ("codex", '# mine\r\nmodel = "x"\r\n'),
        ("gemini", '{\n  "theme": "暗い"\n}\n'),
    ],
)
def test_line_ends_and_a_byte_order_mark_stay(home: Path, client: str, before: str) -> None:
    file = home / FILES[client]
    file.parent.mkdir()
    file.write_bytes(before.encode())
    init(home, client, "--write")
    after = file.read_bytes().decode()
    assert "fumishirube" in after
    assert after.count("\n") > before.count("\n")
    assert after.startswith("\ufeff") is before.startswith("\ufeff")
    assert after.count("\r\n") == (after.count("\n") if "\r\n" in before else 0)
    init(home, client, "--remove")
    assert file.read_bytes().decode().strip() == before.strip()


@pytest.mark.parametrize("name", ["", "a b", 'a"', "../x", "マニュアル", "x" * 65])
def test_a_name_that_clients_refuse_is_not_written(home: Path, name: str) -> None:
    done = init(home, "cursor", "--write", "--name", name)
    assert (done.code, "--name: expected letters, digits, - and _" in done.err) == (2, True)
    assert not (home / FILES["cursor"]).exists()
    (home / ".cursor").mkdir()
    (home / FILES["cursor"]).write_text(json.dumps({"mcpServers": {name: {}}}))
    assert init(home, "cursor", "--remove", "--name", name).code == 0
    assert not (home / FILES["cursor"]).exists()


def test_comments_and_order_of_a_toml_file_stay(home: Path) -> None:
    file = home / FILES["codex"]
    file.parent.mkdir()
    before = '# mine\nmodel = "x" # the best\n\n[mcp_servers.other]\ncommand = "a"\n'
    file.write_text(before)
    init(home, "codex", "--write")
    assert file.read_text().startswith(before)
    init(home, "codex", "--remove")
    assert file.read_text().strip() == before.strip()
    file.write_text("# mine\n")
    init(home, "codex", "--write")
    init(home, "codex", "--remove")
    assert file.read_text().strip() == "# mine"


NEXT = '\n# Ask Ken before you change it\n[profiles.review]\nmodel = "x"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[mcp_servers.fumishirube]\ncommand = "x"\n', NEXT),
        ('[mcp_servers.fumishirube]\nurl = "x"\n', NEXT),
        ('[mcp_servers.fumishirube.env]\nK = "v"\n', NEXT),
        ("[mcp_servers]\n# once here: foo\n[mcp_servers.fumishirube]\n", ""),
    ],
)
def test_comments_before_and_behind_the_entry_stay(home: Path, before: str, after: str) -> None:
    file = home / "config.toml"
    file.write_text(before + after)
    written = ClientFile(CLIENTS["codex"], file).with_server("fumishirube", {"command": "f"})
    assert written.endswith(after)
    removed = ClientFile(CLIENTS["codex"], file).without_server("fumishirube")
    comments = [line for line in (before + after).splitlines() if line.startswith("#")]
    for text in (written, removed):
        assert [line for line in text.splitlines() if line.startswith("#")] == comments
    assert removed.endswith(after.lstrip())
    assert "fumishirube" not in removed


def test_a_toml_file_with_a_name_twice_is_left_and_the_block_can_be_copied(home: Path) -> None:
    file = home / FILES["codex"]
    file.parent.mkdir()
    file.write_text('[profiles.x]\nmodel = "y"\nmodel = "o3"\n')
    done = init(home, "codex", "--write")
    assert (done.code, "config.toml: it is not TOML" in done.err) == (2, True)
    block = done.err[done.err.index("[mcp_servers") : done.err.index("configuration error:")]
    assert {*tomllib.loads(block)["mcp_servers"]["fumishirube"]} == {"command", "args"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{\n  // mine\n  "mcpServers": {}\n}', "not plain JSON, without comments"),
        ('{"a": 1, "a": 2}', "occurs twice"),
        ("[1]", "it contains no object"),
        ('{"mcpServers": []}', "not a table of servers"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_and_the_block_is_shown(
    home: Path, content: str | bytes, told: str
) -> None:
    file = home / FILES["cursor"]
    file.parent.mkdir()
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = file.read_bytes()
    done = init(home, "cursor", "--write")
    assert done.code == 2
    assert told in done.err
    assert '"command"' in done.err, "what is to be added by hand"
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "before",
    [
        'mcp_servers.other.command = "x"\nmodel = "best"\n',
        'mcp_servers.other.command = "x"\nmodel = "best"\n[tools]\nweb = nan\n',
        'mcp_servers = {other = {command = "x"}}\n[tools]\nweb = nan\n',
        '[mcp_servers.other]\ncommand = "x"\n[tools]\nweb = 1\n[mcp_servers.more]\ncommand = "y"\n',
    ],
)
def test_no_setting_of_a_toml_file_gets_into_the_entry_of_the_server(
    home: Path, before: str
) -> None:
    file = home / FILES["codex"]
    file.parent.mkdir()
    file.write_text(before)
    done = init(home, "codex", "--write")
    if done.code:
        assert "its other settings would be changed too" in done.err
        assert "[mcp_servers.fumishirube]" in done.err, "what is to be added by hand"
        assert file.read_text() == before
    init(home, "codex", "--remove")
    assert str(tomllib.loads(file.read_text())) == str(tomllib.loads(before))


def test_the_folder_is_checked_before_anything_is_written(home: Path) -> None:
    (home / "empty").mkdir()
    done = init(home, "cursor", "--write", workspace="empty")
    assert done.code == 2
    assert "manuals" in done.err
    (home / "work" / "fumishirube.yaml").write_text("surfaces: [{use: nothing}]\n")
    assert init(home, "cursor", "--write").code == 2
    assert not (home / FILES["cursor"]).exists()


def test_a_link_to_the_file_stays_a_link(home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "mcp.json").write_text("{}")
    (home / ".cursor").mkdir()
    (home / FILES["cursor"]).symlink_to(home / "dotfiles" / "mcp.json")
    assert init(home, "cursor", "--write").code == 0
    assert (home / FILES["cursor"]).is_symlink()
    assert "fumishirube" in json.loads((home / "dotfiles" / "mcp.json").read_text())["mcpServers"]
    assert init(home, "cursor", "--remove").code == 0
    assert (home / FILES["cursor"]).is_symlink()
    assert json.loads((home / "dotfiles" / "mcp.json").read_text()) == {}


def test_a_link_that_came_with_a_project_leads_out_of_it_nowhere(home: Path) -> None:
    (home / "mine.json").write_text("{}")
    (home / FILES["claude-code"]).symlink_to(home / "mine.json")
    done = init(home, "claude-code", "--write")
    assert (done.code, (home / "mine.json").read_text()) == (2, "{}")
    assert ".mcp.json: a symbolic link leads out of the project" in done.err
    assert '"command"' in done.err, "what is to be added by hand"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
def test_a_pipe_is_no_file_of_a_client(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".mcp.json")
    with pytest.raises(ConfigError, match="this is no file"):
        ClientFile(CLIENTS["claude-code"], tmp_path / ".mcp.json")


def test_two_folders_have_servers_of_two_names(home: Path) -> None:
    write(home / "second", {"more/b.md": "# More\nText.\n"})
    init(home, "cursor", "--write")
    init(home, "cursor", "--write", "--name", "more", workspace="second")
    assert list(servers(home, "cursor")) == ["fumishirube", "more"]
    init(home, "cursor", "--remove")
    assert list(servers(home, "cursor")) == ["more"]


def test_json_says_what_was_done(home: Path) -> None:
    told = init(home, "vscode", "--write", "--json").json
    assert told["file"] == str(home / FILES["vscode"])
    assert told["changed"] is True
    assert told["backup"] is None
    assert init(home, "vscode", "--write", "--json").json["changed"] is False


def test_a_folder_that_cannot_be_made_is_told(home: Path) -> None:
    (home / ".cursor").write_text("in the way")
    done = init(home, "cursor", "--write")
    assert done.code == 2
    assert "it was not changed" in done.err


@pytest.mark.parametrize("name", ["README.md", "README.ja.md"])
def test_the_readmes_commands_do_what_they_say(home: Path, name: str) -> None:
    text = (Path(__file__).parents[2] / name).read_text(encoding="utf-8")
    [block] = re.findall(r"^<!-- init -->\n+```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shown, written, removed = (shlex.split(line, comments=True) for line in block.splitlines())
    file = home / "work" / ".mcp.json"
    for words, there in ((shown, False), (written, True), (removed, False)):
        assert words[0] == "fumishirube"
        assert fumishirube(*words[1:], cwd=home / "work", environ={"HOME": str(home)}).code == 0
        assert file.exists() is there


# --- without a client -------------------------------------------------------------------------


def program(folder: Path, name: str) -> str:
    """Put a program into a folder, and return the path of commands with it."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.defpath}"


def unnamed(home: Path, *words: str, path: str = os.defpath) -> Done:
    words = ("init", *words, "--project", "project", "--workspace", "work")
    return fumishirube(*words, cwd=home, environ=of_home(home, path))


def test_in_a_pipe_it_says_what_to_run_for_the_clients_that_are_found(home: Path) -> None:
    (home / ".cursor").mkdir()
    path = program(home / "bin", "gemini")
    done = unnamed(home, path=path)
    assert done.code == 0, done.err
    commands = [line.partition(": ")[2] for line in done.out.splitlines()]
    named = ("cursor", "gemini")
    assert commands == [f"fumishirube init --client {name} --write" for name in named]
    listed = unnamed(home, "--json", path=path).json
    assert [one["client"] for one in listed] == [*named]
    refused = unnamed(home, "--write", path=path)
    assert refused.code == 2
    assert "name the client with --client; these are found: cursor, gemini" in refused.err
    assert not (home / FILES["cursor"]).exists()


def test_each_client_is_found_by_its_folder_or_its_program(home: Path) -> None:
    for name, client in CLIENTS.items():
        for number, of in enumerate(client.programs):
            path = program(home / f"{name}-{number}", of)
            assert [one["client"] for one in unnamed(home, "--json", path=path).json] == [name]
    assert "no client is found; name one with --client: claude-code, " in unnamed(home).err
    for name, client in CLIENTS.items():
        folder = home / (client.folder or str(Path(FILES[name]).parent))
        folder.mkdir(parents=True, exist_ok=True)
    assert [one["client"] for one in unnamed(home, "--json").json] == [*CLIENTS]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_it_asks_for_each(home: Path) -> None:
    for name in (".cursor", ".gemini", ".kiro"):
        (home / name).mkdir()
    (home / FILES["gemini"]).write_text("{ // mine\n}")
    shown = answered(home, "n", "はい", *("--project", "project", "--workspace", "work"))
    assert shown.count("change this file? [y/N]") == 2
    assert "Gemini CLI: settings.json: it is not plain JSON" in shown
    assert not (home / FILES["cursor"]).exists()
    assert "fumishirube" in servers(home, "kiro")
    again = answered(home, "n", "n", *("--project", "project", "--workspace", "work"))
    assert "names already 'fumishirube' this way" in again
    assert again.count("[y/N]") == 1
    removed = answered(home, "y", "y", *("--remove", "--project", "project"))
    assert "is deleted" in removed
    assert not (home / FILES["kiro"]).exists()


def answered(home: Path, first: str, second: str, *words: str) -> str:
    """Run ``init`` on a terminal, type two answers, and return all that is shown."""
    import pty  # noqa: PLC0415 - not on Windows

    ours, theirs = pty.openpty()
    environ = {**os.environ, **of_home(home), "LANG": "C", "TERM": "dumb"}
    process = subprocess.Popen(
        [warm_script(), "init", *words],
        cwd=home,
        env=environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, f"{first}\n{second}\n".encode())
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(60) == 0, shown.decode()
    return shown.decode()


@pytest.mark.many_cases
@pytest.mark.parametrize("client", FILES)
def test_what_is_done_is_said_in_japanese(home: Path, client: str) -> None:
    for option, place, words in (("--write", -2, "を変えました"), ("--remove", -3, "削除しました")):
        given = ("--client", client, "--project", "project", "--workspace", "work", option)
        environ = {**of_home(home), "LC_ALL": "ja_JP.UTF-8"}
        done = fumishirube("init", *given, cwd=home, environ=environ)
        assert done.code == 0, done.err
        lines = done.out.splitlines()
        assert words in lines[place]
        assert lines[-1].startswith("次: ")
        assert re.search("ださい|されます", lines[-1])


def test_a_wrong_client_is_refused_with_the_nearest(tmp_path: Path) -> None:
    done = fumishirube("init", "--client", "gemeni", cwd=tmp_path)
    assert done.code == 2
    assert "did you mean 'gemini'?" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--remove", "--write"), "argument --write: not allowed with argument --remove"),
        (("--remve",), "there is no option '--remve'; did you mean '--remove'?"),
    ],
)
def test_options_that_exclude_each_other_are_known(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = fumishirube("init", "--client", "cursor", *words, cwd=tmp_path)
    assert done.code == 2
    assert message in done.err


@pytest.mark.slow
def test_an_installation_without_its_script_runs_no_module_of_the_current_folder(
    home: Path,
) -> None:
    python = _python_without_scripts(home / "venv")
    words = ("init", "--client", "cursor", "--write", "--workspace", str(home / "work"))
    start = [python, "-c", "from fumishirube.commands import main; main()", *words]
    environ = {**os.environ, "HOME": str(home)}
    subprocess.run(start, cwd=home, env=environ, check=True, timeout=60)
    entry = servers(home, "cursor")["fumishirube"]
    strange = home / "strange"
    strange.mkdir()
    for module in ("fumishirube", "json", "shlex", "pathlib"):
        text = f"open({str(home / 'ran')!r}, 'w').close()\n"
        (strange / f"{module}.py").write_text(text, encoding="utf-8")
    call = {"name": "manual_ls", "arguments": {}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "test", "version": "1"}
    begin = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        cwd=strange,
        check=True,
        env=environ,
        input=f"{begin}\n{line}\n",
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert "handbook" in done.stdout, done.stderr
    assert not (home / "ran").exists()


def _python_without_scripts(folder: Path) -> str:
    """Return an interpreter that finds the installed packages, and no script beside it."""
    venv.create(folder, with_pip=False)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    installed = sysconfig.get_path("purelib")
    (packages / "installed.pth").write_text(
        f"import site; site.addsitedir({installed!r})\n", encoding="utf-8"
    )
    return str(folder / "bin" / "python")


def test_trust_is_recorded_only_with_the_change(home: Path) -> None:
    (home / "work" / "fumishirube.yaml").write_text("roots: {vault: ../elsewhere}\n")
    file = home / FILES["claude-code"]
    file.write_text("// mine\n{}\n")
    assert init(home, "claude-code", "--write").code == 2
    assert not (home / ".config" / "fumishirube" / "trust.json").exists()
    file.unlink()
    assert init(home, "claude-code", "--write").code == 0
    assert str(home / "work") in (home / ".config" / "fumishirube" / "trust.json").read_text()


@pytest.mark.parametrize("name", ["~nobody-of-this-name", "x" * 300])
def test_a_project_that_cannot_be_is_named(home: Path, name: str) -> None:
    done = fumishirube("init", "--client", "vscode", "--project", name, cwd=home / "work")
    assert (done.code, done.out) == (2, "")
    assert f"--project: there is no folder {name[:20]}" in done.err.replace("'", "")


def test_a_change_needs_the_name_of_a_client_with_json_too(home: Path) -> None:
    (home / ".gemini").mkdir()
    words = ("init", "--write", "--json", "--workspace", "work")
    done = fumishirube(*words, cwd=home, environ=of_home(home))
    assert done.code == 2
    assert "name the client with --client; these are found: gemini" in done.err + done.out
