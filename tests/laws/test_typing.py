"""A type checker rejects a class on the wrong shelf, in its author's editor: on that very line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from fumishirube.plugins.discovery import load_plugins
from fumishirube.plugins.registry import KINDS, StageKind
from fumishirube_authoring.package_files import package_files

ROOT = Path(__file__).parents[2]

BENT = {
    "loader": "def load(self, root: Root, source: Source) -> str: ...",
    "tokenizer": "def terms(self, text: bytes) -> list[str]: ...",
    "embedder": "def embed(self, texts: list[str]) -> list[list[float]]: ...",
    "index": "def open(self, folder: Root) -> OpenIndex: ...",
    "scorer": "def score(self, query: Query, corpus: Corpus) -> list[Hit]: ...",
    "fuser": "def fuse(self, query: Query, corpus: Corpus) -> Ranking: ...",
    "refiner": "def refine(self, ranking: Ranking) -> Ranking: ...",
    "surface": "def tools(self) -> list[str]: ...",
}
"""A verb of each kind, in a form that is wrong."""

HEAD = """\
from fumishirube import (
    Corpus, Document, Embedder, Fuser, Hit, Index, Loader, OpenIndex, Query, Ranking, Refiner,
    Register, Root, Scorer, Source, Stage, Surface, Tokenizer, hook,
)

class Nothing(Stage):
    pass

class Plain:
    pass

"""

REGISTERED = """
from fumishirube import Fuser, Register, hook

@hook
def register_fusers(register: Register[Fuser]) -> None:
    register("house-words", HouseWords)
"""


def wrong(kind: StageKind) -> tuple[str, dict[int, str]]:
    """A module that registers three wrong classes, and what is wrong in which line."""
    protocol = kind.noun.capitalize()
    text = (
        f"{HEAD}class Bent(Stage):\n    {BENT[kind.noun]}\n\n@hook\n"
        f"def register_{kind.kind_name}(register: Register[{protocol}]) -> None:\n"
        '    register("nothing", Nothing)\n'
        '    register("plain", Plain)\n'
        '    register("bent", Bent)\n'
    )
    last = len(text.splitlines())
    return text, {last - 2: "Nothing", last - 1: "Plain", last: "Bent"}


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[int, str, str]]]:
    """What mypy says of each module: line, code and message of every error."""
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    folder = tmp_path_factory.mktemp("typing")
    plugins = load_plugins(strangers=False)
    for kind in KINDS:
        (folder / f"wrong_{kind.noun}.py").write_text(wrong(kind)[0], encoding="utf-8")
        right = package_files("right", kind.noun, plugins)["src/right/__init__.py"]
        (folder / f"right_{kind.noun}.py").write_text(right, encoding="utf-8")
    documented = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    (fuser,) = re.findall(r"^```python\n(.*?)^```$", documented, re.DOTALL | re.MULTILINE)
    (folder / "right_documented.py").write_text(fuser + REGISTERED, encoding="utf-8")
    (folder / "unknown.py").write_text("from fumishirube import NoSuchName\n", encoding="utf-8")
    options = ["--strict", "--output=json", f"--cache-dir={ROOT / '.mypy_cache' / 'typing'}"]
    command = [sys.executable, "-m", "mypy", *options, "--config-file=", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    said: dict[str, list[tuple[int, str, str]]] = {}
    for line in done.stdout.splitlines():
        one = json.loads(line)
        if one["severity"] == "error":
            name = Path(one["file"]).stem
            said.setdefault(name, []).append((one["line"], one["code"], one["message"]))
    return said


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.noun))
def test_a_wrong_class_is_an_error_where_it_is_registered(
    mypy: dict[str, list[tuple[int, str, str]]], kind: StageKind
) -> None:
    text, lines = wrong(kind)
    protocol = kind.noun.capitalize()
    offset = text[: text.index("@hook")].count("\n")
    said = {line: (code, told) for line, code, told in mypy[f"wrong_{kind.noun}"] if line > offset}
    found = 'Argument 2 to "__call__" of "Register" has incompatible type "type[{}]"'
    wanted = f'expected "type[{protocol}]"'
    assert said == {
        line: ("arg-type", f"{found.format(name)}; {wanted}") for line, name in lines.items()
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.noun))
def test_a_right_class_is_none(
    mypy: dict[str, list[tuple[int, str, str]]], kind: StageKind
) -> None:
    assert f"right_{kind.noun}" not in mypy


def test_the_documented_fuser_is_one(mypy: dict[str, list[tuple[int, str, str]]]) -> None:
    assert mypy.get("right_documented", []) == []


def test_a_name_that_the_facade_has_not_is_an_error(
    mypy: dict[str, list[tuple[int, str, str]]],
) -> None:
    told = 'Module "fumishirube" has no attribute "NoSuchName"'
    assert mypy["unknown"] == [(1, "attr-defined", told)]


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.noun))
def test_another_type_checker_agrees(tmp_path: Path, kind: StageKind) -> None:
    text, lines = wrong(kind)
    (tmp_path / "wrong.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["pyright", "--outputjson", "--pythonpath", sys.executable, "wrong.py"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    offset = text[: text.index("@hook")].count("\n")
    said = {
        one["range"]["start"]["line"] + 1: one
        for one in json.loads(done.stdout)["generalDiagnostics"]
        if one["range"]["start"]["line"] >= offset and one["severity"] == "error"
    }
    assert set(said) == set(lines)
    for line, name in lines.items():
        assert said[line]["rule"] == "reportArgumentType"
        assert re.search(rf"type\[{name}\]", said[line]["message"])
