"""Finds the headings of a Word document that has no styles for them: large or bold paragraphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from docx.oxml.ns import qn
from lxml.etree import _Element as Element

from fumishirube_documents.docx.styles import is_on, style_chain, style_elements, value_of
from fumishirube_documents.docx.text import words

_LARGER = 1.15
_MOST = 0.3
"""The share of letters in a document from which being bold or large marks no headings."""
_LONGEST, _DEEPEST = 80, 6
_SENTENCE_ENDS = (".", ",", ";", ":", "。", "、", "：")
_DEFAULT_SIZE = 20.0
"""Half points, where a document says nothing."""


class _Letters(NamedTuple):
    """How a paragraph looks: its smallest letters, and whether all are bold."""

    size: float
    bold: bool


class _Look(NamedTuple):
    """What a style or a run says of its letters."""

    size: float | None = None
    bold: bool | None = None

    def over(self, other: _Look) -> _Look:
        """Return this look, with that of ``other`` where this one says nothing."""
        return _Look(
            other.size if self.size is None else self.size,
            other.bold if self.bold is None else self.bold,
        )


def plain_headings(styles: Element, paragraphs: Iterable[Element]) -> Mapping[Element, int]:
    """Return the paragraphs that look like headings, with their levels."""
    looks = _styles(styles)
    default = _look(styles.find(f"{qn('w:docDefaults')}/{qn('w:rPrDefault')}"))
    letters = {each: _letters(each, looks, default) for each in paragraphs if words(each)}
    total = sum(len(words(each)) for each in letters)
    sizes = Counter[float]()
    for each, (size, _) in letters.items():
        sizes[size] += len(words(each))
    if not sizes:
        return {}
    body, most = sizes.most_common(1)[0][0], _MOST * total
    larger = sorted((s for s in sizes if s >= _LARGER * body and sizes[s] <= most), reverse=True)
    bold = sum(len(words(each)) for each, look in letters.items() if look.bold)
    lowest = len(larger) + 1 if bold <= most else 0
    levels = {
        each: larger.index(size) + 1 if size in larger else lowest * is_bold
        for each, (size, is_bold) in letters.items()
        if _may_be_heading(words(each))
    }
    return {each: min(level, _DEEPEST) for each, level in levels.items() if level}


def _may_be_heading(text: str) -> bool:
    has_letters = any(map(str.isalpha, text))
    return has_letters and len(text) <= _LONGEST and not text.endswith(_SENTENCE_ENDS)


def _letters(paragraph: Element, looks: Mapping[str, _Look], default: _Look) -> _Letters:
    style = looks.get(value_of(paragraph.find(qn("w:pPr")), "pStyle"), _Look())
    runs = [
        _look(run).over(style).over(default)
        for run in paragraph.iter(qn("w:r"))
        if any((text.text or "").strip() for text in run.iter(qn("w:t")))
    ]
    size = min((run.size or _DEFAULT_SIZE for run in runs), default=_DEFAULT_SIZE)
    return _Letters(size, bool(runs) and all(run.bold for run in runs))


def _styles(styles: Element) -> Mapping[str, _Look]:
    """Return the looks of paragraph styles by id; that without one is the default style."""
    elements = style_elements(styles)
    looks = {}
    for name, element in elements.items():
        look = _Look()
        for each in style_chain(name, elements):
            look = look.over(_look(each))
        looks[name] = look
        if element.get(qn("w:default")) == "1" and element.get(qn("w:type")) == "paragraph":
            looks[""] = look
    return looks


def _look(element: Element | None) -> _Look:
    """Return what the properties of an element say of its letters."""
    properties = None if element is None else element.find(qn("w:rPr"))
    if properties is None:
        return _Look()
    points = value_of(properties, "sz")
    return _Look(
        float(points) if points.isascii() and points.isdecimal() and len(points) < 5 else None,
        is_on(properties, "b"),
    )
