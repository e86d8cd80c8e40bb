"""PDF and Office files as they are served: found, read, cited and checked by page, slide and row.

Skipped where the package ``plugins/packages/fumishirube-documents`` is not installed.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from manuals import ask, fumishirube, write
from stdio import Wire

from fumishirube import Call, InvalidParameter, NotFound
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.text import Lines

SECONDS = 100.0
PACKAGE = Path(__file__).parents[2] / "plugins" / "packages" / "fumishirube-documents"


def _installed() -> bool:
    try:
        return bool(version("fumishirube-documents") and version("reportlab"))
    except PackageNotFoundError:
        return False


pytestmark = pytest.mark.skipif(not _installed(), reason="fumishirube-documents is not installed")
if _installed():
    sys.path.append(str(PACKAGE / "tests"))
    import samples
    from PIL import Image, ImageDraw, ImageFont


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files: dict[str, str | bytes] = {
        "shop/report.pdf": samples.report(),
        "shop/plan.pptx": samples.slides(),
        "shop/prices.xlsx": samples.workbook(),
        "shop/book.epub": samples.book(),
        "shop/notes.md": "# Notes\nNothing here.\n",
        "shop/broken.pdf": b"%PDF-1.7 and no more",
        "shop/locked.pdf": samples.pdf([["x"]], password="secret"),
        "shop/scan.pdf": samples.pdf([[], []]),
    }
    return write(tmp_path_factory.mktemp("documents"), files)


@pytest.fixture(scope="module")
def application(workspace: Path) -> Iterator[Application]:
    application = open_application(workspace, strangers=True, environ={})
    yield application
    application.close()


def best(application: Application, *terms: str) -> dict[str, Any]:
    asked = {"manual_id": "shop", "query": " ".join(terms), "required_terms": [*terms]}
    return dict(ask(application, "manual_find", **asked)["inline_hits"]["items"][0])


@pytest.mark.parametrize(
    ("terms", "path", "place"),
    [
        (("brass", "cellars"), "report.pdf", "p2"),
        (("Washer",), "report.pdf", "p3"),
        (("年次有給休暇",), "report.pdf", "p4"),
        (("goodbye",), "report.pdf", "p5"),
        (("Two hundred euros",), "plan.pptx", "s2"),
        (("A-77", "Price"), "prices.xlsx", None),
    ],
)
def test_a_hit_names_its_page_its_slide_or_its_rows(
    application: Application, terms: tuple[str, ...], path: str, place: str | None
) -> None:
    hit = best(application, *terms)
    assert hit["ref"]["path"] == path
    if place is not None:
        assert hit["place"] == place
        assert hit["cite"].startswith(f"#{place}@")
        assert len(hit["cite"].partition("@")[2]) == 6
        return
    first, last = (int(part.strip("R")) for part in hit["place"].removeprefix("Prices!").split("-"))
    assert first <= 78 <= last
    assert "Part | Price | Share | Since" in hit["headings"]
    assert any("| A-77 | ¥77,000 (77000)" in line for _, line in hit["lines"])


def test_text_without_places_is_cited_by_lines(application: Application) -> None:
    hit = best(application, "Nothing here")
    assert "place" not in hit
    assert hit["cite"].startswith("@")


def test_a_citation_is_read_as_what_it_names(application: Application) -> None:
    hit = best(application, "brass", "cellars")
    cite = f"manual://shop/report.pdf{hit['cite']}"
    refs = [cite, "manual://shop/report.pdf#p4-p5", "manual://shop/prices.xlsx#Prices!R78"]
    refs += ["manual://shop/prices.xlsx#Q1%20plan%21!R5", "manual://shop/plan.pptx#s1"]
    items = ask(application, "manual_read", refs=refs)["items"]
    assert [item["place"] for item in items] == [
        "p2",
        "p4-p5",
        "Prices!R78",
        "Q1%20plan%21!R5",
        "s1",
    ]
    texts = ["\n".join(line for _, line in item["lines"]) for item in items]
    assert texts[0] == "It has two cellars, and a brass key."
    assert "休暇" in texts[1]
    assert "goodbye" in texts[1]
    assert texts[2].startswith("| A-77 |")
    assert texts[3] == "| total | 3 |"
    assert "Open the second cellar" in texts[4]


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("manual://shop/report.pdf#p9", "the file has no page 9"),
        ("manual://shop/prices.xlsx#Absent!R3-R4", "no rows 3 to 4 of sheet Absent"),
        ("manual://shop/notes.md#p1", "the file has no page 1"),
    ],
)
def test_a_place_that_is_not_there_is_refused(
    application: Application, ref: str, said: str
) -> None:
    with pytest.raises(NotFound, match=said):
        ask(application, "manual_read", refs=[ref])


@pytest.mark.parametrize("place", ["p0", "p3-p2", "p1-s2", "page 3", "R3", "!R3", "Sheet1!"])
def test_what_is_no_place_is_no_citation(application: Application, place: str) -> None:
    with pytest.raises(InvalidParameter):
        ask(application, "manual_read", refs=[f"manual://shop/report.pdf#{place}"])


def test_grep_names_pages_and_reads_files_that_are_no_text(application: Application) -> None:
    answer = ask(application, "manual_grep", any=["brass key", "A-77"], manual_id="shop")
    places = {group["path"]: group.get("place") for group in answer["groups"]}
    assert places == {"book.epub": None, "report.pdf": "p2", "prices.xlsx": "Prices!R78"}
    assert {row["path"]: row["reason"] for row in answer["not_searched"]} == {
        "broken.pdf": "damaged",
        "locked.pdf": "encrypted",
        "scan.pdf": "needs_ocr",
    }


def test_headings_name_their_pages(application: Application) -> None:
    answer = ask(
        application, "manual_toc", manual_id="shop", path_prefix="report.pdf", depth="deep"
    )
    headings = answer["items"][0]["headings"]
    assert [(heading["title"], heading["place"]) for heading in headings] == [
        ("Overview", "p1"),
        ("Overview", "p2"),
        ("Prices", "p3"),
        ("休暇", "p4"),
        ("休暇", "p5"),
    ]


def test_what_of_a_file_is_not_read_is_said_with_its_headings(tmp_path: Path) -> None:
    pages = [["one"], [], ["three"], []]
    files = {"m/part.pdf": samples.pdf(pages), "m/all.pdf": samples.report()}
    write(tmp_path, files | {"m/scan.pdf": samples.pdf([[], []])})
    remarks = {
        "part.pdf": ["2 of 4 pages hold no text (2, 4): they need OCR"],
        "scan.pdf": ["none of its 2 pages holds text: they need OCR"],
        "all.pdf": [
            "left out as a running head: - # -",
            "left out as a running head: annual report of the shop",
        ],
    }
    application = open_application(tmp_path, strangers=True, environ={})
    for path, said in remarks.items():
        asked = {"manual_id": "m", "path_prefix": path, "depth": "deep"}
        (item,) = ask(application, "manual_toc", **asked)["items"]
        assert item["remarks"] == said
    application.close()
    shown = fumishirube("toc", "m", "--prefix", "part.pdf", "--deep", cwd=tmp_path)
    assert f"({remarks['part.pdf'][0]})" in shown.out


def test_without_the_extra_there_are_neither_such_files_nor_places(workspace: Path) -> None:
    application = open_application(
        workspace, strangers=True, environ={"FUMISHIRUBE_SURFACE_EXTRAS": "none"}
    )
    items = ask(application, "manual_ls", id="shop")["items"]
    assert [item["name"] for item in items] == ["notes.md"]
    application.close()


def test_the_command_line_finds_reads_and_checks_by_page(workspace: Path, tmp_path: Path) -> None:
    answer = fumishirube("find", "brass key cellars", "--json", cwd=workspace).json
    cite = next(hit["cite"] for hit in answer["hits"] if hit["ref"]["path"] == "report.pdf")
    assert cite.startswith("manual://shop/report.pdf#p2@")
    read = fumishirube("read", cite, cwd=workspace)
    assert (read.code, read.out) == (0, "It has two cellars, and a brass key.\n\n")
    rows = "manual://shop/prices.xlsx#Prices!R78"
    note = tmp_path / "note.md"
    note.write_text(f"As ({cite}) and {rows}, but not manual://shop/report.pdf#p9@abcdef.\n")
    checked = fumishirube("cite", "check", str(note), "--json", cwd=workspace)
    states = [row["state"] for row in checked.json]
    assert states == ["valid", "valid", "gone"]
    assert checked.code == 1


def test_what_became_of_a_page_in_a_search_is_told(workspace: Path) -> None:
    page = "manual://shop/report.pdf#p2"
    done = fumishirube("find", "brass key cellars", "--why-not", page, cwd=workspace)
    assert done.code == 0
    assert "report.pdf" in done.out
    absent = fumishirube("find", "brass key", "--why-not", f"{page}2", cwd=workspace)
    assert absent.code != 0
    assert "the file has no page 22" in absent.err


def test_a_page_that_moved_is_found_again(tmp_path: Path) -> None:
    pages = [["# A", "one"], ["two"], ["three"]]
    write(tmp_path, {"m/a.pdf": samples.pdf(pages)})
    cite = fumishirube("find", "two", "--json", cwd=tmp_path).json["hits"][0]["cite"]
    assert cite.startswith("manual://m/a.pdf#p2@")
    write(tmp_path, {"m/a.pdf": samples.pdf([pages[0], ["new"], *pages[1:]])})
    read = fumishirube("read", cite, cwd=tmp_path)
    assert "two" in read.out
    assert "the same text is now at manual://m/a.pdf#p3@" in read.err
    assert read.code == 1


def test_resources_are_read_by_page(application: Application) -> None:
    (resources,) = application.catalog.resources
    (content,) = resources.read("manual://shop/report.pdf#p2", Call())
    assert content.body == "It has two cellars, and a brass key.\n\n"


def test_a_document_is_parsed_once(workspace: Path, application: Application) -> None:
    best(application, "goodbye")
    parsed = [*(workspace / ".fumishirube" / "parsed").iterdir()]
    assert len(parsed) == 4


def test_lines_are_those_of_the_text_as_it_is_read(application: Application) -> None:
    hit = best(application, "Washer")
    answer = ask(application, "manual_scan", manual_id="shop", path="report.pdf", max_chars=50_000)
    lines = Lines(answer["text"])
    number, line = next(row for row in hit["lines"] if "Washer" in row[1])
    assert answer["text"][lines.start(number) : lines.start(number + 1)].rstrip() == line


def test_what_would_read_a_file_is_said_where_the_package_is_missing(workspace: Path) -> None:
    application = open_application(workspace, strangers=False, environ={})
    rows = ask(application, "manual_ls", id="shop")["unread_files"]
    readers = {row["suffix"]: row.get("reader", "") for row in rows}
    assert all("fumishirube-documents" in readers[s] for s in (".pdf", ".pptx", ".xlsx", ".epub"))
    assert "/" not in json.dumps(readers).replace("./plugins/packages/", "")
    application.close()


def test_a_locked_file_is_found_once_its_password_is_known(tmp_path: Path) -> None:
    data = samples.pdf([["The key is under the mat."]], password="secret")
    write(tmp_path, {"m/locked.pdf": data, "m/a.md": "# Notes\n"})
    before = fumishirube("find", "key under the mat", "--json", cwd=tmp_path).json
    assert before["hits"] == []
    assert [row["reason"] for row in before["coverage"]["skipped"]] == ["encrypted"]
    environ = {"FUMISHIRUBE_PDF_PASSWORDS": "other,secret"}
    after = fumishirube("find", "key under the mat", "--json", cwd=tmp_path, environ=environ)
    assert after.json["hits"][0]["cite"].startswith("manual://m/locked.pdf#p1@")
    shown = fumishirube("config", "show", cwd=tmp_path, environ=environ)
    assert "secret" not in shown.out + after.err


def scans(*sentences: str) -> bytes:
    """Return a PDF with a small picture of each sentence."""
    pictures = []
    for sentence in sentences:
        picture = Image.new("L", (900, 120), 255)
        ImageDraw.Draw(picture).text((20, 30), sentence, fill=0, font=ImageFont.load_default(40))
        pictures.append(picture)
    buffer = io.BytesIO()
    pictures[0].save(buffer, "PDF", resolution=300, save_all=True, append_images=pictures[1:])
    return buffer.getvalue()


def test_a_file_that_took_too_long_is_read_once_the_limit_is_raised(tmp_path: Path) -> None:
    pages = [[f"line {line} of page {page}" for line in range(50)] for page in range(60)]
    write(tmp_path, {"shop/long.pdf": samples.pdf(pages), "shop/plan.pptx": samples.slides()})
    loaders = "pipelines: {manual: {loaders: [{use: pptx}, {use: pdf, with: {parse_seconds: %s}}]}}"

    def skipped(seconds: float) -> dict[str, str]:
        (tmp_path / "fumishirube.yaml").write_text(f"version: 1\n{loaders % seconds}\n")
        assert fumishirube("index", cwd=tmp_path).code == 0
        application = open_application(tmp_path, strangers=True, environ={})
        assert best(application, "slowly")["ref"]["path"] == "plan.pptx"
        found = ask(application, "manual_grep", manual_id="shop", any=["slowly"])
        application.close()
        return {row["path"]: row["reason"] for row in found.get("not_searched", ())}

    parsed = tmp_path / ".fumishirube" / "parsed"
    assert skipped(0.02) == {"long.pdf": "parser_timeout"}
    read_before = {file.name: file.stat().st_ino for file in parsed.iterdir()}
    assert skipped(60) == {}
    read_now = {file.name: file.stat().st_ino for file in parsed.iterdir()}
    assert read_now.items() > read_before.items()  # what was read is not parsed again
    assert skipped(61) == {}
    assert {file.name: file.stat().st_ino for file in parsed.iterdir()} == read_now


@pytest.mark.skipif(
    shutil.which("tesseract") is None or sys.platform == "win32",
    reason="tesseract is not on the path, or a script cannot stand in for it",
)
def test_ocr_reads_only_the_pages_that_changed(tmp_path: Path) -> None:
    """A script that makes a folder for each run counts them: a worker may not write files."""
    write(tmp_path, {"m/a.md": "# Notes\n"})
    runs, program = tmp_path / "runs", tmp_path / "bin" / "tesseract"
    for folder in (runs, program.parent):
        folder.mkdir()
    real = shutil.which("tesseract")
    program.write_text(f'#!/bin/sh\n/bin/mkdir "{runs}/$$"\nexec "{real}" "$@"\n')
    program.chmod(0o755)
    loaders = "[{use: markdown}, {use: pdf, with: {ocr: true, ocr_languages: eng}}]"
    (tmp_path / "fumishirube.yaml").write_text(f"pipelines: {{manual: {{loaders: {loaders}}}}}\n")
    environ = {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}

    def found(query: str) -> tuple[str, int]:
        hits = fumishirube("find", query, "--json", cwd=tmp_path, environ=environ).json["hits"]
        number = len([*runs.iterdir()])
        for run in runs.iterdir():
            run.rmdir()
        return hits[0]["cite"].partition("@")[0], number

    pages = [f"The {key} key opens a door" for key in ("brass", "iron", "wooden", "glass", "lead")]
    write(tmp_path, {"m/scan.pdf": scans(*pages)})
    assert found("glass key") == ("manual://m/scan.pdf#p4", 5)
    pages[2] = "The silver spoon is lost"
    write(tmp_path, {"m/scan.pdf": scans(*pages)})
    assert found("silver spoon") == ("manual://m/scan.pdf#p3", 1)
    write(tmp_path, {"m/other.pdf": scans(pages[2], "A golden ring is found", pages[0])})
    assert found("golden ring") == ("manual://m/other.pdf#p2", 1)


def test_small_files_of_a_folder_are_found_before_a_large_one_is_read(tmp_path: Path) -> None:
    """Files of 20 pages, and one of 1,000, whose text is the same but for one word of each."""
    page = ["Every line speaks of nothing but bolts and nuts."] * 30
    small = samples.pdf([["# About key000x"], *[page] * 20], compressed=False)
    names = [f"{number:03}" for number in range(1, 25)]
    files = {f"m/{name}.pdf": small.replace(b"key000x", f"key{name}x".encode()) for name in names}
    large = samples.pdf([["# About key999x"], *[page] * 1000])
    write(tmp_path, {**files, "m/999.pdf": large})

    with Wire(tmp_path) as server:

        def found(name: str) -> bool:
            word = f"key{name}x"
            asked = {"query": word, "required_terms": [word], "budget": {"time_ms": 500}}
            answer = server.ok("manual_find", manual_id="m", use_cache=False, **asked)
            return any(
                hit["ref"]["path"] == f"{name}.pdf" for hit in answer["inline_hits"]["items"]
            )

        server.ok("manual_ls")
        until = time.monotonic() + SECONDS
        while not found("001"):
            assert time.monotonic() < until
        assert not found("999"), "the first one is not found before the last one is read"
        waiting = {*names, "999"}
        while waiting := {name for name in waiting if not found(name)}:
            assert time.monotonic() < until
            time.sleep(0.2)
