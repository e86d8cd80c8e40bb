"""The inspector shows the page of a hit as a picture, with the best lines marked."""

from __future__ import annotations

import html
import io
import os
import re
import struct
import sys
import time
import zlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from inspector import Inspector, parts
from manuals import stranger, write
from webdriver import Browser, chromedriver, chromium

PACKAGE = Path(__file__).parents[2] / "plugins" / "packages" / "fumishirube-documents"


def _installed() -> bool:
    try:
        return bool(version("fumishirube-documents") and version("reportlab"))
    except PackageNotFoundError:
        return False


needs_package = pytest.mark.skipif(
    not _installed(), reason="fumishirube-documents is not installed"
)
if _installed():
    sys.path.append(str(PACKAGE / "tests"))
    import pypdfium2
    import samples
    from PIL import Image

# A picture of one pixel.
PIXEL = b"\x89PNG\r\n\x1a\n" + b"".join(
    struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    for kind, data in (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0\x80")),
        (b"IEND", b""),
    )
)
DRAWS = f"""
from typing import ClassVar
from fumishirube import Document, Loader, Register, Section, Source, Stage, hook
from fumishirube.parsing import Picture, Place

class Sheets(Stage):
    placed: ClassVar[bool] = True
    draws_pages: ClassVar[bool] = True

    def sources(self, root):
        return [Source(entry.path) for entry in root.files() if entry.name.endswith(".sheets")]

    def load(self, root, source):
        text = root.read_bytes(source.path).decode()
        section = Section("S", 1, 1, 0, len(text), len(text), 0)
        place = Place(1, page=7, label="vii<b>")
        return Document(source.path, "sheets", text, (section,), places=(place,))

    def picture(self, root, source, view):
        assert view.page == 7
        assert "The golden spoon." in [view.lines[number] for number in view.marked]
        if "lost" in root.read_bytes(source.path).decode():
            raise ValueError("/secret/path")
        return Picture({PIXEL!r}, 1)

@hook
def register_loaders(register: Register[Loader]) -> None:
    register("sheets", Sheets)
"""


def sources_of(page: str) -> list[str]:
    """Return the addresses of the pictures of the first hit."""
    first = parts(page)["hits"].partition("<li data-hit=")[2].partition("<li data-hit=")[0]
    return [html.unescape(each) for each in re.findall(r'<img src="([^"]+)"', first)]


def picture(running: Inspector, address: str) -> Any:
    answer = running.get(address)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    return Image.open(io.BytesIO(answer.content))


def box_of(data: bytes, page: int, word: str) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom of a word, as shares of its page."""
    with pypdfium2.PdfDocument(data) as document:
        drawn = document[page - 1]
        width, height = drawn.get_size()
        text = drawn.get_textpage()
        index, count = text.search(word).get_next()
        boxes = [text.get_charbox(index + n) for n in range(count)]
    left, right = min(b[0] for b in boxes), max(b[2] for b in boxes)
    bottom, top = min(b[1] for b in boxes), max(b[3] for b in boxes)
    return left / width, 1 - top / height, right / width, 1 - bottom / height


def share_marked(drawn: Any, box: tuple[float, float, float, float]) -> float:
    """Return the share of pixels in a box that have colour: neither black, grey nor white."""
    scaled = [round(e * s) for e, s in zip(box, (*drawn.size, *drawn.size), strict=True)]
    data = drawn.crop(scaled).convert("RGB").tobytes()
    pixels = [*zip(data[::3], data[2::3], strict=True)]
    return sum(1 for red, blue in pixels if red - blue > 40) / len(pixels)


@needs_package
def test_the_page_of_a_hit_is_shown_with_its_best_lines_marked(tmp_path: Path) -> None:
    data = samples.report()
    write(tmp_path, {"m1/report.pdf": data, "m1/a.md": "# Keys\n\nA brass key opens it.\n"})
    with Inspector(tmp_path) as running:
        for question, page, word in (
            ("cellars brass", 2, "brass key"),
            ("price of a washer", 3, "Washer"),
            ("年次有給休暇", 4, "十日"),
        ):
            shown = running.page(running.find(question))
            (address,) = sources_of(shown)
            assert f"<figcaption>Page {page}</figcaption>" in shown
            drawn = picture(running, address)
            assert 1_000_000 < drawn.width * drawn.height < 3_100_000
            assert share_marked(drawn, box_of(data, page, word)) > 0.3
            assert share_marked(drawn, box_of(data, page, "Annual report")) == 0
        only = running.page(running.find("opens"))
        assert sources_of(only) == []


@needs_package
def test_what_cannot_be_drawn_is_said(tmp_path: Path) -> None:
    write(tmp_path, {"m1/report.pdf": samples.report()})
    with Inspector(tmp_path) as running:
        leads = running.find("brass cellars")
        (address,) = sources_of(running.page(leads))
        for wrong in ("line=99", "line=x", "line=", "line=1&path=none.pdf"):
            status = 400 if wrong.endswith("x") else 404
            field = "path=report.pdf&" if "path" not in wrong else ""
            assert running.get(f"{leads}/page?{field}{wrong}").status_code == status
        file = tmp_path / "manuals" / "m1" / "report.pdf"
        file.write_bytes(b"%PDF-1.7 and no more")
        os.utime(file, (time.time() + 5, time.time() + 5))
        answer = running.get(address)
        assert answer.status_code in (400, 404)
        assert "Traceback" not in answer.text
        assert running.get("/").status_code == 200


@pytest.mark.parametrize("lost", [False, True])
def test_a_loader_of_any_package_can_draw_pages(tmp_path: Path, *, lost: bool) -> None:
    text = "Spoons.\nThe golden spoon.\n" + "It is lost.\n" * lost
    write(tmp_path, {"m1/a.sheets": text})
    (tmp_path / "fumishirube.yaml").write_text(
        "pipelines: {manual: {loaders: [{use: markdown}, {use: sheets}]}}\n"
    )
    with Inspector(tmp_path, PYTHONPATH=stranger(tmp_path, DRAWS)) as running:
        shown = running.page(running.find("golden"))
        (address,) = sources_of(shown)
        assert "Page 7, printed as <bdi>vii&lt;b&gt;</bdi>" in shown
        answer = running.get(address)
        assert (answer.content == PIXEL) is not lost
        assert "secret" not in answer.text


@needs_package
def test_a_browser_shows_the_page_when_its_hit_is_opened(tmp_path: Path) -> None:
    chromium()
    chromedriver()
    write(tmp_path, {"m1/report.pdf": samples.report()})
    with Inspector(tmp_path) as running, Browser() as browser:
        browser.open(running.url + running.find("brass cellars"))
        complete = "const one = document.querySelector('figure img'); return one.complete"
        browser.click(".hits li:first-child summary")
        until = time.monotonic() + 60
        while not browser.run(f"{complete} && one.naturalWidth > 0"):
            assert time.monotonic() < until
            time.sleep(0.1)
        assert browser.run("return document.querySelector('figure img').naturalWidth") > 800
        assert browser.messages() == []
