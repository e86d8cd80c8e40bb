"""What is read from documents: front matter, sections, links, and where links lead."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from documents import call_named, docs, docs_json, documents, graph
from manuals import fumishirube, stranger

from fumishirube.errors import ToolError
from fumishirube_stages.loaders.markdown_files.headings import Parsed
from fumishirube_stages.loaders.markdown_files.links import links


def indexed_page(
    tmp_path: Path, files: dict[str, str | bytes], page: str = "a.md"
) -> dict[str, Any]:
    """Return one page of a folder."""
    application = graph(documents(tmp_path, files))
    try:
        return dict(call_named(application, "ubp_get_page", filepath=page))
    finally:
        application.close()


def warned(tmp_path: Path) -> list[str]:
    application = graph(tmp_path)
    try:
        return [one["code"] for one in call_named(application, "docs_status")["warnings"]]
    finally:
        application.close()


def targets(page: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["filepath"], one["link_type"]) for one in page["outlinks"]]


# --- front matter ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("title: yes", "yes"),
        ("title: 2026-01-01", "2026-01-01"),
        ("title: 012", "012"),
        ("title: '  spaced  '", "spaced"),
        ("title: 'null'", "null"),
        ("title:", "Heading"),
        ("title: ~", "Heading"),
        ("title: ''", "Heading"),
        ("title: [a]", "Heading"),
        ("other: 1", "Heading"),
    ],
)
def test_a_title_is_text_as_it_is_written(tmp_path: Path, head: str, title: str) -> None:
    page = indexed_page(tmp_path, {"a.md": f"---\n{head}\n---\n# Heading\n"})
    assert page["title"] == title
    assert page["content"] == "# Heading"


def test_a_title_without_front_matter_or_heading_is_the_name(tmp_path: Path) -> None:
    assert indexed_page(tmp_path, {"a.md": "## Two\n"})["title"] == "a"


@pytest.mark.parametrize("head", ["a: [", "a: 1\na: 2", "- a\n- b", "just text"])
def test_broken_front_matter_costs_only_itself(tmp_path: Path, head: str) -> None:
    page = indexed_page(tmp_path, {"a.md": f"---\n{head}\n---\nbody\n"})
    assert (page["content"], page["doc_type"], page["title"]) == ("body", "other", "a")
    assert warned(tmp_path) == ["front_matter_invalid"]


def test_front_matter_that_nests_without_end_costs_only_itself(tmp_path: Path) -> None:
    """In a process of its own: a parser in C may end the process with it."""
    deep = 200_000
    documents(
        tmp_path,
        {
            "flow.md": f"---\na: {'[' * deep}{']' * deep}\n---\n# Flow\n",
            "block.md": f"---\n{'- ' * deep}\n---\n# Block\n",
            "wide.md": f"---\ntitle: Wide\naliases: [{', '.join('x' * 3000)}]\n---\n",
            "ok.md": "# Fine\n",
        },
    )
    listed = docs_json("list-pages", cwd=tmp_path)["pages"]
    assert [one["title"] for one in listed] == ["Block", "Fine", "Flow", "Wide"]
    warnings = docs_json("status", cwd=tmp_path)["warnings"]
    assert [(one["filepath"], one["code"]) for one in warnings] == [
        ("block.md", "front_matter_invalid"),
        ("flow.md", "front_matter_invalid"),
    ]


def test_three_dots_do_not_end_front_matter(tmp_path: Path) -> None:
    text = "---\n\nThe zebra: a text.\n\n...\n\n# Rest\n\nwords"
    page = indexed_page(tmp_path, {"a.md": text, "b.md": "---\ntitle: Dots\n...\n---\nbody\n"})
    assert (page["title"], page["content"]) == ("Rest", text)
    page = indexed_page(tmp_path, {}, "b.md")
    assert (page["title"], page["content"]) == ("Dots", "body")
    assert warned(tmp_path) == []


def test_front_matter_longer_than_a_book_is_ignored_and_says_so(tmp_path: Path) -> None:
    head = f"title: Long\naliases: [{'x, ' * 400_000}]"
    page = indexed_page(tmp_path, {"a.md": f"---\n{head}\n---\nbody\n"})
    assert (page["title"], page["content"]) == ("a", "body")
    assert warned(tmp_path) == ["front_matter_invalid"]


def test_front_matter_that_nothing_closes_is_text(tmp_path: Path) -> None:
    assert indexed_page(tmp_path, {"a.md": "---\ntitle: x\n"})["content"] == "---\ntitle: x"


def test_an_unknown_type_is_other_with_a_warning(tmp_path: Path) -> None:
    assert indexed_page(tmp_path, {"a.md": "---\ndoc_type: ' ADR '\n---\n"})["doc_type"] == "adr"
    assert indexed_page(tmp_path, {"a.md": "---\ndoc_type: novel\n---\n"})["doc_type"] == "other"
    assert warned(tmp_path) == ["doc_type_unknown"]


def test_sources_outside_the_workspace_are_dropped(tmp_path: Path) -> None:
    refs = "[../x, /etc/passwd, 'C:\\x', a/../../b, 5, a..b.py, a..b.py]"
    page = indexed_page(tmp_path, {"a.md": f"---\nsource_refs: {refs}\n---\n"})
    assert page["stale_refs"] == ["a..b.py"]
    assert warned(tmp_path) == ["source_ref_rejected"] * 5


def test_a_source_is_the_same_in_every_spelling_of_its_path(tmp_path: Path) -> None:
    refs = ["src/a", "src//a", "src/a/", "./src/a", "src/\u304c", "src/\u304b\u3099"]
    page = indexed_page(tmp_path, {"a.md": f"---\nsource_refs: {json.dumps(refs)}\n---\n"})
    assert page["stale_refs"] == ["src/a", "src/\u304c"]


def test_a_source_whose_name_is_too_long_for_a_file_is_not_found(tmp_path: Path) -> None:
    source = "長" * 100
    page = indexed_page(tmp_path, {"a.md": f"---\nsource_refs: {source}\n---\n"})
    assert (page["staleness"], page["stale_refs"]) == ("untracked", [source])


def test_a_source_with_a_decomposed_name_is_found(tmp_path: Path) -> None:
    source = tmp_path / "src" / "\u304b\u3099.py"
    source.parent.mkdir()
    source.write_text("x")
    page = indexed_page(tmp_path, {"a.md": "---\nsource_refs: [src/\u304c.py]\n---\n"})
    assert (page["staleness"], page["stale_refs"]) == ("fresh", [])


def test_one_file_is_indexed_by_its_decomposed_name_too(tmp_path: Path) -> None:
    application = graph(documents(tmp_path, {"\u304c.md": "# A\n"}))
    answer = call_named(application, "docs_index", file="docs/\u304b\u3099.md")
    application.close()
    assert answer["documents"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_source_that_leads_out_through_a_link_is_dropped(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (tmp_path / "secret").write_text("x")
    (workspace / "out").symlink_to(tmp_path / "secret")
    page = indexed_page(workspace, {"a.md": "---\nsource_refs: [out]\n---\n"})
    assert (page["staleness"], page["stale_refs"]) == ("untracked", [])
    assert warned(workspace) == ["source_ref_rejected"]


def test_bytes_that_are_no_utf8_are_marked_not_skipped(tmp_path: Path) -> None:
    page = indexed_page(tmp_path, {"a.md": b"\xef\xbb\xbf# T\xff\0\r\nx\ry"})
    assert page["content"] == "# T\ufffd\ufffd\nx\ny"
    assert warned(tmp_path) == ["undecodable"]


@pytest.mark.parametrize("encoding", ["cp932", "euc-jp", "iso2022_jp", "utf-16", "utf-32"])
def test_the_encodings_of_manuals_are_those_of_documents(tmp_path: Path, encoding: str) -> None:
    text = "# 非常灯の点検\n\n停電のときに点灯することを確かめる。"
    assert indexed_page(tmp_path, {"a.md": text.encode(encoding)})["content"] == text
    assert warned(tmp_path) == []


def test_a_page_that_ends_within_a_character_is_read_with_a_warning(tmp_path: Path) -> None:
    page = indexed_page(tmp_path, {"a.md": "# 非常灯\r\n停電".encode()[:-1]})
    assert page["content"] == "# 非常灯\n停\ufffd"
    assert warned(tmp_path) == ["undecodable"]


def test_files_that_are_no_documents_are_left_out(tmp_path: Path) -> None:
    names = ("a.md", "b.markdown", "c.txt", "node_modules/x.md", "p/dist/y.md", ".g/z.md")
    files: dict[str, str | bytes] = dict.fromkeys(names, "x")
    documents(tmp_path, {**files, "huge.md": b"x" * (8 * 1024 * 1024 + 1)})
    application = graph(tmp_path)
    answer = call_named(application, "ubp_list_pages", sort="filepath")
    found = call_named(application, "ubp_fulltext_search", query="x")
    with pytest.raises(ToolError) as caught:
        call_named(application, "ubp_get_page", filepath="docs/huge")
    application.close()
    assert [page["filepath"] for page in answer["pages"]] == ["a.md", "b.markdown"]
    assert warned(tmp_path) == ["too_large"]
    assert "huge.md" in answer["warnings"][0]
    assert found["warnings"] == answer["warnings"]
    assert "too large" in str(caught.value)
    assert caught.value.details["reason"] == "not_found"
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    done = fumishirube("doctor", cwd=tmp_path)
    assert done.code == 1
    assert "1 file: huge.md; the file is too large" in done.out


@pytest.mark.skipif(sys.platform == "win32", reason="such names and links need rights there")
def test_documents_that_cannot_be_listed_are_named_with_the_reason(tmp_path: Path) -> None:
    names = ("a.md", " lead.md", "b\\s.md", "n\nl.md", "b\\s.txt", "dist/b\\s.md", "x\n/y.md")
    documents(tmp_path, {**dict.fromkeys(names, "x"), "dist/c.txt": "x"})
    folder = tmp_path / "docs"
    (folder / os.fsdecode(b"\xff.md")).write_text("x")
    (folder / "link.md").symlink_to("too long for a file" * 20)
    (folder / "link.txt").symlink_to(folder / "a.md")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.md")
    expected = [" lead.md", "\\xff.md", "b\\s.md", "link.md", "linked", "n\\nl.md", "pipe.md"]
    for command in ("index", "status"):
        warnings = docs_json(command, cwd=tmp_path)["warnings"]
        assert [warning["filepath"] for warning in warnings] == [*expected, "x\\n/y.md"]
        assert {warning["code"] for warning in warnings} == {"not_listed"}
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    done = fumishirube("doctor", cwd=tmp_path)
    assert done.code == 0
    assert "2 files: link.md, linked; symbolic links are not followed" in done.out
    assert "no path can contain this name" in done.out


def test_only_documents_are_counted_as_added(tmp_path: Path) -> None:
    huge = "x" * (8 * 1024 * 1024 + 1)

    def counts(*words: str) -> list[int]:
        done = docs_json("index", *words, cwd=tmp_path)
        return [done[key] for key in ("documents", "added", "updated", "removed", "unchanged")]

    documents(tmp_path, {"a.md": "x", "huge.md": huge})
    assert counts() == [1, 1, 0, 0, 0]
    assert counts() == [1, 0, 0, 0, 1]
    assert counts("--full") == [1, 0, 0, 0, 1]
    documents(tmp_path, {"a.md": huge, "huge.md": "x"})
    assert counts() == [1, 1, 0, 1, 0]
    (tmp_path / "docs" / "a.md").unlink()
    assert counts() == [1, 0, 0, 0, 1]
    documents(tmp_path, {"huge.md": "y", "b.md": "x"})
    assert counts("--file", "huge.md") == [1, 0, 1, 0, 0]
    (tmp_path / "docs" / "huge.md").unlink()
    assert counts() == [1, 1, 0, 1, 0]


def test_a_file_that_is_no_document_is_refused_with_the_reason(tmp_path: Path) -> None:
    documents(tmp_path, {"huge.md": b"x" * (8 * 1024 * 1024 + 1), "c.txt": "x"})
    reasons = {
        "huge.md": "too large",
        "docs/huge.md": "too large",
        "c.txt": "its loader's settings",
        f"{'長' * 100}.md": "there is no document",
    }
    if sys.platform != "win32":
        (tmp_path / "docs" / "link.md").symlink_to(tmp_path / "docs" / "c.txt")
        reasons["link.md"] = "symbolic links"
    for file, reason in {**reasons, "none.md": "there is no document"}.items():
        done = docs("index", "--file", file, "--json", cwd=tmp_path)
        assert done.code == 2
        assert reason in done.json["message"]
        assert done.json["details"]["reason"] == "not_found"


LOADER = """
from fumishirube import Document, Section, Source, Stage, hook

class Notes(Stage):
    def sources(self, root):
        return [Source(entry.path) for entry in root.files() if entry.path.endswith(".note")]

    def load(self, root, source):
        text = root.read_bytes(source.path).decode() + " {word}\\n"
        section = Section("T", 1, 1, 0, len(text), len(text), 0, level=1)
        return Document(source.path, "note", text, (section,))

@hook
def register_loaders(register):
    register("notes", Notes)
"""


def test_documents_are_read_again_when_the_code_of_their_loader_changes(tmp_path: Path) -> None:
    documents(tmp_path, {"a.note": "A note."})
    use = "pipelines: {docs: {loaders: [{use: notes}]}}\n"
    (tmp_path / "fumishirube.yaml").write_text(use)
    environ = {"PYTHONPATH": stranger(tmp_path, LOADER.format(word="firstword"))}
    words = ("docs", "search", "secondword", "--json")
    assert fumishirube(*words, cwd=tmp_path, environ=environ).json["results"] == []
    code = LOADER.format(word="secondword")
    (tmp_path / "installed" / "stranger_plugin.py").write_text(code)
    (hit,) = fumishirube(*words, cwd=tmp_path, environ=environ).json["results"]
    assert hit["filepath"] == "a.note"


# --- sections -------------------------------------------------------------------------------


def test_headings_to_the_third_level_open_sections(tmp_path: Path) -> None:
    first, second = "# A *b* `c`\n\none\n\n#### deep\n\ntwo\n", "Title\n-----\n\n> # quoted\n"
    text = f"before\n\n{first}\n{second}\n# A *b* `c`\n"
    page = indexed_page(tmp_path, {"a.md": text})
    rows = [(s["heading"], s["level"], s["line_start"], s["line_end"]) for s in page["sections"]]
    assert rows == [
        (None, 0, 1, 1),
        ("A b c", 1, 3, 9),
        ("Title", 2, 11, 14),
        ("A b c", 1, 16, 16),
    ]
    assert page["sections"][1]["content"] == "one\n\n#### deep\n\ntwo"
    ids = [one["section_id"] for one in page["sections"]]
    assert ids[3] == f"{ids[1]}-2"
    assert page["sections"][2]["heading_path"] == ["A b c", "Title"]


def test_an_empty_document_counts_as_one_empty_section(tmp_path: Path) -> None:
    documents(tmp_path, {"Plan.md": "", "b.md": "nothing of it"})
    application = graph(tmp_path)
    page = call_named(application, "ubp_get_page", filepath="Plan.md")
    assert (page["sections"], page["content"]) == ([], "")
    found = call_named(application, "ubp_fulltext_search", query="plan")
    assert [(one["filepath"], one["section_heading"]) for one in found["results"]] == [
        ("Plan.md", None)
    ]
    application.close()


# --- links ----------------------------------------------------------------------------------

OTHERS: dict[str, str | bytes] = {"b.md": "# Bee\n\n## Part two\n", "c/d e.md": "# Dee\n"}


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[b]]", [("b.md", "references")]),
        ("[[ b | Depends_On ]]", [("b.md", "depends_on")]),
        ("[[b|label|extends]]", [("b.md", "extends")]),
        ("[[b#Part two|implements]]", [("b.md", "implements")]),
        ("|a|b|\n|-|-|\n|[[b\\|conflicts_with]]|x|", [("b.md", "conflicts_with")]),
        ("![[b]]", [("b.md", "references")]),
        ("![[b.png]] [[#x]] [[]] [[|x]]", []),
        ("`[[b]]` ``a ` [[b]]`` \\[[b]]", []),
        ("```\n[[b]]\n```\n\n    [[b]]\n\n<div>\n[[b]]\n</div>\n\n<!-- [[b]] -->", []),
        ("`open [[b]]", [("b.md", "references")]),
        ("[x](b.md)", [("b.md", "references")]),
        ("[x](<c/d e.md> 'title') [y](c/d%20e.md?q#dee)", [("c/d e.md", "references")]),
        ("[x][ref] [ref] [ref][]\n\n[ref]: b.md 'T'", [("b.md", "references")]),
        ("![x](b.md) <b.md> [x](http://h/b.md) [x](//h/b.md) [x](#b) [x](b.txt)", []),
        ("Write \\[x](b.md) so, or !\\[[b]].", []),
        ("See [b]: it says more.\n\n[b]: b.md", [("b.md", "references")]),
        ("- a ` b\n- [x](b.md) ` c", [("b.md", "references")]),
        ("- [x\n- y](b.md)", []),
        ("|a|b|\n|-|-|\n|`|[[b|extends]]|\n|`|x|", [("b.md", "extends")]),
        ("[x](b&#46;md)", [("b.md", "references")]),
        ("[x [y](b.md) z](a.md)", [("b.md", "references")]),
        ("A.[^1]\n\n[^1]: [x](b.md)", [("b.md", "references")]),
        ("[[b]] [x](b.md)", [("b.md", "references")]),
        ("[[b]] [[b|extends]]", [("b.md", "references"), ("b.md", "extends")]),
        ("[[a]]", [("a.md", "references")]),
    ],
)
def test_links_are_read_where_they_are_links(
    tmp_path: Path, text: str, links: list[tuple[str, str]]
) -> None:
    assert targets(indexed_page(tmp_path, {"a.md": text, **OTHERS})) == links


@pytest.mark.slow
def test_marks_that_nothing_closes_are_passed_in_one_go() -> None:
    """Each of these would take minutes if every mark made a look at the whole rest of the text."""
    nothing = Parsed([], [], {})
    assert not links("<!--" * 1_000_000 + "[", 0, nothing).links
    for opens in ("[", "!["):
        (link,) = links(f"[{opens * 200_000}a{'](x.md)' * 200_001}", 0, nothing).links
        assert len(link.text) <= 1_000


def test_a_type_misspelt_is_a_label_with_a_warning(tmp_path: Path) -> None:
    page = indexed_page(tmp_path, {"a.md": "[[b|depend_on]]", **OTHERS})
    assert targets(page) == [("b.md", "references")]
    assert warned(tmp_path) == ["type_like_label"]


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("[[auth]]", "api/auth.md"),
        ("[[../README.md]]", "README.md"),
        ("[[guide/install]]", "guide/install.md"),
        ("[x](/guide/install.md)", "guide/install.md"),
        ("[[install]]", "guide/install.md"),
        ("[[INSTALL]]", "guide/install.md"),
        ("[[v1/auth]]", "old/v1/auth.md"),
        ("[[Search design]]", "design/search.md"),
        ("[[search DESIGN]]", "design/search.md"),
        ("[[installer]]", "guide/install.md"),
        ("[[./install]]", None),
        ("[[./README]]", None),
        ("[[/install]]", None),
        ("[x](install.md)", None),
        ("[[../../outside]]", None),
    ],
)
def test_a_link_is_resolved_step_by_step(tmp_path: Path, link: str, found: str | None) -> None:
    files: dict[str, str | bytes] = {
        "api/tools.md": link,
        "api/auth.md": "",
        "README.md": "",
        "guide/install.md": "---\naliases: installer\n---\n",
        "old/v1/auth.md": "",
        "design/search.md": "---\ntitle: Search design\n---\n",
    }
    page = indexed_page(tmp_path, files, "api/tools.md")
    assert [path for path, _ in targets(page)] == ([found] if found else [])
    assert [one["status"] for one in page["link_issues"]] == ([] if found else ["dangling"])


def test_an_ambiguous_link_goes_to_the_highest_page_and_names_all(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"z/a.md": "[[x]]", "p/q/x.md": "", "q/x.md": "", "p/x.md": ""}
    page = indexed_page(tmp_path, files, "z/a.md")
    assert targets(page) == [("p/x.md", "references")]
    (issue,) = page["link_issues"]
    assert issue["status"] == "ambiguous"
    assert issue["candidates"] == ["p/x.md", "q/x.md", "p/q/x.md"]


def test_anchors_mean_headings_by_text_or_slug(tmp_path: Path) -> None:
    page = indexed_page(
        tmp_path, {"a.md": "[[b#part TWO]] [x](b.md#part-two) [[b#none]]", **OTHERS}
    )
    (one,) = page["outlinks"]
    assert one["section_id"].startswith("d_")
    assert [(i["target"], i["status"]) for i in page["link_issues"]] == [
        ("b#none", "anchor_missing")
    ]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("การติดตั้ง ระบบ", "การติดตั้ง-ระบบ"),
        ("स्थापना गाइड", "स्थापना-गाइड"),
        ("Emoji \u26a0\ufe0f sign", "emoji-\ufe0f-sign"),
        ("か\u3099っこ うえ", "がっこ-うえ"),
        ("がっこ うえ", "か\u3099っこ-うえ"),
        ("C++ & C# 1.2", "c--c-12"),
    ],
)
def test_an_anchor_keeps_the_marks_of_a_heading(tmp_path: Path, heading: str, anchor: str) -> None:
    links = f"[x](b.md#{anchor}) [y](b.md#{quote(anchor)}) [z](b.md#no-{anchor})"
    page = indexed_page(tmp_path, {"a.md": links, "b.md": f"## {heading}\n"})
    assert [issue["target"] for issue in page["link_issues"]] == [f"b.md#no-{anchor}"]


def test_repeated_headings_are_numbered_as_on_github(tmp_path: Path) -> None:
    headings = ["Setup", "Setup guide", "Setup", "Setup-2", "Setup", "!!!"]
    text = "before\n\n" + "".join(f"## {heading}\n\n{n}\n\n" for n, heading in enumerate(headings))
    slugs = {"setup": 0, "setup-guide": 1, "setup-1": 2, "setup-2": 3, "setup-3": 4}
    files: dict[str, str | bytes] = {"b.md": text, "c.md": "# C\n"}
    for slug in slugs:
        files[f"{slug}.md"] = f"[x](b.md#{slug})"
    application = graph(documents(tmp_path, files))
    numbers = {
        one["section_id"]: one["content"]
        for one in call_named(application, "ubp_get_page", filepath="b.md")["sections"]
    }
    leads = {
        slug: call_named(application, "ubp_get_page", filepath=f"{slug}.md")["outlinks"][0][
            "section_id"
        ]
        for slug in slugs
    }
    application.close()
    assert {slug: numbers[section] for slug, section in leads.items()} == {
        slug: str(number) for slug, number in slugs.items()
    }


def test_links_dangle_heal_and_move(tmp_path: Path) -> None:
    documents(tmp_path, {"x/a.md": "[[b]] [[b]]\n\n[[b]]"})

    def leads() -> list[str]:
        application = graph(tmp_path)
        page = call_named(application, "ubp_get_page", filepath="x/a.md")
        counts = call_named(application, "docs_check")["dangling"]
        application.close()
        return [path for path, _ in targets(page)] or [f"{len(counts)} dangling"]

    assert leads() == ["3 dangling"]
    documents(tmp_path, {"y/b.md": ""})
    assert leads() == ["y/b.md"]
    documents(tmp_path, {"x/b.md": ""})
    assert leads() == ["x/b.md"]
    (tmp_path / "docs" / "x" / "b.md").unlink()
    (tmp_path / "docs" / "y" / "b.md").unlink()
    assert leads() == ["3 dangling"]
