"""From listing the manuals to the last character, as an agent goes, over a real connection."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stdio import Fumishirube, Wire
from torture import examples

pytestmark = pytest.mark.timeout(120)

SAMPLES = Path(__file__).parents[2] / "manuals"
BENEFITS, HANDBOOK = "給付金編", "業務ハンドブック"
LEAST = 256


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


PLAIN = {"FUMISHIRUBE_SURFACE_EXTRAS": "coverage,cite"}
"""Rows as the contract has them, which are the same in a search and in its pages."""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("samples")
    shutil.copytree(SAMPLES, root / "manuals")
    return root


@pytest.fixture(scope="module")
def library(samples: Path) -> Iterator[Fumishirube]:
    """A connection to the sample manuals."""
    with Fumishirube(samples, **PLAIN) as connected:
        connected.ok("manual_ls")
        yield connected


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    write(tmp_path / "manuals/m/a.md", "# 休暇\n年休は十日です。\n")
    write(tmp_path / "manuals/m/b.md", "# 旅費\n日当は千円です。\n")
    return tmp_path


@pytest.fixture
def server(workspace: Path) -> Iterator[Fumishirube]:
    """A connection to a small manual that the test may change."""
    with Fumishirube(workspace, **PLAIN) as connected:
        connected.ok("manual_ls")
        yield connected


def text_of(path: Path) -> str:
    """Read a sample as an editor would."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp932")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def find(server: Any, manual_id: str, query: str, *terms: str) -> list[dict[str, Any]]:
    """Return every row of a search, best first."""
    answer = server.ok("manual_find", query=query, manual_id=manual_id, required_terms=list(terms))
    page = server.ok(
        "manual_hits",
        trace_id=answer["trace_id"],
        kind="integrated_top",
        limit=answer["candidates"] or 1,
    )
    assert "degraded" not in answer, answer
    assert page["items"][:5] == answer["inline_hits"]["items"]
    return list(page["items"])


def paths_of(rows: list[dict[str, Any]]) -> list[str]:
    return [row["ref"]["path"] for row in rows]


def scan(server: Any, manual_id: str, path: str, size: int = LEAST) -> str:
    """Follow the cursors from the start to the end, checking each page, and join the texts."""
    text = ""
    cursor: Any = None
    while True:
        page = server.ok(
            "manual_scan", manual_id=manual_id, path=path, cursor=cursor, max_chars=size
        )
        before, text = text, text + page["text"]
        starts = min(before.count("\n") + 1, max(1, text.count("\n") + (text[-1:] != "\n")))
        assert page["applied_range"] == {
            "start_line": starts,
            "end_line": max(1, text[:-1].count("\n") + 1),
        }
        assert page["truncated"] is not page["eof"]
        assert page["truncated_reason"] == ("none" if page["eof"] else "max_chars")
        if page["eof"]:
            assert page["next_cursor"] == {"char_offset": None}
            return text
        assert len(page["text"]) == size
        assert page["next_cursor"] == {"char_offset": len(text)}
        cursor = page["next_cursor"]


def listed(server: Any, manual_id: str) -> list[str]:
    """Walk all folders of a manual, and return the paths of the files."""
    found: list[str] = []
    waiting = [manual_id]
    while waiting:
        for item in server.ok("manual_ls", id=waiting.pop())["items"]:
            if item["kind"] == "dir":
                waiting.append(item["id"])
            else:
                found.append(item["path"])
    return sorted(found)


# --- one journey a format -------------------------------------------------------------------


class Trip(NamedTuple):
    manual_id: str
    path: str
    file_type: str
    query: str
    term: str
    title: str
    line: int


TRIPS = [
    Trip(HANDBOOK, "就業/休暇.md", "md", "年休は何年で失効するか", "失効", "繰り越しと失効", 51),
    Trip("reference", "旅費日当表.json", "json", "東京の日当", "日当", "旅費日当表.json", 1),
    Trip(
        BENEFITS,
        "05_通院給付.txt",
        "txt",
        "骨折してギプスで固定した期間は通院日に数えるか",
        "ギプス",
        "第5章 通院給付",
        1,
    ),
]


@pytest.mark.parametrize("trip", TRIPS, ids=lambda trip: trip.file_type)
def test_an_agent_gets_from_the_list_to_the_last_character(
    library: Fumishirube, trip: Trip
) -> None:
    text = text_of(SAMPLES / trip.manual_id / trip.path)
    assert trip.manual_id in [item["id"] for item in library.ok("manual_ls")["items"]]
    assert trip.path in listed(library, trip.manual_id)

    toc = library.ok(
        "manual_toc",
        manual_id=trip.manual_id,
        path_prefix=trip.path,
        depth="deep",
        max_headings_per_file=200,
    )
    (entry,) = toc["items"]
    headings = [(one["title"], one["line_start"]) for one in entry["headings"]]
    assert (trip.title, trip.line) in headings

    best = find(library, trip.manual_id, trip.query, trip.term)[0]
    assert best["ref"] == {
        "manual_id": trip.manual_id,
        "path": trip.path,
        "start_line": trip.line,
    }
    assert best["title"] == trip.title
    assert best["matched_tokens"]

    if trip.file_type == "json":
        assert library.refused("manual_read", ref=best["ref"])["code"] == "invalid_scope"
    else:
        section = library.ok("manual_read", ref=best["ref"], max_chars=50_000)
        start = section["applied_range"]["start_line"]
        assert start == trip.line
        assert trip.term in section["text"]
        assert "\n".join(text.split("\n")[start - 1 :]).startswith(section["text"])
    assert scan(library, trip.manual_id, trip.path) == text


def test_every_sample_file_is_listed_the_same_three_ways_and_read_to_its_end(
    library: Fumishirube,
) -> None:
    for item in library.ok("manual_ls")["items"]:
        manual = item["id"]
        paths = listed(library, manual)
        toc = library.ok("manual_toc", manual_id=manual, max_files=50)
        assert [entry["path"] for entry in toc["items"]] == paths
        for path in paths:
            text = text_of(SAMPLES / manual / path)
            assert scan(library, manual, path, 1000) == text


def test_every_heading_of_the_toc_can_be_read(library: Fumishirube) -> None:
    toc = library.ok(
        "manual_toc", manual_id=HANDBOOK, path_prefix="就業", depth="deep", max_files=50
    )
    assert toc["total_files"] == 3
    for entry in toc["items"]:
        assert "headings_total" not in entry
        for heading in entry["headings"]:
            ref = {
                "manual_id": HANDBOOK,
                "path": entry["path"],
                "start_line": heading["line_start"],
            }
            section = library.ok("manual_read", ref=ref)
            assert section["applied_range"]["start_line"] == heading["line_start"]
            if section["applied"]["mode"] == "read":
                assert heading["title"] in section["text"].split("\n", 1)[0] + entry["path"]


# --- questions ------------------------------------------------------------------------------

QUESTIONS = [
    (BENEFITS, "代筆のときは誰の印が必要か", ["代筆", "印"], ("10_必要書類.txt", 1)),
    (BENEFITS, "支給額に税はかかるか", ["税"], ("11_支払期限と支払方法.txt", 1)),
    (BENEFITS, "オンライン診療は通院に数えるのか", ["オンライン診療"], ("05_通院給付.txt", 1)),
    (HANDBOOK, "自家用車で出張したときの交通費はいくらか", ["自家用車"], ("経費/出張旅費.md", 27)),
    (
        HANDBOOK,
        "会社カードと立替精算はどう使い分けるのか",
        ["会社カード"],
        ("経費/立替精算.md", 54),
    ),
    (
        HANDBOOK,
        "パスワードが漏れたかもしれないときはどうする",
        ["漏えい"],
        ("情報システム/パスワード.md", 55),
    ),
    (HANDBOOK, "在宅勤務とサテライト勤務の違い", ["在宅勤務"], ("就業/在宅勤務.md", 73)),
    (
        HANDBOOK,
        "年次有給休暇と特別休暇の違いは何ですか",
        ["年次有給休暇", "特別休暇"],
        ("就業/休暇.md", 87),
    ),
    ("field-guide", "What should I do about E-104?", ["E-104"], ("error-codes.md", 27)),
]


@pytest.mark.parametrize(("manual", "query", "terms", "place"), QUESTIONS)
def test_a_question_in_plain_words_finds_its_section_first(
    library: Fumishirube, manual: str, query: str, terms: list[str], place: tuple[str, int]
) -> None:
    first = find(library, manual, query, *terms)[0]
    assert (first["ref"]["path"], first["ref"]["start_line"]) == place


@pytest.mark.parametrize(
    ("manual", "word"),
    [(BENEFITS, "税"), (BENEFITS, "印"), (BENEFITS, "死"), (HANDBOOK, "席"), (BENEFITS, "代筆")],
)
def test_a_word_of_one_or_two_characters_finds_every_file_that_holds_it(
    library: Fumishirube, manual: str, word: str
) -> None:
    holding = {
        path
        for path in listed(library, manual)
        if not path.startswith("00_") and word in text_of(SAMPLES / manual / path)
    }
    assert holding
    rows = find(library, manual, word, word)
    assert holding <= set(paths_of(rows))


def test_a_search_never_leaves_its_manual(library: Fumishirube) -> None:
    for manual in (BENEFITS, HANDBOOK, "reference", "field-guide"):
        rows = find(library, manual, "日当と給付金と休暇 error code", "日当", "code")
        assert {row["ref"]["manual_id"] for row in rows} <= {manual}


# --- encodings and characters ---------------------------------------------------------------

PROSE = "# 休暇の規程\n\n" + "".join(
    f"{number}. 年次有給休暇は、毎年4月1日に一斉に付与する（勤続{number}年以上の者に限る）。\n"
    for number in range(1, 21)
)
ENCODINGS = {
    "utf-8": lambda text: text.encode(),
    "utf-8-bom": lambda text: text.encode("utf-8-sig"),
    "utf-16-le-bom": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "utf-16-be-bom": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "utf-16-le": lambda text: text.encode("utf-16-le"),
    "utf-16-be": lambda text: text.encode("utf-16-be"),
    "cp932": lambda text: text.encode("cp932"),
    "euc-jp": lambda text: text.encode("euc_jp"),
    "iso-2022-jp": lambda text: text.encode("iso2022_jp"),
    "utf-32-le-bom": lambda text: b"\xff\xfe\0\0" + text.encode("utf-32-le"),
    "utf-32-be-bom": lambda text: b"\0\0\xfe\xff" + text.encode("utf-32-be"),
}
LINE_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    root = tmp_path_factory.mktemp("encoded")
    for name, encode in ENCODINGS.items():
        for ending, mark in LINE_ENDS.items():
            write(root / f"manuals/m/{name}-{ending}.md", encode(PROSE.replace("\n", mark)))
    with Fumishirube(root, **PLAIN) as connected:
        connected.ok("manual_ls")
        yield connected


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("ending", LINE_ENDS)
def test_each_encoding_and_line_end_reads_as_the_same_text(
    encoded: Fumishirube, encoding: str, ending: str
) -> None:
    path = f"{encoding}-{ending}.md"
    assert scan(encoded, "m", path) == PROSE
    section = encoded.ok("manual_read", ref={"manual_id": "m", "path": path, "start_line": 1})
    assert section["text"] == PROSE


def test_each_encoding_and_line_end_is_searched(encoded: Fumishirube) -> None:
    rows = find(encoded, "m", "年次有給休暇の付与", "年次有給休暇")
    wanted = [f"{name}-{ending}.md" for name in ENCODINGS for ending in LINE_ENDS]
    assert sorted(paths_of(rows)) == sorted(wanted)
    assert {row["title"] for row in rows} == {"休暇の規程"}


def test_only_a_line_feed_ends_a_line_and_each_character_counts_once(server: Fumishirube) -> None:
    text = "# 記号😀\n一\v二\f三\x85四\u2028五\u2029六\n👨\u200d👩\u200d👧が\u3099\n最後" * 40
    write(server.workspace / "manuals/m/odd.md", text)
    assert scan(server, "m", "odd.md") == text
    lines = text.split("\n")
    last = server.ok("manual_scan", manual_id="m", path="odd.md", start_line=len(lines))
    assert last["text"] == lines[-1]
    offset = text.index("最後")
    page = server.ok("manual_scan", manual_id="m", path="odd.md", cursor=offset)
    assert page["text"] == text[offset:]


def test_any_text_comes_back_character_by_character(server: Fumishirube) -> None:
    characters = st.sampled_from("aB1 あ漢ー。😀が\u3099\n\n\r\t\v\x85\u2028#-|`é")
    place = server.workspace / "manuals/m/any.md"

    @settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.text(characters, max_size=30), st.integers(0, 40))
    def holds(piece: str, times: int) -> None:
        text = piece * times
        write(place, text)
        expected = text.replace("\r\n", "\n").replace("\r", "\n")
        assert scan(server, "m", "any.md") == expected

    holds()


# --- freshness ------------------------------------------------------------------------------


def test_an_edit_is_seen_by_every_tool(server: Fumishirube) -> None:
    assert paths_of(find(server, "m", "年休", "年休")) == ["a.md"]
    write(
        server.workspace / "manuals/m/a.md", "# 休暇\n特別休暇は三日です。\n\n## 附則\n四月から。\n"
    )
    assert find(server, "m", "年休", "年休") == []
    row = find(server, "m", "特別休暇", "特別休暇")[0]
    section = server.ok("manual_read", ref=row["ref"])
    assert "特別休暇は三日です。" in section["text"]
    toc = server.ok("manual_toc", manual_id="m", path_prefix="a.md", depth="deep")
    assert [one["title"] for one in toc["items"][0]["headings"]] == ["休暇", "附則"]


def test_an_edit_that_changes_neither_size_nor_time_is_seen(server: Fumishirube) -> None:
    place = server.workspace / "manuals/m/a.md"
    write(place, "# 休暇\n年休は十日です。\n")
    status = place.stat()
    find(server, "m", "十日", "十日")
    scan(server, "m", "a.md")
    write(place, "# 休暇\n年休は百日です。\n")
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert place.stat().st_size == status.st_size
    assert paths_of(find(server, "m", "百日", "百日")) == ["a.md"]
    assert "百日" in scan(server, "m", "a.md")
    assert "百日" in server.ok("manual_read", ref={"manual_id": "m", "path": "a.md"})["text"]


def test_files_come_move_and_go(server: Fumishirube) -> None:
    folder = server.workspace / "manuals/m"
    write(folder / "sub/c.md", "# 監査\n監査は毎年です。\n")
    assert paths_of(find(server, "m", "監査", "監査")) == ["sub/c.md"]
    assert listed(server, "m") == ["a.md", "b.md", "sub/c.md"]

    (folder / "sub/c.md").rename(folder / "d.md")
    assert paths_of(find(server, "m", "監査", "監査")) == ["d.md"]
    assert listed(server, "m") == ["a.md", "b.md", "d.md"]
    gone = {"manual_id": "m", "path": "sub/c.md"}
    assert server.refused("manual_read", ref=gone)["code"] == "not_found"
    assert server.refused("manual_scan", **gone)["code"] == "not_found"

    (folder / "d.md").unlink()
    assert find(server, "m", "監査", "監査") == []
    assert server.ok("manual_toc", manual_id="m")["total_files"] == 2


def test_manuals_come_and_go(server: Fumishirube) -> None:
    write(server.workspace / "manuals/新規/e.md", "# 新しい規程\n本文。\n")
    assert [item["id"] for item in server.ok("manual_ls")["items"]] == ["m", "新規"]
    assert paths_of(find(server, "新規", "新しい規程", "規程")) == ["e.md"]
    shutil.rmtree(server.workspace / "manuals/新規")
    assert [item["id"] for item in server.ok("manual_ls")["items"]] == ["m"]
    error = server.refused("manual_toc", manual_id="新規")
    assert (error["code"], error["details"]) == ("not_found", {"manual_id": "新規"})


def test_chapters_follow_their_table_of_contents(server: Fumishirube) -> None:
    folder = server.workspace / "manuals/m"
    chapter = {"id": "01", "title": "第1章 総則", "file": "01.txt", "children": None}
    write(folder / "01.txt", "第1章\n目的を定める。\n")
    assert "01.txt" not in listed(server, "m")
    assert find(server, "m", "目的を定める", "目的") == []

    write(folder / "00_目次.json", json.dumps({"manual": "m", "toc": [chapter]}))
    assert "01.txt" in listed(server, "m")
    (row,) = find(server, "m", "目的を定める", "目的")
    assert (row["title"], row["ref"]["path"]) == ("第1章 総則", "01.txt")

    chapter["title"] = "第1章 目的"
    write(folder / "00_目次.json", json.dumps({"manual": "m", "toc": [chapter]}))
    (row,) = find(server, "m", "目的を定める", "目的")
    assert row["title"] == "第1章 目的"


def test_a_file_that_becomes_readable_is_searched(server: Fumishirube) -> None:
    place = server.workspace / "manuals/m/c.md"
    write(place, b"\x81\xff\xfe\x80 \xff\xff")
    assert "c.md" in listed(server, "m")
    error = server.refused("manual_scan", manual_id="m", path="c.md")
    assert (error["code"], error["details"]["reason"]) == ("invalid_scope", "undecodable")
    assert find(server, "m", "監査", "監査") == []
    deep = server.ok("manual_toc", manual_id="m", path_prefix="c.md", depth="deep")
    assert deep["total_files"] == 1
    write(place, "# 監査\n監査は毎年です。\n")
    assert paths_of(find(server, "m", "監査", "監査")) == ["c.md"]


# --- several at once ------------------------------------------------------------------------


def test_two_servers_share_a_workspace_and_both_see_an_edit(workspace: Path) -> None:
    with Fumishirube(workspace, **PLAIN) as one, Fumishirube(workspace, **PLAIN) as two:
        for server in (one, two):
            server.ok("manual_ls")
        for number in range(4):
            write(workspace / "manuals/m/a.md", f"# 休暇\n番号は{number}番札です。\n")
            asked = {
                "query": f"{number}番札",
                "manual_id": "m",
                "required_terms": [f"{number}番札"],
            }
            with ThreadPoolExecutor(2) as pool:
                answers = [pool.submit(one_of.ok, "manual_find", **asked) for one_of in (one, two)]
            results = [answer.result() for answer in answers]
            for result in results:
                assert result["candidates"] == 1, result
                assert result["status"] == "required_effective"
        trace_id = results[0]["trace_id"]
        assert one.ok("manual_hits", trace_id=trace_id)["total"] == 1


def test_calls_side_by_side_get_their_own_answers(library: Fumishirube) -> None:
    questions = QUESTIONS * 3
    with ThreadPoolExecutor(8) as pool:
        rows = pool.map(lambda one: find(library, one[0], one[1], *one[2])[0], questions)
        for row, (manual, _, _, place) in zip(rows, questions, strict=True):
            ref = row["ref"]
            assert (ref["manual_id"], ref["path"], ref["start_line"]) == (manual, *place)


# --- what must stay out ---------------------------------------------------------------------

SECRET = "漏らしてはならない合言葉"


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    """A connection to a manual with links of every kind."""
    workspace = tmp_path_factory.mktemp("linked")
    write(workspace / "manuals/m/a.md", "# 休暇\n年休は十日です。\n")
    outside = workspace / "outside"
    write(outside / "secret.md", f"# {SECRET}\n{SECRET}\n")
    manual = workspace / "manuals/m"
    for link, target in {
        manual / "file.md": outside / "secret.md",
        manual / "inside.md": manual / "a.md",
        manual / "folder": outside,
        manual / "dangling.md": outside / "nowhere.md",
        workspace / "manuals/linked": outside,
        workspace / "manuals/nowhere": outside / "nowhere",
    }.items():
        link.symlink_to(target)
    with Fumishirube(workspace, **PLAIN) as connected:
        connected.ok("manual_ls")
        yield connected


def test_links_are_never_listed_or_searched(linked: Fumishirube) -> None:
    assert [item["id"] for item in linked.ok("manual_ls")["items"]] == ["m"]
    assert listed(linked, "m") == ["a.md"]
    toc = linked.ok("manual_toc", manual_id="m")
    assert [entry["path"] for entry in toc["items"]] == ["a.md"]
    assert find(linked, "m", SECRET, "合言葉") == []
    assert paths_of(find(linked, "m", "年休", "年休")) == ["a.md"]


@pytest.mark.parametrize("path", ["file.md", "inside.md", "folder/secret.md", "dangling.md"])
def test_nothing_is_opened_through_a_link(linked: Fumishirube, path: str) -> None:
    place = {"manual_id": "m", "path": path}
    for error in (
        linked.refused("manual_read", ref=place),
        linked.refused("manual_scan", **place),
    ):
        assert error["code"] == "forbidden"
        assert SECRET not in json.dumps(error, ensure_ascii=False)


@pytest.mark.parametrize("manual", ["linked", "nowhere"])
def test_a_manual_that_is_a_link_is_forbidden(linked: Fumishirube, manual: str) -> None:
    asked = {"query": SECRET, "manual_id": manual, "required_terms": ["合言葉"]}
    for error in (
        linked.refused("manual_ls", id=manual),
        linked.refused("manual_toc", manual_id=manual),
        linked.refused("manual_find", **asked),
        linked.refused("manual_read", ref={"manual_id": manual, "path": "secret.md"}),
        linked.refused("manual_scan", manual_id=manual, path="secret.md"),
    ):
        assert error["code"] == "forbidden"


def test_a_file_that_turns_into_a_link_is_gone(server: Fumishirube) -> None:
    outside = server.workspace / "secret.md"
    write(outside, f"# {SECRET}\n")
    place = server.workspace / "manuals/m/a.md"
    assert paths_of(find(server, "m", "年休", "年休")) == ["a.md"]
    place.unlink()
    place.symlink_to(outside)
    assert find(server, "m", "年休", "年休") == []
    assert find(server, "m", SECRET, "合言葉") == []
    assert server.refused("manual_scan", manual_id="m", path="a.md")["code"] == "forbidden"
    assert listed(server, "m") == ["b.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_no_document_and_stops_nobody(server: Fumishirube) -> None:
    os.mkfifo(server.workspace / "manuals/m/pipe.md")
    assert listed(server, "m") == ["a.md", "b.md"]
    assert server.refused("manual_scan", manual_id="m", path="pipe.md")["code"] == "not_found"
    assert paths_of(find(server, "m", "年休", "年休")) == ["a.md"]


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="nothing is denied to this user"
)
def test_what_the_system_denies_is_forbidden(server: Fumishirube) -> None:
    place = server.workspace / "manuals/m/a.md"
    place.chmod(0)
    assert server.refused("manual_scan", manual_id="m", path="a.md")["code"] == "forbidden"
    assert paths_of(find(server, "m", "日当", "日当")) == ["b.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are always text")
def test_a_name_that_is_no_text_is_passed_over(server: Fumishirube) -> None:
    folder = os.fsencode(server.workspace / "manuals/m")
    for name in (b"\xff\xfe.md", b"\x83\x7f.md"):
        with open(os.path.join(folder, name), "wb") as stream:  # noqa: PTH118, PTH123 - bytes
            stream.write("# 監査\n".encode())
    assert listed(server, "m") == ["a.md", "b.md"]
    assert find(server, "m", "監査", "監査") == []


@pytest.mark.parametrize(
    "name", ["a b.md", "50%#1?.md", "\"quoted\" 'name'.md", "😀 表.md", "~.md"]
)
def test_unusual_names_are_listed_found_and_read(server: Fumishirube, name: str) -> None:
    write(server.workspace / "manuals/m" / name, "# 監査\n監査は毎年です。\n")
    assert name in listed(server, "m")
    (row,) = find(server, "m", "監査", "監査")
    assert row["ref"]["path"] == name
    assert server.ok("manual_read", ref=row["ref"])["text"] == "# 監査\n監査は毎年です。\n"


# --- the wire -------------------------------------------------------------------------------


def test_a_whole_journey_leaves_no_word_on_standard_error(samples: Path) -> None:
    with Wire(samples, **PLAIN) as wire:
        wire.ok("manual_ls")
        for manual, query, terms, _ in QUESTIONS:
            wire.ok("manual_read", ref=_readable(find(wire, manual, query, *terms)[0]))
        wire.ping()
        assert wire.hang_up() == ""


def test_each_refusal_leaves_one_line_without_the_question(samples: Path) -> None:
    with Wire(samples, **PLAIN) as wire:
        wire.ok("manual_ls")
        wire.refused("manual_find", query="秘密の質問", manual_id="nope", required_terms=["秘密"])
        wire.refused("manual_scan", manual_id=BENEFITS, path="../秘密.md")
        lines = [json.loads(line) for line in wire.hang_up().splitlines()]
    assert [(line["tool"], line["code"]) for line in lines] == [
        ("manual_find", "not_found"),
        ("manual_scan", "invalid_path"),
    ]
    assert "秘密" not in json.dumps(lines, ensure_ascii=False)


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    assert not row["ref"]["path"].endswith(".json")
    return dict(row["ref"])


def test_a_manual_of_headings_alone_has_nothing_to_find_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "manuals" / "m"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("# 給付\n", encoding="utf-8")
    with Fumishirube(tmp_path, **PLAIN) as server:
        server.ok("manual_ls")
        found = server.ok("manual_find", query="給付", manual_id="m", required_terms=["給付"])
    assert found["candidates"] == 0
    assert found["status"] == "required_none_matched"
    assert found["coverage"]["skipped"] == [
        {"reason": "heading_only", "unit": "section", "count": 1}
    ]
