"""Stages of plugins that rank what the manual lacks: the answer has its own sections alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from manuals import fumishirube, write
from stdio import Wire
from strangers import stranger

PAGES = {
    "m/a.md": "# Power\nThe solar panel has a winter schedule.\n# Water\nSolar pumps rest.\n",
    "m/b.md": "# Winter\nIn winter nobody comes.\n",
    "n/c.md": "# Other\nSolar power in winter elsewhere.\n",
}
SEARCH = {"query": "solar winter", "manual_id": "m", "required_terms": ["solar", "winter"]}

PLUGIN = """
from typing import ClassVar
from fumishirube import Hit, LeftOut, Ranking, Run, Stage, hook

def changed(hit, **fields):
    return hit._replace(passage=hit.passage._replace(**fields))

class Path(str):
    pass

class Ranks(Stage):
    way: str

    def ranked(self, ranking):
        hits = ranking.hits
        match self.way:
            case "manual": hits = (*hits, *[changed(hit, path="c.md") for hit in hits[:1]])
            case "line": hits = (*hits, *[changed(hit, start_line=2) for hit in hits[:1]])
            case "text": hits = tuple(changed(hit, title="Lie", end_line=99) for hit in hits)
            case "path": hits = tuple(changed(hit, path=Path(hit.passage.path)) for hit in hits)
            case "left": return ranking._replace(left_out=(LeftOut("no\\ud800.md", 1, "lost"),))
            case "reason":
                return Ranking(hits[1:], (LeftOut(*hits[0].passage.key, "\\ud800"),))
            case "object": return ranking._replace(diagnostics={"mine": object()})
            case "nested":
                nested = []
                for _ in range(5_000):
                    nested = [nested]
                return ranking._replace(diagnostics={"mine": nested})
        return ranking._replace(hits=hits)

class Refines(Ranks):
    def refine(self, ranking, query, corpus):
        return self.ranked(ranking)

class Fuses(Ranks):
    def plan(self, query, corpus):
        return [Run("query", query)]

    def fuse(self, query, outcomes, corpus):
        return self.ranked(outcomes[0].ranking)

class Scores(Ranks):
    generates: ClassVar[bool] = True

    def score(self, query, corpus, candidates):
        return self.ranked(Ranking(tuple(Hit(each, 50.0) for each in candidates.values())))



@hook
def register_refiners(register):
    register("own-refiner", Refines)

@hook
def register_fusers(register):
    register("own-fuser", Fuses)

@hook
def register_scorers(register):
    register("own-scorer", Scores)
"""

LACKING, CHANGED = (
    "sections that the manual lacks were dropped: ",
    "changed sections were put right: ",
)
WAYS = [
    ("manual", LACKING),
    ("line", LACKING),
    ("text", CHANGED),
    ("path", "a section has a path and a first line"),
    ("left", LACKING),
    ("reason", "a reason is Unicode text"),
    ("object", "diagnostics are JSON"),
    ("nested", "diagnostics are JSON"),
]
KINDS = {"refiner": "[{}]", "fuser": "[{}]", "scorer": "[lexical, {}]"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(stranger(tmp_path_factory.mktemp("plugins") / "site", "maker", PLUGIN))


def workspace_with(folder: Path, kind: str, way: str) -> Path:
    use = f"{{use: own-{kind}, with: {{way: {way}}}}}"
    stages = KINDS[kind].replace("{}", use)
    write(folder, PAGES)
    (folder / "fumishirube.yaml").write_text(f"pipelines: {{manual: {{{kind}s: {stages}}}}}\n")
    return folder


@pytest.mark.parametrize(("way", "told"), WAYS, ids=[way for way, _ in WAYS])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.many_cases
def test_the_answer_has_the_manual_s_own_sections_and_names_the_stage(
    tmp_path: Path, site: str, kind: str, way: str, told: str
) -> None:
    workspace = workspace_with(tmp_path, kind, way)
    with Wire(workspace, PYTHONPATH=site, FUMISHIRUBE_SURFACE_EXTRAS="+coverage") as wire:
        wire.ok("manual_ls")
        found = wire.ok("manual_find", **SEARCH)
        assert f"stage 'own-{kind}' of plugin 'maker'" in found["degraded"]
        assert told in found["degraded"]
        assert "stages" not in found["degraded"], "no built-in is blamed"
        hits = {}
        for rows in ("integrated_top", "candidates", "unscanned"):
            listed = wire.ok("manual_hits", trace_id=found["trace_id"], kind=rows)["items"]
            hits[rows] = [(item.get("ref", item), item.get("title")) for item in listed]
        titles = {("a.md", 1): "Power", ("a.md", 3): "Water", ("b.md", 1): "Winter"}
        for ref, title in hits["integrated_top"]:
            assert title == titles[ref["path"], ref["start_line"]]
        account = found["coverage"]
        left = sum(row["count"] for row in account["skipped"] if row["unit"] == "section")
        assert account["matched"] == account["returned"] + left == len(titles)
        assert f"plugin maker: {kind} 'own-{kind}' failed" in wire.hang_up()
    listed = fumishirube("plugins", "--json", cwd=workspace, environ={"PYTHONPATH": site}).json
    (faults,) = (report["faults"] for report in listed if report["plugin"] == "maker")
    assert told in faults[0]


def test_doctor_and_the_command_line_name_it_too(tmp_path: Path, site: str) -> None:
    workspace = workspace_with(tmp_path, "refiner", "text")
    done = fumishirube("find", "solar", "--json", cwd=workspace, environ={"PYTHONPATH": site})
    assert f"plugin maker: refiner 'own-refiner' failed: {CHANGED}" in done.err
    assert "Lie" not in done.out
    doctor = fumishirube("doctor", "--json", cwd=workspace, environ={"PYTHONPATH": site})
    findings = [each["finding"] for each in json.loads(doctor.out) if each["status"] == "FAIL"]
    assert any(CHANGED in finding for finding in findings)
