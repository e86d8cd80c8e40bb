"""``manual_grep`` and ``fumishirube grep``: every place, with lines, once each."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from manuals import Application, ask, fumishirube, opened, write
from stdio import Fumishirube, Wire

from fumishirube.text import decode, reading, reading_form

SAMPLES = Path(__file__).parents[2] / "manuals"
TIMES = """# Times
Before all.
## Limits
The timeout is 5 秒.
Wait 15 秒, or 1.5 秒.

Retries: 3
### Old
The timeout is 5 秒.
"""
TOC = {"manual": "chapters", "toc": [{"id": "1", "title": "第1章", "file": "01.txt"}]}
FILES: dict[str, str | bytes] = {
    "m/times.md": TIMES,
    "m/sub/code.md": "---\ntitle: 設定\n---\nuse `AbortSignal`\nFnOnce\ncall once\n"
    + "x" * 700
    + " middle "
    + "y" * 700
    + "\n",
    "m/copy.md": "# Copy\nThe timeout is 5 秒.\n",
    "m/values.json": '{\n  "wait": "５秒",\n  "caf\\u00e9": 5\n}\n',
    "m/binary.md": b"\x81\x00\xff\xfe\x00\x81" * 40,
    "m/.hidden.md": "5 秒\n",
    "m/image.png": b"\x89PNG 5 \xe7\xa7\x92",
    "chapters/00_目次.json": json.dumps(TOC, ensure_ascii=False),
    "chapters/01.txt": "第1章\n待ち時間は5秒です。\n".encode("cp932"),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write(tmp_path_factory.mktemp("grep"), FILES)
    (folder / "outside.md").write_text("5 秒\n", encoding="utf-8")
    (folder / "manuals" / "m" / "link.md").symlink_to(folder / "outside.md")
    return folder


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Fumishirube]:
    with Fumishirube(workspace) as connected:
        connected.ok("manual_ls")
        yield connected


@pytest.fixture(scope="module")
def application(workspace: Path) -> Iterator[Application]:
    application = opened(workspace)
    yield application
    application.close()


def places(answer: dict[str, Any]) -> list[tuple[str, int]]:
    """Return every place that an answer names, but for lines around."""
    named = []
    for group in answer["groups"]:
        for number, _ in group["lines"]:
            named.append((group["path"], number))
        for also in group.get("also", {}).values():
            for place in also:
                path, line = re.fullmatch(r"(?:(.+)#)?L(\d+)(?: .*)?", place).groups()
                named.append((path or group["path"], int(line)))
    return sorted(named)


# --- what it answers ------------------------------------------------------------------------


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


def test_a_match_within_a_line_is_not_joined_to_the_next(tmp_path: Path) -> None:
    code = "tool install one\nthen run it\nThe tool\ninstall two\n"
    write(tmp_path, {"m/a.md": f"# A\n\n{code}"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        asked = {"manual_id": "m", "regex": "tool install[^`]*"}
        (group,) = server.ok("manual_grep", **asked)["groups"]
        assert group["lines"] == [[3, "tool install one"], [5, "The tool / install two"]]
        (file,) = server.ok("manual_grep", **asked, matches_only=True, context=0)["matches"]
        assert file["texts"] == [[3, 1, "tool install one"], [5, 1, "tool install two"]]


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


def test_lines_are_rendered_unless_that_would_leave_out_a_match(tmp_path: Path) -> None:
    written = "A <i>fee</i> of [7](https://example.org/a/very/long/path)."
    text = f"# A\n\n{written}\n\n```\nx {written}\n```\n"
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        for pattern, shown in (("fee", "A fee of [7](…)."), ("long/path", written)):
            answer = server.ok("manual_grep", manual_id="*", any=[pattern], context=0)
            assert answer["groups"][0]["lines"] == [[3, shown], [6, f"x {written}"]]


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


def test_patterns_are_matched_line_by_line(server: Fumishirube) -> None:
    answer = server.ok("manual_grep", regex=r"^the\s.*[0-9] 秒\.$", manual_id="m")
    assert places(answer) == [("copy.md", 2), ("times.md", 4), ("times.md", 9)]
    cased = server.ok("manual_grep", regex=r"^the\s", manual_id="m", exact=True)
    assert cased["total"] == 0
    backwards = server.ok("manual_grep", regex=r"(?<=FnO)nce", manual_id="m")
    assert places(backwards) == [("sub/code.md", 5)]
    word = server.ok("manual_grep", regex="once|retr", manual_id="m", word=True)
    assert places(word) == [("sub/code.md", 6)]


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        ("FNO", [5]),
        ("[A-Z]nc", [5]),
        ("[A-Z]all", []),
        ("[A-Za-z]all", [6]),
        ("[^A-Z]all", [6]),
        ("(?i)[A-Z]all", [6]),
        ("fn[a-z]", []),
        ("F[a-z]", [5]),
        ("fn[A-Za-z]", [5]),
        ("(?i)fn[a-z]", [5]),
    ],
)
def test_a_class_of_letters_of_one_case_makes_case_count(
    server: Fumishirube, pattern: str, numbers: list[int]
) -> None:
    found = server.ok("manual_grep", regex=pattern, manual_id="m", path_prefix="sub")
    assert [number for _, number in places(found)] == numbers


@pytest.mark.parametrize("exact", [True, False])
def test_a_blank_of_a_pattern_is_also_the_end_of_a_line(tmp_path: Path, exact: bool) -> None:
    text = "# Run\n\nThen run cargo\nfix to apply.\n\n* cargo\n\nfix\n"
    with Fumishirube(write(tmp_path, {"m/run.md": text})) as server:
        found = server.ok("manual_grep", manual_id="*", regex="cargo fix|[^\\n]ply", exact=exact)
        assert [number for _, number in places(found)] == [3, 4]


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


def test_lines_are_those_that_are_read(server: Fumishirube) -> None:
    for manual_id, path in (("m", "values.json"), ("chapters", "01.txt"), ("m", "times.md")):
        asked = {"manual_id": manual_id, "path_prefix": path, "context": 0}
        answer = server.ok("manual_grep", any=["5秒"], **asked)
        for _, line in places(answer):
            scanned = server.ok("manual_scan", manual_id=manual_id, path=path, start_line=line)
            assert "秒" in scanned["text"].split("\n")[0]


# --- manuals, and when it may be called ----------------------------------------------------


def test_all_manuals_need_no_list_and_are_one(workspace: Path) -> None:
    with Fumishirube(workspace) as fresh:
        refused = fresh.refused("manual_grep", any=["x"], manual_id="m")
        assert refused["details"] == {"required_first_call": "manual_ls"}
        answer = fresh.ok("manual_grep", any=["5秒"], manual_id="*")
        assert answer["manuals"] == ["chapters", "m"]
        assert answer["total"] == 5
        assert [group["manual_id"] for group in answer["groups"]] == ["chapters", "m", "m"]
        assert fresh.ok("manual_toc", manual_id="m")["total_files"] == 5
        both = fresh.ok("manual_grep", any=["5秒"], manual_id=["m", "chapters", "m"])
        assert [group["manual_id"] for group in both["groups"]] == ["chapters", "m", "m"]


def test_the_contract_alone_has_no_such_tool(workspace: Path) -> None:
    with Fumishirube(workspace, FUMISHIRUBE_SURFACE_EXTRAS="none") as server:
        assert "manual_grep" not in server.tools()
    with Fumishirube(workspace) as server:
        names = [*server.tools()]
        assert names[names.index("manual_find") + 1] == "manual_grep"


def test_what_it_costs_to_offer_it(server: Fumishirube) -> None:
    tool = server.tools()["manual_grep"]
    schema = json.dumps(tool.input_schema, ensure_ascii=False, separators=(",", ":"))
    assert (len(tool.name) + len(tool.description) + len(schema)) / 4 <= 420


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({}, "any"),
        ({"any": ["a"], "regex": "a"}, "any"),
        ({"any": []}, "any"),
        ({"any": [""]}, "any[0]"),
        ({"any": ["a", " \u3000"]}, "any[1]"),
        ({"any": ["a\nb"]}, "any[0]"),
        ({"any": ["a"] * 9}, "any"),
        ({"any": ["a" * 201]}, "any[0]"),
        ({"any": "a"}, "any"),
        ({"regex": ""}, "regex"),
        ({"regex": "(a"}, "regex"),
        ({"regex": r"once\n+call|a\nb"}, "regex"),
        ({"regex": "(?i)a", "word": True}, "regex"),
        ({"any": ["a"], "context": 4}, "context"),
        ({"any": ["a"], "max_chars": 255}, "max_chars"),
        ({"any": ["a"], "cursor": "1"}, "cursor"),
        ({"any": ["a"], "cursor": "1.00000000"}, "cursor"),
        ({"any": ["a"], "exact": 1}, "exact"),
        ({"any": ["a"], "manual_id": []}, "manual_id"),
        ({"any": ["a"], "manual_id": "manuals"}, "manual_id"),
        ({"any": ["a"], "path_prefix": "../m"}, "path_prefix"),
    ],
)
def test_bad_arguments_are_named(
    server: Fumishirube, arguments: dict[str, Any], parameter: str
) -> None:
    with_manual: dict[str, Any] = {"manual_id": "m"} | arguments
    refused = server.refused("manual_grep", **with_manual)
    assert refused["code"] == (
        "invalid_path" if parameter == "path_prefix" else "invalid_parameter"
    )
    assert refused["details"]["parameter"] == parameter


def test_manuals_that_are_not_there_are_refused(server: Fumishirube) -> None:
    assert server.refused("manual_grep", any=["a"], manual_id="n")["code"] == "not_found"
    assert server.refused("manual_grep", any=["a"], manual_id=["m", "n"])["code"] == "not_found"


# --- nothing is lost ------------------------------------------------------------------------


def pages(application: Application, **arguments: Any) -> list[dict[str, Any]]:
    """Return the pages of an answer, which show the matching lines alone."""
    arguments = {"context": 0, **arguments}
    answers = [ask(application, "manual_grep", **arguments)]
    while "next_cursor" in answers[-1]:
        cursor = answers[-1]["next_cursor"]
        answers.append(ask(application, "manual_grep", cursor=cursor, **arguments))
    return answers


def check_pages(answers: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """See that pages have no gap and no repeat, and that each accounts for the rest."""
    every = []
    for number, answer in enumerate(answers):
        every += places(answer)
        left = {row["path"]: row["count"] for row in answer.get("remaining", ())}
        after = [path for later in answers[number + 1 :] for path, _ in places(later)]
        for path, count in left.items():
            assert count == sum(
                p == path or (path[-1] == "/" and p.startswith(path)) for p in after
            )
        assert sum(left.values()) == len(after)
        assert len(every) + len(after) == answer["total"] == answers[0]["total"]
    assert len(set(every)) == len(every)
    return sorted(every)


def test_pages_of_the_samples_have_no_gap_and_no_repeat(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES, tmp_path / "manuals")
    application = opened(tmp_path)
    texts = ["請求", "給付"]
    answers = pages(application, any=texts, manual_id="給付金編", max_chars=1_000)
    assert len(answers) > 5
    expected = []
    for path in sorted((SAMPLES / "給付金編").iterdir()):
        expected += [(path.name, line) for line in naive(decode(path.read_bytes()), texts)]
    assert check_pages(answers) == expected
    for answer in answers:
        assert len(json.dumps(answer["groups"], ensure_ascii=False)) <= 1_000 + 400
    application.close()


def naive(text: str, texts: list[str], *, exact: bool = False, word: bool = False) -> list[int]:
    """Return the lines of a whole text in which one of some texts begins."""
    readings = [reading(each, exact=exact, word=word) for each in texts]
    form = reading_form(text)
    found = (each.matching_lines(text, form) for each in readings if each is not None)
    return sorted({line for lines in found for line, _ in lines})


LINE = st.sampled_from(
    [
        *(
            "",
            "## Limits of 5 秒",
            "The abort signal",
            "AbortSignals",
            "15 秒",
            "５秒と5 秒",
            "入院",
        ),
        *(
            "入 院",
            "- [5](http://host/a_b)",
            "| a | 5 秒 |",
            "```",
            "`x_y`",
            "caf\u00e9",
            "# *入*院",
        ),
        *(
            "Setext 5 秒",
            "======",
            "<!-- 5秒 -->",
            "&amp; 5&nbsp;秒",
            "\ttab 5\u3000秒",
            "---",
            "a: 5秒",
        ),
    ]
)
PLACES = 9
FILE = st.lists(LINE, max_size=14).map("\n".join)
TEXT = st.sampled_from(
    [
        "5 秒",
        "abort signal",
        "AbortSignal",
        "入院",
        "院",
        "amp",
        "http",
        "host",
        "a b",
        "x y",
        "é",
        "-",
        "5",
    ]
)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """An application whose manual gets other files again and again, as its index follows."""
    application = opened(write(tmp_path_factory.mktemp("lasting"), {"m/a.md": "a"}))
    yield application
    application.close()


@pytest.mark.timeout(600)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(
        st.sampled_from(["a.md", "b/c.md", "b/d.json", "e.md", "INDEX.md"]), FILE, max_size=5
    ),
    texts=st.lists(TEXT, min_size=1, max_size=3, unique=True),
    exact=st.booleans(),
    word=st.booleans(),
    max_chars=st.sampled_from([256, 600, 10_000]),
)
def test_no_place_is_lost_against_a_look_at_every_line(
    lasting: Application,
    files: dict[str, str],
    texts: list[str],
    exact: bool,
    word: bool,
    max_chars: int,
) -> None:
    lines = Counter(line.strip() for text in files.values() for line in text.split("\n"))
    assume(max(lines.values(), default=0) <= PLACES)  # of more equal lines only the number is told
    folder = lasting.contexts["manual"].root.path / "m"
    shutil.rmtree(folder)
    folder.mkdir()
    write(folder.parent.parent, {f"m/{name}": text for name, text in files.items()})
    expected = [
        (name, number)
        for name, text in sorted(files.items())
        for number in naive(text, texts, exact=exact, word=word)
    ]
    arguments: dict[str, Any] = {"any": texts, "exact": exact, "word": word, "max_chars": max_chars}
    assert check_pages(pages(lasting, manual_id="m", **arguments)) == sorted(expected)


def test_changed_files_are_read_as_they_are_and_end_a_cursor(tmp_path: Path) -> None:
    workspace = write(
        tmp_path, {f"m/{n}.md": f"# {n}\nline {n} {'x' * 90} here\n" for n in range(9)}
    )
    application = opened(workspace)
    first = ask(application, "manual_grep", any=["here"], manual_id="m", max_chars=400)
    assert first["total"] == 9
    write(workspace, {"m/4.md": "# 4\nnothing\n", "m/new.md": "now here\n"})
    again = ask(application, "manual_grep", any=["here"], manual_id="m")
    assert places(again) == sorted([(f"{n}.md", 2) for n in range(9) if n != 4] + [("new.md", 1)])
    with pytest.raises(Exception, match="have changed since"):
        ask(
            application,
            "manual_grep",
            any=["here"],
            manual_id="m",
            max_chars=400,
            cursor=first["next_cursor"],
        )
    application.close()


# --- hostile texts ---------------------------------------------------------------------------


def test_hostile_texts_are_answered(workspace: Path) -> None:
    with Wire(workspace) as wire:
        wire.ok("manual_ls")
        texts = [
            "\0",
            "あ" * 200,
            "a" * 200,
            "." * 200,
            "[" * 200,
            "5" * 200,
            "\ufdfa" * 200,
            "ß" * 200,
        ]
        assert wire.ok("manual_grep", any=texts, manual_id="*")["total"] == 0
        refused = wire.refused("manual_grep", any=["\ud800"], manual_id="m")
        assert refused["details"] == {"parameter": "any[0]"}
        assert (
            wire.refused("manual_grep", regex="\ud800", manual_id="m")["code"]
            == "invalid_parameter"
        )
        assert wire.ok("manual_grep", any=[" a " * 60], manual_id="*")["total"] == 0
        for pattern in ("a" * 2_000, "あ" * 2_000, "[ab]" + "𠮷" * 1_000):
            assert wire.ok("manual_grep", regex=pattern, manual_id="*")["total"] == 0


@pytest.mark.slow
def test_a_line_of_a_megabyte_and_patterns_that_explode(tmp_path: Path) -> None:
    long = "a" * 500_000 + " 5 秒 " + "a b " * 125_000
    workspace = write(tmp_path, {"m/long.md": f"# L\n{long}\n{'a' * 60}!\n"})
    with Fumishirube(workspace) as server:
        answer = server.ok("manual_grep", any=["5秒", "b"], manual_id="*")
        ((number, line),) = answer["groups"][0]["lines"]
        assert number == 2
        assert "5 秒" in line
        assert "more in this line)" in line
        assert len(line) < 500
        slow = server.ok("manual_grep", regex=r"^(a+)+(?<!b)$", manual_id="*")
        assert slow["not_searched"] == [
            {"manual_id": "m", "path": "long.md", "reason": "pattern_too_slow"}
        ]


# --- the command ----------------------------------------------------------------------------


def test_the_command_prints_files_sections_and_lines(workspace: Path) -> None:
    done = fumishirube("grep", "5 秒", "--manual", "m", cwd=workspace)
    assert done.code == 0
    assert done.out.splitlines() == [
        "m/copy.md",
        "  Copy",
        "    2: The timeout is 5 秒.",
        "      also times.md#L4 Limits, times.md#L9 Old",
        "",
        "m/values.json",
        '    2: "wait": "５秒",',
    ]
    assert "4 lines, 2 of them different, in 3 files; 4 files searched" in done.err
    assert "not searched: m/binary.md: no known encoding" in done.err
    counted = fumishirube("grep", "timeout", "once", "--count", "--word", cwd=workspace)
    assert "     2  m/times.md" in counted.out.splitlines()
    assert "     1  'once'" in counted.out.splitlines()


def test_the_command_takes_patterns_and_gives_json(workspace: Path) -> None:
    words = ["grep", "ABORTS", "--regex", "--prefix", "sub", "-C", "1", "--json"]
    answer = fumishirube(*words, cwd=workspace).json
    assert answer["groups"][0]["lines"][1:] == [[4, "use `AbortSignal`"], [5, "FnOnce"]]
    assert fumishirube(*words, "--exact", cwd=workspace).json["total"] == 0
    environ = {"FUMISHIRUBE_SURFACE_EXTRAS": "none"}
    assert fumishirube(*words, cwd=workspace, environ=environ).json["total"] == 1


def test_the_command_takes_a_path_as_it_prints_it(tmp_path: Path) -> None:
    page = "# 非常灯\n停電のときは非常灯をつける。\n"
    # The manual b has a folder that is named as the manual a is.
    workspace = write(
        tmp_path, {f"{p}.md": page for p in ("a/in/x", "b/in/x", "b/a/y", "b/a/in/z")}
    )

    def counts(*words: str) -> set[str]:
        done = fumishirube("grep", "非常灯", "--count", "--json", *words, cwd=workspace)
        rows = done.json["counts"] if done.code in (0, 1) and done.out else []
        only = words[-1].partition("/")[0]
        return {f"{row.get('manual_id', only)}/{row['path']}" for row in rows if "path" in row}

    for group in ("a/in/x.md", "b/in/x.md", "b/a/y.md"):
        assert counts("--prefix", group) == {group}
    assert counts("--prefix", "a") == {"a/in/x.md"}
    assert counts("--prefix", "in") == {"a/in/x.md", "b/in/x.md"}
    assert counts("--prefix", "a/y.md") == {"b/a/y.md"}, "the manual a has no such file"
    assert counts("--manual", "b", "--prefix", "b/in") == {"b/in/x.md"}
    inside = fumishirube("grep", "非常灯", "--manual", "b", "--prefix", "a", cwd=workspace)
    assert "in 2 files; 2 files searched" in inside.err
    assert "not_found" in fumishirube("grep", "非常灯", "--prefix", "a/no.md", cwd=workspace).err
    words = ("toc", "b", "--deep", "--prefix", "b/a/y.md")
    assert "非常灯" in fumishirube(*words, cwd=workspace).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b", "--regex"], "--regex takes one TEXT"),
        (["a", "-C", "4"], "at most 3"),
        (["(", "--regex"], "no regular expression"),
        (["a", "--manual", "n"], "there is no manual 'n'"),
        ([" "], "not blank"),
    ],
)
def test_the_command_says_what_is_wrong(workspace: Path, words: list[str], message: str) -> None:
    done = fumishirube("grep", *words, cwd=workspace)
    assert done.code != 0
    assert message in done.err
