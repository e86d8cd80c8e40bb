"""Every link in the documentation leads somewhere: to a file that is there, to a heading in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

PROJECT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *PROJECT.glob("*.md"),
        *PROJECT.glob("docs/**/*.md"),
        *PROJECT.glob("examples/*/README.md"),
        *PROJECT.glob("benchmarks/**/*.md"),
    ]
)
_PARSER = MarkdownIt("commonmark").enable("table")
_ID = re.compile(r"""<[^>]+\b(?:id|name)=["']([^"']+)["']""")


def name(page: Path) -> str:
    return page.relative_to(PROJECT).as_posix()


@cache
def tokens(page: Path) -> list[Token]:
    return _PARSER.parse(page.read_text(encoding="utf-8"))


def links(page: Path) -> Iterator[str]:
    """Yield where the links and images of a page lead, as written."""
    for block in tokens(page):
        for token in block.children or ():
            target = token.attrGet("href") or token.attrGet("src")
            if token.type in {"link_open", "image"}:
                yield str(target or "")


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of a page: those that sites make of headings, and those written out."""
    found: set[str] = set()
    for opening, content in zip(tokens(page), tokens(page)[1:], strict=False):
        if opening.type == "heading_open":
            said = "".join(one.content for one in content.children or ())
            slug, number = _slug(said), 0
            while (anchor := f"{slug}-{number}" if number else slug) in found:
                number += 1
            found.add(anchor)
    return found | set(_ID.findall(page.read_text(encoding="utf-8")))


def _slug(heading: str) -> str:
    kept = (c for c in heading.strip().lower() if c in "-_ " or unicodedata.category(c)[0] in "LNM")
    return "".join(kept).replace(" ", "-")


def missing(page: Path, link: str) -> str:
    """Return what is wrong with a link; nothing if it leads somewhere, or out of the project."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.exists():
        return f"{link}: there is no such file"
    if not target.is_relative_to(PROJECT):
        return f"{link}: leads out of the project"
    if parts.fragment and target.suffix == ".md" and unquote(parts.fragment) not in anchors(target):
        return f"{link}: there is no such heading; there are: {', '.join(sorted(anchors(target)))}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    found = [fault for link in links(page) if (fault := missing(page, link))]
    assert not found, "\n".join(found)


def test_links_are_looked_at() -> None:
    """The pages have links, and one that leads nowhere would be found."""
    assert sum(len([*links(page)]) for page in PAGES) > 20
    readme = PROJECT / "README.md"
    assert "no such file" in missing(readme, "docs/absent.md")
    assert "no such heading" in missing(readme, "CONTRIBUTING.md#absent")
    assert "no such heading" in missing(readme, "#absent")
    assert not missing(readme, "CONTRIBUTING.md#where-to-find-what")
    assert not missing(readme, "https://example.org/absent#x")
    assert "out of the project" in missing(readme, "../")


def test_paragraphs_in_japanese_are_single_lines() -> None:
    """Browsers show a line end as a space, which Japanese does not have between words."""
    blocks = tokens(PROJECT / "README.ja.md")
    inner = [token for block in blocks for token in block.children or ()]
    assert len(inner) > 20
    assert [token for token in inner if token.type == "softbreak"] == []


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Set up", "set-up"),
        ("`a_b.md` & C++", "a_bmd--c"),
        ("日本語の 見出し（1）", "日本語の-見出し1"),
    ],
)
def test_headings_have_the_anchors_that_sites_give_them(heading: str, slug: str) -> None:
    assert _slug(heading.replace("`", "")) == slug
