"""What an answer says of the manual alone does not depend on the stages that rank its sections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manuals import write
from stdio import Wire
from strangers import stranger

FILES: dict[str, str | bytes] = {
    "m/a.md": "# Power\nThe solar panel has a winter schedule.\n# Water\nSolar pumps rest.\n",
    "m/b.md": "# Winter\nIn winter nobody comes.\n# Empty\n",
    **{f"m/fee{n:02}.md": f"# Fee {n}\nThe refund fee of part {n}.\n" for n in range(30)},
    "m/sub/c.md": "# Sub\nA refund.\n",
    "n/d.md": "# Other\nSolar power elsewhere.\n",
}
PLUGIN = """
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar
from fumishirube import (
    Everything, Hit, MatchCount, Ranking, Run, SequenceCorpus, Stage, hook
)

class Borda(Stage):
    def plan(self, query, corpus):
        alone = [replace(query, text=term, required=(term,)) for term in query.required]
        return [Run("all", query), *(Run(each.text, each) for each in alone)]

    def fuse(self, query, outcomes, corpus):
        points, hits = {}, {}
        for run, ranking in outcomes:
            for place, hit in enumerate(ranking.hits):
                hits.setdefault(hit.passage.key, hit)
                points[hit.passage.key] = points.get(hit.passage.key, 0.0) + 1000 - place
        scored = [hit.scored(points[key]) for key, hit in hits.items()]
        return Ranking(tuple(sorted(scored, key=Hit.sort_key)))

class First(Stage):
    def plan(self, query, corpus):
        return [Run("part", replace(query, text=query.text.split()[0], required=(), limit=1))]

    def fuse(self, query, outcomes, corpus):
        return Ranking(outcomes[0].ranking.hits[:1])

class Fails(Borda):
    def fuse(self, query, outcomes, corpus):
        raise RuntimeError

class All(Stage):
    generates: ClassVar[bool] = True

    def score(self, query, corpus, candidates):
        found = corpus.search(Everything(), 1000)
        return Ranking(tuple(Hit(each.passage, 1.0) for each in found), matched=MatchCount(9999))

class None_(Stage):
    def refine(self, ranking, query, corpus):
        return Ranking()

class Words(Stage):
    def terms(self, text):
        return text.split()

    def narrow(self, text):
        return Everything(), False

class Same(Stage):
    def embed(self, texts, role):
        return [[1.0, 0.0] for _ in texts]

class Opened:
    def __init__(self, fields):
        self.tokenizer, self.files, self.rows = fields.tokenizer, {}, {}

    def pages(self):
        return self.files

    def refresh(self):
        pass

    @contextmanager
    def writing(self, budget):
        yield True

    def sync(self, gone, pages):
        files = {path: file for path, file in self.files.items() if path not in gone}
        for file, passages in pages:
            files[file.path], self.rows[file.path] = file, [*passages]
        self.files = files

    def corpus(self, manual_id):
        rows = [row for path in self.files for row in self.rows[path]]
        return SequenceCorpus(rows, self.tokenizer.terms, manual_id, self.tokenizer)

    def close(self):
        pass

class Memory(Stage):
    def open(self, folder, fields):
        return Opened(fields)

@hook
def register_fusers(register):
    register("own-borda", Borda)
    register("first", First)
    register("fails", Fails)

@hook
def register_scorers(register):
    register("all", All)

@hook
def register_refiners(register):
    register("none", None_)

@hook
def register_tokenizers(register):
    register("words", Words)

@hook
def register_embedders(register):
    register("same", Same)

@hook
def register_indexes(register):
    register("memory", Memory)
"""
SWAPS = {
    "borda": "fusers: [{use: own-borda}]",
    "rrf": "fusers: [{use: rrf}]",
    "no fuser": "fusers: []",
    "a part": "fusers: [{use: first}]",
    "failing": "fusers: [{use: fails}]",
    "scorer": "scorers: [{use: all}]",
    "refiner": "refiners: [{use: none}]",
    "tokenizer": "tokenizer: {use: words}",
    "embedder": "embedder: {use: same}, scorers: [defaults, vector]",
    "index": "index: {use: memory}",
    "all": "index: {use: memory}, scorers: [{use: all}], fusers: [], refiners: []",
}
ASKED: list[dict[str, Any]] = [
    {"query": "solar vs winter", "required_terms": ["solar", "zebra"]},
    {"query": "zebra", "required_terms": ["zebra", "quagga"], "alternatives": ["striped horse"]},
    {"query": "solar panels", "required_terms": ["solarr"]},
    {"query": "refund fee", "required_terms": ["fee"], "budget": {"max_candidates": 3}},
    {"query": "refund", "required_terms": ["winter"], "path_prefix": "sub"},
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(stranger(tmp_path_factory.mktemp("plugins") / "site", "swapper", PLUGIN))


def served(folder: Path, site: str, stages: str) -> Iterator[dict[str, Any]]:
    """Yield what the server says of the manual, of each question."""
    write(folder, FILES)
    (folder / "fumishirube.yaml").write_text(f"pipelines: {{manual: {{{stages}}}}}\n")
    with Wire(folder, PYTHONPATH=site, FUMISHIRUBE_SURFACE_EXTRAS="+coverage") as wire:
        wire.ok("manual_ls")
        for manual in ("m", "*"):
            for asked in ASKED:
                yield facts(wire, {"manual_id": manual, **asked})


def facts(wire: Wire, asked: dict[str, Any]) -> dict[str, Any]:
    answer = wire.ok("manual_find", **asked)
    account, trace_id = answer["coverage"], answer["trace_id"]
    left = [row for row in account["skipped"] if row["unit"] == "section"]
    counted = sum(row["count"] for row in left if row["reason"] != "heading_only")
    assert account["matched"] == account["returned"] + counted
    assert account["returned"] == answer["candidates"]
    assert wire.ok("manual_hits", trace_id=trace_id, limit=1000)["total"] == answer["candidates"]
    gaps = wire.ok("manual_hits", trace_id=trace_id, kind="gaps")["items"]
    nowhere = [term for term in answer["terms"] if term[1] == "nowhere"]
    assert (answer["status"] == "required_none_matched") or len(nowhere) < len(answer["terms"])
    return {
        "asked": asked,
        "nowhere": nowhere,
        "words nowhere": answer.get("nowhere"),
        "elsewhere": [term[0] for term in answer["terms"] if term[1] == "elsewhere"],
        "sections": [(term[0], term[2]) for term in answer["terms"]],
        "scope": (account["scope"], account["scanned"]),
        "headings": [row for row in left if row["reason"] == "heading_only"],
        "missing": [gap for gap in gaps if gap["gap"] == "missing_terms"],
    }


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory, site: str) -> list[dict[str, Any]]:
    return [*served(tmp_path_factory.mktemp("usual"), site, "")]


def test_the_usual_stages_find_what_is_nowhere(usual: list[dict[str, Any]]) -> None:
    assert [len(told["nowhere"]) for told in usual[:5]] == [1, 2, 1, 0, 0]
    assert usual[2]["nowhere"] == [["solarr", "nowhere", 0, "solar"]]
    assert [told["elsewhere"] for told in usual[:5] if told["elsewhere"]] == [["winter"]]


@pytest.mark.parametrize("stages", SWAPS.values(), ids=SWAPS)
@pytest.mark.many_cases
def test_the_facts_are_those_of_the_usual_stages(
    tmp_path: Path, site: str, usual: list[dict[str, Any]], stages: str
) -> None:
    assert [*served(tmp_path, site, stages)] == usual


def test_of_files_that_no_loader_listed_nothing_is_known(tmp_path: Path) -> None:
    plugin = (
        "from fumishirube import Stage, hook\n"
        "class Lists(Stage):\n"
        "    def sources(self, root): raise RuntimeError\n"
        "    def load(self, root, source): raise RuntimeError\n"
        "@hook\ndef register_loaders(register): register('lists', Lists)\n"
    )
    site = str(stranger(tmp_path / "site", "lister", plugin))
    workspace = write(tmp_path / "work", FILES)
    loaders = "pipelines: {manual: {loaders: [{use: lists}, defaults]}}\n"
    (workspace / "fumishirube.yaml").write_text(loaders)
    with Wire(workspace, PYTHONPATH=site) as wire:
        wire.ok("manual_ls")
        answer = wire.ok("manual_find", query="zebra", manual_id="m", required_terms=["zebra"])
        assert answer["terms"] == [["zebra", "no_hits", 0]]
