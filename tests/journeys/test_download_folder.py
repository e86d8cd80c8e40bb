"""A person's download folder in miniature, as it is served: each file is found and cited, or named.

Skipped where the package ``plugins/packages/fumishirube-documents`` is not installed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from manuals import fumishirube, write
from stdio import Fumishirube

PACKAGE = Path(__file__).parents[2] / "plugins" / "packages" / "fumishirube-documents"
NEEDED = ("fumishirube_documents", "reportlab", "xlwt")
INSTALLED = all(map(find_spec, NEEDED))
pytestmark = pytest.mark.skipif(not INSTALLED, reason=f"needs {', '.join(NEEDED)}")
if INSTALLED:
    sys.path.append(str(PACKAGE / "tests"))
    import downloads

SKIPPED = {
    "empty.pdf": "empty",
    "locked.pdf": "encrypted",
    "photo.docx": "wrong_type",
    "photo.txt": "binary",
    "really a letter.pdf": "wrong_type",
    "really a pdf.docx": "wrong_type",
    "scan 001.pdf": "needs_ocr",
    "unfinished.pdf": "damaged",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {f"downloads/{name}": data for name, data in downloads.files().items()}
    workspace = write(tmp_path_factory.mktemp("downloads"), files)
    assert fumishirube("index", cwd=workspace).code == 0
    return workspace


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Fumishirube]:
    with Fumishirube(workspace) as server:
        server.ok("manual_ls", id="manuals")
        yield server


def hits(server: Fumishirube, query: str) -> list[dict[str, Any]]:
    terms = query.split()[:2]
    asked = {"manual_id": "downloads", "query": query, "required_terms": terms}
    return list(server.ok("manual_find", **asked)["inline_hits"]["items"])


@pytest.mark.parametrize(
    ("query", "path", "place", "words"),
    [
        ("brass key cellars", "Annual report 2023 (1).pdf", "p2", "a brass key"),
        ("Washer price", "Annual report 2023 (1).pdf", "p3", "| Washer | 0.10 | 9 |"),
        ("鉄の鍵", "年次報告書が.pdf", "p1", "当社は鉄の鍵を売る。"),
        ("売上高 四千七百十一万円", "年次報告書が.pdf", "p2", "四千七百十一万円"),
        ("turbine mineral oil", "two columns.pdf", "p1", "ninety days with\nmineral oil"),
        ("plumber filters", "two columns.pdf", "p1", "after the filters were\nwashed by"),
        ("rent euros", "契約書 (最終版).docx", None, "340 euros"),
        ("notice months", "契約書 (最終版).docx", None, "three months of notice"),
        ("slowly euros", "plan.pptx", "s2", "Say it slowly."),
        (
            "東京 5月",
            "売上.xlsx",
            "売上!R4",
            "| 東京 | 5月 | 5,555,555円 (5555555) | 50.0% (0.5) |",
        ),
        ("合計", "売上.xlsx", "売上!R9", "| 合計 |  | =SUM(C3:C8) |"),
        ("W-113 Price", "価格表 2024.pdf", "p3", "| W-113 | Hinge 113 | 14,690 yen |"),
        ("plate visitor", "申込書 記入済.pdf", "p1", "KX-4711"),
        (
            "第57課 海外 利益",
            "部門別 (千円).xlsx",
            "部門!R59",
            "| 第57課 | 57,000千円 (57000000) | 57,000千円 (57000001) |",
        ),
        ("締日", "売上.xlsx", "売上!R10", "令和6年4月1日 (2024-04-01)"),
        ("係数 甲", "売上.xlsx", "控え!R2", "| 甲 | 0.77 |"),
        ("Z-33 Price", "parts.xls", "Parts!R34", "| Z-33 | 330 | 2024-04-01 |"),
        ("K-8 Count", "stock.ods", "Stock!R3", "| K-8 | 17 |"),
        ("A-77 Price", "renamed.xls", "Prices!R78", "| A-77 | 77000 |"),
        ("Gearbox Cost", "export.xls", None, "| Gearbox Q | 12 |"),
        ("visit costs euros", "blog post.html", None, "A visit costs 180 euros"),
        ("brass chapter key", "book.epub", None, "The brass key."),
        ("鈴木花子 電話", "住所録.csv", None, "06-98"),
        ("軸受 単価", "utf16.csv", None, "軸受\t870"),
        ("kingfisher colour", "bom.csv", None, "kingfisher,blue"),
        ("会合 水曜日", "memo.txt", None, "水曜日の午後三時"),
        ("sigmoid pressure", "analysis.ipynb", None, "We fit a sigmoid"),
        ("sigma hPa", "analysis.ipynb", None, "sigma = 4.2"),
        ("toucan", "readme", None, "the toucan"),
    ],
)
def test_what_a_file_says_is_found_and_cited(
    server: Fumishirube, query: str, path: str, place: str | None, words: str
) -> None:
    hit = next(hit for hit in hits(server, query) if hit["ref"]["path"] == path)
    texts = "\n".join(
        line for _, line in server.ok("manual_read", refs=[_cite(hit)])["items"][0]["lines"]
    )
    assert words in texts
    if place is None:
        assert "place" not in hit
    elif "!" in place:
        cited = f"manual://downloads/{path}#{place}".replace(" ", "%20")
        (row,) = server.ok("manual_read", refs=[cited])["items"]
        assert row["place"] == place
        assert words in row["lines"][0][1]
    else:
        assert hit["place"] == place


def _cite(hit: dict[str, Any]) -> str:
    path, ref = hit["ref"]["path"].replace(" ", "%20"), hit["ref"]
    lines = f"#L{ref['start_line']}-L{hit['end_line']}"
    return f"manual://downloads/{path}{hit['cite'] if 'place' in hit else lines + hit['cite']}"


@pytest.mark.parametrize("word", ["flamingo", "ostrich", "pelican", "zebra"])
def test_scripts_outputs_logs_and_mails_are_not_searched(server: Fumishirube, word: str) -> None:
    assert hits(server, word) == []


def test_what_surrounds_the_text_of_a_page_is_left_out(server: Fumishirube) -> None:
    page = server.ok("manual_scan", manual_id="downloads", path="blog post.html", max_chars=50_000)
    assert "## Costs" in page["text"]
    for noise in ("cookies", "Older entry", "Related", "All rights reserved"):
        assert noise not in page["text"]


def test_what_is_not_read_is_named_with_its_reason(server: Fumishirube) -> None:
    rows = server.ok("manual_grep", any=["brass"], manual_id="downloads")["not_searched"]
    assert {row["path"]: row["reason"] for row in rows if "path" in row} == SKIPPED
    unread = server.ok("manual_ls", id="downloads")["unread_files"]
    assert {row["suffix"]: row["count"] for row in unread} == {
        ".crdownload": 1,
        ".eml": 1,
        ".log": 1,
    }
    for path, reason in SKIPPED.items():
        ref = {"manual_id": "downloads", "path": path}
        assert server.refused("manual_read", ref=ref)["details"]["reason"] == reason


def test_the_doctor_says_what_to_do(workspace: Path) -> None:
    lines = fumishirube("doctor", cwd=workspace).out.splitlines()
    about = [line for line in lines if "manual downloads" in line and "skipped" in line]
    for name, remedy in [
        ("empty.pdf", "nothing is in them"),
        ("really a letter.pdf", "rename it"),
        ("locked.pdf", "password"),
        ("scan 001.pdf", "ocr: true"),
        ("unfinished.pdf", "damaged"),
    ]:
        assert any(name in line and remedy in line for line in about), name


def test_outputs_of_notebooks_and_logs_are_read_when_asked_for(tmp_path: Path) -> None:
    names = ("analysis.ipynb", "server.log")
    write(tmp_path, {f"downloads/{name}": downloads.files()[name] for name in names})
    text = "{use: text, with: {suffixes: [.txt, .log]}}"
    notebook = "{use: notebook, with: {outputs: true}}"
    loaders = f"loaders: [{{use: markdown}}, {text}, {notebook}]"
    config = f"version: 1\npipelines: {{manual: {{{loaders}}}}}\n"
    (tmp_path / "fumishirube.yaml").write_text(config)
    for word in ("ostrich", "pelican"):
        assert fumishirube("find", word, "--json", cwd=tmp_path).json["hits"]
