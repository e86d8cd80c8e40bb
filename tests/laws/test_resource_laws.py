"""Laws of reading by URI: lines are exact, readings join up, and nothing else is ever reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manuals import RULES, write
from pydantic import AnyUrl
from stdio import CODES, Wire
from torture import examples

from fumishirube import Call, Citation, Document
from fumishirube.testing import MemoryContext
from fumishirube.text import Lines, estimate_tokens
from fumishirube.tools import Content
from fumishirube_manual.resources import MOST_CHARS, manual_resources

LINE = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=40)
LINES = st.lists(LINE | LINE.map(lambda line: line * 400), max_size=60)
LETTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/")
NAMES = st.text(LETTERS, min_size=1, max_size=12).filter(lambda name: name not in (".", ".."))
PIECES = st.sampled_from(
    [
        *("manual:", "//", "/", "m1", "rules.md", "..", "%2e%2e", "%2f", "%5c", "\\", "#", "#L1"),
        *("-L2", "@374f12", "%00", "%", "%zz", "secret.md", "file:", "?", "{+path}", "語", ""),
    ]
)


def document(text: str) -> Document:
    return Document("a.md", "md", text, ())


def read(text: str, uri: str) -> list[Content]:
    context = MemoryContext({"m": [document(text)]})
    return [*manual_resources(context).read(uri, Call())]


@given(lines=LINES, data=st.data())
def test_a_range_is_exactly_its_lines(lines: list[str], data: st.DataObject) -> None:
    text = "".join(f"{line}\n" for line in lines)
    total = Lines(text).total
    first = data.draw(st.integers(1, total))
    last = data.draw(st.integers(first, total))
    uri = f"manual://m/a.md#L{first}-L{last}"
    expected = "".join(f"{line}\n" for line in lines[first - 1 : last])
    content, *words = read(text, uri)
    if len(expected) <= MOST_CHARS:
        assert (content.uri, content.body, words) == (uri, expected, [])
    else:
        assert isinstance(content.body, str)
        assert expected.startswith(content.body)
        assert words


@settings(max_examples=examples(30), deadline=None)
@given(lines=LINES, times=st.integers(1, 20))
def test_readings_join_up_to_the_whole(lines: list[str], times: int) -> None:
    text = "".join(f"{line}\n" for line in lines) * times
    joined, uri = "", "manual://m/a.md"
    while True:
        content, *words = read(text, uri)
        assert isinstance(content.body, str)
        assert len(content.body) <= MOST_CHARS
        assert estimate_tokens(content.body) < 25_000
        joined += content.body
        if not words:
            break
        uri = words[0].uri
    assert joined == text


@given(manual_id=NAMES, path=st.lists(NAMES, min_size=1, max_size=3).map("/".join))
def test_what_is_cited_or_quoted_is_read_back(manual_id: str, path: str) -> None:
    """Also by clients that keep a URI in the normal form of the WHATWG."""
    cited = Citation(manual_id, path, 3, 4)
    assert Citation.parse(str(cited)) == cited
    assert Citation.parse(str(AnyUrl(str(cited)))) == cited
    listed = f"manual://{quote(manual_id, safe='')}/{quote(path)}"
    assert Citation.parse(str(AnyUrl(listed))) == Citation(manual_id, path)


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    workspace = write(tmp_path_factory.mktemp("laws") / "inner", {"m1/rules.md": RULES})
    for folder in (workspace, workspace / "manuals", workspace.parent):
        (folder / "secret.md").write_text("# SECRET\n", encoding="utf-8")
    with Wire(workspace) as one:
        yield one


def answered(wire: Wire, uri: str, root: Path) -> None:
    answer = wire.request("resources/read", {"uri": uri})
    told = str(answer)
    assert "SECRET" not in told
    assert str(root) not in told
    if "error" in answer:
        assert answer["error"]["data"]["code"] in CODES
        assert answer["error"]["code"] in (-32602, -32002)
    else:
        (content, *_) = answer["result"]["contents"]
        assert content["text"] in RULES


@settings(max_examples=examples(300), deadline=None)
@given(uri=st.lists(PIECES, max_size=9).map("".join) | st.text(max_size=30))
def test_any_uri_is_read_or_refused_with_a_code(wire: Wire, uri: str) -> None:
    answered(wire, uri, wire.workspace)


@settings(max_examples=examples(150), deadline=None)
@given(rest=st.lists(PIECES, max_size=7).map("".join))
def test_nothing_outside_the_manuals_is_reached(wire: Wire, rest: str) -> None:
    answered(wire, f"manual://m1/{rest}", wire.workspace)
