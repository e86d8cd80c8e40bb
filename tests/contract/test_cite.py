"""`fumishirube cite check`: valid, moved, changed or gone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import RULES, fumishirube, opened, write
from warm_start import warm_script

from fumishirube.commands import search_context
from fumishirube.parsing import PlaceRange
from fumishirube.text.controls import printable
from fumishirube.tools.citations import Citation
from fumishirube_manual.citations import CitationChecker, find_citations

FIND = ("find", "対象", "--manual", "m1", "--json")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, {"m1/rules.md": RULES, "m1/data.json": '{"対象": "全員"}\n'})


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CitationChecker]:
    application = opened(write(tmp_path_factory.mktemp("cite"), {"m1/rules.md": RULES}))
    yield CitationChecker(search_context(application).manual)
    application.close()


def cited(workspace: Path) -> dict[int, str]:
    hits = fumishirube(*FIND, cwd=workspace).json["hits"]
    return {h["ref"]["start_line"]: h["cite"] for h in hits if h["ref"]["path"] == "rules.md"}


def check(workspace: Path, *words: str, stdin: str = "") -> Any:
    done = fumishirube("cite", "check", "--json", *words, cwd=workspace, stdin=stdin)
    states = [one["state"] for one in done.json]
    assert done.code == int(any(state != "valid" for state in states))
    return done.json


def states(workspace: Path, *words: str) -> list[str]:
    return [one["state"] for one in check(workspace, *words)]


def rewrite(workspace: Path, text: str, name: str = "rules.md") -> None:
    write(workspace, {f"m1/{name}": text})


def test_what_find_cites_is_valid(workspace: Path) -> None:
    cites = [hit["cite"] for hit in fumishirube(*FIND, cwd=workspace).json["hits"]]
    assert len(cites) == 3
    assert states(workspace, *cites) == ["valid"] * 3


def test_a_citation_is_printed_as_it_is_also_of_a_name_that_no_terminal_shows(
    workspace: Path,
) -> None:
    write(workspace, {"m1/rtl\u202efdm.exe.md": "# 鉄の鍵\n\n鍵は九本ある。\n"})
    printed = fumishirube("find", "鍵", "--manual", "m1", cwd=workspace).out
    (one,) = find_citations(printed)
    assert "%E2%80%AE" in one
    assert states(workspace, one) == ["valid"]


def test_a_section_that_stands_lower_now_has_moved(workspace: Path) -> None:
    exception = cited(workspace)[3]
    rewrite(workspace, f"前書き。\n\n{RULES}")
    (one,) = check(workspace, exception)
    assert one["state"] == "moved"
    assert one["now"].startswith("manual://m1/rules.md#L5-L6@")
    assert one["now"][-6:] == exception[-6:]
    assert states(workspace, one["now"]) == ["valid"]


def test_a_section_that_stands_in_another_file_now_has_moved(workspace: Path) -> None:
    exception = cited(workspace)[3]
    (workspace / "manuals/m1/rules.md").rename(workspace / "manuals/m1/new.md")
    (one,) = check(workspace, exception)
    assert (one["state"], one["now"][:24]) == ("moved", "manual://m1/new.md#L3-L4")


def test_a_section_with_another_text_has_changed(workspace: Path) -> None:
    exception = cited(workspace)[3]
    rewrite(workspace, RULES.replace("この場合は", "どの場合も"))
    assert states(workspace, exception) == ["changed"]


def test_what_is_no_longer_there_is_gone(workspace: Path) -> None:
    cites = cited(workspace)
    rewrite(workspace, "# 総則\n対象です。\n")
    assert states(workspace, cites[1], cites[3]) == ["valid", "gone"]
    (workspace / "manuals/m1/rules.md").unlink()
    told = check(workspace, cites[1], "manual://nope/x.md#L1", "manual://")
    assert [one["state"] for one in told] == ["gone"] * 3
    assert all(one["explanation"] for one in told)


def test_a_citation_without_a_hash_holds_while_its_lines_are_there(workspace: Path) -> None:
    refs = ["", "#L3", "#L3-L4", "#L6", "#L7", "#L3-L9"]
    told = states(workspace, *(f"manual://m1/rules.md{ref}" for ref in refs))
    assert told == ["valid"] * 4 + ["gone"] * 2


def test_why_nothing_can_be_at_a_citation_is_told(workspace: Path) -> None:
    told = check(workspace, *(f"manual://m1/rules.md#{place}" for place in ("L1-L2@a1b2", "L5-L2")))
    assert [one["state"] for one in told] == ["gone"] * 2
    assert "has 6 to 64 of 0-9a-f as HASH" in told[0]["explanation"]
    assert told[1]["explanation"] == "its last line is before its first"


@given(
    first=st.integers(1, 6),
    further=st.integers(0, 5),
    digits=st.integers(6, 64),
    same=st.booleans(),
)
def test_any_lines_are_valid_with_their_own_hash_and_changed_with_another(
    checker: CitationChecker, first: int, further: int, digits: int, same: bool
) -> None:
    """As ``manual_read`` and the resources compare them, whether a section begins there or not."""
    last = min(first + further, 6)
    own = "".join(RULES.splitlines(keepends=True)[first - 1 : last])
    written = sha256((own if same else own + "x").encode()).hexdigest()[:digits]
    one = checker.check(f"manual://m1/rules.md#L{first}-L{last}@{written}")
    assert one.state == ("valid" if same else "changed")


@pytest.mark.timeout(30)
@pytest.mark.slow
def test_thousands_of_citations_of_one_file_are_checked(tmp_path: Path) -> None:
    """For each, all sections above it were hashed, which took half a minute."""
    parts = [f"# Part {number}\n\ntext\n\n" for number in range(4_000)]
    write(tmp_path, {"m1/rules.md": "".join(parts)})
    cites = [
        f"manual://m1/rules.md#L{4 * at + 1}-L{4 * at + 4}@{sha256(part.encode()).hexdigest()[:6]}"
        for at, part in enumerate(parts)
    ]
    told = check(tmp_path, "-", stdin="\n".join(cites))
    assert [one["state"] for one in told] == ["valid"] * len(cites)


def test_the_same_text_twice_is_found_in_the_same_file_first(workspace: Path) -> None:
    first = cited(workspace)[1]
    rewrite(workspace, RULES, "a.md")
    rewrite(workspace, f"前書き。\n\n{RULES}")
    (one,) = check(workspace, first)
    assert one["now"].startswith("manual://m1/rules.md#L3-")


def test_citations_are_read_out_of_texts(workspace: Path) -> None:
    one, other = cited(workspace)[1], cited(workspace)[3]
    note = workspace / "note.md"
    note.write_text(f"総則({one})を参照。例外は{other}、[同]({other})。\n`manual://m1/x.md`。\n")
    told = check(workspace, "note.md")
    assert [(row["citation"], row["state"]) for row in told] == [
        (one, "valid"),
        (other, "valid"),
        ("manual://m1/x.md", "gone"),
    ]
    assert {row["file"] for row in told} == {"note.md"}
    assert [row["citation"] for row in check(workspace, "-", stdin=note.read_text())] == [
        row["citation"] for row in told
    ]


def test_all_notes_of_the_vault_are_checked_when_nothing_is_named(workspace: Path) -> None:
    one, other = cited(workspace)[1], cited(workspace)[3]
    assert check(workspace) == []
    for name, text in (
        ("plan.md", f"総則({one})を参照。"),
        ("sub/sjis.txt", f"例外は{other}、なくなったのは manual://m1/x.md#L1 。"),
        (".system/journal/x.done", "manual://m1/nope.md#L1"),
    ):
        note = workspace / "vault" / name
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_bytes(text.encode("cp932"))
    (workspace / "vault" / "image.png").write_bytes(b"\x81\xff\xfe\x80 \xff\xff")
    told = [(row["file"], row["citation"], row["state"]) for row in check(workspace)]
    assert told == [
        ("vault/plan.md", one, "valid"),
        ("vault/sub/sjis.txt", other, "valid"),
        ("vault/sub/sjis.txt", "manual://m1/x.md#L1", "gone"),
    ]
    assert "image.png" in fumishirube("cite", "check", cwd=workspace).err


def test_notes_are_checked_at_any_depth_and_below_allowed_names(workspace: Path) -> None:
    setting = "surfaces: [{use: manual}, {use: vault, with: {allow_hidden: [.notes]}}]\n"
    (workspace / "fumishirube.yaml").write_text(setting)
    deep = "/".join("d" * 40)
    for folder in (".notes", deep, ".git"):
        note = workspace / "vault" / folder / "a.md"
        note.parent.mkdir(parents=True)
        note.write_text("manual://m1/x.md")
    told = [row["file"] for row in check(workspace, "--trust")]
    assert told == ["vault/.notes/a.md", f"vault/{deep}/a.md"]


def test_a_text_from_a_pipe_may_have_any_encoding_and_damage(workspace: Path) -> None:
    def piped(data: bytes) -> subprocess.CompletedProcess[bytes]:
        words = [str(warm_script()), "cite", "check", "-"]
        return subprocess.run(words, cwd=workspace, input=data, capture_output=True, check=False)

    assert piped("日本語の参照 manual://m1/x.md".encode("cp932")).returncode == 1
    assert b"gone" in piped(b"see manual://m1/x.md caf\xe9\n").stdout


def test_people_get_a_line_a_citation_and_a_sum(workspace: Path) -> None:
    one = cited(workspace)[1]
    done = fumishirube("cite", "check", one, "manual://m1/rules.md#L99", cwd=workspace)
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0] == f"valid   {one}"
    assert lines[1] == "gone    manual://m1/rules.md#L99"
    assert lines[2].strip() == "the file has 6 lines"
    assert lines[-1] == "1 valid, 1 gone"
    assert fumishirube("cite", "check", "-", cwd=workspace).out == "no citations\n"


@pytest.mark.parametrize("words", [("check", "nope.md"), ("chek",), ("check", "data.bin"), ()])
def test_wrong_words_are_told(workspace: Path, words: tuple[str, ...]) -> None:
    (workspace / "data.bin").write_bytes(b"\x81\xff\xfe\x80 \xff\xff")
    done = fumishirube("cite", *words, cwd=workspace)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1


IDS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/#"), min_size=1)
PATHS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
DIGESTS = st.text("0123456789abcdef", min_size=6, max_size=6)
NUMBERS = st.integers(1, 10**6)
RANGES = st.tuples(NUMBERS, NUMBERS).map(sorted)
SEEN = st.one_of(
    st.builds(
        lambda kind, pair: PlaceRange(kind, *pair), st.sampled_from(["page", "slide"]), RANGES
    ),
    st.builds(lambda sheet, pair: PlaceRange("row", *pair, sheet), PATHS, RANGES),
)
PLACES = st.one_of(
    st.builds(Citation, IDS, PATHS, NUMBERS, NUMBERS, DIGESTS, st.none()),
    st.builds(Citation, IDS, PATHS, st.none(), st.none(), DIGESTS, SEEN),
)


@given(PLACES, st.sampled_from([" ", "。", "、", ")", "」を参照", ", ", "\n", "は"]))
def test_any_citation_is_found_in_running_text(place: Citation, after: str) -> None:
    text = str(place)
    assert find_citations(f"見よ {printable(text)}{after}") == [text]
    assert Citation.parse(text) == place
