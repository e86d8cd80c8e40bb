"""What holds for every note: characters come once, and a replacement changes nothing else."""

from __future__ import annotations

import re
import time
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from manuals import ask, opened
from torture import examples

from fumishirube import Call, InvalidParameter, ToolError
from fumishirube.host.application import Application
from fumishirube.text import decode, decode_with_encoding, unify_line_ends
from fumishirube.tools.pages import PAGE_CHARS
from fumishirube_vault import differences
from fumishirube_vault.differences import difference
from fumishirube_vault.note_texts import LineEnds
from fumishirube_vault.replacement import replace_text

LIMIT = 10 * 1024 * 1024
MANY = settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))

ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r\n", "\n\r"])
WORDS = st.text(st.sampled_from("ab あ漢ー😀\u2028\x0b"), max_size=6)
TEXTS = st.lists(WORDS | ENDS, max_size=30).map("".join)
LONG = st.builds(
    lambda head, unit, times, tail: head + unit * times + tail,
    TEXTS,
    (WORDS | ENDS).filter(bool),
    st.integers(0, 9000),
    TEXTS,
)
FORMS = st.sampled_from([("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe")])
JAPANESE = "日本語の覚え書きです。これはかなと漢字。\r\n"


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Application:
    workspace = tmp_path_factory.mktemp("workspace")
    (workspace / "manuals").mkdir()
    (workspace / "vault").mkdir()
    return opened(workspace)


def noted(application: Application, data: bytes) -> bytes:
    file = application.loaded.folder("vault") / "note.md"
    file.write_bytes(data)
    return data


def scanned(application: Application, cursor: dict[str, Any] | None = None) -> str:
    """Follow the cursors of a note to its end."""
    pages = []
    while True:
        given = {"cursor": cursor} if cursor else {}
        page = ask(application, "vault_scan", path="note.md", **given)
        assert len(page["text"]) == PAGE_CHARS or page["eof"]
        assert page["truncated"] == (not page["eof"]) == (page["truncated_reason"] == "max_chars")
        pages.append(page["text"])
        if page["eof"]:
            assert page["next_cursor"] == {"char_offset": None}
            return "".join(pages)
        cursor = page["next_cursor"]


def unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


# --- reading ---------------------------------------------------------------------------------


@MANY
@given(text=LONG, form=FORMS)
@example(text="x" * 11_999 + "\r\n" + "y" * 12_000, form=("utf-8", b""))
def test_following_a_scan_yields_each_character_once(
    application: Application, text: str, form: tuple[str, bytes]
) -> None:
    encoding, mark = form
    data = noted(application, mark + text.encode(encoding))
    assert scanned(application) == decode(data)


@MANY
@given(text=LONG, form=FORMS, data=st.data())
@example(text="x" * 11_999 + "\r\n" + "y" * 12_000, form=("utf-8", b""), data=None)
def test_what_a_read_leaves_a_scan_yields(
    application: Application, text: str, form: tuple[str, bytes], data: Any
) -> None:
    encoding, mark = form
    own = decode_with_encoding(noted(application, mark + text.encode(encoding))).text
    whole = unified(own)
    total = max(1, whole.count("\n") + (not whole.endswith("\n")))
    first = data.draw(st.integers(1, total)) if data else 1
    last = data.draw(st.integers(first, total + 2)) if data else total
    given = {"start_line": first, "end_line": last}
    answer = ask(application, "vault_read", path="note.md", range=given)
    assert answer["returned_chars"] == len(answer["text"]) <= PAGE_CHARS
    assert answer["text"] in own
    lines = re.findall(r"[^\n]*\n|[^\n]+", whole) or [""]
    before, got = "".join(lines[: first - 1]), unified(answer["text"])
    rest = answer["next_cursor"]
    following = "" if rest["char_offset"] is None else scanned(application, rest)
    assert before + got + following == whole
    cut = len("".join(lines[first - 1 : last])) > len(got)
    reason = "max_chars" if cut else "range_end" if following else "none"
    assert (answer["truncated_reason"], answer["truncated"]) == (reason, reason != "none")
    ended = (before + got).count("\n") + (not got.endswith("\n")) if got else first
    assert answer["applied_range"] == {"start_line": first, "end_line": ended}


# --- replacing -------------------------------------------------------------------------------


def modelled(text: str, find: str, by: str, most: int) -> tuple[str, int]:
    """Replace as simply as can be: the lines of a text, character by character."""
    units = re.findall(r"\r\n|[\s\S]", text)
    wanted = list(unified(find))
    often = {end: sum(unit == end for unit in units) for end in ("\n", "\r\n", "\r")}
    by = unified(by).replace("\n", max(often, key=lambda end: often[end]))
    result, place, count = "", 0, 0
    while place < len(units):
        here = [unified(unit) for unit in units[place : place + len(wanted)]]
        if here == wanted and count < most:
            result, place, count = result + by, place + len(wanted), count + 1
        else:
            result, place = result + units[place], place + 1
    return result, count


@settings(max_examples=examples(400), deadline=None)
@given(
    text=TEXTS,
    find=st.lists(WORDS | ENDS, min_size=1, max_size=3).map("".join).filter(bool),
    by=st.lists(WORDS | ENDS, max_size=3).map("".join),
    most=st.integers(0, 5),
    form=FORMS,
)
@example(text="a\r\n\r\nb", find="\n\n", by="\n", most=9, form=("utf-8", b""))
@example(text="a\r\nb\n", find="\n", by="", most=1, form=("utf-8", b""))
@example(text="aaa", find="aa", by="a", most=9, form=("utf-8", b"\xef\xbb\xbf"))
def test_a_replacement_is_what_a_simple_model_says(
    text: str, find: str, by: str, most: int, form: tuple[str, bytes]
) -> None:
    encoding, mark = form
    data = mark + text.encode(encoding)
    expected, count = modelled(text, find, by, most)
    done = replace_text(data, find, by, most, LIMIT)
    assert done == (mark + expected.encode(encoding), count)


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp", "iso2022_jp", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(("find", "by"), [("かな", "仮名"), ("。\n", "！\n改行\n"), ("日本語", "")])
def test_bytes_that_were_not_replaced_stay(encoding: str, find: str, by: str) -> None:
    text = JAPANESE * 3
    expected, count = modelled(text, find, by, 2)
    done = replace_text(text.encode(encoding), find, by, 2, LIMIT)
    assert (done.times, done.data) == (count, expected.encode(encoding))


def test_a_second_way_to_write_a_character_stays() -> None:
    """CP932 has some characters twice; what is read is one, what stood there is the other."""
    twice = b"\x87\x9a"  # the sign for "because", where NEC put it
    assert twice.decode("cp932").encode("cp932") != twice
    data = JAPANESE.encode("cp932") + twice + "メモ\r\n".encode("cp932") + twice
    done = replace_text(data, "メモ\n", "手帳\n", 1, LIMIT)
    assert done.data == data.replace("メモ".encode("cp932"), "手帳".encode("cp932"))
    other = replace_text(data, twice.decode("cp932"), "故に", 9, LIMIT)
    assert other == (data.replace(twice, "故に".encode("cp932")), 2)


def test_a_pair_that_is_written_as_one_is_not_divided() -> None:
    data = (JAPANESE * 2 + "①か゚の字㈱").encode("euc_jis_2004")
    assert decode_with_encoding(data).encoding == "euc_jis_2004"
    with pytest.raises(InvalidParameter):
        replace_text(data, "゚", "x", 1, LIMIT)
    assert replace_text(data, "か゚", "が", 1, LIMIT).times == 1


@pytest.mark.parametrize("by", ["😀", "é"])
def test_what_the_encoding_lacks_is_refused(by: str) -> None:
    with pytest.raises(InvalidParameter):
        replace_text(JAPANESE.encode("cp932"), "かな", by, 1, LIMIT)


def test_a_result_that_would_read_otherwise_is_refused() -> None:
    with pytest.raises(InvalidParameter):
        replace_text(b"note", "n", "\ufeffn", 1, LIMIT)


def test_the_size_of_a_result_counts_its_own_line_ends() -> None:
    data = b"a\r\n" * 1000
    done = replace_text(data, "\n", "\n\n", 1000, 5000)
    assert done == (b"a\r\n\r\n" * 1000, 1000)
    with pytest.raises(InvalidParameter, match="would have 5000 bytes"):
        replace_text(data, "\n", "\n\n", 1000, 4999)


@MANY
@given(own=TEXTS, data=st.data())
def test_an_offset_is_where_as_much_text_is_before_it(own: str, data: st.DataObject) -> None:
    ends = LineEnds(own)
    offsets = sorted(data.draw(st.lists(st.integers(0, len(ends.text)), max_size=5)))
    places = [*ends.places(offsets)]
    assert places == [*map(ends.place, offsets)]
    for offset, place in zip(offsets, places, strict=True):
        assert unify_line_ends(own[:place]) == ends.text[:offset]
        assert unify_line_ends(own[place:]) == ends.text[offset:]


def test_a_result_that_is_too_large_is_never_made() -> None:
    with pytest.raises(InvalidParameter):
        replace_text(b"a" * LIMIT, "a", "b" * LIMIT, LIMIT, LIMIT)
    assert replace_text(b"a" * 20, "aa", "b", 99, 5).data == b"b" * 10


ODD = st.sampled_from(["\x1b$B", "\x1b(B", "\x1b$@", "\ufeff", '$"', "あ", "\x1b"])


@FEW
@given(st.lists(ODD | WORDS | ENDS, min_size=1, max_size=8).map("".join).filter(bool))
def test_a_new_note_is_read_as_it_was_written_or_refused(
    application: Application, content: str
) -> None:
    file = application.loaded.folder("vault") / "new.md"
    file.unlink(missing_ok=True)
    try:
        ask(application, "vault_create", path="new.md", content=content)
    except InvalidParameter:
        assert "\x1b$" in content
        assert not file.exists()
        return
    assert file.read_bytes() == content.encode()
    read = ask(application, "vault_read", path="new.md", full=True)
    assert read["text"] == content.removeprefix("\ufeff")


@pytest.mark.parametrize("content", ["Use ESC \x1b$B to shift in", '\x1b$B$"\x1b(B', "\x1b$@"])
def test_a_new_note_that_would_read_otherwise_is_refused(
    application: Application, content: str
) -> None:
    with pytest.raises(InvalidParameter, match="leave them out"):
        ask(application, "vault_create", path="odd.md", content=content)
    assert not (application.loaded.folder("vault") / "odd.md").exists()


# --- differences -----------------------------------------------------------------------------

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "- a", "@@"]), max_size=14)


def patched(old: list[str], diff: str) -> list[str]:
    """Apply a unified diff as ``patch`` does, and check every line that it quotes."""
    result, at = [], 0
    for line in diff.splitlines()[2:]:
        if line.startswith("@@ "):
            first, length = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+.* @@", line).groups()  # type: ignore[union-attr]
            start = int(first) - (length != "0")
            result += old[at:start]
            at = start
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert old[at] == line[1:]
            result += [line[1:]] * line.startswith(" ")
            at += 1
    return result + old[at:]


def encoded(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.parametrize("most", [0, 2_000])
@given(old=LINES, new=LINES)
def test_a_difference_leads_from_one_state_to_the_other(
    most: int, old: list[str], new: list[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(differences, "_MOST_COMPARED", most)
        diff = difference("n.md", encoded(old), encoded(new))
    assert (diff == "") == (old == new)
    if diff:
        assert patched(old, diff) == new


@pytest.mark.parametrize("most", [0, 2_000])
@given(st.lists(st.booleans(), max_size=40))
def test_a_difference_looks_as_that_of_python(most: int, changed: list[bool]) -> None:
    old = [f"{number}" for number, _ in enumerate(changed)]
    new = [f"{line} new" if it else line for line, it in zip(old, changed, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(differences, "_MOST_COMPARED", most)
        diff = difference("n.md", encoded(old), encoded(new))
    assert diff.splitlines() == [*unified_diff(old, new, "n.md", "n.md", lineterm="")]


@given(st.integers(2, 40), st.data())
def test_a_difference_shows_a_moved_line_alone(lines: int, data: st.DataObject) -> None:
    old = [f"- item {number}" for number in range(lines)]
    new = old.copy()
    new.insert(data.draw(st.integers(0, lines - 1)), new.pop(data.draw(st.integers(0, lines - 1))))
    shown = difference("n.md", encoded(old), encoded(new)).splitlines()[2:]
    changed = [line for line in shown if line.startswith(("+", "-"))]
    assert len(changed) == 2 * (old != new)


@pytest.mark.slow
def test_a_difference_of_many_equal_lines_takes_linear_time() -> None:
    """In square time this test would not end."""
    old = [f"| row {number % 150} | TODO |" for number in range(100_000)]
    new = [line.replace("TODO", "DONE") if n % 2 else line for n, line in enumerate(old)]
    for other in (new, new[:-5], [*new, "x"]):
        assert patched(old, difference("n.md", encoded(old), encoded(other))) == other


@pytest.mark.timeout(5)
@pytest.mark.parametrize(("paragraphs", "by"), [(500, "final"), (400, "final\nmore")])
def test_a_change_of_every_paragraph_takes_no_cubic_time(paragraphs: int, by: str) -> None:
    old = "\n\n".join(f"paragraph {number} draft" for number in range(paragraphs))
    new = old.replace("draft", by)
    diff = difference("n.md", old.encode(), new.encode())
    assert patched(old.split("\n"), diff) == new.split("\n")


# --- undoing ---------------------------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), st.sampled_from("xy"), st.sampled_from(["ab", "b\r\n"])),
        st.tuples(st.just("replace"), st.sampled_from("xy"), st.sampled_from(["a", "b"])),
        st.tuples(st.sampled_from(["undo", "redo"]), st.sampled_from(["x", "y", ""]), st.just("")),
    ),
    max_size=12,
)


@FEW
@given(steps=STEPS)
def test_taking_back_everything_leads_to_where_it_began(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    """Every write is one step; undo and redo walk along the steps of each note, or of all."""
    workspace = tmp_path_factory.mktemp("workspace")
    (workspace / "manuals").mkdir()
    application = opened(workspace)

    def call(name: str, **given: Any) -> bool:
        try:
            tool = application.tools.get(name) or application.commands[name]
            tool.run(tool.params(**given), Call())
        except ToolError:
            return False
        return True

    vault = workspace / "vault"

    def state() -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in vault.glob("*.md")}

    for verb, name, text in steps:
        path = {"path": f"{name}.md"} if name else {}
        if verb == "create":
            call("vault_create", **path, content=text)
        elif verb == "replace":
            call("vault_replace", **path, find=text, replace=text * 2 + "c")
        else:
            before = state()
            if call(f"vault_{verb}", **path):
                changed = state()
                assert changed != before
                other = "redo" if verb == "undo" else "undo"
                assert call(f"vault_{other}", **path)
                assert state() == before
                assert call(f"vault_{verb}", **path)
                assert state() == changed
    while call("vault_undo"):
        pass
    assert state() == {}
    assert not [one for one in vault.rglob("*") if one.name.endswith(".intent")]


def test_the_last_write_is_taken_back_first_although_the_clock_stepped_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writes after the step are a nanosecond apart, less than a time in a record tells."""
    (tmp_path / "manuals").mkdir()
    application = opened(tmp_path)
    vault, now = tmp_path / "vault", time.time_ns()

    def stepped(name: str, **given: str) -> list[str]:
        nonlocal now
        now -= 5_000_000_000
        monkeypatch.setattr(time, "time_ns", lambda: now)
        tool = application.tools.get(name) or application.commands[name]
        tool.run(tool.params(**given), Call())
        return sorted(f"{file.name}: {file.read_text()}" for file in vault.glob("*.md"))

    states = [
        [],
        stepped("vault_create", path="a.md", content="A"),
        stepped("vault_create", path="b.md", content="B"),
        stepped("vault_replace", path="a.md", find="A", replace="C"),
    ]
    for state in states[-2::-1]:
        assert stepped("vault_undo") == state
    for state in states[1:]:
        assert stepped("vault_redo") == state
