"""Loaders, each wrong in one way that their contract names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fumishirube import Document, Link, Root, Section, Source, Stage, Unreadable
from fumishirube.testing import LoaderContract
from fumishirube.text import Lines, decode

FILES = {"a.txt": "one\n\ntwo\nthree\n", "b/ç.txt": "四\n五\n", "c.md": "not for us"}


class Blocks(Stage):
    """Makes a section of what stands between blank lines, of ``.txt`` files."""

    def sources(self, root: Root) -> Iterable[Source]:
        return [Source(e.path) for e in root.files() if e.path.endswith(".txt")]

    def load(self, root: Root, source: Source) -> Document:
        return _document(source.path, decode(root.read_bytes(source.path)))


def _document(path: str, text: str) -> Document:
    starts = [0]
    place = text.find("\n\n")
    while text.strip() and place >= 0:
        if text[: place + 2].strip() and text[place + 2 :].strip() and text[place + 2] != "\n":
            starts.append(place + 2)
        place = text.find("\n\n", place + 1)
    lines = Lines(text)
    sections = [
        Section(
            text[start:end].strip()[:20],
            lines.at(start),
            lines.at(max(start, end - 1)),
            start,
            end,
            end,
            start,
        )
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
        if end > start
    ]
    return Document(path, "txt", text, tuple(sections))


def _as_written(root: Root, source: Source) -> bool:
    """Tell whether it is the first file, and no variant of what was written."""
    return source.path == "a.txt" and root.read_bytes("a.txt") == FILES["a.txt"].encode()


class _Contract(LoaderContract):
    def files(self) -> Mapping[str, str | bytes]:
        return FILES


class TestBlocks(_Contract):
    breaks = ()
    stage = Blocks()


class _Factless(Blocks):
    """Gives nothing for the facts of a document."""

    def load(self, root: Root, source: Source) -> Document:
        document = super().load(root, source)
        facts: Any = None
        return document._replace(facts=facts) if _as_written(root, source) else document


class TestFactless(_Contract):
    breaks = (
        "test_results_have_the_types_of_their_kind",
        "test_every_variant_of_a_file_is_read_or_unreadable",
    )
    says = "a value of its document has a wrong type"
    stage = _Factless()


class _Setting(Blocks):
    """Says by a set what governs a file."""

    def sources(self, root: Root) -> Iterable[Source]:
        nothing: Any = frozenset()
        return [Source(one.path, nothing) for one in super().sources(root)]


class TestSetting(_Contract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "is no Source of a path and a tuple of paths"
    stage = _Setting()


class _Varying(Blocks):
    """Gives nothing for the facts of an empty file."""

    def load(self, root: Root, source: Source) -> Document:
        document = super().load(root, source)
        facts: Any = None
        return document if document.text else document._replace(facts=facts)


class TestVarying(_Contract):
    breaks = ("test_every_variant_of_a_file_is_read_or_unreadable",)
    says = "empty: a value of its document has a wrong type"
    stage = _Varying()


class _Governing(Blocks):
    """Says that a file governs itself."""

    def sources(self, root: Root) -> Iterable[Source]:
        return [Source(one.path, (one.path,)) for one in super().sources(root)]


class TestGoverning(_Contract):
    breaks = ("test_it_claims_files_that_exist",)
    stage = _Governing()


class _Hopeful(Blocks):
    """Speaks for a file that might be there."""

    def sources(self, root: Root) -> Iterable[Source]:
        return super().sources(root) or [Source("might.txt")]


class TestHopeful(_Contract):
    breaks = ("test_an_empty_folder_has_no_sources",)
    stage = _Hopeful()


class _Unsorted(Blocks):
    """Calls the newest file governed by the others."""

    def sources(self, root: Root) -> Iterable[Source]:
        found = list(super().sources(root))
        if root.path.name not in {"forwards", "backwards"} or not found:
            return found
        ordered = sorted(found, key=lambda one: (root.path / one.path).stat().st_mtime_ns)
        return [ordered[0], *(Source(one.path, (ordered[0].path,)) for one in ordered[1:])]


class TestUnsorted(_Contract):
    breaks = ("test_sources_do_not_depend_on_the_order_of_files",)
    stage = _Unsorted()


_SEEN: dict[str, list[Source]] = {}


class _Stale(Blocks):
    """Remembers what it saw in a folder of that name."""

    def sources(self, root: Root) -> Iterable[Source]:
        found = list(super().sources(root))
        if root.path.parent.name.startswith("test_a_deleted"):
            return _SEEN.setdefault(str(root.path), found)
        return found


class TestStale(_Contract):
    breaks = ("test_a_deleted_file_is_not_claimed",)
    stage = _Stale()


class _Typeless(Blocks):
    """Does not say what type a file is of."""

    def load(self, root: Root, source: Source) -> Document:
        return super().load(root, source)._replace(file_type="")


class TestTypeless(_Contract):
    breaks = ("test_a_document_has_the_path_of_its_source",)
    stage = _Typeless()


class _Marked(Blocks):
    """Keeps the mark at the beginning of a file."""

    def load(self, root: Root, source: Source) -> Document:
        document = super().load(root, source)
        return _document(source.path, "\ufeff" + document.text)


class TestMarked(_Contract):
    breaks = ("test_texts_have_plain_line_ends",)
    stage = _Marked()


class _Losing(Blocks):
    """Loses the last section's last character."""

    def load(self, root: Root, source: Source) -> Document:
        document = super().load(root, source)
        if not _as_written(root, source):
            return document
        *first, last = document.sections
        return document._replace(sections=(*first, last._replace(end=last.end - 1)))


class TestLosing(_Contract):
    breaks = (
        "test_own_texts_are_the_text_each_character_once",
        "test_every_variant_of_a_file_is_read_or_unreadable",
    )
    stage = _Losing()


class _Miscounting(Blocks):
    """Counts lines from 0."""

    def load(self, root: Root, source: Source) -> Document:
        document = super().load(root, source)
        if not _as_written(root, source):
            return document
        one, other = document.sections
        return document._replace(sections=(one._replace(end_line=3), other))


class TestMiscounting(_Contract):
    # The last line of the first section is the first line of the second.
    breaks = (
        "test_lines_agree_with_offsets",
        "test_a_line_is_in_one_section",
        "test_every_variant_of_a_file_is_read_or_unreadable",
    )
    stage = _Miscounting()


class _Overlapping(Blocks):
    """Divides within a line."""

    def load(self, root: Root, source: Source) -> Document:
        document = super().load(root, source)
        if not _as_written(root, source):
            return document
        one, other = document.sections
        first = other._replace(end=other.start + 1, extent=other.start + 1, end_line=3)
        rest = other._replace(start=other.start + 1, body=other.start + 1, start_line=3)
        return document._replace(sections=(one, first, rest))


class TestOverlapping(_Contract):
    breaks = (
        "test_a_line_is_in_one_section",
        "test_lines_agree_with_offsets",
        "test_every_variant_of_a_file_is_read_or_unreadable",
    )
    stage = _Overlapping()


class _Orphaning(Blocks):
    """Does not name what a section stands in."""

    def load(self, root: Root, source: Source) -> Document:
        document = super().load(root, source)
        if not _as_written(root, source):
            return document
        one, other = document.sections
        return document._replace(sections=(one._replace(extent=other.end), other))


class TestOrphaning(_Contract):
    breaks = (
        "test_extents_contain_whole_sections",
        "test_every_variant_of_a_file_is_read_or_unreadable",
    )
    stage = _Orphaning()


class _Linking(Blocks):
    """Finds links in lines that are not there."""

    def load(self, root: Root, source: Source) -> Document:
        return super().load(root, source)._replace(links=(Link("a.txt", "a", 1000),))


class TestLinking(_Contract):
    breaks = ("test_links_are_in_the_text",)
    stage = _Linking()


class _Fragile(Blocks):
    """Fails on an empty file."""

    def load(self, root: Root, source: Source) -> Document:
        document = super().load(root, source)
        if not document.text:
            raise IndexError
        return document


class TestFragile(_Contract):
    breaks = ("test_every_variant_of_a_file_is_read_or_unreadable",)
    stage = _Fragile()


class _Following(Blocks):
    """Reads what a link leads to."""

    def sources(self, root: Root) -> Iterable[Source]:
        return [Source(p.relative_to(root.path).as_posix()) for p in root.path.rglob("*.txt")]

    def load(self, root: Root, source: Source) -> Document:
        try:
            return _document(source.path, decode((root.path / source.path).read_bytes()))
        except OSError as error:
            raise Unreadable("it cannot be read", "unreadable") from error


class TestFollowing(_Contract):
    breaks = ("test_a_link_in_the_folder_is_not_followed",)
    stage = _Following()


class _Sociable(Blocks):
    """Says in each document what lies beside it."""

    def load(self, root: Root, source: Source) -> Document:
        number = len(root.files())
        return super().load(root, source)._replace(facts={"beside": number})


class TestSociable(_Contract):
    breaks = ("test_another_file_changes_nothing",)
    stage = _Sociable()


class _Ungoverned(Blocks):
    """Takes a fact from another file, and does not say so."""

    def load(self, root: Root, source: Source) -> Document:
        titles = root.read_bytes("c.md")
        if not titles:
            raise Unreadable("c.md has no titles", "damaged")
        return super().load(root, source)._replace(facts={"titles": decode(titles)})


class TestUngoverned(_Contract):
    breaks = ("test_another_file_changes_nothing",)
    says = "a.txt depends on c.md; add that to governed_by"
    stage = _Ungoverned()


class _Plain(Blocks):
    """Lets the system say what is wrong."""

    def load(self, root: Root, source: Source) -> Document:
        if not (root.path / source.path).exists():
            raise FileNotFoundError(source.path)
        return super().load(root, source)


class TestPlain(_Contract):
    breaks = ("test_a_vanished_file_raises_a_tool_error",)
    stage = _Plain()


class _Signing(Blocks):
    """Leaves a file where it has been."""

    def load(self, root: Root, source: Source) -> Document:
        (root.path / ".seen").write_text("seen")
        return super().load(root, source)


class TestSigning(_Contract):
    breaks = ("test_the_manual_is_not_changed",)
    stage = _Signing()
