"""References lead to the chapters that they name, and to none when that is not clear."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import manuals
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdio import Fumishirube

from fumishirube.commands import main
from fumishirube.text.references import References, normalised

NAME = "給付編"
TOC = {
    "01": "第1章 総則",
    "02-1": "第2章-1 会員の資格",
    "02-2": "第2章-2 被扶養者",
    "03": "第3章 重大手技",
    "04": "別表1 支給率",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    workspace = tmp_path_factory.mktemp("references")
    toc = [{"id": number, "title": title, "file": f"{number}.txt"} for number, title in TOC.items()]
    texts = {f"{NAME}/{number}.txt": f"{title}\n第１節 目的\n" for number, title in TOC.items()}
    texts[f"{NAME}/02-2.txt"] += "  第 五 節 例外\n"
    manuals.write(workspace, {f"{NAME}/00_目次.json": json.dumps({"toc": toc}), **texts})
    yaml = "surfaces: [{use: chapters, with: {resolve_reference: true}}]\n"
    (workspace / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
    with Fumishirube(workspace) as server:
        yield server


CASES = [
    ("第3章 重大手技を参照", None, "03", ["03"]),
    ("第３章", None, "03", ["03"]),
    ("第三章", None, "03", ["03"]),
    ("第03章", None, "03", ["03"]),
    ("第2章-1", None, "02-1", ["02-1"]),
    ("第２章の1", None, "02-1", ["02-1"]),
    ("第2-1章", None, "02-1", ["02-1"]),
    ("第2章", None, None, ["02-1", "02-2"]),
    ("第1章及び第3章", None, "01", ["01", "03"]),
    ("第3章第2節", None, "03", ["03"]),
    ("別表１", None, "04", ["04"]),
    ("「重大手技」を参照", None, "03", ["03"]),
    ("次章", "02-1", "03", ["03"]),
    ("前章", None, None, []),
    ("第9章", None, None, []),
    ("特になし", None, None, []),
    ("前章", "03", None, ["02-1", "02-2"]),
    ("前章", "02-2", "01", ["01"]),
    ("本章", "03", "03", ["03"]),
    ("次章", "03", "04", ["04"]),
    ("第4章", None, "04", ["04"]),
    ("第5節", None, "02-2", ["02-2"]),
    ("第2章第5節", None, "02-2", ["02-2"]),
    ("第1節", "03", "03", ["03"]),
    ("第1節", None, None, [*TOC]),
    ("第1章-4", None, "01", ["01"]),
    ("第1条", None, None, []),
    ("別表10", None, None, []),
    ("被扶養者を見よ", None, "02-2", ["02-2"]),
    ("第3章の総則に記載", None, "03", ["03", "01"]),
    ("『会員の資格要件』", None, "02-1", ["02-1"]),
]


@pytest.mark.parametrize(("text", "section", "target", "candidates"), CASES)
def test_references_are_resolved(
    server: Fumishirube, text: str, section: str | None, target: str | None, candidates: list[str]
) -> None:
    answer = server.ok("resolve_reference", manual_name=NAME, ref_text=text, section_id=section)
    assert answer["target_section"] == target
    assert [one["section_id"] for one in answer["candidates"]] == candidates
    assert (answer["manual"], answer["ref_text"]) == (NAME, text)


def test_a_candidate_says_by_which_rule(server: Fumishirube) -> None:
    answer = server.ok("resolve_reference", manual_name=NAME, ref_text="第3章 重大手技を参照")
    assert answer["candidates"] == [
        {"section_id": "03", "title": "第3章 重大手技", "rule": "number"}
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "invalid_request"),
        ({"ref_text": ""}, "invalid_request"),
        ({"ref_text": None}, "invalid_request"),
        ({"ref_text": "章" * 2001}, "invalid_request"),
        ({"ref_text": "前章", "section_id": "99"}, "not_found"),
    ],
)
def test_bad_references_are_refused(
    server: Fumishirube, arguments: dict[str, Any], code: str
) -> None:
    assert server.refused("resolve_reference", manual_name=NAME, **arguments)["error"] == code


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("十", "10"),
        ("十二", "12"),
        ("二十", "20"),
        ("百二十三", "123"),
        ("二〇", "20"),
        ("千", "1000"),
    ],
)
def test_kanji_numbers_are_read(written: str, read: str) -> None:
    assert normalised(f"第 {written} 章") == f"第{read}章"


_LINES = [
    "第1節 目的",
    "  第二節",
    "\u3000第３節",
    "第\n節",
    "第 四 節 第5節",
    "前 第6節",
    "",
    "第",
    "節",
]
_LONG = ["あ" * 70_000, "第" * 140_000, " " * 70_000 + "第7節", "\n" * 70_000, "第8節" * 30_000]


@given(st.lists(st.sampled_from([*_LINES, *_LONG]), max_size=12))
def test_the_sections_of_a_long_text_are_those_of_its_lines(lines: list[str]) -> None:
    text = "\n".join(lines)
    of_lines = (References.section_numbers(line) for line in text.split("\n"))
    assert References.section_numbers(text) == frozenset().union(*of_lines)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("第2章-1", "02-1"),
        ("第2章-1 一部負担を参照", "02-1"),
        ("第2章-11", "02-11"),
        ("別表1", "a"),
        ("別表 二", "b"),
        ("別表13", None),
        ("別表220", None),
        ("「三大 疾病一覧」", "a"),
        ("第 1 0 章", "10"),
    ],
)
def test_a_number_ends_before_a_blank(text: str, target: str | None) -> None:
    titles = {
        "02-1": "第2章-1 一般病棟",
        "02-11": "第2章-11 外来",
        "10": "第 十 章 補則",
        "a": "別表1 三大疾病一覧",
        "b": "別表2 2024年度料率",
    }
    assert References(titles.items()).resolve(text, None, lambda _: ()).target == target


def test_ids_count_where_titles_have_no_number() -> None:
    references = References([("03", "重大手技"), ("04", "第5章 補則")])
    resolved = references.resolve("第3章", None, lambda _: ())
    assert (resolved.target, resolved.candidates[0].rule) == ("03", "id")
    assert references.resolve("第4章", None, lambda _: ()).target is None


@given(
    st.text(alphabet="第123章節-の前次「」を参照別表三十総則 、", max_size=60),
    st.sampled_from([None, *TOC]),
)
def test_whatever_is_asked_the_answer_is_consistent(text: str, current: str | None) -> None:
    resolved = References(TOC.items()).resolve(text, current, lambda _: ("1",))
    ids = [one.id for one in resolved.candidates]
    assert len(ids) == len(set(ids)) <= 10
    assert resolved.target is None or resolved.target == ids[0]
    assert set(ids) <= set(TOC)


def test_many_references_to_many_chapters_are_no_trouble() -> None:
    references = References((str(n), f"第{n}章 通則の{n}") for n in range(2000))
    for text in ("「通則」" * 500, "第1節" * 600, "第5章" * 600, "一" * 2000, "「" * 2000):
        references.resolve(text[:2000], None, lambda _: ())


@pytest.mark.parametrize("enabled", ["false", "true"])
def test_clients_see_the_tool_only_if_asked_for(
    tmp_path: Path,
    enabled: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FUMISHIRUBE_CHAPTERS_RESOLVE_REFERENCE", enabled)
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: chapters}]\n", encoding="utf-8")
    with Fumishirube(tmp_path, FUMISHIRUBE_CHAPTERS_RESOLVE_REFERENCE=enabled) as server:
        seen = [*server.tools()]
    assert ("resolve_reference" in seen) == (enabled == "true")
    assert main(["tools", "--json", "--workspace", str(tmp_path), "--no-plugins"]) == 0
    assert [tool["name"] for tool in json.loads(capsys.readouterr().out)] == seen


# --- for those who search manuals -----------------------------------------------------------


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    return manuals.write(
        tmp_path,
        {
            "m/00_目次.json": json.dumps(
                {
                    "toc": [
                        {"id": "1", "title": "第1章 総則", "file": "1.txt"},
                        {"id": "2", "title": "第2章 給付", "file": "2.txt"},
                    ]
                }
            ),
            "m/1.txt": "第1章 総則\n対象外は第２章、別表１と「旅費の手引」を参照。「給付」。\n",
            "m/2.txt": "第2章 給付\n前章による。第9章は欠番。\n",
            "m/table.md": "# 別表1 支給率\n対象外の率。\n# 旅費の手引\n次に述べる。\n",
        },
    )


def test_hits_say_where_they_refer_to_if_that_is_wanted(handbook: Path) -> None:
    application = manuals.opened(handbook, FUMISHIRUBE_SURFACE_EXTRAS="refers_to")
    asked = {"query": "対象外 給付", "manual_id": "m", "required_terms": ["給付"]}
    found = manuals.ask(application, "manual_find", **asked)
    items = {one["ref"]["path"]: one for one in found["inline_hits"]["items"]}
    assert items["1.txt"]["refers_to"] == [
        {"path": "2.txt", "start_line": 1, "title": "第2章 給付"},
        {"path": "table.md", "start_line": 1, "title": "別表1 支給率"},
        {"path": "table.md", "start_line": 3, "title": "旅費の手引"},
    ]
    assert items["2.txt"]["refers_to"] == [
        {"path": "1.txt", "start_line": 1, "title": "第1章 総則"}
    ]
    rows = manuals.ask(application, "manual_hits", trace_id=found["trace_id"])["items"]
    assert {one["ref"]["path"]: "refers_to" in one for one in rows}["1.txt"]


def test_by_default_hits_do_not_say_where_they_refer_to(handbook: Path) -> None:
    asked = {"query": "対象外", "manual_id": "m", "required_terms": ["対象外"]}
    found = manuals.ask(manuals.opened(handbook), "manual_find", **asked)
    assert not any("refers_to" in one for one in found["inline_hits"]["items"])
