"""Hits show the lines that bear on the question; copies are one hit; ranges are read by number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import write
from stdio import Fumishirube, Wire

from fumishirube_manual.evidence import excerpts
from fumishirube_manual.evidence.concept_weights import ConceptWeight, stem
from fumishirube_manual.evidence.excerpts import excerpt
from fumishirube_manual.evidence.lines import BEST_CHARS, SectionLines
from fumishirube_manual.evidence.markup import rendered_lines
from fumishirube_manual.evidence.own_texts import enclosing_block
from fumishirube_manual.evidence.passages import passages

WHOLE = 1.15
"""What a concept counts that occurs as a whole."""

LONG = "\n\n".join(
    f"Paragraph {n} tells of other things, such as weather and tea." for n in range(40)
)
BADGE = "# Badge\n\nWear the visitor badge inside.\nReturn it to desk {}.\nAsk the guard.\n"
TABLE = """| fee | amount |
| --- | --- |
| entry | 300 yen |
| parking | 1,200 yen |
"""
PERMITS = ("day", "week", "month", "year", "visitor", "staff", "night", "lorry")
PERMIT = """## {0} permit

The {0} permit is valid for as long as its colour says.

{1}

Reception issues the {0} permit.

"""
WATERING = "\n\n".join(
    f"Watering of palm {n}: the gardener gives the palm water at dawn, {'slowly ' * 40}and rests."
    for n in range(12)
)
PESTS = (
    f"{LONG}\n\nAgainst scale insects, the staff takes these steps:\n\n"
    "* wipe the leaves\n* isolate the pot\n* tell the curator within two days\n"
)
VISITS = (
    f"{LONG}\n\nSchool visits are limited as follows:\n\n* twenty pupils\n* one hour\n* no food\n"
)
PARTS = ["scale insects, what the staff does", "limits of school visits"]
MANUALS = {
    "guide/permits.md": "# Permits\n\n" + "".join(PERMIT.format(one, LONG) for one in PERMITS),
    "guide/gates.md": "# Gates\n\n## Tray\n\nThe tray takes a ticket.\n\n"
    '::: zone pivot="north"\n\n## Tray up\n\nThe ticket goes in the upper tray.\n\n::: zone-end\n'
    '## Tray down\n::: zone pivot="south"\nThe ticket goes in the lower tray.\n::: zone-end\n',
    "guide/parking.md": f"# Parking\n\n{LONG}\n\nThe parking fee is 1,200 yen a day.\n\n{LONG}\n",
    "sky/moorings.md": "# Moorings\n\n## Boats\n\nA mooring for boats costs 40 yen.\n\n"
    f"## Airships\n\n{LONG}\n\nThe mooring mast takes dirigibles{', and more' * 30}.\n\n{LONG}\n",
    "guide/fees.md": f"# Fees\n\n{LONG}\n\n{TABLE}\n{LONG}\n",
    "guide/short.md": "# Lockers\n\nA locker costs 100 yen.\n\nIt opens at nine.\n",
    "guide/v1.md": BADGE.format("one"),
    "guide/v2.md": BADGE.format("two"),
    "hall/plants.md": f"# Palm house\n\n{WATERING}\n## Pests\n\n{PESTS}\n## Visits\n\n{VISITS}",
    "stock/list.md": "# Stock\n\n| Stock of 2024 |\n| Item | Bin | Value |\n"
    + "".join(f"| Shackle S-{n} | B{n:02} | {n * 13} |\n" for n in range(60)),
    "stock/counts.md": "".join(f"# Count {n}\n\n{n} s, {n + 7} and 27.\n\n" for n in range(60)),
    "rules/late.md": "# 延滞\n\n返却が遅れた日数に応じて延滞料を支払う。\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    with Fumishirube(write(tmp_path_factory.mktemp("evidence"), MANUALS)) as connected:
        connected.ok("manual_ls")
        yield connected


def items(server: Fumishirube, query: str, *terms: str, **more: Any) -> list[dict[str, Any]]:
    arguments = {"query": query, "manual_id": "guide", "required_terms": [*terms]} | more
    hits: list[dict[str, Any]] = server.ok("manual_find", **arguments)["inline_hits"]["items"]
    return hits


def line(path: str, number: int) -> str:
    return MANUALS[path].split("\n")[number - 1]


def test_the_best_line_is_shown_with_its_number(server: Fumishirube) -> None:
    (hit, *_) = items(server, "How much is the parking fee a day?", "parking fee")
    assert hit["ref"]["path"] == "parking.md"
    shown = dict(map(tuple, hit["lines"]))
    assert "The parking fee is 1,200 yen a day." in shown.values()
    assert all(line("guide/parking.md", number) == text for number, text in shown.items())
    assert len(shown) <= 4


def test_a_row_of_a_table_comes_with_its_header(server: Fumishirube) -> None:
    hits = items(server, "fee for parking amount", "amount")
    (hit,) = [hit for hit in hits if hit["ref"]["path"] == "fees.md"]
    texts = [text for _, text in hit["lines"]]
    assert "| fee | amount |" in texts
    assert "| parking | 1,200 yen |" in texts


def test_the_row_of_a_code_is_shown_with_the_header_below_the_title(server: Fumishirube) -> None:
    (hit, *_) = items(server, "value of shackle S-27", "S-27", manual_id="stock")
    assert [text for _, text in hit["lines"]] == [
        "| Item | Bin | Value |",
        "| Shackle S-27 | B27 | 351 |",
    ]


def test_a_short_section_is_shown_whole_without_its_heading(server: Fumishirube) -> None:
    (hit, *_) = items(server, "locker price", "locker")
    assert [text for _, text in hit["lines"]] == ["A locker costs 100 yen.", "It opens at nine."]
    assert hit["title"] == "Lockers"
    assert hit["end_line"] == 5


def test_copies_are_one_hit_with_the_lines_in_which_they_differ(server: Fumishirube) -> None:
    hits = items(server, "visitor badge return", "badge")
    badges = [hit for hit in hits if hit["title"] == "Badge"]
    assert len(badges) == 1
    (copy,) = badges[0]["also"]
    first = badges[0]["ref"]["path"]
    other = {"v1.md": "v2.md", "v2.md": "v1.md"}[first]
    assert copy["at"] == f"{other}#L1"
    assert copy["lines"] == [[4, line(f"guide/{other}", 4)]]


def test_a_page_goes_on_after_what_was_folded(server: Fumishirube) -> None:
    arguments = {"query": "visitor badge", "manual_id": "guide", "required_terms": ["badge"]}
    answer = server.ok("manual_find", **arguments, inline_hits={"limit": 1})
    page = answer["inline_hits"]
    assert page["next_offset"] == 2
    rest = server.ok(
        "manual_hits",
        trace_id=answer["trace_id"],
        kind="integrated_top",
        offset=page["next_offset"],
    )
    shown = {page["items"][0]["ref"]["path"], page["items"][0]["also"][0]["at"].partition("#")[0]}
    assert shown == {"v1.md", "v2.md"}
    assert shown.isdisjoint(item["ref"]["path"] for item in rest["items"])


def test_what_stands_nowhere_near_is_named(server: Fumishirube) -> None:
    query = {"query": "parking fee for zeppelins", "manual_id": "guide"}
    answer = server.ok("manual_find", **query, required_terms=["parking fee", "zeppelin"])
    assert "zeppelins" in answer["missing"]
    assert answer["terms"][1][:3] == ["zeppelin", "nowhere", 0]
    assert answer["answerable"] in ("partly", "no")
    assert answer["vocabulary"] == ["Fees"]


def test_a_word_of_a_section_that_is_not_shown_is_missing(server: Fumishirube) -> None:
    query = {"query": "mooring costs for dirigibles", "manual_id": "sky", "max_chars": 256}
    answer = server.ok("manual_find", **query, required_terms=["boats"], inline_hits={"limit": 1})
    (shown,) = answer["inline_hits"]["items"]
    assert shown["title"] == "Boats"
    assert answer["missing"] == ["dirigibles"]


def test_another_wording_brings_its_own_hit_and_lines(server: Fumishirube) -> None:
    hits = items(server, "parking fee a day", "parking fee", alternatives=["locker costs", " "])
    (locker,) = [hit for hit in hits if hit["title"] == "Lockers"]
    assert locker["alternative"] == 1
    assert [3, "A locker costs 100 yen."] in locker["lines"]
    assert "alternative" not in hits[0]


def test_room_is_filled_with_the_best_passages_of_the_files_shown(server: Fumishirube) -> None:
    asked = "How long is a permit valid, and who issues it?"
    plain = items(server, asked, "permit")
    filled = items(server, asked, "permit", max_chars=4_000)
    assert len(plain) <= 5 < len(filled)
    assert {hit["ref"]["path"] for hit in filled} == {"permits.md"}
    lines = [text for hit in filled for _, text in hit["lines"]]
    assert len(lines) == len(set(lines))
    valid = {f"The {one} permit is valid for as long as its colour says." for one in PERMITS}
    assert valid <= set(lines)
    assert sum(map(len, lines)) <= 4_000
    for hit in filled:
        numbers = [number for number, _ in hit["lines"]]
        assert [line("guide/permits.md", number) for number in numbers] == [
            text for _, text in hit["lines"]
        ]


def test_each_part_of_a_question_is_answered_with_whole_passages(server: Fumishirube) -> None:
    found = server.ok(
        "manual_find",
        query="watering of the palm by the gardener",
        manual_id="hall",
        required_terms=["palm"],
        alternatives=PARTS,
    )
    lines = [text for hit in found["inline_hits"]["items"] for _, text in hit["lines"]]
    steps = {"* wipe the leaves", "* isolate the pot", "* tell the curator within two days"}
    assert steps | {"* twenty pupils", "* one hour", "* no food"} <= set(lines)
    assert sum(text.startswith("Watering of palm") for text in lines) > 1
    assert sum(map(len, lines)) <= 6_000


def test_beside_passages_a_short_section_is_shown_whole(tmp_path: Path) -> None:
    rules = "".join(f"## Rule {n}\n\nPalm rule {n} is short.\n\n" for n in range(3))
    write(tmp_path, {"m/a.md": f"# Palms\n\n{WATERING}\n{rules}"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        asked = {"manual_id": "m", "required_terms": ["palm"], "max_chars": 256}
        found = server.ok("manual_find", query="watering of the palm at dawn", **asked)
        (first, *others) = found["inline_hits"]["items"]
        assert first["ref"]["start_line"] == 1
        assert [hit["lines"][0][1] for hit in others] == [
            f"Palm rule {n} is short." for n in range(3)
        ]
        assert all(hit["whole"] for hit in others)


def test_other_words_for_one_thing_fill_no_room(server: Fumishirube) -> None:
    asked = "watering of the palm"
    (plain, *_) = items(server, asked, "palm", manual_id="hall")
    others = ["palm water gardener", "gardener watering the palm at dawn"]
    (same, *_) = items(server, asked, "palm", manual_id="hall", alternatives=others)
    assert sum(len(text) for _, text in same["lines"]) <= 1_000
    assert same["ref"] == plain["ref"]


def test_the_section_of_several_wordings_has_more_room(tmp_path: Path) -> None:
    items = "".join(
        f"* {name} runs on {name}-ware, {'and more ' * 6}\n" for name in "abcdefghijkl" * 2
    )
    others = "".join(f"## Part {n}\n\nText {n}.\n\n" for n in range(9))
    write(tmp_path, {"m/a.md": f"# Tests\n\n{items}{others}"})
    with Fumishirube(tmp_path) as server:
        asked = {"query": "a-ware runs on", "manual_id": "m", "required_terms": ["runs"]}
        server.ok("manual_ls")
        shown = []
        for wordings in ([], ["b-ware runs on"], ["b-ware runs on", "c-ware runs on"]):
            found = server.ok(
                "manual_find", **asked, **({"alternatives": wordings} if wordings else {})
            )
            hit = found["inline_hits"]["items"][0]
            assert hit["title"] == "Tests"
            shown.append(sum(len(text) for _, text in hit["lines"]))
        assert shown[0] < shown[1] < shown[2] <= shown[0] + 3 * 150


def test_of_an_answer_that_is_nowhere_three_hits_have_text(tmp_path: Path) -> None:
    fees = "".join(f"## Fee {n}\n\nThe fee of stand {n} is due in spring.\n\n" for n in range(6))
    write(tmp_path, {"m/a.md": f"# Stands\n\n{fees}"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        asked = {"query": "fee of zeppelin hangars", "manual_id": "m", "required_terms": ["fee"]}
        for beside in ({}, {"alternatives": ["airship shed rent"]}):
            found = server.ok("manual_find", **asked, **beside)
            assert found["answerable"] != "yes"
            page = found["inline_hits"]["items"]
            assert len(page) > 3
            assert [bool(hit.get("lines")) for hit in page] == [True] * 3 + [False] * (
                len(page) - 3
            )
        filled = server.ok("manual_find", **asked, max_chars=4_000)["inline_hits"]["items"]
        assert all(hit.get("lines") for hit in filled)


def test_what_is_worth_little_fills_no_room(server: Fumishirube) -> None:
    (hit, *_) = items(server, "How much is the parking fee a day?", "parking fee", max_chars=9_000)
    assert hit["ref"]["path"] == "parking.md"
    assert not any("weather" in text for _, text in hit["lines"][:1])
    assert len(hit["lines"]) <= 4


def test_a_hit_names_the_block_that_it_applies_to(server: Fumishirube) -> None:
    found = items(server, "Which tray takes the ticket?", "tray")
    within = {hit["ref"]["start_line"]: hit.get("within") for hit in found}
    assert within == {3: None, 9: 'zone pivot="north"', 14: 'zone pivot="south"'}


def test_matching_lines_name_the_block_that_they_apply_to(tmp_path: Path) -> None:
    page = '# Ports\n::: zone pivot="linux"\nPort 80.\n::: zone-end\nPort 81.\n'
    with Fumishirube(write(tmp_path, {"a/ports.md": page})) as client:
        client.ok("manual_ls")
        groups = client.ok("manual_grep", any=["Port 80", "Port 81"], manual_id="a")["groups"]
    assert [(group["section"], group["lines"]) for group in groups] == [
        ('Ports [zone pivot="linux"]', [[3, "Port 80."]]),
        ("Ports", [[5, "Port 81."]]),
    ]


def test_wordings_of_which_no_section_holds_most_are_named(server: Fumishirube) -> None:
    asked = {"query": "parking fee a day", "manual_id": "guide", "required_terms": ["parking"]}
    others = ["locker costs", "locker fingerprint biometric turnstile"]
    answer = server.ok("manual_find", **asked, alternatives=others)
    assert answer["unmet"] == [2]
    assert "unmet" not in server.ok("manual_find", **asked, alternatives=others[:1])


def test_ranges_are_read_by_their_numbers(server: Fumishirube) -> None:
    refs = [
        {"manual_id": "guide", "path": "short.md", "start_line": 3, "end_line": 3},
        "manual://rules/late.md#L3-L3",
        {"manual_id": "guide", "path": "none.md"},
        {"manual_id": "guide", "path": "v1.md"},
    ]
    first, second, missing, whole = server.ok("manual_read", refs=refs)["items"]
    assert first["lines"] == [[3, "A locker costs 100 yen."]]
    assert first["before"] == [1, "Lockers"]
    assert second["lines"] == [[3, "返却が遅れた日数に応じて延滞料を支払う。"]]
    assert missing["error"]["code"] == "not_found"
    assert [number for number, _ in whole["lines"]] == [1, 3, 4, 5]


def test_a_long_line_goes_on_at_a_cursor(tmp_path: Path) -> None:
    line = "文章です。" * 12_000
    with Fumishirube(write(tmp_path, {"guide/long.md": f"# Long\n{line}\nthe end\n"})) as server:
        server.ok("manual_ls")
        ref = {"manual_id": "guide", "path": "long.md", "start_line": 2, "end_line": 3}
        (item,) = server.ok("manual_read", refs=[ref])["items"]
        [[number, read]] = item["lines"]
        assert (number, item["left"]) == (2, [2, 3])
        text, cursor = read.removesuffix("…"), item["next_cursor"]
        place = {"manual_id": "guide", "path": "long.md"}
        while cursor:
            page = server.ok("manual_scan", **place, cursor=cursor)
            text += page["text"]
            cursor = None if page["eof"] else page["next_cursor"]
        assert text == f"{line}\nthe end\n"


def test_the_place_of_a_hit_is_read_as_a_search_of_one_manual_prints_it(tmp_path: Path) -> None:
    files = {"a/one.md": "# One\nfirst\n", "a/same.md": "# A\n", "b/same.md": "# B\n"}
    with Wire(write(tmp_path, files)) as wire:
        wire.request("tools/call", {"name": "manual_ls", "arguments": {}})
        find = {"query": "first", "manual_id": "a", "required_terms": ["first"]}
        found = wire.request("tools/call", {"name": "manual_find", "arguments": find})
        (place,) = re.findall(r"(?m)^1\. (\S+)", found["result"]["content"][0]["text"])
        assert place.startswith("one.md#L1-L2@")

        def read(*refs: str) -> dict[str, Any]:
            arguments = {"name": "manual_read", "arguments": {"refs": refs}}
            result: dict[str, Any] = wire.request("tools/call", arguments)["result"]
            return result

        (item,) = read(place)["structuredContent"]["items"]
        assert (item["manual_id"], item["lines"][1]) == ("a", [2, "first"])
        several, none = read("same.md#L1", "none.md")["structuredContent"]["items"]
        assert several["error"]["details"]["candidate_ids"] == ["a", "b"]
        assert "manual://a/same.md" in several["error"]["message"]
        assert none["error"]["code"] == "not_found"


def test_a_range_that_is_cut_says_what_is_left(server: Fumishirube) -> None:
    refs = [{"manual_id": "guide", "path": "parking.md", "start_line": 1, "end_line": 60}]
    (cut,) = server.ok("manual_read", refs=refs, max_chars=256)["items"]
    first, last = cut["left"]
    assert last == 60
    again = [{"manual_id": "guide", "path": "parking.md", "start_line": first, "end_line": last}]
    (rest,) = server.ok("manual_read", refs=again)["items"]
    read = [number for part in (cut, rest) for number, _ in part["lines"]]
    filled = [n for n in range(1, 61) if line("guide/parking.md", n).strip()]
    assert read == filled


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"ref": {"manual_id": "guide", "path": "v1.md"}, "refs": ["manual://guide/v1.md"]},
        {"refs": []},
        {"refs": ["manual://guide/v1.md"] * 9},
        {"refs": ["manual://nonsense"]},
        {"refs": [{"manual_id": "guide", "path": "v1.md", "start_line": 9}]},
        {"refs": [{"manual_id": "guide", "path": "v1.md", "start_line": 4, "end_line": 3}]},
    ],
)
def test_ranges_that_cannot_be_are_refused(server: Fumishirube, arguments: dict[str, Any]) -> None:
    assert server.refused("manual_read", **arguments)["code"] == "invalid_parameter"


@pytest.mark.parametrize(
    "wrong",
    [
        "manual://nonsense",
        "manual://guide/v1.md#L9",
        "none.md",
        {"manual_id": "guide", "path": "none.md"},
        {"manual_id": "none", "path": "v1.md"},
        {"manual_id": "guide", "path": "../v1.md"},
        {"manual_id": "guide", "path": "v1.md", "start_line": 9},
        {"manual_id": "guide", "path": "v1.md", "start_line": 4, "end_line": 3},
        7,
    ],
)
def test_the_error_of_a_range_says_which_one(server: Fumishirube, wrong: Any) -> None:
    refs = ["manual://guide/v1.md", wrong]
    answer = server.call("manual_read", {"refs": refs}).payload
    error = answer["items"][1]["error"] if "items" in answer else answer
    assert error["details"]["parameter"] == "refs[1]"


def test_a_citation_as_ref_is_refused_with_the_argument_that_takes_it(server: Fumishirube) -> None:
    refused = server.refused("manual_read", ref="manual://guide/v1.md#L1-L4")
    assert refused["message"] == (
        'ref must be an object; pass a citation in refs: ["manual://ID/PATH#L1-L9"]'
    )


# --- laws -----------------------------------------------------------------------------------

WEIGHTS = [ConceptWeight("fee", 3.0, {"fee": 1.0}), ConceptWeight("料金", 4.0, {"料金": 1.0})]


@pytest.mark.parametrize(
    "label",
    [
        "r[type.closure.unique]",
        "[!code-csharp]",
        "> [!NOTE]",
        "[TOC]",
        "[a]: https://b.example/closure",
        "[closure]:\n  https://b.example/closure",
    ],
)
def test_a_label_in_brackets_is_no_evidence(label: str) -> None:
    text = f"# Closures\n{label}\n\nA unique closure type.\n" + "Other words.\n" * 99
    weights = [ConceptWeight("closure", 2.0, {"closure": 1.0})]
    shown = SectionLines(text, 1, weights).evidence(100)
    assert shown.lines[0].text == "A unique closure type."
    assert {line.text for line in shown.lines}.isdisjoint(map(str.strip, label.split("\n")))


def test_a_long_line_is_cut_at_no_number_and_keeps_what_a_full_stop_begins() -> None:
    line = (
        "A fee of 0.3333 (the default) is due after e.g. file.md was sent to us " + "on time " * 40
    )
    weights = [ConceptWeight("fee", 2.0, {"fee": 1.0}), ConceptWeight("due", 1.0, {"due": 1.0})]
    assert excerpt(f"{line.strip()}.", 40, weights).startswith(
        "A fee of 0.3333 (the default) is due"
    )
    for most in range(20, 60):
        shown = excerpt("Pay " * 30 + "a fee of 12.50 EUR due " + "now " * 30, most, weights)
        assert "12.50" in shown or not set("12.50") & set(shown)


@pytest.mark.parametrize(
    "figure", ["The lifetime is `7d`, or so.", "期間（lifetime）は既定で7日です。"]
)
def test_of_sentences_about_as_relevant_the_one_with_a_figure_is_shown(figure: str) -> None:
    weights = [ConceptWeight("lifetime", 2.0, {"lifetime": 1.0})]
    link = "See [the lifetime of a leaf](a1.md#20) for more of it."
    for line in (f"{link} {figure} {'No more. ' * 20}", f"{'No more. ' * 20}{figure}{link}"):
        assert figure in excerpt(line, 60, weights)
        assert link not in excerpt(line, 60, weights)
    assert excerpt(f"{'In 1999. ' * 20}{link}", 60, weights) == f"…{link}"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            "<span class='x'>`mounted`</span><span>`onMounted`</span> runs",
            "`mounted` `onMounted` runs",
        ),
        ("⚠️ <i>Experimental</i> <br/>`<i>`", "⚠️ Experimental `<i>`"),
        (
            "See [it](https://example.org/a/long/path/of/the/web) and [b](c.md).",
            "See [it](…) and [b](c.md).",
        ),
        ("## Fees <sup data-text='3.5+' /> {#fees}", "## Fees <sup data-text='3.5+' />"),
        ("Vec<b> of HashMap<i, u> and List<a>", "Vec<b> of HashMap<i, u> and List<a>"),
        ("<a href='x'>Fee</a>", "<a href='x'>Fee</a>"),
        ("    print('<b>fee</b>')", "    print('<b>fee</b>')"),
        ("``a ` <b>``<b>c</b>", "``a ` <b>``c"),
    ],
)
def test_tags_and_long_targets_are_left_out_but_not_of_code(written: str, shown: str) -> None:
    assert [*rendered_lines([written])] == [shown]
    assert [*rendered_lines(["```", written, "```", written])] == ["```", written, "```", shown]


@pytest.mark.parametrize("length", [20_000, 200_000])
@pytest.mark.parametrize(("begin", "marks"), [("a <b", "`"), ("a {#x ", " "), ("a <span", " ")])
def test_a_line_of_marks_without_an_end_is_shown_as_it_is(
    length: int, begin: str, marks: str
) -> None:
    line = begin + marks * (length - len(begin) - 1) + "!"
    assert [*rendered_lines([line])] == [line]


def test_a_passage_is_worth_more_below_a_heading_that_answers_too() -> None:
    weights = [ConceptWeight("deadline", 2.0, {"deadline": 1.0}), ConceptWeight("apply", 1.0, {})]
    text = "Apply early.\n\nNothing here.\n\nApply within 30 days.\n"
    worths = {
        title: [
            each.worths[0] for each in SectionLines(text, 1, weights, [title]).passages([weights])
        ]
        for title in ("Deadline", "Other")
    }
    assert worths["Other"] == pytest.approx([WHOLE / 3, 0, WHOLE / 3])
    # The lead counts for all that its heading names, a later passage for a part of it.
    assert worths["Deadline"] == pytest.approx([(WHOLE + 2) / 3, 0, (WHOLE + 0.3 * 2) / 3])


@pytest.mark.parametrize(("hidden", "shown"), [("Short.", [1, 3, 5, 7]), ("L" * 151, [1, 5])])
def test_little_text_between_passages_or_after_them_is_shown_too(
    hidden: str, shown: list[int]
) -> None:
    text = f"The fee is 7.\n\n{hidden}\n\nFees rise.\n\n{hidden}\n"
    evidence = SectionLines(text, 1, WEIGHTS).evidence(20, [0, 4], closed=True)
    assert [number for number, _ in evidence.lines] == shown


def test_text_before_the_first_passage_is_not_shown() -> None:
    text = "Short.\n\nThe fee is 7.\n\nOther.\n\n" + "L" * 151
    evidence = SectionLines(text, 1, WEIGHTS).evidence(20, [2, 4], closed=True)
    assert [number for number, _ in evidence.lines] == [3, 5]


def test_the_json_object_of_a_shown_member_is_shown_too() -> None:
    text = (
        '[\n  {\n    "id": "HR-13",\n    "fee": 7,\n    "note": "Heater"\n  },\n' + "other\n" * 99
    )
    section = SectionLines(text, 1, WEIGHTS)
    assert [number for number, _ in section.evidence(20, [3], closed=True).lines] == [3, 4, 5]


def test_ranges_may_be_written_with_the_manual_before_the_path(tmp_path: Path) -> None:
    write(tmp_path, {"m/sub/a.md": "# A\n\nText.\n", "n/b.md": "# B\n"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        (item,) = server.ok("manual_read", refs=["m/sub/a.md#L3-L3"])["items"]
        assert (item["manual_id"], item["path"], item["lines"]) == ("m", "sub/a.md", [[3, "Text."]])
        error = server.refused("manual_read", refs=["n/sub/a.md#L3-L3"])
        assert error["code"] == "not_found"


@given(
    st.text(st.sampled_from("fee 料金abc。.\n|#`*-: "), max_size=600),
    st.integers(1, 900),
    st.integers(0, 500),
)
def test_evidence_is_made_of_lines_of_the_section(text: str, first: int, room: int) -> None:
    evidence = SectionLines(text, first, WEIGHTS).evidence(room)
    lines = text.splitlines()
    numbers = [number for number, _ in evidence.lines]
    assert numbers == sorted(set(numbers))
    for number, shown in evidence.lines:
        plain = shown.removeprefix("…").removesuffix("…")
        assert plain in lines[number - first]
    assert sum(len(shown) for _, shown in evidence.lines) <= max(1.25 * room, BEST_CHARS) + room


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("::: zone a\n*\n::: zone-end\n", "zone a"),
        ("::: zone a\n::: zone-end\n*\n::: zone b\n::: zone-end\n", ""),
        (
            '::: moniker range=">= 2"\n::: zone a\n::: zone-end\n*\n::: moniker-end\n',
            'moniker range=">= 2"',
        ),
        ("::: zone a\n*\n", ""),
        (":::image source=a:::\n*\n:::image-end\n", ""),
    ],
)
def test_a_block_reaches_to_its_end(text: str, block: str) -> None:
    assert enclosing_block(text, text.index("*")) == block


@given(
    st.lists(
        st.sampled_from(
            ["", "fee", "- fee", "料金:", "```", "第１節 料金", "x" * 400, f"- {'x' * 400}"]
        )
    )
)
def test_passages_are_all_of_a_text_but_blank_lines(lines: list[str]) -> None:
    found = [at for passage in passages(lines) for at in passage]
    assert found == sorted(set(found))
    assert {at for at, line in enumerate(lines) if line} <= set(found)
    for passage in passages(lines):
        size = sum(len(lines[at]) for at in passage)
        rows = sum(lines[at].startswith("- ") for at in passage)
        assert size <= (2_000 if 2 * rows > len(passage) else 1_300) or len(passage) == 1


def test_a_passage_reaches_from_an_article_to_the_next() -> None:
    text = "第１節 期限\nThree days.\n\n| a | b |\n\n第２節 料金\n\nNone:\n\n- one\n".splitlines()
    assert [*passages(text)] == [range(4), range(5, 10)]
    assert [*passages(["Fees:", "", "- one", "", "Then."])] == [range(3), range(4, 5)]


@given(st.text(st.sampled_from("fee 料金ab。. "), min_size=1, max_size=600), st.integers(20, 200))
def test_an_excerpt_is_a_stretch_of_its_line(line: str, most: int) -> None:
    shown = excerpt(line, most, WEIGHTS)
    plain = shown.removeprefix("…").removesuffix("…")
    assert plain in line
    assert len(plain) <= most


@pytest.mark.parametrize("before", [0, 3, 90_000, 1_000_000])
def test_of_a_very_long_line_the_best_sentence_is_shown_and_few_are_read(
    before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    whole = excerpts.line_weight
    monkeypatch.setattr(
        excerpts, "line_weight", lambda text, weights: read.append(text) or whole(text, weights)
    )
    line = "別の文。" * before + "この料金は安い。" + "別の文。" * 50_000
    assert "料金は安い" in excerpt(line, 60, WEIGHTS)
    assert len(read) < 3_000


@pytest.mark.parametrize(
    ("word", "singular"),
    [
        ("fees", "fee"),
        ("stories", "story"),
        ("boxes", "boxe"),
        ("status", "status"),
        ("gas", "gas"),
    ],
)
def test_plurals_lose_their_ending(word: str, singular: str) -> None:
    assert stem(word) == singular


def _matched(answer: dict[str, Any]) -> list[list[Any]]:
    return [text for file in answer["matches"] for text in file["texts"]]


def test_each_different_match_is_counted_wherever_it_stands_in_a_line(
    server: Fumishirube,
) -> None:
    answer = server.ok("manual_grep", regex="[0-9,]+ yen", manual_id="guide", matches_only=True)
    counted = {text: number for _, number, text, *_ in _matched(answer)}
    assert counted == {"300 yen": 1, "1,200 yen": 2, "100 yen": 1}
    twice = server.ok("manual_grep", regex="[a-z]e", manual_id="rules", matches_only=True)
    assert twice["total"] == 0
    assert twice["matches"] == []
    words = server.ok("manual_grep", regex=r"\b[A-Za-z]{3}\b", manual_id="guide", matches_only=True)
    whole = " ".join(MANUALS[path].casefold() for path in MANUALS if path.startswith("guide/"))
    counts = {text.casefold(): number for _, number, text, *_ in _matched(words)}
    assert counts["the"] == whole.split().count("the")


def test_few_different_matches_come_with_their_headings_and_lines_many_without(
    server: Fumishirube,
) -> None:
    few = {"regex": "[0-9,]+ yen", "manual_id": "guide", "matches_only": True}
    for line, number, text, within, *also in _matched(server.ok("manual_grep", **few)):
        # The two places of a text are in two files.
        assert len(also) == (number == 2)
        for path, other in (place.split("#L") for places in also for place in places):
            assert text in MANUALS[f"guide/{path}"].split("\n")[int(other) - 1]
        above, _, stretch = within.partition(": ")
        files = [
            file for file in MANUALS.values() if text in "".join(file.split("\n")[line - 1 : line])
        ]
        assert any(above.split(" > ")[-1] in file for file in files)
        assert text in stretch
    assert {len(row) for row in _matched(server.ok("manual_grep", **few, context=0))} == {3}
    many = {"regex": r"\b[a-z]+\b", "manual_id": "guide", "matches_only": True}
    assert {len(row) for row in _matched(server.ok("manual_grep", **many))} == {3}


def test_matched_texts_are_paged_without_gaps_and_name_the_line_they_stand_in(
    server: Fumishirube,
) -> None:
    asked = {"regex": r"\b[a-z]{3}\b", "manual_id": "guide", "matches_only": True}
    whole = _matched(server.ok("manual_grep", **asked, context=1))
    for line, _, text, within, *_ in whole:
        assert text in within
        assert any(text in "".join(MANUALS[path].split("\n")[line - 1 : line]) for path in MANUALS)
    paged: list[list[Any]] = []
    page: dict[str, Any] = {"next_cursor": None}
    while "next_cursor" in page:
        cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
        page = server.ok("manual_grep", **asked, **cursor, max_chars=256, context=0)
        paged += _matched(page)
        assert page.get("more_matches", 0) == len(whole) - len(paged)
    assert paged == [row[:3] for row in whole]
