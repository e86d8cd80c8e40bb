"""The files in packaging/server: checked by the tools of their formats, and run where possible."""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from certificates import certificate
from manuals import RULES, appears, fumishirube, write
from people_server import TeamServer, names

SERVER = Path(__file__).parents[2] / "packaging" / "server"
UNIT = SERVER / "fumishirube.service"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a checking tool."""
    return subprocess.run(words, capture_output=True, text=True, check=False)


def unit_lines(key: str) -> list[str]:
    """Return the values of a key of the unit."""
    lines = UNIT.read_text(encoding="utf-8").splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{key}=")]


def compose() -> dict[str, Any]:
    """Return the compose file, with its aliases replaced."""
    parsed: dict[str, Any] = yaml.safe_load((SERVER / "compose.yaml").read_text(encoding="utf-8"))
    return parsed


def environment(source: str) -> Mapping[str, str]:
    """Return the variables that the unit, or the compose file, sets."""
    if source == "unit":
        return dict(line.split("=", 1) for line in unit_lines("Environment"))
    variables: dict[str, str] = compose()["services"]["server-1"]["environment"]
    default = "${FUMISHIRUBE_HOST:-localhost}"
    return {name: value.replace(default, "localhost") for name, value in variables.items()}


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
def test_the_unit_is_valid_and_shuts_the_service_in(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    command = "/opt/fumishirube/bin/fumishirube"
    unit.write_text(UNIT.read_text(encoding="utf-8").replace(command, "/bin/true"))
    for words in (("verify",), ("security", "--offline=true", "--threshold=25")):
        done = run("systemd-analyze", *words, str(unit))
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Unknown" not in done.stderr


@pytest.mark.skipif(not shutil.which("hadolint"), reason="hadolint is not here: tox -e packaging")
def test_the_container_file_has_no_known_fault() -> None:
    done = subprocess.run(
        ["hadolint", str(SERVER / "Containerfile")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(
    not shutil.which("check-jsonschema"), reason="check-jsonschema is not here: tox -e packaging"
)
def test_the_compose_file_follows_its_schema() -> None:
    words = ["check-jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run(
        [*words, str(SERVER / "compose.yaml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_servers_run_without_root_and_cannot_write_their_system() -> None:
    services = compose()["services"]
    assert sorted(services) == ["search-1", "search-2", "search-3", "server-1", "server-2"]
    for name in ("server-1", "server-2"):
        server = services[name]
        assert server["read_only"] is True
        assert server["cap_drop"] == ["ALL"]
        assert server["tmpfs"] == ["/tmp"], "what a server has indexed is known after a restart"
        written = [mount for mount in server["volumes"] if not mount.endswith(":ro")]
        assert written == ["./vault:/workspace/vault"]
    for name in ("search-1", "search-2", "search-3"):
        assert services[name]["networks"] == ["search"]
        assert "ports" not in services[name]
    text = (SERVER / "Containerfile").read_text(encoding="utf-8")
    assert "USER 65532:65532" in text
    for copied in (line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ")):
        for source in (name for name in copied if not name.startswith(("-", "/"))):
            assert (SERVER.parents[1] / source).exists(), source


def test_commands_in_the_container_need_no_further_trust(tmp_path: Path) -> None:
    """Only its entry point has ``--trust``; ``docker compose exec`` runs any other command."""
    write(tmp_path, {"m/rules.md": RULES})
    text = (SERVER / "Containerfile").read_text(encoding="utf-8")
    named = dict(re.findall(r"(\w+)=(/state/\S+)", text))
    state = tmp_path.with_name(f"{tmp_path.name}-state")
    environ = {name: place.replace("/state", str(state)) for name, place in named.items()}
    shipped = yaml.safe_load((SERVER / "fumishirube.yaml").read_text(encoding="utf-8"))
    here = {name: value for name, value in shipped.items() if name != "pipelines"}
    (tmp_path / "fumishirube.yaml").write_text(yaml.safe_dump(here), encoding="utf-8")
    for command in ("index", "ls", "doctor"):
        done = fumishirube(command, cwd=tmp_path, environ=environ)
        assert done.code == 0, done.err + done.out
    assert "/state" not in str(shipped)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["unit", "compose"])
def test_the_variables_start_a_server_for_a_team(source: str, tmp_path: Path) -> None:
    variables = environment(source)
    assert variables["FUMISHIRUBE_SECURITY_ALLOW_REMOTE"] == "true"
    pem, key = certificate(tmp_path)
    here = {"FUMISHIRUBE_TLS_CERTIFICATE": str(pem), "FUMISHIRUBE_TLS_KEY": str(key)}
    for name in ("FUMISHIRUBE_STATE_ROOT", "FUMISHIRUBE_PATHS_RUNTIME_DIR"):
        here[name] = str(tmp_path / name)
    chosen = {**variables, **here}
    elsewhere = ("WORKSPACE_ROOT", "VAULT_ROOT", "FUMISHIRUBE_PEOPLE", "OPENSEARCH_HOSTS")
    for name in elsewhere:  # the test has places of its own
        chosen.pop(name, None)
    with TeamServer(tmp_path, "0.0.0.0:0", "--trust", **chosen) as team:
        context = ssl.create_default_context(cafile=str(pem))
        url = f"https://127.0.0.1:{team.port}"
        with httpx2.Client(base_url=url, verify=context, trust_env=False) as team.client:
            assert team.client.get("/readyz").json() == {"ready": True}
            assert names(team.call("aiko", "manual_ls")) == ["給付編"]
        appears(tmp_path / "FUMISHIRUBE_PATHS_RUNTIME_DIR" / "audit.log")
        os.kill(team.pid, 15)
        assert team.process.wait(30) == 0


def test_the_unit_and_the_image_start_the_same_command() -> None:
    command = unit_lines("ExecStart")[0].split()
    entry = (SERVER / "Containerfile").read_text(encoding="utf-8").rpartition("ENTRYPOINT ")[2]
    assert command[0].endswith("/fumishirube")
    assert yaml.safe_load(entry)[1:] == command[1:]
