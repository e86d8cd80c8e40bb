"""Hits show the lines that bear on the question; copies are one hit."""

from __future__ import annotations

from pathlib import Path

import pytest
from evidence_manuals import items, line
from manuals import write
from stdio import Fumishirube

pytest_plugins = ["evidence_servers"]


@pytest.fixture(scope="module")
def server(evidence_server: Fumishirube) -> Fumishirube:
    return evidence_server


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


def test_the_rest_of_a_short_list_or_table_is_shown(tmp_path: Path) -> None:
    names = ["npm", "pnpm", "Yarn", "Bun"]
    rows = "".join(f"| {name} | {9 - len(name)} days |\n" for name in names)
    listed = "".join(f"- {name} waits some days, {'as it is said, ' * 3}\n" for name in names)
    other = "Nothing else is said of this here.\n\n" * 60
    files = {
        "m/a.md": f"# Lists\n\n{other}{listed}\n{other}",
        "m/b.md": f"# Tables\n\n{other}| Program | Delay |\n|---|---|\n{rows}\n{other}",
    }
    with Fumishirube(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        for title in ("Lists", "Tables"):
            query = f"how many days does Yarn wait, or Bun ({title})"
            (hit, *_) = items(server, query, title, manual_id="m")
            assert hit["title"] == title
            text = "".join(line for _, line in hit["lines"])
            assert [name for name in names if f" {name} " in text] == names


@pytest.mark.many_cases
@pytest.mark.parametrize(
    "definition",
    [
        "`size`\n: The height of a letter. Default is `20`.",
        "* `size`: the height of a letter, 20.",
        "| size | 20 |",
        '"size": 20,',
        "**Size** - the height of a letter, 20.",
        "- 期限：三日以内。",
        '* `--order-by=size`, `order_by("size")` - the height of a letter, 20.',
    ],
)
def test_the_line_that_defines_a_word_of_the_query_is_shown(
    tmp_path: Path, definition: str
) -> None:
    name = "期限" if "期限" in definition else "size"
    spacing = f"* `spacing`: the pixels between lines, .4 of the {name} by default."
    others = "".join(f"* `word{n}`: {'as told elsewhere ' * 9}\n" for n in range(20))
    text = f"# Text\n\n{others}\n{spacing}\n\n{others}\n{definition}\n\n{others}"
    write(tmp_path, {"m/a.md": text})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        asked = f"spacing of lines in pixels by default, {name}"
        (hit, *_) = items(server, asked, "spacing", manual_id="m")
    shown = [text for _, text in hit["lines"]]
    assert spacing in shown
    assert set(definition.split("\n")) <= set(shown)
    assert sum(map(len, shown)) < 1_000


@pytest.mark.parametrize("anchor", ["{#lamp-oil}", "{/*lamp-oil*/}", "{#oil:1.2}"])
def test_the_anchor_of_a_heading_is_not_shown(tmp_path: Path, anchor: str) -> None:
    text = f"# Lights {anchor}\n\nAll of them.\n\n## Lamp oil {anchor}\n\nBurn whale oil.\n"
    write(tmp_path, {"m/a.md": text})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        asked = {"query": "lamp oil", "manual_id": "m", "required_terms": ["oil"]}
        (block,) = server.invoke("call_tool", "manual_find", asked).content
        (hit, *_) = server.ok("manual_find", **asked)["inline_hits"]["items"]
    assert "Lights > Lamp oil\n7 Burn whale oil." in block.text
    assert "{" not in block.text
    assert hit["whole"]
    assert hit["lines"] == [[7, "Burn whale oil."]]


@pytest.mark.parametrize(
    "heading", ["`size` of a *lamp*", '<a name="size"></a>size of a lamp', "**size of a lamp**"]
)
def test_a_heading_is_not_repeated_whatever_marks_it_has(tmp_path: Path, heading: str) -> None:
    others = "Other words are told at length here, of other things.\n\n" * 40
    text = f"# Lights\n\n## {heading}\n\nIt has three inches.\n\n{others}"
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        server.ok("manual_ls")
        (hit, *_) = items(server, "size of a lamp in inches", "lamp", manual_id="m")
    assert 3 not in [number for number, _ in hit["lines"]]
    assert [5, "It has three inches."] in hit["lines"]


def test_tags_without_text_are_not_shown(tmp_path: Path) -> None:
    text = (
        '# Price\n\n<div class="note">\n\nThe <i>price</i> of a locker is 7.\n\n</div>\n<br/>\n'
        ':::column span="1":::\n'
        "```html\n<div>\n```\n\n<a name='next'></a>\n## Next\n\nText.\n"
    )
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        server.ok("manual_ls")
        (hit, *_) = items(server, "price of a locker", "locker", manual_id="m")
        assert hit["lines"] == [[5, "The price of a locker is 7."], [11, "<div>"]]


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("how long is a badge kept", True),
        ("how long is a badge kept in the safe", True),
        ("badge kept", False),
    ],
)
def test_the_figure_that_is_wanted_is_shown(tmp_path: Path, query: str, shown: bool) -> None:
    others = "".join(f"Colour {name} is for visitors of that floor.\n\n" for name in "abcdefgh")
    text = (
        "# Badges\n\nA badge is kept in the safe at the front desk until the visitor comes.\n\n"
        f"{others * 4}Afterwards the badge is kept there for 30 days.\n"
    )
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        server.ok("manual_ls")
        (hit, *_) = items(server, query, "badge", manual_id="m")
        assert (69 in [number for number, _ in hit["lines"]]) == shown


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


def test_a_word_that_the_manual_has_in_the_other_number_alone_is_shown_and_not_missing(
    server: Fumishirube,
) -> None:
    query = {"query": "sterilise masts", "manual_id": "sky", "required_terms": ["mooring"]}
    answer = server.ok("manual_find", **query)
    assert answer["missing"] == ["sterilise"]
    shown = [row for hit in answer["inline_hits"]["items"] for row in hit.get("lines", ())]
    assert any("The mooring mast takes" in text for _, text in shown)


def test_another_wording_brings_its_own_hit_and_lines(server: Fumishirube) -> None:
    hits = items(server, "parking fee a day", "parking fee", alternatives=["locker costs", " "])
    (locker,) = [hit for hit in hits if hit["title"] == "Lockers"]
    assert locker["alternative"] == 1
    assert [3, "A locker costs 100 yen."] in locker["lines"]
    assert "alternative" not in hits[0]


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


def test_each_row_that_defines_a_word_is_shown_though_its_name_is_a_link(tmp_path: Path) -> None:
    names = ["average", "burst", "period", "redis", "header", "depth"]
    rows = "".join(
        f'| <a id="opt-{name}" href="#opt-{name}">`{name}`</a> | The {name} of rate limits with'
        f" average and burst in a period. {'It is for routers that need it. ' * 8} | {at} |\n"
        for at, name in enumerate(names * 2)
    )
    text = "# Rate limit\n\nIt limits rates.\n\n| Field | Description | Default |\n|---|---|---|\n"
    with Fumishirube(write(tmp_path, {"m/a.md": f"{text}{rows}\n"})) as server:
        server.ok("manual_ls")
        asked = "rate limit burst and period by default"
        (hit, *_) = items(server, asked, "rate", manual_id="m")
        numbers = [number for number, _ in hit["lines"]]
        assert {8, 9} <= {*numbers}


def test_equal_text_of_several_versions_is_shown_from_the_newest(tmp_path: Path) -> None:
    text = "# Job\n\nA job is stopped after an hour of silence.\n"
    numbers = ["5.1", "7.2", "7.10", "7.9"]
    files = {
        f"m/ref/{version}/job.md": f"{'Of late.' * len(version)}\n\n" * place + text
        for place, version in enumerate(numbers)
    }
    files |= {"m/job1.md": f"# Jobs\n\n{text}", "m/job2.md": f"# Jobs\n\n{text}"}
    with Fumishirube(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        shown = items(server, "job stopped after silence", "job", manual_id="m")
        versions = [hit for hit in shown if hit["ref"]["path"].startswith("ref/")]
        (newest,) = (hit for hit in versions if hit["title"] == "Job")
        assert newest["ref"]["path"] == "ref/7.10/job.md"
        assert newest["lines"] == [[7, "A job is stopped after an hour of silence."]]
        assert newest["ref"]["start_line"] == 5
        others = {f"ref/{version}/job.md" for version in ("5.1", "7.2", "7.9")}
        assert others <= {str(place).partition("#")[0] for place in newest["also"]}
