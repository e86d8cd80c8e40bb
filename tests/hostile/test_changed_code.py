"""The code of a plugin changes: what its loader or tokenizer made is made again."""

from __future__ import annotations

from pathlib import Path

import pytest
from manuals import Done, fumishirube, write
from strangers import stranger

LOADER = """
from fumishirube import Document, Section, Source, Stage, hook

class Ini(Stage):
    def sources(self, root):
        return [Source(e.path) for e in root.files() if e.path.endswith(".ini")]

    def load(self, root, source):
        text = root.read_bytes(source.path).decode()
        {line}
        lines = text.count("\\n") + 1
        section = Section(title, 1, lines, 0, len(text), len(text), 0)
        return Document(source.path, "ini", text, (section,))

@hook
def register_loaders(register):
    register("ini", Ini)
"""
TOKENIZER = """
from fumishirube import hook
from fumishirube_stages.tokenizers.bigram import Bigram

class Words(Bigram):
    def terms(self, text):
        return [term for term in super().terms(text) {line}]

@hook
def register_tokenizers(register):
    register("words", Words)
"""
EMBEDDER = """
from pathlib import Path
from fumishirube import Stage, hook

class Model(Stage):
    def embed(self, texts, role):
        with Path("embedded.log").open("a") as log:
            log.writelines(f"{role}\\n" for _ in texts)
        return [{line} for text in texts]

@hook
def register_embedders(register):
    register("model", Model)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    files = {"m/a.md": "# Oil\n\nChange the oil.\n", "m/b.ini": "alarm = on\n"}
    return write(tmp_path / "work", files)


def install(workspace: Path, code: str, line: str) -> None:
    code = code.replace("{line}", line)
    module = workspace.parent / "plugins" / "owner.py"
    if module.exists():
        module.write_text(code, encoding="utf-8")
    else:
        stranger(module.parent, "owner", code)


def run(workspace: Path, *words: str) -> Done:
    environ = {"PYTHONPATH": str(workspace.parent / "plugins"), "PYTHONDONTWRITEBYTECODE": "1"}
    return fumishirube(*words, cwd=workspace, environ=environ)


def titles(workspace: Path, query: str) -> list[str]:
    done = run(workspace, "find", query, "--json", "--limit", "5")
    return [hit["title"] for hit in done.json["hits"]] if done.code == 0 else []


def test_a_file_is_read_again_by_a_corrected_or_updated_loader(workspace: Path) -> None:
    (workspace / "fumishirube.yaml").write_text(
        "pipelines: {manual: {loaders: [defaults, ini]}}\n", encoding="utf-8"
    )
    install(workspace, LOADER, "raise KeyError('x')")
    assert titles(workspace, "alarm") == []
    assert "correct the file, or its loader" in run(workspace, "doctor").out
    install(workspace, LOADER, "from importlib.metadata import version; title = version('owner')")
    assert titles(workspace, "alarm") == ["1.0"]
    assert "its loader failed" not in run(workspace, "doctor").out
    about = workspace.parent / "plugins" / "owner-1.0.dist-info"
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: owner\nVersion: 2.0\n")
    about.rename(about.with_name("owner-2.0.dist-info"))
    assert titles(workspace, "alarm") == ["2.0"]


def test_another_tokenizer_has_another_index(workspace: Path) -> None:
    (workspace / "fumishirube.yaml").write_text(
        "pipelines: {manual: {tokenizer: words}}\n", encoding="utf-8"
    )
    install(workspace, TOKENIZER, "if term != 'oil'")
    assert titles(workspace, "oil") == ["Oil"]
    indexes = workspace / ".fumishirube" / "index" / "m"
    (first,) = indexes.iterdir()
    assert titles(workspace, "oil") == ["Oil"]
    assert [*indexes.iterdir()] == [first]
    install(workspace, TOKENIZER, "")
    assert titles(workspace, "oil") == ["Oil"]
    assert len([*indexes.iterdir()]) == 2


def test_other_data_or_another_module_of_a_tokenizer_has_another_index(workspace: Path) -> None:
    text = "pipelines: {manual: {tokenizer: words}}\n"
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")
    plugins = stranger(workspace.parent / "plugins", "owner", "from words import *\n")
    package = plugins / "words"
    package.mkdir()
    line = "if term not in (Path(__file__).parent / 'left_out.txt').read_text().split()"
    line = f"{line} and __import__('owner_words').keeps(term)"
    module = f"from pathlib import Path\n{TOKENIZER.replace('{line}', line)}"
    (package / "__init__.py").write_text(module, encoding="utf-8")
    (package / "left_out.txt").write_text("oil", encoding="utf-8")
    (plugins / "owner_words.py").write_text("keeps = bool\n", encoding="utf-8")
    record = plugins / "owner-1.0.dist-info" / "RECORD"
    record.write_text("owner.py,,\nowner_words.py,,\nwords/__init__.py,,\n", encoding="utf-8")
    assert titles(workspace, "air") == []
    (package / "left_out.txt").write_text("air", encoding="utf-8")
    assert titles(workspace, "oil") == ["Oil"]
    indexes = workspace / ".fumishirube" / "index" / "m"
    assert len([*indexes.iterdir()]) == 2
    (plugins / "owner_words.py").write_text("keeps = str.strip\n", encoding="utf-8")
    assert titles(workspace, "oil") == ["Oil"]
    assert len([*indexes.iterdir()]) == 3


@pytest.mark.slow
def test_a_changed_embedder_makes_its_vectors_again(workspace: Path) -> None:
    text = "pipelines: {manual: {embedder: model, scorers: [vector], fusers: [], refiners: []}}\n"
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")
    log = workspace / "embedded.log"
    made = []
    for vector in (["1.0", "0.0"], ["0.0", "1.0"], ["0.0", "1.0", "0.0"]):
        install(workspace, EMBEDDER, f"[{', '.join(vector)}]")
        for _ in range(2):
            assert titles(workspace, "lubricant") == ["Oil"]
        made.append(log.read_text(encoding="utf-8").count("passage"))
    assert made == [1, 2, 3]
    assert "embedder" not in run(workspace, "doctor").out
