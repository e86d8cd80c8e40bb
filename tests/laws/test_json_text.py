"""A member of a JSON text is changed, and all else stays as a person has written it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube_clients.json_text import with_value, without_value

names = st.sampled_from(["a", "b", "mcpServers", 'q"\\', "\u3042", ""])
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(names, values | st.dictionaries(names, values, max_size=3), max_size=3)
indents = st.sampled_from([None, 0, 2, "\t"])


def changed(content: Any, path: Sequence[str], value: Any) -> Any:
    """Return an object with a value at a path."""
    if not path:
        return value
    inner = content.get(path[0], {})
    return {**content, path[0]: changed(inner, path[1:], value)}


def is_open(content: Any, path: Sequence[str]) -> bool:
    """Tell whether everything on a path but its end is an object, as far as it exists."""
    for name in path[:-1]:
        if not isinstance(content, dict):
            return False
        content = content.get(name, {})
    return isinstance(content, dict)


@given(objects, st.lists(names, min_size=1, max_size=3), values, indents, st.booleans())
def test_only_the_value_at_the_path_differs(
    content: Any, path: list[str], value: Any, indent: Any, ascii_only: bool
) -> None:
    if not is_open(content, path):
        return
    text = " \n" + json.dumps(content, indent=indent, ensure_ascii=ascii_only) + "\n"
    after = with_value(text, path, value, "  ")
    assert json.loads(after) == changed(content, path, value)
    assert [*json.loads(after)] == [*changed(content, path, value)]
    if path[0] not in content and content:
        assert without_value(after, path[:1]) == text


@given(objects.filter(bool), st.data(), indents)
def test_only_the_member_is_removed(content: Any, data: st.DataObject, indent: Any) -> None:
    name = data.draw(st.sampled_from([*content]))
    text = json.dumps(content, indent=indent)
    assert json.loads(without_value(text, [name])) == {
        k: v for k, v in content.items() if k != name
    }
    inner = content[name]
    if isinstance(inner, dict) and inner:
        below = data.draw(st.sampled_from([*inner]))
        rest = {k: v for k, v in inner.items() if k != below}
        assert json.loads(without_value(text, [name, below])) == {**content, name: rest}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}\n", '{\n  "s": {\n    "n": [\n      1\n    ]\n  }\n}\n'),
        ('{"a": 1.50}', '{"a": 1.50, "s": {"n": [1]}}'),
        (
            '{\n\t"a": ["\\u00e9"],\n\t"s": {"o": {"args": ["x"]}},\n\t"z": "\\ud8ff"}\n',
            '{\n\t"a": ["\\u00e9"],\n\t"s": {"o": {"args": ["x"]}, "n": [1]},\n\t"z": "\\ud8ff"}\n',
        ),
        (
            '{\n "s": {\n  "o": 1e400\n }\n}',
            '{\n "s": {\n  "o": 1e400,\n  "n": [\n    1\n  ]\n }\n}',
        ),
        ('{"s": {"n": {"k": 1}} }', '{"s": {"n": [\n  1\n]} }'),
    ],
)
def test_what_people_have_written_stays(before: str, after: str) -> None:
    assert with_value(before, ["s", "n"], [1], "  ") == after
