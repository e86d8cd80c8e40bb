"""Searching documents by vectors, links and words together."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from documents import call_named, documents, graph

from fumishirube import Bool, Holds, Pages, Stage
from fumishirube.errors import ConfigError
from fumishirube.host.application import Application
from fumishirube_graph.docs import Docs
from fumishirube_stages.embedders.hashing import Hashing

FILES = {
    "pay.md": "# Payment\n\nAn invoice is paid: transfer, card, invoice number.\n\n[[bank]]\n",
    "bank.md": "# Bank\n\nAccounts and branches.\n\n[[vault|depends_on]]\n",
    "vault.md": "# Vault\n\nKeys.\n\n[[deep]]\n",
    "deep.md": "---\ndoc_type: adr\n---\n# Deep\n\nNothing near.\n",
    "card.md": "---\ndoc_type: adr\n---\n# Card\n\nA card pays an invoice too.\n",
    "island.md": "# Island\n\nSand and palms.\n",
}
HASHING = "pipelines: {docs: {embedder: {use: hashing}}}\n"


def opened(workspace: Path, yaml: str) -> Application:
    (workspace / "fumishirube.yaml").write_text(yaml)
    return graph(documents(workspace, FILES))


@pytest.fixture
def hybrid(tmp_path: Path) -> Iterator[Application]:
    application = opened(tmp_path, HASHING)
    yield application
    application.close()


def found(application: Application, query: str, **more: Any) -> dict[str, Any]:
    return dict(call_named(application, "ubp_search", query=query, limit=20, **more))


def test_a_score_is_the_weighted_sum_of_its_parts(hybrid: Application) -> None:
    answer = found(hybrid, "card invoice")
    assert answer["search_type"] == "hybrid"
    for one in answer["results"]:
        parts = one["score_breakdown"]
        told = (
            0.7 * parts["vector_similarity"]
            + 0.21 * parts["graph_proximity"]
            + 0.09 * parts["fulltext"]
        )
        assert one["score"] == pytest.approx(told, abs=2e-6)
        assert all(0 <= part <= 1 for part in parts.values())
    scores = [one["score"] for one in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert {one["filepath"] for one in answer["results"][:2]} == {"pay.md", "card.md"}


def test_without_any_hit_of_words_links_get_their_share(hybrid: Application) -> None:
    for one in found(hybrid, "invoicing carded")["results"]:
        parts = one["score_breakdown"]
        told = 0.7 * parts["vector_similarity"] + 0.3 * parts["graph_proximity"]
        assert parts["fulltext"] == 0
        assert one["score"] == pytest.approx(told, abs=2e-6)


def test_linked_documents_are_found_by_their_distance(tmp_path: Path) -> None:
    scorers = "[{use: vector}, {use: graph, with: {seeds: 1}}, {use: fulltext}]"
    application = opened(
        tmp_path, f"pipelines: {{docs: {{embedder: {{use: hashing}}, scorers: {scorers}}}}}"
    )
    near = {
        one["filepath"]: one["score_breakdown"]["graph_proximity"]
        for one in found(application, "invoice number transfer", depth=2)["results"]
    }
    assert near["pay.md"] == 1.0
    assert near["bank.md"] == 0.5
    assert near["vault.md"] == pytest.approx(1 / 3, abs=1e-6)
    far = found(application, "invoice number transfer", depth=3)["results"]
    (deep,) = [one for one in far if one["filepath"] == "deep.md"]
    assert deep["score_breakdown"]["graph_proximity"] == 0.25
    assert "graph 0.250 (3 hops)" in deep["relevance_reason"]
    only = found(application, "invoice number transfer", depth=3, link_types=["references"])
    reached = {
        one["filepath"]
        for one in only["results"]
        if one["score_breakdown"]["graph_proximity"] not in (0, 1)
    }
    assert reached == {"bank.md"}, "the way to the vault is of another type"
    application.close()


def test_a_type_filters_inside_and_the_walk_passes_through_others(hybrid: Application) -> None:
    answer = found(hybrid, "invoice number transfer", doc_type="adr", depth=3)
    assert {one["filepath"] for one in answer["results"]} <= {"deep.md", "card.md"}
    assert answer["total_found"] == len(answer["results"])


def test_a_smaller_limit_gives_a_prefix(hybrid: Application) -> None:
    every = found(hybrid, "card invoice bank")
    for limit in (1, 2, 3):
        few = call_named(hybrid, "ubp_search", query="card invoice bank", limit=limit)
        assert few["results"] == every["results"][:limit]
        assert few["total_found"] == every["total_found"]


def test_words_that_never_meet_are_searched_apart_and_it_says_so(tmp_path: Path) -> None:
    application = opened(tmp_path, "")
    answer = found(application, "invoice palms")
    assert answer["query_relaxed"]
    assert {one["filepath"] for one in answer["results"]} == {"pay.md", "card.md", "island.md"}
    assert "query_relaxed" not in found(application, "invoice")
    application.close()


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("バックアップはいつ取得しますか", "データベースのバックアップは毎晩二時に取得する。"),
        ("When does the nightly backup begin?", "Each nightly backup starts at two."),
    ],
)
def test_a_long_section_is_shown_around_what_was_found_of_a_question(
    tmp_path: Path, query: str, line: str
) -> None:
    around = "".join(f"前置きの段落{number}です。The end of it.\n\n" for number in range(300))
    documents(tmp_path, {"long.md": f"# Work\n\n{around}{line}\n\n{around}"})
    application = graph(tmp_path)
    answer = found(application, query)
    application.close()
    (section,) = answer["results"][0]["sections"]
    assert answer["query_relaxed"]
    assert section["truncated"]
    assert line in section["content"]


def test_weights_must_sum_to_one(tmp_path: Path) -> None:
    weights = "{vector: 0.5, graph: 0.2, fulltext: 0.2}"
    fusers = f"[{{use: weighted-sum, with: {{weights: {weights}}}}}]"
    with pytest.raises(ConfigError, match=r"pipelines\.docs\.fusers\[0\]"):
        opened(tmp_path, f"pipelines: {{docs: {{fusers: {fusers}}}}}")


def test_explicit_weights_replace_the_rule(tmp_path: Path) -> None:
    weights = "{vector: 0, graph: 0, fulltext: 1}"
    fusers = f"[{{use: weighted-sum, with: {{weights: {weights}}}}}]"
    application = opened(
        tmp_path, f"pipelines: {{docs: {{embedder: {{use: hashing}}, fusers: {fusers}}}}}"
    )
    for one in found(application, "card invoice")["results"]:
        assert one["score"] == one["score_breakdown"]["fulltext"]
    application.close()


def test_vectors_are_made_for_new_texts_only(tmp_path: Path) -> None:
    application = opened(tmp_path, HASHING)
    first = call_named(application, "docs_index")["embeddings"]
    assert (first["embedder"], first["embedded"], first["reused"]) == ("hashing", 6, 0)
    documents(tmp_path, {"pay.md": "# Payment\n\nChanged.\n"})
    again = call_named(application, "docs_index")["embeddings"]
    assert (again["embedded"], again["reused"], again["dropped"]) == (1, 5, 1)
    application.close()


def test_pages_that_are_alike_and_not_linked_are_suggested(tmp_path: Path) -> None:
    application = opened(tmp_path, "")
    call_named(application, "docs_index")
    answer = call_named(application, "docs_suggest_links", threshold=0.05)
    pairs = [(one["source_filepath"], one["target_filepath"]) for one in answer["suggestions"]]
    assert pairs[0] == ("card.md", "pay.md")
    assert ("bank.md", "pay.md") not in pairs, "they are linked"
    assert answer["total"] == len(pairs)
    application.close()


@pytest.mark.slow
def test_only_the_suggestions_to_show_are_kept(tmp_path: Path) -> None:
    number = 150
    documents(tmp_path, {f"{n:03}.md": f"# Page\n\nInvoice {n} is paid.\n" for n in range(number)})
    application = graph(tmp_path)
    every = call_named(application, "docs_suggest_links", threshold=0, limit=number**2)
    tracemalloc.start()
    few = call_named(application, "docs_suggest_links", threshold=0, limit=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    application.close()
    assert few["suggestions"] == every["suggestions"][:3]
    assert few["total"] == every["total"] == number * (number - 1) / 2
    assert peak < few["total"] * 100


def test_scorers_of_manuals_work_over_documents(tmp_path: Path) -> None:
    scorers = "[{use: fulltext}, {use: numbers}]"
    application = opened(tmp_path, f"pipelines: {{docs: {{scorers: {scorers}}}}}")
    assert found(application, "invoice")["total_found"] == 2
    application.close()


def broken(self: Stage, texts: Sequence[str], role: str) -> list[list[float]]:
    raise OSError("no model")


def test_an_embedder_that_fails_leaves_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hashing, "embed", broken)
    application = opened(tmp_path, HASHING)
    answer = found(application, "invoice")
    assert answer["search_type"] == "fulltext_fallback"
    assert answer["total_found"] == 2
    assert any("embedder failed" in warning for warning in answer["warnings"])
    application.close()


def test_what_must_not_be_does_not_stand_for_what_should(tmp_path: Path) -> None:
    """A stage of somebody else asks the documents in clauses, as it asks any corpus."""
    application = opened(tmp_path, "")
    docs = Docs(application.contexts["graph"], ".fumishirube/baseline.json")
    docs.refresh()
    view = docs.view()

    def met(clause: Bool) -> set[str]:
        return {one.passage.path for one in view.search(clause, 10)}

    invoice, palms, card = Holds("invoice"), Holds("palms"), Pages(("card.md",))
    assert met(Bool(should=(invoice, palms), must_not=(card,))) == {"pay.md", "island.md"}
    assert met(Bool(must=(invoice,), should=(palms,))) == {"pay.md", "card.md"}
    assert met(Bool(must_not=(invoice, palms))) == {"bank.md", "vault.md", "deep.md"}
    assert met(Bool()) == set()
    docs.close()
    application.close()


def test_a_search_reads_the_texts_of_what_it_compares_alone(tmp_path: Path) -> None:
    """Terms and passages of every section would take seconds, and far more memory than texts."""
    application = opened(tmp_path, "")
    for query in ("invoice", "invoice palms", "nowhere", "number invoice of a transfer"):
        found(application, query)
    view = application.contexts["graph"].keep("room", lambda: None).docs.view()
    assert not vars(view).keys() & {"passages", "_sections", "_searched", "_frequencies"}
    assert view.size == len(view.passages) == len(FILES)
    application.close()
