"""Starting the HTTP server: where it listens, and what keeps it from starting."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import manuals
import pytest
import stdio
from http_server import HttpServer, environment, probing, reserved_port
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from warm_start import warm_script

from fumishirube.config.configuration import load_config
from fumishirube.errors import ConfigError
from fumishirube_http import create_app

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": stdio.HELLO}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
PROJECT = Path(__file__).parents[2]


def started(folder: Path, *words: str, **environ: str) -> manuals.Done:
    """Start a server that must not start."""
    return manuals.fumishirube("serve", *words, cwd=folder, environ=environment(**environ))


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    probing(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = started(tmp_path, "--http", f"127.0.0.1:{port}")
    assert done.code == 2
    assert str(port) in done.err


@pytest.mark.parametrize("given", ["127.0.0.1", "127.0.0.1:", "x:70000", ":99999", "1:2:x"])
def test_an_address_needs_a_port(tmp_path: Path, given: str) -> None:
    done = started(probing(tmp_path), "--http", given)
    assert done.code == 2
    assert "HOST:PORT with a port of at most 65535" in done.err
    assert repr(given) in done.err


@pytest.mark.slow
def test_other_machines_need_leave_people_and_tls(tmp_path: Path) -> None:
    probing(tmp_path)
    environ: dict[str, str] = {"FUMISHIRUBE_HTTP_TOKEN": ""}

    def refusal() -> str:
        done = started(tmp_path, "--http", "0.0.0.0:0", **environ)
        assert (done.code, done.out) == (2, "")
        return done.err

    assert "security.allow_remote" in refusal()
    environ["FUMISHIRUBE_SECURITY_ALLOW_REMOTE"] = "true"
    assert "--people" in refusal()
    environ["FUMISHIRUBE_HTTP_TOKEN"] = "a token for everybody"
    assert "fumishirube users --people FILE add NAME" in refusal()
    environ["FUMISHIRUBE_PEOPLE"] = str(tmp_path / "people.json")
    assert "with people, each has a token" in refusal()
    environ["FUMISHIRUBE_HTTP_TOKEN"] = ""
    assert "people file 'people.json': it cannot be read" in refusal()
    people = ("users", "--people", "people.json")
    assert manuals.fumishirube(*people, "add", "aiko", cwd=tmp_path).code == 0
    assert "FUMISHIRUBE_TLS_KEY), or the addresses of the proxy" in refusal()
    environ["FUMISHIRUBE_TLS_CERTIFICATE"] = str(tmp_path / "people.json")
    assert "FUMISHIRUBE_TLS_KEY: a certificate and its key are named together" in refusal()
    environ["FUMISHIRUBE_TLS_KEY"] = str(tmp_path / "people.json")
    assert "cannot be read as PEM" in refusal()
    environ |= {"FUMISHIRUBE_TLS_CERTIFICATE": "", "FUMISHIRUBE_TLS_KEY": ""}
    environ["FUMISHIRUBE_PROXIES"] = "proxy.example"
    assert "FUMISHIRUBE_PROXIES: expected IP addresses" in refusal()
    environ |= {"FUMISHIRUBE_PROXIES": "10.0.0.5", "FUMISHIRUBE_ISSUER": "https://id.example"}
    assert "FUMISHIRUBE_PUBLIC_URL: it is needed" in refusal()
    environ["FUMISHIRUBE_PUBLIC_URL"] = "https://manuals.example"
    environ["FUMISHIRUBE_JWKS_URL"] = "http://id.example/keys"
    assert "FUMISHIRUBE_JWKS_URL: expected an https URL" in refusal()
    for address in ("https://manuals.example/x", "http://manuals.example", "manuals.example"):
        environ["FUMISHIRUBE_PUBLIC_URL"] = address
        assert "FUMISHIRUBE_PUBLIC_URL: expected https://HOST" in refusal()


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FUMISHIRUBE_ISSUER", "https://id.example"),
        ("FUMISHIRUBE_PROXIES", "10.0.0.1"),
        ("FUMISHIRUBE_PUBLIC_URL", "https://manuals.example"),
        ("FUMISHIRUBE_AUDIENCE", "https://manuals.example/mcp"),
        ("FUMISHIRUBE_JWKS_URL", "https://id.example/keys"),
    ],
)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_only_people_need_is_refused_without_them(
    tmp_path: Path, variable: str, value: str, workers: str
) -> None:
    here = ("--http", "127.0.0.1:0", "--workers", workers)
    done = started(probing(tmp_path), *here, **{variable: value})
    assert (done.code, done.out) == (2, "")
    assert f"{variable}: only a server for people uses it; name the people file" in done.err


@pytest.mark.parametrize("variable", ["FUMISHIRUBE_AUDIENCE", "FUMISHIRUBE_JWKS_URL"])
def test_what_belongs_to_an_issuer_is_refused_without_one(tmp_path: Path, variable: str) -> None:
    people = ("users", "--people", "people.json", "add", "aiko")
    assert manuals.fumishirube(*people, cwd=probing(tmp_path)).code == 0
    named = {"FUMISHIRUBE_PEOPLE": str(tmp_path / "people.json"), variable: "https://id.example"}
    done = started(tmp_path, "--http", "127.0.0.1:0", **named)
    assert (done.code, done.out) == (2, "")
    assert f"{variable}: it belongs to FUMISHIRUBE_ISSUER" in done.err


@pytest.mark.parametrize("option", [("--people", "people.json"), ("--workers", "3")])
def test_options_of_http_are_refused_without_it(tmp_path: Path, option: tuple[str, str]) -> None:
    done = started(probing(tmp_path), *option)
    assert (done.code, done.out) == (2, "")
    assert f"{option[0]}: it is for a server over HTTP; add --http" in done.err


def test_the_people_file_is_private_and_outside_what_tools_read(tmp_path: Path) -> None:
    probing(tmp_path)
    people = ("users", "--people", "people.json", "add", "aiko")
    assert manuals.fumishirube(*people, cwd=tmp_path).code == 0
    for command in (("add", "ben"), ("list",)):
        people = ("users", "--people", "vault/people.json", *command)
        refused = manuals.fumishirube(*people, cwd=tmp_path)
        assert (refused.code, refused.out) == (2, "")
        assert "'people.json' lies below roots.vault, where tools read; move it" in refused.err
    assert not (tmp_path / "vault").exists()
    (tmp_path / "vault").mkdir()
    shutil.copy2(tmp_path / "people.json", tmp_path / "vault")
    here = "127.0.0.1:0"
    inside = started(
        tmp_path, "--http", here, FUMISHIRUBE_PEOPLE=str(tmp_path / "vault/people.json")
    )
    assert "'people.json' lies below roots.vault" in inside.err
    hosts = {"FUMISHIRUBE_SECURITY_ALLOWED_HOSTS": "manuals.example:8765"}
    named = started(tmp_path, "--http", here, "--people", "people.json", **hosts)
    assert "security.allowed_hosts[0]" in named.err
    (tmp_path / "people.json").chmod(0o640)
    shared = started(tmp_path, "--http", here, "--people", "people.json")
    assert "chmod 600 people.json" in shared.err
    assert str(tmp_path) not in inside.err + shared.err
    (tmp_path / "people.json").chmod(0o600)
    home = {"XDG_CONFIG_HOME": str(tmp_path / "home"), "XDG_DATA_HOME": str(tmp_path / "data")}
    added = manuals.fumishirube("add", "own", str(tmp_path), cwd=tmp_path, environ=home)
    assert added.code == 0, added.err
    own = started(tmp_path, "--http", here, "--people", "people.json", **home)
    assert "'people.json' lies below the manual 'own'" in own.err


def test_a_person_can_be_removed_whatever_the_configuration_is(tmp_path: Path) -> None:
    people = ("users", "--people", "people.json")
    assert manuals.fumishirube(*people, "add", "aiko", cwd=tmp_path).code == 0
    (tmp_path / "fumishirube.yaml").write_text("surfaces: 3\n", encoding="utf-8")
    assert manuals.fumishirube(*people, "remove", "aiko", cwd=tmp_path).code == 0
    assert "aiko" not in manuals.fumishirube(*people, "list", cwd=tmp_path).out


def test_a_folder_is_no_people_file(tmp_path: Path) -> None:
    for place in ("manuals", "/"):
        people = manuals.fumishirube("users", "--people", place, "add", "a", cwd=probing(tmp_path))
        server = started(tmp_path, "--http", "127.0.0.1:0", "--people", place)
        for done in (people, server):
            assert (done.code, done.out) == (2, "")
            assert "is a folder; name a file" in done.err


@pytest.mark.parametrize("option", ["--days", "--per-minute"])
@pytest.mark.parametrize("number", ["0", "3000000", "9" * 30])
def test_a_number_that_no_person_needs_is_refused(tmp_path: Path, option: str, number: str) -> None:
    people = ("users", "--people", "people.json", "add", "aiko", option, number)
    done = manuals.fumishirube(*people, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert f"argument {option}: expected a whole number" in done.err
    assert not (tmp_path / "people.json").exists()


def test_a_person_of_the_identity_provider_has_no_token_that_could_expire(tmp_path: Path) -> None:
    people = ("users", "--people", "people.json", "add", "gen", "--subject", "42", "--days", "3")
    done = manuals.fumishirube(*people, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "--days is for a token" in done.err
    assert not (tmp_path / "people.json").exists()


def test_new_rights_keep_the_rate_unless_they_name_one(tmp_path: Path) -> None:
    people = ("users", "--people", "people.json")

    def rate_after(*words: str) -> str:
        assert manuals.fumishirube(*people, *words, cwd=tmp_path).code == 0
        listed = manuals.fumishirube(*people, "list", "--json", cwd=tmp_path).out
        return str(json.loads(listed)["fay"]["per_minute"])

    assert rate_after("add", "fay", "--per-minute", "3") == "3"
    assert rate_after("set", "fay", "--read", "manuals") == "3"
    assert rate_after("set", "fay", "--per-minute", "5") == "5"


def test_the_list_of_people_shows_all_rights(tmp_path: Path) -> None:
    people = ("users", "--people", "people.json")
    rights = ("--read", "docs", "--write", "vault/x", "--metrics", "--per-minute", "7")
    assert manuals.fumishirube(*people, "add", "prom", *rights, cwd=tmp_path).code == 0
    row = manuals.fumishirube(*people, "list", cwd=tmp_path).out.splitlines()[-1]
    assert row.split(maxsplit=3) == ["prom", "token", "7", "docs, vault/x (write), metrics"]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FUMISHIRUBE_SERVER_PORT", "0"),
        ("FUMISHIRUBE_SERVER_PORT", "x"),
        ("FUMISHIRUBE_SERVER_BASE_PATH", "api"),
        ("FUMISHIRUBE_SERVER_BASE_PATH", "/a b"),
        ("FUMISHIRUBE_LOG_LEVEL", "LOUD"),
    ],
)
def test_an_unusable_variable_is_named(tmp_path: Path, variable: str, value: str) -> None:
    done = started(probing(tmp_path), "--http", **{variable: value})
    assert done.code == 2
    assert variable in done.err
    assert value in done.err


@pytest.mark.parametrize("path", ["api", "/a b", "/a/../b", "/./a", "//a"])
def test_an_unusable_base_path_is_answered_with_one_that_is_usable(
    tmp_path: Path, path: str
) -> None:
    variable = started(probing(tmp_path), "--http", FUMISHIRUBE_SERVER_BASE_PATH=path)
    assert f'expected text such as /manuals, got "{path}"' in variable.err
    file = started(probing(tmp_path, f"server: {{base_path: '{path}'}}\n"), "--http")
    assert f'server.base_path: must be such as /manuals, got "{path}"' in file.err
    assert (variable.code, file.code) == (2, 2)


def test_the_configuration_says_where(tmp_path: Path) -> None:
    with reserved_port() as port:
        probing(tmp_path, f"server: {{port: {port}, base_path: /api/v1/}}\n")
        server = HttpServer(tmp_path, port=port)
    with server:
        assert server.url == f"http://127.0.0.1:{port}/api/v1"
        assert server.is_well()
        assert server.get("probe_names").json() == ["給付編", "事務編"]
        for path in ("docs", "openapi.json", "docs-static/swagger-ui.css"):
            assert server.get(path).status_code == 200
        assert "/api/v1/probe_names" in server.get("openapi.json").json()["paths"]
        bare = server.client.get(f"http://127.0.0.1:{port}/probe_names")
        assert bare.status_code == 404


def test_a_further_host_can_be_allowed(tmp_path: Path) -> None:
    allowed = {"FUMISHIRUBE_SECURITY_ALLOWED_HOSTS": "Manuals.Test, other.test"}
    with HttpServer(probing(tmp_path), **allowed) as server:
        for host in ("manuals.test", "other.test:80"):
            headers = {"host": host, "origin": f"https://{host}"}
            assert server.client.get("/probe_names", headers=headers).status_code == 200


@pytest.mark.parametrize("host", ["a.test:80", "http://a.test", "a b"])
def test_an_allowed_host_is_a_bare_name(tmp_path: Path, host: str) -> None:
    done = started(probing(tmp_path), "--http", FUMISHIRUBE_SECURITY_ALLOWED_HOSTS=host)
    assert done.code == 2
    assert "security.allowed_hosts[0]" in done.err


@pytest.mark.parametrize("token", ["x", "fifteen letters"])
def test_a_token_that_can_be_guessed_is_refused(tmp_path: Path, token: str) -> None:
    done = started(probing(tmp_path), "--http", "127.0.0.1:0", FUMISHIRUBE_HTTP_TOKEN=token)
    assert done.code == 2
    assert "FUMISHIRUBE_HTTP_TOKEN: use at least 16 characters" in done.err


def test_the_variables_are_listed(tmp_path: Path) -> None:
    done = manuals.fumishirube("config", "env", cwd=probing(tmp_path), environ=environment())
    for name in ("FUMISHIRUBE_HTTP_TOKEN", "FUMISHIRUBE_LOG_LEVEL", "FUMISHIRUBE_SERVER_PORT"):
        assert name in done.out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "README.ja.md"])
def test_the_commands_of_the_readme_work(tmp_path: Path, name: str) -> None:
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("the README's commands need bash and curl")
    text = (PROJECT / name).read_text(encoding="utf-8")
    commands = re.findall(r"^<!-- http -->\n\n```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(commands) == 1
    path = f"{Path(warm_script()).parent}{os.pathsep}{os.environ['PATH']}"
    with reserved_port() as port:
        here = commands[0].replace("8765", str(port))
        here = here.replace("/PATH/TO/my-documents", str(probing(tmp_path)))
        done = subprocess.run(
            ["bash", "-euc", f"{here}\nkill %1; wait %1"],
            capture_output=True,
            encoding="utf-8",
            env=environment(PATH=path, no_proxy="*"),
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    address, health, listed = done.stdout.splitlines()[0], *_jsons(done.stdout)
    assert address.startswith("http://127.0.0.1:")
    assert health == {"ok": True}
    assert listed["items"][0]["id"] == "給付編"


def _jsons(text: str) -> list[Any]:
    """Return the JSON texts that curl wrote one after the other."""
    found, decoder, at = [], json.JSONDecoder(), text.index("{")
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
    return found


# --- in the process -------------------------------------------------------------------------


def test_the_application_works_in_a_test_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manuals.write(tmp_path, {"m/a.md": manuals.RULES})
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path))
    client = TestClient(create_app())
    assert client.get("/healthz").json() == {"ok": True}
    assert client.post("/tools/manual_ls", json={}).json()["items"][0]["id"] == "m"
    assert client.post("/mcp", json=HELLO).status_code == 503
    with TestClient(create_app(load_config(tmp_path))) as living:
        assert living.get("/healthz").status_code == 200
        accept = {"accept": "application/json, text/event-stream"}
        answer = living.post("/mcp", json=HELLO, headers=accept)
        assert answer.status_code == 200
        sent = handled_messages(monkeypatch)
        headers = {**accept, "mcp-session-id": answer.headers["mcp-session-id"]}
        for _ in range(3):
            assert '"result":{}' in living.post("/mcp", json=PING, headers=headers).text
        assert sent == ["POST"] * 3  # and no cancellation of what is answered


def handled_messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the methods of the requests that the sessions of MCP handle from now on."""
    handle, methods = StreamableHTTPSessionManager.handle_request, list[str]()

    async def noted(manager: Any, scope: Scope, receive: Receive, send: Send) -> None:
        methods.append(scope["method"])
        await handle(manager, scope, receive, send)

    monkeypatch.setattr(StreamableHTTPSessionManager, "handle_request", noted)
    return methods


def test_an_unusable_configuration_makes_no_application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path))
    with pytest.raises(ConfigError, match="manuals"):
        create_app()


def test_an_application_that_signs_nobody_in_is_not_made_for_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manuals.write(tmp_path, {"m/a.md": manuals.RULES})
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path))
    for variable in ("FUMISHIRUBE_PEOPLE", "FUMISHIRUBE_ISSUER"):
        with monkeypatch.context() as environ:
            environ.setenv(variable, "https://x.example")
            config = load_config(tmp_path)
            with pytest.raises(ConfigError, match=variable):
                create_app()
            with pytest.raises(ConfigError, match=variable):
                create_app(config)
