"""The contract of loaders."""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from fumishirube import Document, Loader, Root, Section, Source, ToolError, Unreadable
from fumishirube.engine.stage_results import document_fault
from fumishirube.host.offered_types import is_source
from fumishirube.testing.contract import StageContract
from fumishirube.text import Lines

_MANY = 200


class LoaderContract(StageContract[Loader]):
    """Files are claimed, and read into documents whose sections are the text.

    A subclass defines :meth:`files`: a small manual in the loader's format, by path.
    """

    protocol = Loader

    @abstractmethod
    def files(self) -> Mapping[str, str | bytes]:
        """Return a manual's files by path, with the files that affect them; text becomes UTF-8."""

    @pytest.fixture
    def manual(self, tmp_path: Path) -> Root:
        """Write the files into a folder."""
        return _written(self.files(), tmp_path / "manual")

    def exercise(self, stage: Loader, folder: Path) -> object:
        """Read the whole manual."""
        root = _written(self.files(), folder)
        sources = sorted(stage.sources(root))
        return sources, [stage.load(root, source) for source in sources]

    def test_it_claims_files_that_exist(self, manual: Root) -> None:
        """A source names an existing file, once, and existing files that affect it."""
        sources = self._sources(manual)
        there = {entry.path for entry in manual.files()}
        paths = [source.path for source in sources]
        assert paths, "it claims none of its files()"
        assert len(paths) == len(set(paths)), f"a path comes twice in {paths}"
        for source in sources:
            missing = {source.path, *source.governed_by} - there
            assert not missing, f"{source} names {missing}, which is not there"
            assert source.path not in source.governed_by, f"{source.path} governs itself"

    def test_an_empty_folder_has_no_sources(self, tmp_path: Path) -> None:
        """An empty folder is no error."""
        assert not self._sources(Root(tmp_path)), "it claims files of an empty folder"

    def test_sources_do_not_depend_on_the_order_of_files(self, tmp_path: Path) -> None:
        """The same files have the same sources, in whatever order they were written."""
        files = self.files()
        forwards = _written(files, tmp_path / "forwards")
        backwards = _written(dict(reversed(list(files.items()))), tmp_path / "backwards")
        same = sorted(self._sources(forwards)) == sorted(self._sources(backwards))
        assert same, "the order in which files were written changes the sources"

    def test_a_deleted_file_is_not_claimed(self, manual: Root) -> None:
        """Sources are the files that exist now."""
        stage = self.make()
        gone = min(stage.sources(manual)).path
        (manual.path / gone).unlink()
        claimed = {source.path for source in stage.sources(manual)}
        assert gone not in claimed, f"{gone} is deleted, and still claimed"

    def test_results_have_the_types_of_their_kind(self, manual: Root) -> None:
        """A document with values of other types, or places outside its text, is not searched."""
        for source, document in self._documents(manual):
            assert is_source(source), f"{source!r} is no Source of a path and a tuple of paths"
            fault = document_fault(document, source.path)
            assert not fault, f"{source.path}: {fault}"

    def test_a_document_has_the_path_of_its_source(self, manual: Root) -> None:
        """Path and type say where a document comes from."""
        for source, document in self._documents(manual):
            assert document.path == source.path, f"{document.path} is not {source.path}"
            assert document.file_type, f"{source.path} has no file type"

    def test_texts_have_plain_line_ends(self, manual: Root) -> None:
        """``fumishirube.text.decode`` removes byte order marks and carriage returns."""
        for source, document in self._documents(manual):
            assert "\r" not in document.text, f"{source.path} holds carriage returns"
            assert not document.text.startswith("\ufeff"), f"{source.path} has a mark"

    def test_own_texts_are_the_text_each_character_once(self, manual: Root) -> None:
        """From the first section on nothing is lost, and nothing is indexed twice."""
        for _, document in self._documents(manual):
            _check_cover(document)

    def test_lines_agree_with_offsets(self, manual: Root) -> None:
        """A line number and an offset refer to the same place."""
        for _, document in self._documents(manual):
            _check_lines(document)

    def test_extents_contain_whole_sections(self, manual: Root) -> None:
        """A section that begins inside another's extent ends there, and names it an ancestor."""
        for _, document in self._documents(manual):
            _check_nesting(document)

    def test_a_line_is_in_one_section(self, manual: Root) -> None:
        """Sections follow each other line by line, and every line with text is in one."""
        for _, document in self._documents(manual):
            _check_spans(document)

    def test_links_are_in_the_text(self, manual: Root) -> None:
        """A link names a target, and a line of the document."""
        for source, document in self._documents(manual):
            for link in document.links:
                assert link.target, f"{source.path}: a link to nowhere: {link}"
                assert 1 <= link.line <= Lines(document.text).total, f"{source.path}: {link}"

    def test_every_variant_of_a_file_is_read_or_unreadable(self, manual: Root) -> None:
        """Empty, cut, doubled, in another encoding: a sound document, or ``Unreadable``."""
        stage = self.make()
        for source in sorted(stage.sources(manual)):
            file = manual.path / source.path
            original = file.read_bytes()
            for name, data in _variants(original):
                file.write_bytes(data)
                self._check_variant(stage, manual, source.path, name)
            file.write_bytes(original)

    def test_a_link_in_the_folder_is_not_followed(self, manual: Root, tmp_path: Path) -> None:
        """Files outside the manual are not read through a link; ``Root`` prevents that."""
        stage = self.make()
        for number, source in enumerate(sorted(stage.sources(manual))):
            file, outside = manual.path / source.path, tmp_path / f"outside-{number}"
            file.rename(outside)
            try:
                file.symlink_to(outside)
            except OSError:
                pytest.skip("links cannot be made here")
            assert not _is_read(stage, manual, source.path), f"{source.path} is read through a link"
            file.unlink()
            outside.rename(file)

    def test_another_file_changes_nothing(self, manual: Root) -> None:
        """A document depends on its own files alone."""
        stage = self.make()
        before = {source: stage.load(manual, source) for source in stage.sources(manual)}
        (manual.path / "beside.unknown-suffix").write_bytes(b"\x00 beside")
        after = {source: stage.load(manual, source) for source in stage.sources(manual)}
        assert {source: after.get(source) for source in before} == before, "a file beside decides"
        for source, document in before.items():
            self._check_others(stage, manual, source, document)

    def test_a_vanished_file_raises_a_tool_error(self, manual: Root) -> None:
        """A file may vanish between listing and reading: ``NotFound`` or ``Unreadable``."""
        stage = self.make()
        for source in sorted(stage.sources(manual)):
            (manual.path / source.path).unlink()
            with pytest.raises(ToolError):
                stage.load(manual, source)

    def test_the_manual_is_not_changed(self, manual: Root) -> None:
        """A loader only reads."""
        before = {path: path.read_bytes() for path in manual.path.rglob("*") if path.is_file()}
        list(self._documents(manual))
        after = {path: path.read_bytes() for path in manual.path.rglob("*") if path.is_file()}
        assert after == before, "the loader wrote into the manual"

    def _sources(self, root: Root) -> list[Source]:
        return list(self.make().sources(root))

    def _documents(self, root: Root) -> Iterator[tuple[Source, Document]]:
        stage = self.make()
        for source in stage.sources(root):
            yield source, stage.load(root, source)

    def _check_others(self, stage: Loader, root: Root, source: Source, document: Document) -> None:
        """Change each file that does not govern a source: its document must stay."""
        for other in sorted({*self.files()} - {source.path, *source.governed_by}):
            file = root.path / other
            original = file.read_bytes()
            emptied = removed = None
            file.write_bytes(b"")
            with suppress(Exception):  # any tells that it was read
                emptied = stage.load(root, source)
            file.unlink()
            with suppress(Exception):
                removed = stage.load(root, source)
            file.write_bytes(original)
            assert emptied == removed == document, (
                f"{source.path} depends on {other}; add that to governed_by"
            )

    def _check_variant(self, stage: Loader, root: Root, path: str, name: str) -> None:
        for source in stage.sources(root):
            try:
                document = stage.load(root, source)
            except Unreadable:
                continue
            except Exception as error:
                raise AssertionError(f"{path}, {name}: {error!r} is not Unreadable") from error
            fault = document_fault(document, source.path)
            assert not fault, f"{path}, {name}: {fault}"
            _check_cover(document)
            _check_lines(document)
            _check_spans(document)
            _check_nesting(document)


def _is_read(stage: Loader, root: Root, path: str) -> bool:
    """Tell whether the loader reads a file, and does not refuse it."""
    for source in stage.sources(root):
        if source.path == path:
            with suppress(ToolError):
                stage.load(root, source)
                return True
    return False


def _written(files: Mapping[str, str | bytes], folder: Path) -> Root:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return Root(folder)


def _variants(data: bytes) -> Iterator[tuple[str, bytes]]:
    yield "empty", b""
    yield "blank", b" \n\n\t\n"
    yield "cut in half", data[: len(data) // 2]
    yield "many times over", data * _MANY
    yield "without a final line end", data.rstrip()
    yield "with leading blank lines", b"\n\n\n" + data
    yield "with CRLF", data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    yield "with a byte order mark", b"\xef\xbb\xbf" + data
    yield "in no encoding", b"\xff\xfe\x00"
    yield "with odd characters", data + "\n\u2028\x0b\x0c\x85👩‍👩‍👧‍👦\n".encode()


def _check_cover(document: Document) -> None:
    where, text, sections = document.path, document.text, document.sections
    if not sections:
        assert document.navigation or not text.strip(), f"{where}: text, but no sections"
        return
    assert not text[: sections[0].start].strip(), f"{where}: text before the first section"
    assert sections[-1].end == len(text), f"{where}: text after the last section"
    for section, following in pairwise(sections):
        assert section.end == following.start, f"{where}: {section.title!r} and {following.title!r}"
        assert section.start < section.end, f"{where}: {section.title!r} has no text"
    for section in sections:
        assert section.start <= section.body <= section.end <= section.extent <= len(text), (
            f"{where}: {section}"
        )


def _check_lines(document: Document) -> None:
    lines = Lines(document.text)
    starts = [section.start_line for section in document.sections]
    assert len(starts) == len(set(starts)), f"{document.path}: two sections begin in one line"
    for checked in document.sections:
        assert checked.start_line == lines.at(checked.start), f"{document.path}: {checked}"
        assert checked.end_line == lines.at(max(checked.start, checked.end - 1)), (
            f"{document.path}: {checked}"
        )


def _check_spans(document: Document) -> None:
    there = {n for n, line in enumerate(document.text.split("\n"), start=1) if line.strip()}
    spans = [range(current.start_line, current.end_line + 1) for current in document.sections]
    for current, following in pairwise(spans):
        assert current.stop <= following.start, (
            f"{document.path}: lines of {current} and {following}"
        )
    covered = {line for span in spans for line in span}
    assert not spans or there <= covered, (
        f"{document.path}: lines {there - covered} are in no section"
    )


def _check_nesting(document: Document) -> None:
    around: list[Section] = []
    for inner in document.sections:
        while around and around[-1].extent <= inner.start:
            around.pop()
        outer = tuple(section.title for section in around)
        assert inner.level >= 1, f"{document.path}: {inner}"
        assert not around or inner.extent <= around[-1].extent, f"{document.path}: {inner}"
        assert inner.ancestors[len(inner.ancestors) - len(outer) :] == outer, (
            f"{document.path}: {inner.title!r} is in {outer}, but names {inner.ancestors}"
        )
        around.append(inner)
