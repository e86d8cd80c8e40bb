"""Books: their chapters, and the headings of pages without any."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import samples
from fumishirube_documents import Epub
from opened_loaders import load

from fumishirube import Unreadable


def test_chapters_come_in_their_order(tmp_path: Path) -> None:
    document = load(tmp_path, "shop.epub", samples.book(), Epub())
    assert [each.title for each in document.sections] == ["First", "Second"]
    assert document.text.index("brass key") < document.text.index("cellar")


@pytest.mark.parametrize("kind", ["ncx", "nav"])
def test_chapters_without_headings_have_the_titles_of_the_contents(
    tmp_path: Path, kind: str
) -> None:
    files = dict(samples.book_files())
    files["OPS/one .xhtml"] = "<p>Keys</p><p>The brass key.</p>"
    files["OPS/two.xhtml"] = "<p>The cellar.</p>"
    entries = {"Keys": "one%20.xhtml", "Cellars": "two.xhtml#top"}
    if kind == "ncx":
        item = '<item id="c" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        points = (
            f'<navPoint><navLabel><text>{title}</text></navLabel><content src="{href}"/></navPoint>'
            for title, href in entries.items()
        )
        files["OPS/toc.ncx"] = f"<ncx><navMap>{''.join(points)}</navMap></ncx>"
    else:
        item = '<item id="c" href="toc.xhtml" properties="nav"/>'
        links = (f'<li><a href="{href}">{title}</a></li>' for title, href in entries.items())
        files["OPS/toc.xhtml"] = f"<html><body><nav><ol>{''.join(links)}</ol></nav></body></html>"
    files["OPS/book.opf"] = files["OPS/book.opf"].replace("<manifest>", f"<manifest>{item}")
    document = load(tmp_path, "a.epub", samples.packed(files), Epub())
    texts = {each.title: document.text[each.body : each.end] for each in document.sections}
    assert {title: text.split() for title, text in texts.items()} == {
        "Keys": ["The", "brass", "key."],
        "Cellars": ["The", "cellar."],
    }


def test_pages_without_headings_have_those_that_the_contents_name(tmp_path: Path) -> None:
    files = dict(samples.book_files())
    files["OPS/one .xhtml"] = (
        "<p>Lights</p><p>They guide.</p><p>Sector lights</p><p>Green is east.</p><p>Lights</p>"
    )
    links = '<a href="one%20.xhtml">Lights</a><ol><li><a href="one%20.xhtml#s">Sector lights</a>'
    files["OPS/toc.xhtml"] = f"<nav><ol><li>{links}</li></ol></li></ol></nav>"
    item = '<item id="c" href="toc.xhtml" properties="nav"/>'
    files["OPS/book.opf"] = files["OPS/book.opf"].replace("<manifest>", f"<manifest>{item}")
    document = load(tmp_path, "a.epub", samples.packed(files), Epub())
    assert [(s.title, s.level, s.ancestors) for s in document.sections] == [
        ("Lights", 1, ()),
        ("Sector lights", 2, ("Lights",)),
        ("Second", 1, ()),
    ]


@pytest.mark.parametrize(
    "before",
    [
        "",
        "/* big letters { } */",
        '@charset "utf-8";\n',
        "@import url(a.css); @namespace x; /* a */ @media print { p { margin: 0 } }",
    ],
)
def test_pages_without_headings_have_those_in_larger_letters(tmp_path: Path, before: str) -> None:
    files = dict(samples.book_files())
    files["OPS/a.css"] = (
        f"p {{ font-size: 1em }} {before}"
        ".big { font-size: 24pt; } span.mid, .x { font-weight: bold; "
        "font-size: 1.5em } .cap { font-size: 300% }"
    )
    long = "The keeper trims the wick and writes down the hour. " * 4
    for name, title in (("one .xhtml", "Lights"), ("two.xhtml", "Horns")):
        files[f"OPS/{name}"] = (
            f'<p><span class="big">{title}</span></p><p><span class="cap">T</span>he sea. {long}'
            f'</p><div><p><span class="mid">{title} at night</span></p></div><p>{long}</p>'
        )
    document = load(tmp_path, "a.epub", samples.packed(files), Epub())
    assert [(section.title, section.level) for section in document.sections] == [
        ("Lights", 1),
        ("Lights at night", 2),
        ("Horns", 1),
        ("Horns at night", 2),
    ]
    assert document.text.count("The keeper") == 16


def test_marking_headings_loses_no_text_of_a_broken_page(tmp_path: Path) -> None:
    files = dict(samples.book_files())
    files["OPS/one .xhtml"] = (
        '<p style="font-size:30pt">Keys</div><p>all is &nbsp;<b>lost<p>at</i>s'
    )
    document = load(tmp_path, "a.epub", samples.packed(files), Epub())
    assert document.text.split()[:5] == ["#", "Keys", "all", "is", "lost"]


@pytest.mark.parametrize("size", ["1.2.3em", "..5em", ".em", "1.2.em"])
def test_a_size_that_is_no_number_is_none(tmp_path: Path, size: str) -> None:
    files = dict(samples.book_files())
    files["OPS/a.css"] = f".big {{ font-size: {size} }} .large {{ font-size: 1.em }}"
    files["OPS/one .xhtml"] = f'<p class="big">Keys</p><p style="font-size: {size}">The key.</p>'
    document = load(tmp_path, "a.epub", samples.packed(files), Epub())
    assert document.text.split()[:3] == ["Keys", "The", "key."]


def test_a_book_may_have_folders_named_as_those_of_office_files(tmp_path: Path) -> None:
    files = {**samples.book_files(), "word/a.png": "", "xl/a.png": "", "ppt/a.png": ""}
    usual = load(tmp_path, "a.epub", samples.book(), Epub())
    assert load(tmp_path, "b.epub", samples.packed(files), Epub()).text == usual.text


def test_a_book_that_is_too_large_is_refused_with_advice_that_helps(tmp_path: Path) -> None:
    many = samples.packed({**samples.book_files(), **{f"{n}.png": "" for n in range(10_001)}})
    messages = {
        samples.book(): "it unpacks to over 10 bytes; raise unpacked_bytes",
        many: "it holds over 10000 files",
    }
    for book, message in messages.items():
        with pytest.raises(Unreadable, match=f"{message}$") as caught:
            load(tmp_path, "a.epub", book, Epub(unpacked_bytes=10))
        assert caught.value.reason == "too_large"


PICTURE = b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1" + bytes(range(256)) * 8


def with_item(files: Mapping[str, str], item: str) -> dict[str, str | bytes]:
    """Return the files of a book with an item more, which comes first in its spine."""
    book = files["OPS/book.opf"].replace("<manifest>", f'<manifest><item id="x" {item}/>')
    return {**files, "OPS/book.opf": book.replace("<spine>", '<spine><itemref idref="x"/>')}


@pytest.mark.parametrize(
    "more",
    [
        {"__MACOSX/OPS/._a.css": b"\0\5\x16\7\0\2\0\0Mac OS X" + bytes(range(128, 256))},
        {"OPS/a.css": "/* Über die Größe der Überschriften */".encode("latin-1")},
        with_item(samples.book_files(), 'href="a.jpg" media-type="image/jpeg"')
        | {"OPS/a.jpg": PICTURE},
    ],
)
def test_files_of_a_book_that_are_no_text_leave_its_chapters_as_they_are(
    tmp_path: Path, more: Mapping[str, str | bytes]
) -> None:
    usual = load(tmp_path, "a.epub", samples.book(), Epub())
    book = samples.packed({**samples.book_files(), **more})
    assert load(tmp_path, "a.epub", book, Epub()) == usual


@pytest.mark.parametrize(
    ("chapters", "message"),
    [
        ({"OPS/x.xhtml": bytes(range(128, 256))}, "OPS/x.xhtml is left out: the file is in no"),
        ({}, "OPS/x.xhtml is left out: no such file is in the book"),
    ],
)
def test_chapters_that_cannot_be_read_are_named(
    tmp_path: Path, chapters: Mapping[str, bytes], message: str
) -> None:
    files = {**with_item(samples.book_files(), 'href="x.xhtml"'), **chapters}
    document = load(tmp_path, "a.epub", samples.packed(files), Epub())
    assert document.text == load(tmp_path, "b.epub", samples.book(), Epub()).text
    assert [remark.code for remark in document.remarks] == ["unread_chapter"]
    assert document.remarks[0].message.startswith(message)


@pytest.mark.parametrize("damaged", ["two.xhtml", "toc.xhtml", "a.css"])
def test_a_damaged_part_of_a_book_leaves_the_others_as_they_are(
    tmp_path: Path, damaged: str
) -> None:
    files = with_item(samples.book_files(), 'href="toc.xhtml" properties="nav"')
    files |= {"OPS/toc.xhtml": "<nav><a href='two.xhtml'>Two</a></nav>", "OPS/a.css": "p {}"}
    book = bytearray(samples.packed(files))
    book[book.index(f"OPS/{damaged}".encode()) + len(f"OPS/{damaged}") + 2] ^= 0xFF
    document = load(tmp_path, "a.epub", bytes(book), Epub())
    assert "brass key" in document.text
    assert ("cellar" in document.text) == (damaged != "two.xhtml")
    messages = [remark.message for remark in document.remarks]
    reason = "it is damaged, or packed with a password"
    assert messages == ([] if damaged == "a.css" else [f"OPS/{damaged} is left out: {reason}"])


def test_a_book_without_any_chapter_is_damaged(tmp_path: Path) -> None:
    files = samples.book_files()
    for gone in ("OPS/one .xhtml", "OPS/two.xhtml"):
        del files[gone]
    with pytest.raises(Unreadable, match="no such file is in the book") as caught:
        load(tmp_path, "a.epub", samples.packed(files), Epub())
    assert caught.value.reason == "damaged"


def test_names_of_chapters_may_be_of_another_case(tmp_path: Path) -> None:
    files = samples.book_files()
    files["OPS/book.opf"] = files["OPS/book.opf"].replace("two.xhtml", "Two.XHTML")
    usual = load(tmp_path, "a.epub", samples.book(), Epub())
    assert load(tmp_path, "a.epub", samples.packed(files), Epub()).text == usual.text


@pytest.mark.parametrize(
    ("folder", "written"),
    [
        ("OPS", "./OPS/book.opf"),
        ("OPS", "ops/Book.opf"),
        ("My OPS", "My%20OPS/book.opf"),
        ("My%20OPS", "My%20OPS/book.opf"),
    ],
)
def test_a_book_may_be_named_as_in_any_reference(tmp_path: Path, folder: str, written: str) -> None:
    files = {name.replace("OPS", folder): text for name, text in samples.book_files().items()}
    container = "META-INF/container.xml"
    files[container] = files[container].replace("OPS/book.opf", written)
    usual = load(tmp_path, "a.epub", samples.book(), Epub())
    assert load(tmp_path, "a.epub", samples.packed(files), Epub()).text == usual.text


ENCRYPTED = """<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData><e:CipherData>
<e:CipherReference URI="{name}"/></e:CipherData></e:EncryptedData></encryption>"""


@pytest.mark.parametrize(
    ("name", "content", "locked"),
    [
        ("META-INF/rights.xml", "<rights/>", "locked"),
        ("META-INF/license.lcpl", "{}", "locked"),
        ("META-INF/encryption.xml", ENCRYPTED.format(name="OPS/one%20.xhtml"), "locked"),
        ("META-INF/encryption.xml", ENCRYPTED.format(name="OPS/font.otf"), ""),
        ("META-INF/encryption.xml", "<encryption", ""),
    ],
)
def test_a_book_whose_chapters_are_locked_is_refused(
    tmp_path: Path, name: str, content: str, locked: str
) -> None:
    book = samples.packed({**samples.book_files(), name: content})
    if not locked:
        assert "brass key" in load(tmp_path, "a.epub", book, Epub()).text
        return
    with pytest.raises(Unreadable) as caught:
        load(tmp_path, "a.epub", book, Epub())
    assert caught.value.reason == "encrypted"


def test_names_of_html_are_read_in_the_title_of_a_book(tmp_path: Path) -> None:
    files = samples.book_files()
    title = "Keys&nbsp;&amp; locks &ndash; caf&eacute;"
    files["OPS/book.opf"] = files["OPS/book.opf"].replace("Shop", title)
    files["OPS/one .xhtml"] = files["OPS/two.xhtml"] = "<p>The brass key.</p>"
    (section,) = load(tmp_path, "a.epub", samples.packed(files), Epub()).sections
    assert section.title == "Keys & locks \u2013 café"
