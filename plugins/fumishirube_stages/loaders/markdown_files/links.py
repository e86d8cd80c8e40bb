"""Finds the links in Markdown: ``[[wikilinks]]``, inline links, and reference links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Any, NamedTuple, get_args
from urllib.parse import unquote_to_bytes

from fumishirube import Link, LinkKind, LoaderRemark
from fumishirube.text import Lines
from fumishirube_stages.loaders.markdown_files.headings import Parsed, ParsedBlock

_LINK_KINDS: tuple[LinkKind, ...] = get_args(LinkKind)
_PARAGRAPHS = re.compile(r"\S[^\n]*(?:\n[^\S\n]*+\S[^\n]*)*")
_SPECIAL = re.compile(r"\\.|`+|<!--|<[A-Za-z/][^<>\n]*>|!?\[\[|!?\[|\]", re.DOTALL)
_WIKI = re.compile(r"([^\[\]\n]*)\]\]")
# Possessive quantifiers: without backtracking the time stays linear.
_INLINE = re.compile(
    r"\(\s*+(?:<([^<>\n]*+)>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*+\))*+))\s*+"
    r"(?:(?<=\s)(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))\s*+)?\)"
)
_TICKS = re.compile(r"`+")
_LABEL = re.compile(r"\[([^\[\]]*)\]")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|&#?\w+;")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_MARKDOWN = (".md", ".markdown")
_NEAR = 2
_LONGEST_LABEL = 1_000
"""The most characters of a label; brackets may be nested, and each pair has a label."""


class ParsedLinks(NamedTuple):
    """The links of a text, in order, and remarks."""

    links: tuple[Link, ...]
    remarks: tuple[LoaderRemark, ...]


def links(text: str, begin: int, structure: Parsed) -> ParsedLinks:
    """Return the links of a text that is parsed from an offset, outside code and HTML."""
    if text.find("[", begin) < 0:
        return ParsedLinks((), ())
    collected: list[Link] = []
    remarks: list[LoaderRemark] = []
    for first, block in _blocks(text, begin, structure.blocks):
        if "[" in block:
            lines = Lines(block)
            for at, link, remark in _scanned(block, structure.references):
                line = first + lines.at(at) - 1
                collected.append(link._replace(line=line))
                remarks += [remark._replace(line=line)] if remark else []
    return ParsedLinks(tuple(collected), tuple(remarks))


def _blocks(text: str, begin: int, parsed: Sequence[ParsedBlock]) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each parsed block, and of the paragraphs between."""
    lines = Lines(text)
    for block in (*parsed, ParsedBlock(lines.total + 1, lines.total + 1, "")):
        for paragraph in _PARAGRAPHS.finditer(text, begin, lines.start(block.line)):
            yield lines.at(paragraph.start()), paragraph.group()
        yield block.line, block.text
        begin = max(begin, lines.start(block.below))


_LocatedLink = tuple[int, Link, LoaderRemark | None]


def _scanned(text: str, references: Mapping[str, Any]) -> Iterator[_LocatedLink]:
    """Yield the links of one paragraph with offsets, outside code, comments and escapes."""
    opened: list[tuple[int, bool]] = []
    at, last_comment, linked = 0, text.rfind("-->"), 0
    closing = _code_ends(text)
    while match := _SPECIAL.search(text, at):
        mark, at = match.group(), match.end()
        if mark == "<!--":
            at = text.find("-->", at) + 3 if at <= last_comment else at
        elif mark[0] in "\\`<":
            at = closing.get(match.start(), at)
        elif mark.endswith("[["):
            if wiki := _WIKI.match(text, at):
                at = wiki.end()
                if wiki_link := _wiki(wiki.group(1), embedded=mark[0] == "!"):
                    yield (match.start(), *wiki_link)
            else:
                opened += [(match.start(), mark[0] == "!"), (match.end() - 1, False)]
        elif mark.endswith("["):
            opened.append((match.start(), mark[0] == "!"))
        elif mark == "]" and opened:
            start, image = opened.pop()
            begin = start + 1 + image
            label = text[begin : min(match.start(), begin + _LONGEST_LABEL)]
            alone = image or start >= linked  # a link is in no other link
            target, at = _destination(text, at, label, references) if alone else (None, at)
            linked = linked if image or target is None else at
            if not image and (link := _path_link(target or "", label)):
                yield start, link, None


def _code_ends(text: str) -> Mapping[int, int]:
    """Return, by the start of a run of backticks, the end of the next run of the same length.

    That run closes a code span; without one, the backticks are plain text.
    """
    ends: dict[int, int] = {}
    following: dict[int, int] = {}
    for run in reversed([*_TICKS.finditer(text)]):
        length = run.end() - run.start()
        if length in following:
            ends[run.start()] = following[length]
        following[length] = run.end()
    return ends


# --- wikilinks ------------------------------------------------------------------------------


def _wiki(inner: str, *, embedded: bool) -> tuple[Link, LoaderRemark | None] | None:
    place, *labels = (part.strip() for part in inner.replace("\\|", "|").split("|"))
    target, _, anchor = (part.strip() for part in place.partition("#"))
    extension = target.rpartition("/")[2].rpartition(".")
    if not target:
        return None
    if embedded and extension[1] and f".{extension[2].lower()}" not in _MARKDOWN:
        return None
    kind, shown, remark = _LINK_KINDS[0], "", None
    for label in labels:
        named = next(
            (candidate for candidate in _LINK_KINDS if candidate == label.casefold()), None
        )
        if named:
            kind = named
        elif label:
            shown = label
            remark = _like_a_kind(label) or remark
    return Link(target, shown, 0, anchor, _LINK_KINDS[0] if embedded else kind, wiki=True), remark


def _like_a_kind(label: str) -> LoaderRemark | None:
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - few links need it: 10 ms

    for kind in _LINK_KINDS:
        if Levenshtein.distance(label.casefold(), kind, score_cutoff=_NEAR) <= _NEAR:
            return LoaderRemark("type_like_label", 0, f"did '{label}' mean the link type '{kind}'?")
    return None


# --- Markdown links -------------------------------------------------------------------------


def _destination(
    text: str, at: int, label: str, references: Mapping[str, Any]
) -> tuple[str | None, int]:
    """Return the target after a label in brackets, and the end of the link."""
    if inline := _INLINE.match(text, at):
        target = inline.group(1) if inline.group(1) is not None else inline.group(2)
        plain = _ESCAPED.sub(lambda escape: escape[1] or unescape(escape[0]), target or "")
        return plain, inline.end()
    named = _LABEL.match(text, at)
    name = (named.group(1) if named and named.group(1).strip() else label) if references else ""
    definition = references.get(" ".join(name.split()).casefold().upper())
    if definition is None:
        return None, at
    return str(definition.get("href", "")), named.end() if named else at


def _path_link(target: str, label: str) -> Link | None:
    """Return a link to a Markdown file below the root; ``None`` for any other target."""
    if _SCHEME.match(target) or target.startswith("#"):
        return None
    path, _, anchor = target.partition("#")
    path = _decoded(path.partition("?")[0])
    if not path.lower().endswith(_MARKDOWN):
        return None
    return Link(path, " ".join(label.split()), 0, _decoded(anchor))


def _decoded(raw: str) -> str:
    """Decode percent-escapes; return the raw text when they are invalid."""
    try:
        return unquote_to_bytes(raw).decode() if "%" in raw else raw
    except UnicodeDecodeError:
        return raw
