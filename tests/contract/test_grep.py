"""What ``manual_grep`` answers: every place once, with its section, its lines and their number."""

from __future__ import annotations

from pathlib import Path

import pytest
from grep_files import places
from manuals import write
from stdio import Fumishirube

pytest_plugins = ["grep_servers"]


@pytest.fixture(scope="module")
def server(grep_server: Fumishirube) -> Fumishirube:
    return grep_server


def test_every_place_is_named_once_with_its_section(server: Fumishirube) -> None:
    answer = server.ok("manual_grep", any=["5 秒"], manual_id="m", context=0)
    assert (answer["total"], answer["different"], answer["files"]) == (4, 2, 3)
    assert answer["groups"] == [
        {
            "path": "copy.md",
            "section": "Copy",
            "lines": [[2, "The timeout is 5 秒."]],
            "also": {"2": ["times.md#L4 Limits", "times.md#L9 Old"]},
        },
        {"path": "values.json", "lines": [[2, '"wait": "５秒",']]},
    ]
    assert answer["searched"] == {"files": 4, "sections": 6}
    assert answer["not_searched"] == [
        {"path": "binary.md", "reason": "undecodable"},
        {"reason": "hidden", "count": 1},
        {"reason": "no_loader", "count": 1},
        {"reason": "symlink", "count": 1},
    ]
    assert answer.keys().isdisjoint({"next_cursor", "remaining", "texts", "manuals", "counts"})


def test_equal_lines_of_one_file_are_named_by_their_line_and_heading(server: Fumishirube) -> None:
    answer = server.ok("manual_grep", any=["timeout"], manual_id="m", path_prefix="times.md")
    (group,) = answer["groups"]
    assert group["section"] == "Times > Limits"
    assert group["also"] == {"4": ["L9 Old"]}
    assert answer["total"] == 2
    assert answer["searched"] == {"files": 1, "sections": 3}
    assert "not_searched" not in answer


def test_several_texts_are_counted_each(server: Fumishirube) -> None:
    answer = server.ok("manual_grep", any=["once", " once", "nowhere"], manual_id="m")
    assert answer["texts"] == [
        {"text": "once", "count": 2},
        {"text": " once", "count": 1},
        {"text": "nowhere", "count": 0},
    ]
    assert places(answer) == [("sub/code.md", 5), ("sub/code.md", 6)]
    assert answer["groups"][0]["section"] == "設定"


def test_counts_alone_are_by_file_and_text(server: Fumishirube) -> None:
    answer = server.ok("manual_grep", any=["timeout", "Retries"], manual_id=["m"], count_only=True)
    assert answer["total"] == 4
    assert answer["counts"] == [{"path": "copy.md", "count": 1}, {"path": "times.md", "count": 3}]
    assert [row["count"] for row in answer["texts"]] == [3, 1]
    assert answer.keys().isdisjoint({"groups", "next_cursor", "remaining"})


RECORDS = {
    "m/desks.md": "# Desks\n\n| desk | phone |\n|---|---|\n| fees | 2204 |\n| keys | 2205 |\n",
    "m/codes.json": """{
  "codes": [
    {
      "id": "TX-22",
      "restart": {
        "remote": "one station only"
      },
      "title": "No acknowledgement"
    },
    {
      "id": "TX-23"
    }
  ]
}
""",
}


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("2204", [3, 5]),
        ("phone", [3, 5, 6]),
        ("TX-22", [4, 5, 6, 8]),
        ("one station", [6]),
        ("TX-23", [11]),
    ],
)
def test_few_lines_are_shown_in_their_record(tmp_path: Path, text: str, lines: list[int]) -> None:
    write(tmp_path, RECORDS)
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        answer = server.ok("manual_grep", any=[text], manual_id="m")
        assert answer["total"] == 1
        assert [number for number, _ in answer["groups"][0]["lines"]] == lines
        alone = server.ok("manual_grep", any=[text], manual_id="m", context=0)
        assert len(alone["groups"][0]["lines"]) == 1


def test_many_lines_and_long_records_are_shown_alone(tmp_path: Path) -> None:
    many = "".join(f"| fee {n} | 22{n}0 |\n" for n in range(6))
    long = "".join(f"| key {n} | {'x' * 100} |\n" for n in range(7))
    write(
        tmp_path,
        {"m/a.md": f"# A\n\n| a | b |\n|---|---|\n{many}\n| long | c |\n|---|---|\n{long}"},
    )
    members = ",\n".join(f'  "m{n}": "key {n}"' for n in range(60))
    write(tmp_path, {"m/b.json": f"{{\n{members}\n}}\n"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        fees = server.ok("manual_grep", any=["fee"], manual_id="m")
        assert [number for number, _ in fees["groups"][0]["lines"]] == [*range(5, 11)]
        header = server.ok("manual_grep", any=["long"], manual_id="m")
        assert [number for number, _ in header["groups"][0]["lines"]] == [12]
        member = server.ok("manual_grep", any=["key 30"], manual_id="m", path_prefix="b.json")
        assert [number for number, _ in member["groups"][0]["lines"]] == [32]


def test_counts_by_file_win_over_each_different_match(server: Fumishirube) -> None:
    asked = {"any": ["timeout"], "manual_id": "m", "count_only": True}
    assert server.ok("manual_grep", **asked, matches_only=True) == server.ok("manual_grep", **asked)


def test_exactly_and_whole_words(server: Fumishirube) -> None:
    exact = server.ok("manual_grep", any=["5 秒"], manual_id="m", exact=True)
    assert places(exact) == [("copy.md", 2), ("times.md", 4), ("times.md", 5), ("times.md", 9)]
    cased = server.ok("manual_grep", any=["abortsignal"], manual_id="m", exact=True)
    assert cased["total"] == 0
    assert cased["groups"] == []
    loose = server.ok("manual_grep", any=["abort signal"], manual_id="m")
    assert places(loose) == [("sub/code.md", 4)]
    word = server.ok("manual_grep", any=["once"], manual_id="m", word=True)
    assert places(word) == [("sub/code.md", 6)]


def test_lines_around_are_shown_and_not_counted(server: Fumishirube) -> None:
    answer = server.ok("manual_grep", any=["Retries"], manual_id="m", context=2)
    assert answer["total"] == 1
    assert answer["groups"] == [
        {
            "path": "times.md",
            "section": "Times > Limits",
            "lines": [
                [4, "The timeout is 5 秒."],
                [5, "Wait 15 秒, or 1.5 秒."],
                [7, "Retries: 3"],
                [8, "### Old"],
                [9, "The timeout is 5 秒."],
            ],
        }
    ]


def test_lines_around_an_entry_are_its_own(tmp_path: Path) -> None:
    entries = "a.size::\n\tTwo.\n\na.weight::\n\tDefault: 7.\n+\nIn grams.\n\nb::\n\tNo.\n"
    page = "# A\n\nOne.\n\n## Weight\n\nTwo.\n"
    files = {"m/a.adoc": f"= A\n\n{entries}", "m/b.md": page}
    with Fumishirube(write(tmp_path, files)) as server:
        answer = server.ok("manual_grep", any=["weight"], manual_id="*", context=2)
    assert [group["lines"] for group in answer["groups"]] == [
        [[6, "a.weight::"], [7, "Default: 7."], [9, "In grams."]],
        [[5, "## Weight"], [7, "Two."]],
    ]


def test_lines_around_go_on_from_passage_to_passage(tmp_path: Path) -> None:
    text = "Valves\n======\n\n" + "".join(f"Turn {n} of it.\n" for n in range(80))
    with Fumishirube(write(tmp_path, {"m/a.rst": text})) as server:
        for number in range(10, 70):
            asked = {"any": [f"Turn {number} of"], "manual_id": "*", "context": 1}
            (group,) = server.ok("manual_grep", **asked)["groups"]
            assert [line for line, _ in group["lines"]] == [number + 3, number + 4, number + 5]
            assert group["section"] == "Valves"


def test_lines_are_rendered_unless_that_would_leave_out_a_match(tmp_path: Path) -> None:
    written = "A <i>fee</i> of [7](https://example.org/a/very/long/path)."
    text = f"# A\n\n{written}\n\n```\nx {written}\n```\n"
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        for pattern, shown in (("fee", "A fee of [7](…)."), ("long/path", written)):
            answer = server.ok("manual_grep", manual_id="*", any=[pattern], context=0)
            assert answer["groups"][0]["lines"] == [[3, shown], [6, f"x {written}"]]


WRAPPED = """# Install

Nothing is told of it in this line, which is long enough to be one.
Before this version there was none. Starting in Lamp 2.8, the command
install accepts a system, so that packages for another one than that
of yours are installed. It is useful for building.

An object that the whole of this line and of the next one is about
(Lamp 2.8+) and missing files give a warning, as in all of the other
commands.

- Lamp 2.8 alone
- Another item

```sh
lamp install --version 2.8 --of-a-line-that-is-long-enough \\
  --and-more
```
"""


@pytest.mark.parametrize(
    ("context", "shown"),
    [
        (None, [4, 5, 6, 8, 9, 10, 12, 16]),
        (0, [4, 9, 12, 16]),
        (1, [3, 4, 5, 6, 8, 9, 10, 12, 13, 15, 16, 17]),
    ],
)
def test_a_few_lines_come_with_the_rest_of_their_sentences(
    tmp_path: Path, context: int | None, shown: list[int]
) -> None:
    with Fumishirube(write(tmp_path, {"m/a.md": WRAPPED})) as server:
        server.ok("manual_ls")
        answer = server.ok("manual_grep", any=["2.8"], manual_id="m", context=context)
        assert (answer["total"], answer["different"]) == (4, 4)
        numbers = [number for group in answer["groups"] for number, _ in group["lines"]]
        assert numbers == shown
        lines = WRAPPED.split("\n")
        for group in answer["groups"]:
            assert all(text == lines[number - 1].strip() for number, text in group["lines"])


@pytest.mark.parametrize(
    "below", ["tags: maintenance", ": its meaning", "==========", "- an item", "| a | b |", ""]
)
def test_what_is_no_part_of_a_sentence_does_not_come_with_it(tmp_path: Path, below: str) -> None:
    line = "A capacitor of the flux is told of in a line that is long enough"
    with Fumishirube(write(tmp_path, {"m/a.md": f"# Parts\n\n{line}\n{below}\n"})) as server:
        server.ok("manual_ls")
        answer = server.ok("manual_grep", any=["capacitor"], manual_id="m")
    assert [group["lines"][0][1] for group in answer["groups"]] == [line]
    assert len(answer["groups"][0]["lines"]) == 1


def test_a_sentence_goes_on_with_words_and_a_colon(tmp_path: Path) -> None:
    text = (
        "The capacitor of the house is lit whenever the owner is the\nold administrator: nobody.\n"
    )
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        server.ok("manual_ls")
        answer = server.ok("manual_grep", any=["capacitor"], manual_id="m")
    assert [number for number, _ in answer["groups"][0]["lines"]] == [1, 2]


def test_a_sentence_that_is_not_shown_takes_no_room(tmp_path: Path) -> None:
    long = "The lamp of the house is lit by its owner whenever others sleep\n" + "and burns " * 60
    text = f"{long}\n\nThe lamp of the other house is lit when nobody looks at it\nand burns.\n"
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        server.ok("manual_ls")
        answer = server.ok("manual_grep", any=["lamp"], manual_id="m", max_chars=900)
    assert [5, "and burns."] in [line for group in answer["groups"] for line in group["lines"]]


def test_sentences_take_no_more_than_the_room_and_no_page(tmp_path: Path) -> None:
    text = "".join(
        f"The lamp of house {n} is lit by its owner in the evening when all others\n"
        f"sleep, and it burns until the morning of the day after that one.\n\n"
        for n in range(9)
    )
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        server.ok("manual_ls")
        asked = {"any": ["lamp"], "manual_id": "m"}
        for chars in (800, 1_200, 3_000):
            answer = server.ok("manual_grep", max_chars=chars, **asked)
            shown = [text for group in answer["groups"] for _, text in group["lines"]]
            assert sum(map(len, shown)) <= chars
            if "next_cursor" in answer:
                assert not any(line.startswith("sleep") for line in shown)
        assert len(shown) == 18


def test_a_label_comes_with_the_line_that_it_is_about(tmp_path: Path) -> None:
    text = (
        "# Import\n\n*Experimental*\n\nTakes a <b>block</b> of lines.\n\n- Experimental\n\n"
        f"Experimental since 2.9\n- **set** {'changes ' * 20}\n\nIt is experimental.\n\nText.\n\n"
        "Text\nExperimental\n\nMore.\n\nExperimental\n\n## Next\n"
    )
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        asked = {"manual_id": "*", "any": ["experimental"]}
        (group,) = server.ok("manual_grep", **asked)["groups"]
        numbers = [number for number, _ in group["lines"]]
        assert numbers == [3, 5, 7, 9, 10, 12, 17]
        shown = dict(map(tuple, group["lines"]))
        assert shown[5] == "Takes a block of lines."
        assert shown[10] == f"- **set** {'changes ' * 11}changes…"
        assert group["also"] == {"17": ["L21"]}
        (group,) = server.ok("manual_grep", **asked, context=0)["groups"]
        assert [number for number, _ in group["lines"]] == [3, 7, 9, 12, 17]


@pytest.mark.slow
def test_a_file_of_thousands_of_labels_is_searched(tmp_path: Path) -> None:
    labels = "".join(f"Name {number}\n\n" for number in range(40_000))
    with Fumishirube(write(tmp_path, {"m/a.md": f"{labels}```\nName x\n\nText\n```\n"})) as server:
        answer = server.ok("manual_grep", manual_id="*", any=["name"], max_chars=256)
        assert answer["total"] == 40_001
        assert answer["groups"][0]["lines"][:2] == [[1, "Name 0"], [3, "Name 1"]]


def test_a_tally_counts_the_different_matches(server: Fumishirube) -> None:
    asked = {"regex": "[Rr]etries|timeout", "manual_id": "m"}
    tally = server.ok("manual_grep", **asked, matches_only=True)
    assert tally["different_matches"] == sum(len(group["texts"]) for group in tally["matches"])
    assert "different_matches" not in server.ok("manual_grep", **asked)


def test_the_end_of_a_match_is_shown_once(tmp_path: Path) -> None:
    with Fumishirube(
        write(tmp_path, {"m/run.md": "# Run\n\nThen run cargo\nfix to apply.\n"})
    ) as server:
        for context, lines in (
            (0, [[3, "Then run cargo / fix to apply."]]),
            (1, [[1, "# Run"], [3, "Then run cargo"], [4, "fix to apply."]]),
        ):
            (group,) = server.ok("manual_grep", manual_id="*", any=["cargo fix"], context=context)[
                "groups"
            ]
            assert group["lines"] == lines


def test_long_lines_are_cut_around_the_match(server: Fumishirube) -> None:
    for asked in ({"any": ["middle"]}, {"regex": "mid+le"}):
        (group,) = server.ok("manual_grep", manual_id="m", **asked)["groups"]
        ((number, line),) = group["lines"]
        assert number == 7
        assert line.startswith("…")
        assert line.endswith("…")
        assert " middle " in line
        assert len(line) <= 400


def test_parts_of_a_long_line_that_touch_are_shown_as_one(tmp_path: Path) -> None:
    filler = "あいうえおかきくけこ" * 80
    line = f"{filler[:100]}鍵束{filler[:178]}鍵束{filler}"
    with Fumishirube(write(tmp_path, {"m/a.md": f"{line}\n"})) as server:
        server.ok("manual_ls")
        (group,) = server.ok("manual_grep", manual_id="m", any=["鍵束"])["groups"]
    assert group["lines"] == [[1, f"…{line[11:371]}…"]]


def test_lines_are_those_that_are_read(server: Fumishirube) -> None:
    for manual_id, path in (("m", "values.json"), ("chapters", "01.txt"), ("m", "times.md")):
        asked = {"manual_id": manual_id, "path_prefix": path, "context": 0}
        answer = server.ok("manual_grep", any=["5秒"], **asked)
        for _, line in places(answer):
            scanned = server.ok("manual_scan", manual_id=manual_id, path=path, start_line=line)
            assert "秒" in scanned["text"].split("\n")[0]


def test_the_files_without_a_match_are_named_if_they_are_few(tmp_path: Path) -> None:
    files = {f"m/{n:02}.md": f"# Page\n\nMode {n}.\n" for n in range(20)}
    files |= {f"n/{name}.md": "# Page\n\nNothing.\n" for name in "ab"}
    with Fumishirube(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        most = server.ok("manual_grep", regex="[0-8][.]", manual_id="m", count_only=True)
        assert (most["files"], most["files_without"]) == (18, ["09.md", "19.md"])
        arguments = {"regex": "Mode", "manual_id": "*"}
        (block,) = server.invoke("call_tool", "manual_grep", arguments).content
        assert "searched 22 files, without a match: n/a.md, n/b.md" in block.text
        half = server.ok("manual_grep", any=["Mode 1"], manual_id="m")
        assert "files_without" not in half
        every = server.ok("manual_grep", any=["Mode"], manual_id="m")
        assert "files_without" not in every


def test_a_row_is_shown_without_its_anchors_and_padding(tmp_path: Path) -> None:
    anchor = '<a id="opt-{0}" href="#opt-{0}" title="#opt-{0}">`{0}`</a>'
    rows = "".join(
        f"| {anchor.format(name)}     | The most streams of {name}.      | {size}    |\n"
        for name, size in (("maxStreams", 250), ("maxBytes", 1048576))
    )
    text = f"# Options\n\n| Field | Description | Default |\n|---|---|---|\n{rows}"
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        server.ok("manual_ls")
        shown = [5, "| `maxStreams` | The most streams of maxStreams. | 250 |"]
        answer = server.ok("manual_grep", any=["maxStreams"], manual_id="m")
        assert shown in answer["groups"][0]["lines"]
        asked = {"query": "default of maxStreams", "required_terms": ["streams"], "manual_id": "m"}
        (hit, *_) = server.ok("manual_find", **asked)["inline_hits"]["items"]
        assert shown in hit["lines"]
        refs = ["m/a.md#L5-L6"]
        (block,) = server.invoke("call_tool", "manual_read", {"refs": refs}).content
        assert "5 | `maxStreams` | The most streams of maxStreams. | 250 |" in block.text
        (item,) = server.ok("manual_read", refs=refs)["items"]
        assert item["lines"][0] == [5, rows.splitlines()[0]]
        either = server.ok("manual_grep", regex="(opt-)?maxStreams", manual_id="m")
        assert shown in either["groups"][0]["lines"]
        target = server.ok("manual_grep", any=["opt-maxStreams"], manual_id="m")
        assert any('id="opt-maxStreams"' in text for _, text in target["groups"][0]["lines"])


def test_words_of_japanese_may_be_divided_by_the_end_of_a_line(tmp_path: Path) -> None:
    text = "# 対象\n\n会員の配偶\n者も対象とする。\n\n## 配偶\n者の範囲\n"
    with Fumishirube(write(tmp_path, {"m/a.md": text, "m/b.md": "# 別\n\n他のこと。\n"})) as server:
        server.ok("manual_ls")
        answer = server.ok("manual_grep", manual_id="m", any=["配偶者"])
        assert (answer["total"], answer["complete"]) == (1, True)
        assert answer["groups"][0]["lines"][0][0] == 3
        exact = server.ok("manual_grep", manual_id="m", any=["配偶者"], exact=True)
        assert exact["total"] == 0
