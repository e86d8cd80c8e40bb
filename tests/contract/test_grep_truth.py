"""What ``manual_grep`` says of its lines and matches is true of the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manuals import write
from stdio import Fumishirube


def grepped(folder: Path, files: dict[str, str], **arguments: Any) -> dict[str, Any]:
    """Return the answer of `manual_grep` about some files."""
    with Fumishirube(write(folder, files)) as server:
        server.ok("manual_ls")
        answer: dict[str, Any] = server.ok("manual_grep", manual_id="guide", **arguments)
        return answer


@pytest.mark.parametrize("context", [None, 1, 2, 3])
def test_different_lines_near_each_other_are_not_equal(tmp_path: Path, context: int | None) -> None:
    text = "# T\n\nfoo alpha\nfoo beta\n"
    files = {"guide/a.md": text, "guide/b.md": text}
    answer = grepped(tmp_path, files, any=["foo"], context=context)
    assert (answer["total"], answer["different"]) == (4, 2)
    (group,) = answer["groups"]
    assert group["also"] == {"3": ["b.md#L3"], "4": ["b.md#L4"]}
    assert group["lines"][-2:] == [[3, "foo alpha"], [4, "foo beta"]]


FILLER = "Filler words go here again and again. " * 16


@pytest.mark.many_cases
@pytest.mark.parametrize("context", [None, 0, 1])
@pytest.mark.parametrize("before", ["", "A <i>brown</i> fox and a quick bear. "])
@pytest.mark.parametrize("asked", [{"any": ["quick brown"]}, {"regex": "quick brown"}])
def test_a_match_over_the_end_of_a_long_line_is_shown(
    tmp_path: Path, context: int | None, before: str, asked: dict[str, Any]
) -> None:
    text = f"# T\n\n{before}{FILLER}the quick\nbrown fox. {FILLER}\n"
    answer = grepped(tmp_path, {"guide/a.md": text}, **asked, context=context)
    shown = " / ".join(line for number, line in answer["groups"][0]["lines"] if number > 2)
    assert "again. the quick / brown fox. Filler" in shown
    assert all(len(line) < 500 for _, line in answer["groups"][0]["lines"])


def test_a_match_within_a_long_line_is_shown_beside_one_over_its_end(tmp_path: Path) -> None:
    text = f"# T\n\nA <b>quick</b> brown cat. {FILLER}the quick\nbrown fox.\n"
    answer = grepped(tmp_path, {"guide/a.md": text}, any=["quick brown", "cat"], context=0)
    ((number, line),) = answer["groups"][0]["lines"]
    assert number == 3
    assert line.startswith("A quick brown cat. ")
    assert line.endswith("again. the quick / brown fox.")


@pytest.mark.parametrize("places", [2, 3, 4, 60])
def test_matches_of_several_texts_at_one_place_are_counted_once(
    tmp_path: Path, places: int
) -> None:
    stop = "These words have none of them. " * 8
    line = f"error foo. {stop}" * places + stop * 4
    answer = grepped(tmp_path, {"guide/a.md": f"# T\n\n{line}\n"}, any=["error", "error foo"])
    ((_, shown),) = answer["groups"][0]["lines"]
    assert shown.count("error foo") == min(places, 3)
    assert shown.endswith(f"(+{places - 3} more in this line)") == (places > 3)


def test_long_matches_that_differ_at_their_ends_are_different(tmp_path: Path) -> None:
    long = "KEY=" + "a" * 210
    text = f"# T\n\n{long}one\n\n{long}two\n\n{long}ONE\n"
    asked: dict[str, Any] = {"regex": r"key=a+\w+", "matches_only": True}
    answer = grepped(tmp_path / "1", {"guide/a.md": text}, **asked)
    assert answer["different_matches"] == 2
    (file,) = answer["matches"]
    assert [(row[0], row[1]) for row in file["texts"]] == [(3, 2), (5, 1)]
    assert {row[2] for row in file["texts"]} == {f"{long[:200]}…"}
    short = grepped(
        tmp_path / "2", {"guide/a.md": f"# T\n\n{'b' * 200}\n"}, regex="b+", matches_only=True
    )
    assert short["matches"][0]["texts"][0][2] == "b" * 200


@pytest.mark.many_cases
@pytest.mark.parametrize(
    "heading",
    [
        "# Next\n",
        "Next\n===\n",
        "Next\n---\n",
        "Next\n~~~~\n",
        "====\nNext\n====\n",
        "Next\n****\n",
    ],
)
@pytest.mark.parametrize("path", ["guide/a.md", "guide/a.rst"])
def test_a_heading_is_neither_what_a_label_is_about_nor_a_label(
    tmp_path: Path, heading: str, path: str
) -> None:
    text = f"Top\n===\n\nquorum text\n\n{heading}\nquorum more\n\nText.\n"
    answer = grepped(tmp_path, {path: text}, any=["quorum", "next"])
    lines = text.split("\n")
    shown = [number for number, line in enumerate(lines, 1) if "quorum" in line or "Next" in line]
    numbers = [number for group in answer["groups"] for number, _ in group["lines"]]
    assert [number for number in numbers if lines[number - 1] != "Text."] == shown


@pytest.mark.parametrize("following", ["Words\n--\n", "Some more words\n~~~\n", "Words - more\n"])
def test_a_line_of_text_is_what_a_label_is_about(tmp_path: Path, following: str) -> None:
    text = f"# T\n\nquorum text\n\n{following}"
    answer = grepped(tmp_path, {"guide/a.md": text}, any=["quorum"])
    assert [number for number, _ in answer["groups"][0]["lines"]] == [3, 5]


def test_the_header_of_a_row_is_below_the_titles_of_its_table(tmp_path: Path) -> None:
    rows = [
        "| Limits of the plant |",
        "|---|",
        "| Key | Value |",
        "| omegakey | 12 |",
        "| psi | 3 |",
    ]
    files = {"guide/a.md": "# T\n\n" + "\n".join(rows) + "\n"}
    for number, (asked, lines) in enumerate(
        {"omegakey": [5, 6], "Value": [5, 6, 7], "Limits": [3, 5, 6, 7]}.items()
    ):
        answer = grepped(tmp_path / str(number), files, any=[asked])
        assert [number for number, _ in answer["groups"][0]["lines"]] == lines


def test_files_whose_lines_are_left_out_are_not_without_a_match(tmp_path: Path) -> None:
    files = {f"guide/{n}.md": f"# Page\n\nretry {n}\n" for n in range(8)}
    files |= {"guide/debug.md": "# Page\n\nretry DEBUG\n", "guide/none.md": "# Page\n\nNothing.\n"}
    asked: dict[str, Any] = {"regex": "retr[y]", "without": "DEBUG"}
    answer = grepped(tmp_path / "1", files, **asked)
    assert (answer["left_out"], answer["files_without"]) == (1, ["none.md"])
    del files["guide/none.md"]
    answer = grepped(tmp_path / "2", files, **asked)
    assert (answer["left_out"], "files_without" in answer) == (1, False)


ODD = ["p/c#n.md", "p/f 100%25.md", "p/f 100%.md", "q/plain name.md"]


@pytest.mark.parametrize("matches_only", [False, True])
def test_the_places_of_equal_lines_can_be_read(tmp_path: Path, matches_only: bool) -> None:
    numbered = enumerate(["a.md", *ODD[: 2 if matches_only else 4]])
    files = {f"guide/{path}": f"# T\n\n{'x' * n}\n\nquorum text\n" for n, path in numbered}
    with Fumishirube(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        asked = {"regex": "quorum text", "matches_only": matches_only}
        answer = server.ok("manual_grep", manual_id="guide", **asked)
        if matches_only:
            ((*_, places),) = answer["matches"][0]["texts"]
        else:
            ((places,),) = [group["also"].values() for group in answer["groups"]]
        refs = [f"guide/{place}" for place in places]
        items = server.ok("manual_read", refs=refs)["items"]
    assert [item["lines"] for item in items] == [[[5, "quorum text"]]] * len(refs)
    assert len(refs) == len(files) - 1


def test_the_places_of_copies_can_be_read(tmp_path: Path) -> None:
    files = {f"guide/{path}": "# T\n\nThe quorum is five.\n" for path in ODD}
    with Fumishirube(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        asked = {"query": "quorum", "required_terms": ["quorum"], "manual_id": "guide"}
        (hit,) = server.ok("manual_find", **asked)["inline_hits"]["items"]
        refs = [f"guide/{place}" for place in hit["also"]]
        items = server.ok("manual_read", refs=refs)["items"]
    read = {item["path"] for item in items}
    assert len(read) == 3
    assert read < set(ODD)


def test_the_places_of_equal_lines_in_another_manual_can_be_read(tmp_path: Path) -> None:
    files = {f"{place}": "# T\n\nquorum text\n" for place in ("a/a.md", "b/c#n.md", "b/d.md")}
    with Fumishirube(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        (group,) = server.ok("manual_grep", manual_id="*", any=["quorum"])["groups"]
        refs = group["also"]["3"]
        assert refs == ["manual://b/c%23n.md#L3", "manual://b/d.md#L3"]
        items = server.ok("manual_read", refs=refs)["items"]
    assert [item["path"] for item in items] == ["c#n.md", "d.md"]
