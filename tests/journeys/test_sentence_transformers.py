"""The embedder that runs models of sentence-transformers, on tiny ones with random weights."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest
from documents import docs, docs_json, documents
from tiny_models import installed, tiny_model

from fumishirube.errors import ConfigError
from fumishirube_stages.embedders.sentence_transformers import SentenceTransformers

FILES = {
    "leave.md": "# 休暇\n\n年次有給休暇の申請と承認。\n",
    "design.md": "# Design\n\nHow search works. [[leave]]\n",
}
TEXTS = ["年次有給休暇", "How search works", "", "\ud800", "x" * 5_000]


@pytest.fixture(autouse=True)
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the models that the workspaces of these tests name."""
    monkeypatch.setenv("FUMISHIRUBE_TRUST", "true")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models"))


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Stand where every request would have to pass; nobody may come."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.setblocking(False)
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            for spelled in (name, name.lower()):
                monkeypatch.setenv(spelled, f"http://127.0.0.1:{proxy.getsockname()[1]}")
        yield proxy
        with pytest.raises(BlockingIOError):
            proxy.accept()


def configured(workspace: Path, model: Path | str) -> Path:
    chosen = f"{{use: sentence-transformers, with: {{model: '{model}'}}}}"
    (workspace / "fumishirube.yaml").write_text(f"pipelines: {{docs: {{embedder: {chosen}}}}}\n")
    return documents(workspace, FILES)


@installed
@pytest.mark.usefixtures("network")
def test_documents_are_found_by_a_model_on_this_machine(tmp_path: Path, model: Path) -> None:
    configured(tmp_path, model)
    made = docs_json("index", cwd=tmp_path)["embeddings"]
    assert made == {"embedder": "sentence-transformers", "embedded": 2, "reused": 0, "dropped": 0}
    again = docs_json("index", cwd=tmp_path)["embeddings"]
    assert (again["embedded"], again["reused"]) == (0, 2)
    found = docs_json("search", "年次有給休暇の申請と承認。", cwd=tmp_path)
    assert found["search_type"] == "hybrid"
    assert "warnings" not in found
    assert max(one["score_breakdown"]["vector_similarity"] for one in found["results"]) > 0.5


@installed
@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("name", ["nobody/has-this-model", "{folder}/empty"])
def test_a_model_that_is_not_here_leaves_words_and_says_what_to_do(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "empty").mkdir()
    configured(tmp_path, name.format(folder=tmp_path))
    found = docs_json("search", "search", cwd=tmp_path)
    assert found["search_type"] == "fulltext_fallback"
    assert found["total_found"] == 1
    (warning,) = found["warnings"]
    assert "set download: true" in warning
    assert str(tmp_path) not in warning
    told = docs("index", cwd=tmp_path)
    assert told.code == 0
    assert "Traceback" not in told.err
    assert "set download: true" in told.out


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="it is installed")
def test_without_the_library_the_start_stops_and_says_what_to_install(tmp_path: Path) -> None:
    done = docs("index", cwd=configured(tmp_path, "any"))
    assert done.code == 2
    assert "python -m pip install" in done.err
    assert "[sentence-transformers]" in done.err
    assert "Traceback" not in done.err


@installed
def test_a_model_is_loaded_once_for_all_threads(tmp_path: Path, model: Path) -> None:
    moved = Path(shutil.copytree(model, tmp_path / "model"))
    stage = SentenceTransformers(model=str(moved))
    with stage.open() as running:
        before = running.embed(TEXTS, "passage")
        shutil.rmtree(moved)
        with ThreadPoolExecutor(4) as pool:
            for after in pool.map(lambda _: running.embed(TEXTS, "passage"), range(8)):
                assert after == before
    with pytest.raises(ConfigError, match="cannot load the model 'model'"):
        stage.embed(TEXTS, "passage")


@installed
def test_a_failure_is_not_tried_again_before_a_restart(tmp_path: Path, model: Path) -> None:
    stage = SentenceTransformers(model=str(tmp_path / "later"))
    with stage.open() as running:
        for _ in range(2):
            with pytest.raises(ConfigError, match="restart"):
                running.embed(["a"], "query")
            if not (tmp_path / "later").exists():
                shutil.copytree(model, tmp_path / "later")
    assert len(stage.embed(["a"], "query")) == 1


@installed
def test_prefixes_stand_before_the_texts_of_their_role(tmp_path: Path, model: Path) -> None:
    plain = SentenceTransformers(model=str(model))
    prefixed = SentenceTransformers(model=str(model), query_prefix="q: ", passage_prefix="p: ")
    assert prefixed.embed(["abc"], "query") == plain.embed(["q: abc"], "query")
    assert prefixed.embed(["abc"], "passage") == plain.embed(["p: abc"], "passage")
    own = str(tiny_model(tmp_path, {"query": "q: ", "document": "p: "}))
    for role in ("query", "passage"):
        assert SentenceTransformers(model=own).embed(["abc"], role) == prefixed.embed(["abc"], role)
    silent = SentenceTransformers(model=own, query_prefix="", passage_prefix="")
    assert silent.embed(["abc"], "query") == plain.embed(["abc"], "query")
