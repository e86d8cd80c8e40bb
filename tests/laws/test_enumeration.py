"""Everything that matches is returned, or counted and reachable by the next calls."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from manuals import ask, full, opened, write
from stdio import Wire

from fumishirube.host.application import Application
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call, Session

Key = tuple[str, int]

EXTRAS = {"FUMISHIRUBE_SURFACE_EXTRAS": "coverage"}

ENGLISH = [
    "refund",
    "policy",
    "invoice",
    "sensor",
    "battery",
    "travel",
    "hotel",
    "meal",
    "badge",
    "visitor",
]
JAPANESE = ["休暇", "日当", "出張旅費", "宿泊料", "規定", "例外", "年次有給休暇", "届出", "窓口"]


class Written(NamedTuple):
    """A manual as it was written: its files, and what each section with a text holds."""

    files: Mapping[str, str]
    sections: Mapping[Key, str]

    def holding(self, words: set[str]) -> set[Key]:
        """Return the sections that hold one of the words, by looking at each."""
        return {
            key for key, text in self.sections.items() if any(holds(text, word) for word in words)
        }


def holds(text: str, word: str) -> bool:
    return bool(re.search(rf"\b{word}\b", text) if word.isascii() else word in text)


def written(seed: int) -> Written:
    """Write a manual of short and long sections over few words, some of which are everywhere."""
    dice = random.Random(seed)
    words = ENGLISH if seed % 2 else JAPANESE
    weights = [dice.choice((0.02, 0.1, 0.5)) for _ in words]
    files: dict[str, str] = {}
    sections: dict[Key, str] = {}
    for number in range(dice.randrange(20, 60)):
        path, lines = f"f{number:02}.md", []
        for part in range(dice.randrange(1, 6)):
            chosen = [
                word for word, weight in zip(words, weights, strict=True) if dice.random() < weight
            ]
            filler = " ".join("lorem" for _ in range(dice.choice((0, 5, 400))))
            title, body = f"Part {number} {part}", f"{' '.join(chosen)} {filler}".strip() or "-"
            sections[path, len(lines) + 1] = f"{title}\n{body}"
            lines += [f"# {title}", body]
        files[f"m/{path}"] = "\n".join(lines) + "\n"
    return Written(files, sections)


def question(seed: int) -> tuple[str, list[str], set[str]]:
    """Return a query, its required terms, and all words whose sections match."""
    dice = random.Random(seed)
    words = ENGLISH if seed % 2 else JAPANESE
    asked = dice.sample(words, dice.randrange(1, 6))
    required = dice.sample(words, dice.randrange(1, 3))
    return " ".join(asked), required, {*asked, *required}


def chain(application: Application, session: Any = None, **asked: Any) -> Iterator[dict[str, Any]]:
    """Ask, and ask for the rest until there is none; yield every answer."""
    found = call_tool(
        application.tools["manual_find"], {"manual_id": "m", **asked}, Call(session=session)
    )
    while True:
        yield found
        if not found["candidates"]:
            return
        asked["only_unscanned_from_trace_id"] = found["trace_id"]
        arguments = {"manual_id": "m", **asked}
        found = call_tool(application.tools["manual_find"], arguments, Call(session=session))


def keys(application: Application, answer: Mapping[str, Any]) -> list[Key]:
    rows: list[Key] = []
    while len(rows) < answer["candidates"]:
        asked = {"trace_id": answer["trace_id"], "offset": len(rows), "limit": 1000}
        page = ask(application, "manual_hits", kind="candidates", **asked)
        rows += [(row["ref"]["path"], row["ref"]["start_line"]) for row in page["items"]]
    return rows


@pytest.mark.many_cases
@pytest.mark.parametrize("seed", range(12))
def test_follow_ups_enumerate_every_section_that_matches_each_once(
    tmp_path: Path, seed: int
) -> None:
    manual = written(seed)
    (tmp_path / "fumishirube.yaml").write_text("version: 1\ntraces: {keep: 1}\n")
    application = opened(write(tmp_path, manual.files), **EXTRAS)
    query, required, words = question(seed)
    answers, returned = [], []
    for answer in chain(application, query=query, required_terms=required):
        answers.append(answer)
        rows = keys(application, answer)
        coverage = answer["coverage"]
        returned += rows
        assert coverage["returned"] == len(rows)
        left = manual.holding(words) - {*returned}
        # What still matches is counted, and a search that leaves some of it says so.
        assert coverage["matched"] >= len(rows) + len(left)
        assert not left or coverage["cutoff_reason"] is not None
    assert len(returned) == len({*returned})
    assert {*returned} >= manual.holding(words)
    assert not answers[-1]["inline_hits"]["items"]
    application.close()


@pytest.mark.parametrize("seed", range(4))
def test_what_was_read_in_between_is_counted_and_not_returned(tmp_path: Path, seed: int) -> None:
    manual = written(seed)
    application = opened(write(tmp_path, manual.files), **EXTRAS)
    query, required, words = question(seed)
    session = Session()
    call_tool(application.tools["manual_ls"], {}, Call(session=session))
    returned: list[Key] = []
    read: set[Key] = set()
    for answer in chain(application, session, query=query, required_terms=required):
        returned += keys(application, answer)
        skipped = {row["reason"]: row["count"] for row in answer["coverage"]["skipped"]}
        assert skipped.get("excluded_by_read", 0) == len(read)
        before = len(returned) - answer["candidates"]
        assert skipped.get("excluded_by_trace", 0) == before
        rest = sorted(manual.sections.keys() - {*returned} - read)
        for path, line in rest[:2]:
            ref = {"manual_id": "m", "path": path, "start_line": line}
            call_tool(application.tools["manual_read"], {"ref": ref}, Call(session=session))
            read.add((path, line))
    assert len(returned) == len({*returned})
    assert not {*returned} & read
    assert {*returned} | read >= manual.holding(words)
    application.close()


def test_long_chapters_beside_short_answers_can_be_reached(tmp_path: Path) -> None:
    short = {f"m/faq{n:02}.md": f"# Question {n}\nrefund refund refund\n" for n in range(25)}
    filler = "The policy describes many things at length. " * 200
    long = {f"m/policy{n}.md": f"# Chapter {n}\n{filler}refund {filler}\n" for n in range(10)}
    application = opened(write(tmp_path, {**short, **long}), **EXTRAS)
    asked = {"query": "refund", "required_terms": ["refund"]}
    first = full(application, manual_id="m", **asked)
    assert first["summary"]["integration_status"] == "needs_followup"
    returned = [key for a in chain(application, **asked) for key in keys(application, a)]
    assert sorted(returned) == sorted((name[2:], 1) for name in {**short, **long})
    application.close()


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("present", "absent", "joint"),
    [("zebra", ENGLISH, " "), ("退職金", ENGLISH, " "), ("zebra", JAPANESE, "と")],
)
@pytest.mark.parametrize("required", [["zulu"], ["未存在", "zulu"]])
def test_no_first_search_is_empty_where_a_whole_concept_stands(
    tmp_path: Path, present: str, absent: list[str], joint: str, required: list[str]
) -> None:
    files = {f"m/{n:03}.md": f"# Page {n}\nNothing of page {n}.\n" for n in range(60)}
    files["m/042.md"] += f"The {present} stands here.\n"
    with Wire(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        asked = {"manual_id": "m", "query": "page", "required_terms": required}
        while "degraded" in server.ok("manual_find", **asked, use_cache=False):
            pass  # until all is indexed, for which a server has some seconds in each call
        for number in range(len(absent) + 1):
            query = joint.join([*absent[:number], present])
            found = server.ok("manual_find", manual_id="m", query=query, required_terms=required)
            hits = server.ok("manual_hits", trace_id=found["trace_id"])["items"]
            assert [hit["ref"]["path"] for hit in hits] == ["042.md"], query


def test_a_word_among_many_absent_ones_is_still_found(tmp_path: Path) -> None:
    files = {f"m/{n:03}.md": f"# Page {n}\nThe sensor of page {n}.\n" for n in range(150)}
    application = opened(write(tmp_path, files), **EXTRAS)
    absent = "alpha bravo charlie delta echo foxtrot golf hotel india juliett"
    answer = ask(
        application, "manual_find", manual_id="m", query=f"{absent} sensor", required_terms=["zulu"]
    )
    assert answer["candidates"]
    application.close()
