"""Finds the headings of a book whose pages mark none: by larger letters, or by its contents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lxml import etree

_MARKED = re.compile(r"<(?:\w+:)?h[1-6][\s>]", re.IGNORECASE)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_NO_RULE = re.compile(r"/\*.*?(?:\*/|\Z)|@[^@;{}]*;", re.DOTALL)
"""What a style sheet has between its rules: comments, and rules without a block."""
_RULE = re.compile(r"(?<![^{}])([^{}]+)\{([^{}]*)\}")
_SIZE = re.compile(
    r"(?:^|;)\s*font-size\s*:\s*(\d+\.?\d*|\.\d+)\s*(pt|px|em|rem|%|in|cm|mm)", re.IGNORECASE
)
"""What is no number, such as ``1.2.3em``, is no size, as for browsers."""
_SELECTOR = re.compile(r"(\w*)(?:\.([\w-]+))?")
_POINTS = {"pt": 1.0, "px": 0.75, "in": 72.0, "cm": 28.35, "mm": 2.835, "rem": 12.0}
_PLAIN = 12.0
"""The size of letters that no style gives a size, in points."""
_LARGER = 1.15
_MOST_LARGE = 0.3
"""The share of letters from which a size marks no headings."""
_LONGEST, _DEEPEST = 120, 6
_BLOCKS = frozenset(["p", "div", "li", "td", "th", "table", "ul", "ol", "section", "blockquote"])


class ListedHeading(NamedTuple):
    """An entry of the contents: its title, and its depth from 1."""

    title: str
    depth: int


def with_headings(
    pages: Mapping[str, str], styles: Sequence[str], listed: Mapping[str, Sequence[ListedHeading]]
) -> dict[str, str]:
    """Return the pages, with headings marked in those that mark none.

    These are short paragraphs in larger letters than the text of the book; on a page that has none,
    the paragraphs that the contents name.
    """
    sizes = _Sizes.of(styles)
    trees = {
        name: tree
        for name, page in pages.items()
        if not _MARKED.search(page) and (tree := _tree(page)) is not None
    }
    levels = _levels(sizes, trees.values())
    marked = dict(pages)
    for name, tree in trees.items():
        large = [(p, level) for p in _paragraphs(tree) if (level := levels.get(sizes.least(p), 0))]
        headings = large or [*_named(tree, listed.get(name, ()))]
        for paragraph, level in headings:
            paragraph.tag = f"h{level}"
        if headings:
            marked[name] = etree.tostring(tree, encoding="unicode", method="html")
    return marked


class _Sizes(NamedTuple):
    """The sizes that styles give to elements and classes: a number and its unit."""

    rules: Mapping[tuple[str, str], tuple[float, str]]

    @classmethod
    def of(cls, styles: Sequence[str]) -> _Sizes:
        rules = {}
        plain = "\n".join(_NO_RULE.sub("", style) for style in styles)
        for selectors, declarations in _RULE.findall(plain):
            size = _SIZE.search(declarations)
            for selector in selectors.split(","):
                match = _SELECTOR.fullmatch(selector.strip())
                if size and match:
                    rules[match[1].lower(), match[2] or ""] = float(size[1]), size[2].lower()
        return cls(rules)

    def least(self, paragraph: Any) -> float:
        """Return the size of the smallest letters of a paragraph, in points."""
        return min((size for size, _ in self.letters(paragraph)), default=0.0)

    def letters(self, paragraph: Any) -> Iterator[tuple[float, int]]:
        """Yield the sizes in a paragraph, and how many letters each has."""
        for element in paragraph.iter(etree.Element):
            own = len((element.text or "").strip())
            if own:
                yield self._size(element), own
            after = len((element.tail or "").strip()) if element is not paragraph else 0
            if after:
                yield self._size(element.getparent()), after

    def _size(self, element: Any) -> float:
        factor = 1.0
        for each in (element, *element.iterancestors()):
            number, unit = self._own(each)
            if unit in _POINTS:
                return round(2 * factor * number * _POINTS[unit]) / 2
            factor *= number / 100 if unit == "%" else number
        return round(2 * factor * _PLAIN) / 2

    def _own(self, element: Any) -> tuple[float, str]:
        if inline := _SIZE.search(element.get("style", "")):
            return float(inline[1]), inline[2].lower()
        for name in (*element.get("class", "").split(), ""):
            for rule in ((element.tag, name), ("", name)):
                if rule in self.rules:
                    return self.rules[rule]
        return 1.0, "em"


def _tree(page: str) -> Any:
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
    return etree.fromstring(_DECLARATION.sub("", page).encode("utf-8", "replace"), parser)


def _levels(sizes: _Sizes, trees: Iterable[Any]) -> dict[float, int]:
    """Return the levels of sizes that mark headings, by how large they are."""
    letters = Counter[float]()
    whole = set[float]()
    for tree in trees:
        for paragraph in _paragraphs(tree, longest=None):
            for size, number in sizes.letters(paragraph):
                letters[size] += number
            whole.add(sizes.least(paragraph))
    if not letters:
        return {}
    text = letters.most_common(1)[0][0]
    most = _MOST_LARGE * letters.total()
    larger = [size for size in whole if size >= _LARGER * text and letters[size] <= most]
    ranked = enumerate(sorted(larger, reverse=True), start=1)
    return {size: min(level, _DEEPEST) for level, size in ranked}


def _paragraphs(tree: Any, *, longest: int | None = _LONGEST) -> Iterator[Any]:
    """Yield the elements that are paragraphs: with text, and without another block in them."""
    for element in tree.iter("p", "div"):
        inner = (each.tag for each in element.iterdescendants(etree.Element))
        if not _BLOCKS.isdisjoint(inner):
            continue
        text = _text(element)
        if any(map(str.isalpha, text)) and (longest is None or len(text) <= longest):
            yield element


def _named(tree: Any, listed: Sequence[ListedHeading]) -> Iterator[tuple[Any, int]]:
    """Yield the paragraphs that read as the contents say, with their levels."""
    levels = {entry.title: min(entry.depth, _DEEPEST) for entry in reversed(listed)}
    for paragraph in _paragraphs(tree):
        if level := levels.pop(_text(paragraph), 0):
            yield paragraph, level


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())
