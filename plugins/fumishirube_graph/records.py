"""The index record of one document: its text, sections, and links as written."""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, TypedDict, get_args

from fumishirube import Document, Link, LoaderRemark
from fumishirube.text import nfc
from fumishirube_graph.folded_texts import FoldedTexts
from fumishirube_graph.texts import folded

DocType = Literal["spec", "design", "adr", "guide", "api", "meeting", "todo", "other"]
DOC_TYPES: tuple[DocType, ...] = get_args(DocType)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999
"""The milliseconds from then of the first and the last moment of years with four digits."""
_DRIVE = re.compile(r"[A-Za-z]:")
_DEEPER = re.compile(
    r"^ {0,3}#{4,6}[ \t]+([^ \t\n](?:.*?[^ \t])??)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE
)
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_FENCED = re.compile(
    r"^ {0,3}(?:(`{3,})(?!.*`)|(~{3,})).*(?:\n.*)*?(?:\n {0,3}(?:\1`*|\2~*)[ \t]*$|\Z)",
    re.MULTILINE,
)
"""A block of code, up to the end of the text if nothing closes it."""


class DocSection(NamedTuple):
    """A section: its heading, its lines in the file, and its offsets in the content."""

    heading: str | None
    level: int
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    begin: int
    end: int


class Record(NamedTuple):
    """A stored document; ``updated_ms`` is when its bytes, of hash ``sha``, were first seen."""

    title: str
    doc_type: DocType
    aliases: tuple[str, ...]
    source_refs: tuple[str, ...]
    content: str
    parts: tuple[DocSection, ...]
    links: tuple[Link, ...]
    remarks: tuple[LoaderRemark, ...]
    sha: str
    updated_ms: int

    @classmethod
    def read(cls, row: Sequence[Any]) -> Record:
        """Build a record from a row of the index, which is JSON."""
        record = cls(*row)
        return record._replace(
            aliases=tuple(record.aliases),
            source_refs=tuple(record.source_refs),
            parts=tuple(DocSection(p[0], p[1], tuple(p[2]), *p[3:]) for p in record.parts),
            links=tuple(Link(*link) for link in record.links),
            remarks=tuple(LoaderRemark(*remark) for remark in record.remarks),
        )


class PageName(TypedDict):
    """How answers name a page."""

    doc_id: str
    filepath: str
    title: str


class Doc:
    """A document of one generation, with its path and id."""

    def __init__(self, path: str, record: Record) -> None:
        self.path = path
        self.record = record
        self.id = f"d_{_digest(path, 16)}"
        self.title = record.title
        self.summary = record.content[:500]

    @cached_property
    def section_ids(self) -> tuple[str, ...]:
        """The ids of the sections, derived from headings, so that they survive edits."""
        counts: dict[str, int] = {}
        ids = []
        for part in self.record.parts:
            mark = _digest("\n".join(part.heading_path), 8)
            counts[mark] = counts.get(mark, 0) + 1
            ids.append(f"{self.id}.{mark}" + (f"-{counts[mark]}" if counts[mark] > 1 else ""))
        return tuple(ids)

    @cached_property
    def searched(self) -> FoldedTexts:
        """The searchable texts; a document without sections has one empty section."""
        title = folded(self.title)
        headings = [folded(part.heading or "") for part in self.record.parts] or [""]
        contents = [folded(self.text(part)) for part in self.record.parts] or [""]
        return FoldedTexts.of(title, headings, contents)

    @property
    def named(self) -> PageName:
        """The fields of an answer that name this page."""
        return PageName(doc_id=self.id, filepath=self.path, title=self.title)

    def text(self, part: DocSection) -> str:
        """Return the content of a section."""
        return self.record.content[part.begin : part.end]

    @cached_property
    def anchors(self) -> dict[str, str]:
        """The section id of each heading, by its text and by its slug."""
        section_of: dict[str, str] = {}
        repeats: dict[str, int] = {}
        for part, section_id in zip(self.record.parts, self.section_ids, strict=True):
            for heading in filter(None, (part.heading, *_deeper(self.text(part)))):
                # GitHub's numbering: it skips a number that is the slug of another heading.
                plain = slug = _slug(heading)
                while slug in repeats:
                    repeats[plain] += 1
                    slug = f"{plain}-{repeats[plain]}"
                repeats[slug] = 0
                for key in (folded(heading), slug):
                    section_of.setdefault(key, section_id)
        section_of.pop("", None)
        return section_of

    def anchor(self, anchor: str) -> str | None:
        """Return the id of the section that an anchor points to, or ``None``."""
        return self.anchors.get(folded(anchor)) or self.anchors.get(nfc(nfc(anchor).casefold()))

    @property
    def updated_at(self) -> str:
        """When the present bytes were first seen, in UTC, within the years 1 to 9999."""
        moment = _EPOCH + timedelta(milliseconds=min(max(self.record.updated_ms, _FIRST), _LAST))
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def record_of(
    document: Document, sha: str, updated_ms: int, inside: Callable[[str], bool]
) -> Record:
    """Return the record of a document that a loader parsed.

    ``inside`` returns whether a path, with links followed, stays below the workspace.
    """
    begin, end = _trimmed(document.text, document.content, len(document.text))
    remarks = list(document.remarks)
    facts = document.facts
    parts = tuple(_parts(document, begin))
    heading = next((p.heading for p in parts if p.level == 1 and p.heading), None)
    return Record(
        document.title or heading or PurePosixPath(document.path).stem,
        _doc_type(facts.get("doc_type"), remarks),
        tuple(_texts(facts.get("aliases"))),
        tuple(_source_refs(facts.get("source_refs"), remarks, inside)),
        document.text[begin:end],
        parts,
        document.links,
        tuple(remarks),
        sha,
        updated_ms,
    )


def _parts(document: Document, origin: int) -> Iterator[DocSection]:
    text = document.text
    for section in document.sections:
        heading = section.title if section.level else None
        begin, end = _trimmed(text, section.body, section.end)
        own = text[section.start : section.end].rstrip()
        last = section.end_line if heading is None else section.start_line + own.count("\n")
        path = (*section.ancestors, section.title) if heading is not None else ()
        low, high = max(begin - origin, 0), max(end - origin, 0)
        yield DocSection(heading, section.level, path, section.start_line, last, low, high)


def _trimmed(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return the bounds of a text without leading and trailing blank lines."""
    piece = text[begin:end]
    if not piece.strip():
        return begin, begin
    leading = len(piece) - len(piece.lstrip())
    start = begin + piece.rfind("\n", 0, leading) + 1
    length = len(piece.rstrip())
    stop = piece.find("\n", length)
    return start, begin + (stop if stop >= 0 else len(piece))


def _doc_type(stated: Any, remarks: list[LoaderRemark]) -> DocType:
    if stated is None:
        return "other"
    word = stated.strip().casefold() if isinstance(stated, str) else ""
    for doc_type in DOC_TYPES:
        if doc_type == word:
            return doc_type
    shown = word[:40] or "a value that is no text"
    allowed = ", ".join(DOC_TYPES)
    remarks.append(LoaderRemark("doc_type_unknown", 1, f"doc_type {shown!r} is none of {allowed}"))
    return "other"


def _texts(stated: Any) -> list[str]:
    """Return the strings in a string or a list; ignore other values."""
    listed = stated if isinstance(stated, list) else [stated]
    return list(dict.fromkeys(nfc(t.strip()) for t in listed if isinstance(t, str) and t.strip()))


def _source_refs(
    stated: Any, remarks: list[LoaderRemark], inside: Callable[[str], bool]
) -> Iterator[str]:
    """Yield the source paths that a document declares, relative to the workspace, each once."""
    seen: set[str] = set()
    for reference in stated if isinstance(stated, list) else [] if stated is None else [stated]:
        path = nfc(reference.strip()).replace("\\", "/") if isinstance(reference, str) else ""
        absolute = path.startswith("/")
        path = "/".join(step for step in path.split("/") if step not in ("", "."))
        if (
            not path
            or absolute
            or _DRIVE.match(path)
            or "\0" in path
            or ".." in path.split("/")
            or not inside(path)
        ):
            shown = repr(reference[:80]) if isinstance(reference, str) else "one that is no text"
            message = f"source_refs: {shown} is no path below the workspace"
            remarks.append(LoaderRemark("source_ref_rejected", 1, message))
        elif path not in seen:
            seen.add(path)
            yield path


def stays_below(folder: Path, path: str) -> bool:
    """Tell whether a path below a folder stays there when links are followed."""
    try:
        return (folder / path).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a loop of symbolic links
        return False


def _deeper(text: str) -> list[str]:
    """Return the headings of a section's text, which are too deep for sections of their own."""
    written = _DEEPER.findall(_FENCED.sub("", text)) if "####" in text else []
    return [html.unescape(_LINK.sub(r"\1", heading)) for heading in written]


def _digest(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def _slug(heading: str) -> str:
    """Return the anchor that GitHub makes of a heading: marks of vowels and of emoji stay."""
    letters = (c for c in nfc(heading).strip().casefold() if c in "- " or _in_words(c))
    return nfc("".join(letters)).replace(" ", "-")


def _in_words(character: str) -> bool:
    category = unicodedata.category(character)
    return character.isalnum() or category == "Pc" or category[0] == "M"
