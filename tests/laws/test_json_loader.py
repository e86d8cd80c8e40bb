"""JSON files: one section, whose keys and values are searched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loaded_documents import laws, paths

from fumishirube import Document, Root, Section, Source
from fumishirube_stages.loaders import Json

if TYPE_CHECKING:
    from loader_fixtures import Write

pytest_plugins = ["loader_fixtures"]


@pytest.fixture
def searched(write: Write) -> Callable[[str | bytes], str | None]:
    def load(content: str | bytes) -> str | None:
        root = write({"codes.json": content})
        (section,) = Json().load(root, Source("codes.json")).sections
        return section.searched

    return load


Searched = Callable[[str | bytes], str | None]


def test_a_json_file_is_one_section_titled_by_its_name(write: Write) -> None:
    text = '{"code": "E1",\r\n "text": "\\u8ca0\\u8377"}\r\n'
    root = write({"sub/error-codes.JSON": text, "x.jsonl": "", "y.txt": ""})
    assert paths(Json(), root) == ["sub/error-codes.JSON"]
    document = Json().load(root, Source("sub/error-codes.JSON"))
    read = text.replace("\r\n", "\n")
    assert document == Document(
        path="sub/error-codes.JSON",
        file_type="json",
        text=read,
        sections=(
            Section(
                title="error-codes.JSON",
                start_line=1,
                end_line=2,
                start=0,
                end=len(read),
                extent=len(read),
                body=0,
                searched="code\nE1\ntext\n負荷",
            ),
        ),
        scan_only=True,
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"a": {"b": [1, "c", {"d": []}], "e": {}}, "f": "g"}', "a b 1 c d e f g"),
        ("[true, false, null]", "true false null"),
        ("[1.50, -0, 1e400, 12345678901234567890]", "1.50 -0 1e400 12345678901234567890"),
        ("[NaN, Infinity, -Infinity]", "NaN Infinity -Infinity"),
        ('{"a": 1, "a": 2}', "a 1 a 2"),
        ('"\\ud83d\\ude00 \\ud800"', "😀 \ufffd"),
        ("[" + "1" * 5000 + "]", "1" * 5000),
        ("{}", ""),
        ("7", "7"),
    ],
)
def test_keys_and_values_are_searched_in_order(searched: Searched, text: str, lines: str) -> None:
    found = searched(text)
    assert found is not None
    assert found.replace("\n", " ") == lines


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "a: b", "[" * 200_000, '{"a":' * 200_000])
def test_what_is_no_json_is_searched_as_it_stands(searched: Searched, text: str) -> None:
    assert searched(text) is None


def test_deep_json_is_searched(searched: Searched) -> None:
    assert searched("[" * 400 + '"底"' + "]" * 400) == "底"


def test_json_in_another_encoding_is_read(searched: Searched) -> None:
    for encoding in ("utf-8-sig", "utf-16", "cp932"):
        assert searched('{"説明": "規程の対象"}'.encode(encoding)) == "説明\n規程の対象"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@laws
@given(values)
def test_every_key_and_value_is_searched(tmp_path: Path, value: object) -> None:
    (tmp_path / "a.json").write_text(json.dumps(value), encoding="utf-8")
    (section,) = Json().load(Root(tmp_path), Source("a.json")).sections

    def scalars(part: object) -> list[str]:
        if isinstance(part, dict):
            return [text for key, inner in part.items() for text in (key, *scalars(inner))]
        if isinstance(part, list):
            return [text for inner in part for text in scalars(inner)]
        return [part if isinstance(part, str) else json.dumps(part)]

    assert section.searched == "\n".join(scalars(value))
