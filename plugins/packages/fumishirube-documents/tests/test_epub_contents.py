"""The contents of e-books: which chapters are parts of which."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import samples
from fumishirube_documents import Epub
from opened_loaders import running

from fumishirube import Root, Source

PARTS = """<html xmlns:epub="http://www.idpf.org/2007/ops"><body>{before}
<nav epub:type="toc"><ol><li><a href="0.xhtml">Preface</a></li>
<li><a href="1.xhtml">Part one</a><ol><li><a href="2.xhtml">Keys</a></li></ol></li>
<li><a href="4.xhtml">Part two</a></li></ol></nav></body></html>"""
PAGES = '<nav epub:type="page-list"><ol><li><a href="2.xhtml">12</a></li></ol></nav>'
CHAPTERS = {
    "0.xhtml": "<h1>Preface</h1><p>It is short.</p>",
    "1.xhtml": "<h1>Part one</h1><p>On doors.</p>",
    "2.xhtml": "<h1>Keys</h1><p>The brass key.</p><h2>Locks</h2><p>The lock.</p>",
    "3.xhtml": "<h2>Hinges</h2><p>The hinge.</p>",
    "4.xhtml": "<h2>Part two</h2><p>On windows.</p>",
}


def sections(folder: Path, contents: str, chapters: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the titles of a book's sections, each with those that it is a part of."""
    items = "".join(f'<item id="i{name}" href="{name}"/>' for name in chapters)
    spine = "".join(f'<itemref idref="i{name}"/>' for name in chapters)
    files = samples.book_files()
    head = files["OPS/book.opf"].partition("<manifest>")[0]
    manifest = f'<manifest><item id="c" href="toc.xhtml" properties="nav"/>{items}</manifest>'
    files = {
        "META-INF/container.xml": files["META-INF/container.xml"],
        "OPS/book.opf": f"{head}{manifest}<spine>{spine}</spine></package>",
        "OPS/toc.xhtml": contents,
        **{f"OPS/{name}": page for name, page in chapters.items()},
    }
    (folder / "a.epub").write_bytes(samples.packed(files))
    document = running(Epub()).load(Root(folder), Source("a.epub"))
    return {section.title: [*section.ancestors] for section in document.sections}


def test_the_contents_say_which_chapter_is_in_which_part(tmp_path: Path) -> None:
    for before in ("", PAGES):
        assert sections(tmp_path, PARTS.format(before=before), CHAPTERS) == {
            "Preface": [],
            "Part one": [],
            "Keys": ["Part one"],
            "Locks": ["Part one", "Keys"],
            "Hinges": ["Part one", "Keys"],
            "Part two": [],
        }
