"""The bundle holds the project and starts from anywhere; the registry's entry keeps its rules.

What needs Node, uv or a network says so where it is skipped; ``tox -e bundle`` brings uv.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from manuals import RULES, citation, opened, write
from packaging_scripts import npm_program, script
from stdio import Fumishirube

PROJECT = Path(__file__).parents[2]
CLI = "@anthropic-ai/mcpb@2.1.2"
LONGEST = 100


BUILD = script("build")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    BUILD.main(["--out", str(folder), "--url", "https://example.org/fumishirube.mcpb"])
    return folder


@pytest.fixture(scope="module")
def bundle(made: Path) -> Path:
    (one,) = made.glob("*.mcpb")
    return one


@pytest.fixture(scope="module")
def unpacked(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def mcpb() -> str:
    """Return the bundles' own command line."""
    return npm_program("mcpb", CLI)


def read(place: Path) -> Any:
    return json.loads(place.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_bundle_says_what_the_project_says(unpacked: Path, tmp_path: Path) -> None:
    manifest, told = read(unpacked / "manifest.json"), BUILD.described()
    assert {key: manifest[key] for key in ("name", "version", "description", "license")} == {
        key: told[key] for key in ("name", "version", "description", "license")
    }
    offered = opened(write(tmp_path, {"m1/rules.md": RULES})).tools
    assert [tool["name"] for tool in manifest["tools"]] == [*offered]
    assert all(len(tool["description"]) > LONGEST / 10 for tool in manifest["tools"])
    assert manifest["user_config"]["workspace"]["required"]
    assert manifest["server"]["type"] == "uv"
    assert (unpacked / manifest["server"]["entry_point"]).is_file()


def test_the_bundle_holds_the_project_and_nothing_made(unpacked: Path) -> None:
    for name in BUILD.CARRIED:
        assert (unpacked / name).exists(), name
    for held in (file for file in unpacked.rglob("*") if file.is_file()):
        if held.name != "manifest.json":
            assert held.read_bytes() == (PROJECT / held.relative_to(unpacked)).read_bytes()
    listed = subprocess.run(
        ["git", "ls-files", "-z", *BUILD.CARRIED], cwd=PROJECT, capture_output=True, check=True
    )
    files = {
        file.relative_to(unpacked).as_posix() for file in unpacked.rglob("*") if file.is_file()
    }
    assert files - {"manifest.json"} <= {*listed.stdout.decode().split("\0")}


def test_the_same_files_give_the_same_bytes(bundle: Path, tmp_path: Path) -> None:
    BUILD.main(["--out", str(tmp_path)])
    assert (tmp_path / bundle.name).read_bytes() == bundle.read_bytes()


def test_the_official_tool_takes_the_bundle(mcpb: str, bundle: Path, tmp_path: Path) -> None:
    def run(*words: object) -> int:
        command = [mcpb, *map(str, words)]
        return subprocess.run(command, capture_output=True, check=False).returncode

    folder, again = tmp_path / "bundle", tmp_path / "again.mcpb"
    assert run("unpack", bundle, folder) == 0
    assert run("validate", folder / "manifest.json") == 0
    assert run("pack", folder, again) == 0
    assert run("info", again) == 0
    manifest = read(folder / "manifest.json")
    del manifest["server"]["mcp_config"]["command"]
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert run("validate", folder / "manifest.json") != 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_unpacked_bundle_serves(bundle: Path, tmp_path: Path) -> None:
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed; run tox -e bundle")
    folder = tmp_path / "bundle"
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(folder)
    workspace = write(tmp_path / "workspace", {"m1/rules.md": RULES})
    (workspace / "vault").mkdir()
    manifest = read(folder / "manifest.json")
    told = manifest["server"]["mcp_config"]
    person = {"${__dirname}": str(folder), "${user_config.workspace}": str(workspace)}
    words = [person.get(word, word) for word in told["args"]]
    sync = [uv, "sync", "--quiet", "--no-dev", "--directory", str(folder)]
    done = subprocess.run(sync, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        pytest.skip(f"uv cannot install the bundle: {done.stderr.strip()[-200:]}")
    environ = {**told["env"], "FUMISHIRUBE_SURFACE_EXTRAS": "cite,grep,batch"}
    with Fumishirube(workspace, started=[uv, *words], **environ) as server:
        assert len(server.tools()) == len(manifest["tools"])
        server.ok("manual_ls")
        found = server.ok("manual_find", query="例外", manual_id="m1", required_terms=["対象外"])
    assert citation(found["inline_hits"]["items"][0]).startswith("manual://m1/rules.md#L3")


# --- the registry's entry -------------------------------------------------------------------


def test_the_entry_keeps_the_rules_of_the_registry(made: Path) -> None:
    entry = read(made / "server.json")
    assert re.fullmatch(r"[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+/[a-zA-Z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= LONGEST
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", entry["version"])
    assert f"<!-- mcp-name: {entry['name']} -->" in (PROJECT / "README.md").read_text("utf-8")
    (package,) = entry["packages"]
    assert re.fullmatch("[0-9a-f]{64}", package["fileSha256"])
    assert package["transport"] == {"type": "stdio"}


@pytest.mark.skipif(not shutil.which("skillsaw"), reason="skillsaw is not here: tox -e bundle")
def test_the_entry_fits_its_schema(made: Path, tmp_path: Path) -> None:
    file = tmp_path / "server.json"

    def lint() -> subprocess.CompletedProcess[str]:
        command = ["skillsaw", "lint", "--strict", "--no-color", str(tmp_path)]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)

    entry = read(made / "server.json")
    file.write_text(json.dumps(entry), encoding="utf-8")
    done = lint()
    assert done.returncode == 0, done.stdout
    assert "mcp-registry" in done.stdout
    del entry["packages"][0]["transport"]
    file.write_text(json.dumps(entry), encoding="utf-8")
    assert "mcp-registry-server-json-valid" in lint().stdout


def test_without_a_url_no_package_is_named(tmp_path: Path) -> None:
    BUILD.main(["--out", str(tmp_path)])
    assert "packages" not in read(tmp_path / "server.json")
