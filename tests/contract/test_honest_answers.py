"""Answers that say what was not done: patterns out of time, half an index, other encodings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from manuals import ask, opened, write
from stdio import Wire

from fumishirube import LeftOut, Query, Root, Source
from fumishirube.engine.spellings import near_spellings
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_manual.diagnosis import diagnose
from fumishirube_stages.loaders.markdown import Markdown
from fumishirube_stages.scorers.regex import Regex

ENDLESS = r"(?=a)" + "(" * 8 + "a" + "{9})" * 8 + r"\1"


def test_a_pattern_that_overruns_while_it_compiles_was_not_searched() -> None:
    corpus = MemoryCorpus(
        [passage("a.md", body="a" * 99), passage("b.md", body=f"{ENDLESS} {'a' * 99}")]
    )
    ranking = Regex(deadline_ms=50, chapter_deadline_ms=50).score(Query(ENDLESS), corpus, {})
    assert [*ranking.hits] == []
    assert {(out.path, out.reason) for out in ranking.left_out} == {
        ("a.md", "deadline"),
        ("b.md", "deadline"),
    }


@pytest.mark.parametrize("text", ["書類の切れ目。", "提出、切手を貼る。", "「切」の字。"])
def test_near_spellings_are_words(text: str) -> None:
    corpus = MemoryCorpus([passage("a.md", body=f"{text} 締め切りは月末。")])
    near = near_spellings("締切", corpus)
    assert "締め切り" in near or "締め切" in near
    assert all(word[0].isalnum() and word[-1].isalnum() for word in near)
    assert not any(word.startswith("の") for word in near)


def test_half_an_index_does_not_say_that_nothing_matches(tmp_path: Path) -> None:
    application = opened(write(tmp_path, {"m/a.md": "# A\nHands.\n"}))
    found = ask(application, "manual_find", manual_id="m", query="feet", required_terms=["feet"])
    assert found["status"] == "required_none_matched"
    trace = application.traces.get(found["trace_id"])
    waiting = replace(trace, skipped=(LeftOut("b.md", None, "time_budget"),))
    diagnosis = diagnose(waiting, 0.9)
    assert diagnosis.status != "required_none_matched"
    assert diagnosis.failure_reason == "index_unfinished:1_files_not_searched"
    assert diagnosis.cutoff_reason == "time_budget"
    application.close()


def test_a_term_that_is_only_elsewhere_in_the_manual_is_said_to_be_there(tmp_path: Path) -> None:
    files = {"m/a.md": "# A\npump oil\n# Pumps\npump\n", "m/b.md": "# B\nvalve\n"}
    with Wire(write(tmp_path, files)) as wire:
        wire.ok("manual_ls")
        asked = {"query": "pump", "manual_id": "m", "path_prefix": "b.md"}

        def hints(found: dict[str, Any]) -> list[str]:
            gaps = wire.ok("manual_hits", trace_id=found["trace_id"], kind="gaps")["items"]
            return [gap["gap_hint"] for gap in gaps if gap["gap"] == "missing_terms"]

        found = wire.ok("manual_find", **asked, required_terms=["pump"])
        assert found["terms"] == [["pump", "elsewhere", 2]]
        assert hints(found) == ["not below path_prefix: pump; in 2 sections elsewhere"]
        call = {"name": "manual_find", "arguments": {**asked, "required_terms": ["pump", "valv"]}}
        result = wire.request("tools/call", call)["result"]
        text = result["content"][0]["text"]
        assert "pump only outside path_prefix (2 sections)" in text
        assert "valv nowhere (0 sections), near: valve" in text
        (hint,) = hints(result["structuredContent"])
        assert hint.split("; ") == [
            "not in this manual: valv",
            "try another wording, such as valve",
            "not below path_prefix: pump",
            "in 2 sections elsewhere",
        ]
        found = wire.ok("manual_find", **asked, required_terms=["valve"])
        assert found["terms"] == [["valve", "ranked", 1]]


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp", "utf-16", "utf-8-sig"])
def test_studied_documents_are_decoded_as_others_are(tmp_path: Path, encoding: str) -> None:
    text = "# 規程\n\n出張旅費の規程である。[別表](b.md)を参照。\n"
    (tmp_path / "a.md").write_bytes(text.encode(encoding))
    document = Markdown().load_with_links(Root(tmp_path), Source("a.md"))
    assert document.text == text
    assert not [remark for remark in document.remarks if remark.code == "undecodable"]
    assert [link.target for link in document.links] == ["b.md"]
