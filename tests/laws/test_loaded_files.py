"""Which files the loaders read, whatever their names, line ends and encodings are."""

from __future__ import annotations

import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from loaded_documents import own, paths
from manuals import RULES
from pydantic import ValidationError

from fumishirube import NotFound, Root, Source, Stage, Unreadable
from fumishirube_stages.loaders import Json, Markdown, TocText

if TYPE_CHECKING:
    from loader_fixtures import Loaded, Write

pytest_plugins = ["loader_fixtures"]

# --- lines and encodings --------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_any_kind_give_the_same_document(markdown: Loaded, end: str) -> None:
    assert markdown(RULES.replace("\n", end)) == markdown(RULES)


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp932", "euc_jp"]
)
def test_encodings_give_the_same_document(markdown: Loaded, encoding: str) -> None:
    assert markdown(RULES.encode(encoding)) == markdown(RULES)


@pytest.mark.parametrize(
    "odd", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\0"]
)
def test_only_line_feeds_separate_lines(markdown: Loaded, odd: str) -> None:
    text = f"# 一{odd}二\n本{odd}文\n\n三{odd}\n---\n{odd}\n{odd}# 四\n# 五\n"
    document = markdown(text)
    assert [each.start_line for each in document.sections] == [1, 4, 8]
    assert document.text == text
    assert own(document, document.sections[2]) == "# 五\n"


def test_what_cannot_be_decoded_is_unreadable(markdown: Loaded) -> None:
    with pytest.raises(Unreadable) as caught:
        markdown(b"\xff\xfe\x00")
    assert caught.value.reason == "undecodable"


def test_a_file_that_vanished_is_not_found(write: Write) -> None:
    with pytest.raises(NotFound):
        Markdown().load(write({}), Source("rules.md"))


# --- which files ----------------------------------------------------------------------------


def test_markdown_speaks_for_its_suffix_whatever_the_case(write: Write) -> None:
    root = write(
        {"b.MD": "# b\n", "a/c.Md": "", "d.txt": "", "e.markdown": "", ".md": "", ".x/f.md": ""}
    )
    assert paths(Markdown(), root) == ["a/c.Md", "b.MD"]
    assert Markdown().load(root, Source("b.MD")).file_type == "md"


def test_other_suffixes_can_be_set(write: Write) -> None:
    root = write({"a.markdown": "", "b.md": "", "c.MKD": ""})
    stage = Markdown(suffixes=(".markdown", ".mkd"))
    assert paths(stage, root) == ["a.markdown", "c.MKD"]
    assert stage.fingerprint != Markdown().fingerprint


@pytest.mark.parametrize("stage", [Markdown, Json, TocText])
def test_an_unknown_setting_is_refused(stage: type[Stage]) -> None:
    with pytest.raises(ValidationError):
        stage.model_validate({"nothing": 1})


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize(("stage", "suffix"), [(Markdown(), "md"), (Json(), "json")])
def test_links_are_not_spoken_for(write: Write, stage: Markdown | Json, suffix: str) -> None:
    root = write({f"a.{suffix}": ""})
    (root.path / f"b.{suffix}").symlink_to(root.path / f"a.{suffix}")
    assert paths(stage, root) == [f"a.{suffix}"]


def test_names_are_composed(write: Write) -> None:
    name = "ガイド.md"
    root = write({unicodedata.normalize("NFD", name): RULES})
    assert paths(Markdown(), root) == [name]
    document = Markdown().load(root, Source(name))
    assert (document.path, document.text) == (name, RULES)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere both spellings are one file")
def test_two_spellings_of_one_name_are_one_source(write: Write) -> None:
    name = "ガイド.md"
    root = write({unicodedata.normalize("NFD", name): "a", name: "b"})
    assert paths(Markdown(), root) == [name]
    assert Markdown().load(root, Source(name)).text == "b"


@pytest.mark.parametrize(
    "name",
    ["目次", "00_目次", "もくじ", "01-もくじ", "toc", "TOC", "1.2 toc", "００　目次", "00_目　次"],
)
def test_tables_of_contents_are_navigation(write: Write, name: str) -> None:
    root = write({f"{name}.md": "# a\n", f"{name}.json": "{}"})
    assert Markdown().load(root, Source(f"{name}.md")).navigation
    assert Json().load(root, Source(f"{name}.json")).navigation


@pytest.mark.parametrize("name", ["index", "目次案", "総目次", "tocs", "_目次", "toc1", "protocol"])
def test_other_files_are_not_navigation(write: Write, name: str) -> None:
    root = write({f"{name}.md": "# a\n"})
    assert not Markdown().load(root, Source(f"{name}.md")).navigation


def test_the_sample_manuals_load() -> None:
    root = Root(Path(__file__).parents[2] / "manuals")
    for stage in (Markdown(), Json(), TocText()):
        for source in stage.sources(root):
            document = stage.load(root, source)
            assert document.sections[-1].end == len(document.text)


def test_many_threads_may_load_at_once(write: Write) -> None:
    root = write({f"{number}.md": f"# *{number}*\n\n- a\n\n本文\n" for number in range(40)})
    stage = Markdown()
    with ThreadPoolExecutor(8) as pool:
        documents = list(pool.map(lambda source: stage.load(root, source), stage.sources(root)))
    assert [each.sections[0].title for each in documents] == [
        source.path.removesuffix(".md") for source in stage.sources(root)
    ]
