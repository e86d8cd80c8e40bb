"""The lines of a hit are those of the file, by their numbers, and a whole section is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manuals import write
from stdio import Fumishirube, Wire

from fumishirube_manual.evidence.concept_weights import ConceptWeight
from fumishirube_manual.evidence.lines import SectionLines


def _hits(folder: Path, files: dict[str, str], query: str, **more: Any) -> list[dict[str, Any]]:
    with Fumishirube(write(folder, files)) as server:
        server.ok("manual_ls")
        arguments = {"manual_id": "guide", "required_terms": [query.split(maxsplit=1)[0]]} | more
        found: dict[str, Any] = server.ok("manual_find", query=query, **arguments)
        hits: list[dict[str, Any]] = found["inline_hits"]["items"]
        return hits


@pytest.mark.many_cases
@pytest.mark.parametrize("sign", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, sign: str) -> None:
    text = f"# Alpha\nfirst{sign}page\n\nthe gearbox torque is 7\n"
    (hit,) = _hits(tmp_path, {"guide/a.md": text}, "gearbox torque")
    assert hit["end_line"] == 4
    assert [number for number, _ in hit["lines"]] == [2, 4]
    assert hit["lines"][-1] == [4, "the gearbox torque is 7"]


@pytest.mark.parametrize("sign", ["\f", "\x85", "\u2028"])
def test_the_rows_of_a_table_are_lines_of_its_file(tmp_path: Path, sign: str) -> None:
    rows = "".join(f"row{n},text{sign}more {n}\n" for n in range(60))
    (hit, *_) = _hits(tmp_path, {"guide/t.csv": f"name,note\n{rows}"}, "row47 more")
    assert hit["ref"]["start_line"] <= 49 <= hit["end_line"] <= 61
    assert [49, f"row47,text{sign}more 47"] in hit["lines"]


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("The limit is 20 items.[^g]\n\n[^g]: Guests may have 50 items.", "guests items", "50"),
        ("[ERROR]: disk full means the volume zeta is full.", "disk full", "zeta"),
        ("The state.\n\n[full]: zeta", "the state", "zeta"),
        ("```ini\n[client]\ntimeout = 9\n[server]\ntimeout = 8\n```", "timeout client", "[client]"),
        ("Set these:\n\n```\n[a]: /etc/gate.conf\n```", "set these", "/etc/gate.conf"),
    ],
)
def test_a_whole_section_has_all_its_text(
    tmp_path: Path, text: str, query: str, shown: str
) -> None:
    (hit,) = _hits(tmp_path, {"guide/a.md": f"# Gate\n\n{text}\n"}, query)
    assert hit["whole"]
    assert shown in "\n".join(line for _, line in hit["lines"])


def test_what_renders_as_nothing_is_not_shown(tmp_path: Path) -> None:
    text = """# Gate

r[gate.open]
The gate opens at six, see [hours] and [map].

> [!NOTE]
> The gate closes at nine.

<!-- ask the guard -->

[the guard]: guard
[hours]: hours.md
[map]: https://example.org/map "The map"
[the gate]: gate::open
[a key]: key
[far]:
  https://example.org/far
"""
    (hit,) = _hits(tmp_path, {"guide/a.md": text}, "gate opens")
    assert hit["whole"]
    assert [number for number, _ in hit["lines"]] == [4, 7]


def test_targets_of_restructuredtext_are_not_shown(tmp_path: Path) -> None:
    text = """Gate
====

.. index:: pair: gate; hours
.. _gate-hours:
.. _the map: https://example.org/map

The gate opens at six, see `the map`_.

.. note:: It closes at nine.
"""
    (hit,) = _hits(tmp_path, {"guide/a.rst": text}, "gate opens")
    assert [number for number, _ in hit["lines"]] == [8, 10]


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("query", "more", "whole", "texts"),
    [
        ("gearbox torque spring oil screw", {"alternatives": ["oil of the gearbox"]}, 1, 2),
        ("gearbox torque spring oil screw", {"alternatives": ["gearbox oil", "spring oil"]}, 1, 3),
        ("gearbox torque spring oil screw", {}, 4, 4),  # as good as the best one
        ("gearbox", {}, 1, 5),  # a single word has a place in each of them
        ("gearbox moisture", {}, 1, 3),  # no section has the words together
    ],
)
def test_of_an_answer_with_all_words_few_hits_have_text(
    tmp_path: Path, query: str, more: dict[str, Any], whole: int, texts: int
) -> None:
    words = ["a torque and an oil"] * whole + ["an oil"] * 9
    text = "".join(
        f"## Part {n}\n\nThe gearbox has a spring, a screw, {word} of {n}.\n\n"
        for n, word in enumerate(words)
    )
    hits = _hits(tmp_path, {"guide/a.md": f"# Gears\n\n{text}"}, query, **more)
    assert len(hits) == 5
    assert ["lines" in hit for hit in hits] == [True] * texts + [False] * (5 - texts)


@pytest.mark.parametrize(("query", "shown"), [("lease token", 3), ("docs/lease/token", 5)])
def test_words_of_a_link_target_count_only_for_an_address(query: str, shown: int) -> None:
    words = ("docs", "lease", "token")
    weights = [ConceptWeight(word, 2.0, {word: 1.0}) for word in words if word in query]
    link = "See [the page](/docs/lease/token.md) about it."
    other = "Nothing of that kind is to be said here, whatever it may be.\n" * 20
    text = f"# Keys\n\nThe lease is short.\n\n{link}\n\n{other}"
    (line,) = SectionLines(text, 1, weights, (), query).evidence(10).lines
    assert line.number == shown


def test_a_copy_names_the_shown_lines_that_it_lacks(tmp_path: Path) -> None:
    text = "# Sprocket\n\nThe sprocket limit is 40.\nThe sprocket limit is for all.\n"
    files = {"guide/a.md": f"{text}A manager may double the sprocket limit.\n", "guide/b.md": text}
    (hit,) = _hits(tmp_path, files, "sprocket limit double manager")
    assert hit["also"] == [{"at": "b.md#L1", "lacks": [5]}]


def test_settings_of_the_same_type_are_no_versions_of_each_other(tmp_path: Path) -> None:
    same = "Type: a span of time.\n\nUnit: seconds.\n\nDefault: 20.\n\n"
    text = f"# Sprocket\n\n## open\n\n{same}How it opens.\n\n## shut\n\n{same}How it shuts.\n"
    hits = _hits(tmp_path, {"guide/a.md": text}, "sprocket seconds default")
    assert [(hit["title"], "also" in hit) for hit in hits] == [("open", False), ("shut", False)]


def test_copies_that_lack_nothing_are_places(tmp_path: Path) -> None:
    text = "# Sprocket\n\nThe sprocket limit is 40.\n"
    (hit,) = _hits(tmp_path, {"guide/a.md": text, "guide/b.md": text}, "sprocket limit")
    assert hit["also"] == ["b.md#L1"]


def test_a_page_with_all_hits_goes_on_nowhere(tmp_path: Path) -> None:
    text = "# Sprocket\n\nThe sprocket limit is 40.\n"
    with Wire(write(tmp_path, {"guide/a.md": text, "guide/b.md": text})) as wire:
        wire.request("tools/call", {"name": "manual_ls", "arguments": {}})
        find = {"query": "sprocket", "manual_id": "guide", "required_terms": ["sprocket"]}
        found = wire.request("tools/call", {"name": "manual_find", "arguments": find})["result"]
        page = found["structuredContent"]["inline_hits"]
        assert (len(page["items"]), page["next_offset"], page["total"]) == (1, 2, 2)
        assert "goes on" not in found["content"][0]["text"]


def test_hits_below_the_page_have_their_rank(tmp_path: Path) -> None:
    parts = ["palms", "ferns", "mosses"]
    sections = "".join(
        f"## About {part} {n}\n\nOf {part} {n}: {part} need care {'and light ' * 20}daily.\n\n"
        for part in parts
        for n in range(8)
    )
    files = {"guide/plants.md": f"# Plants\n\n{sections}"}
    with Fumishirube(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        arguments = {"manual_id": "guide", "required_terms": ["care"], "alternatives": parts}
        found = server.ok("manual_find", query="care of plants", **arguments)
        page = found["inline_hits"]
        rows = server.ok("manual_hits", trace_id=found["trace_id"], kind="integrated_top")["items"]
        offset = page.get("next_offset", len(page["items"]))
        for place, item in enumerate(page["items"], 1):
            rank = item.get("rank", place)
            assert rows[rank - 1]["ref"] == item["ref"]
            assert ("rank" in item) == (rank > offset)
        assert any("rank" in item for item in page["items"])


def test_an_unfinished_index_proves_no_absence(tmp_path: Path) -> None:
    filler = "".join(f"# Part {n}\n\n{'some text of no account ' * 40}\n\n" for n in range(3000))
    files = {"guide/a.md": "# A\n\nword\n", "guide/z.md": f"{filler}# Battery\n\nA battery.\n"}
    with Fumishirube(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        arguments = {"manual_id": "guide", "required_terms": ["battery"], "budget": {"time_ms": 1}}
        found = server.ok("manual_find", query="charged battery XY-99", **arguments)
        assert "degraded" in found
        assert "nowhere" not in found
        assert not any(name["sections"] == 0 for name in found.get("names", ()))
        assert [effect for _, effect, *_ in found["terms"]] == ["no_hits"]
