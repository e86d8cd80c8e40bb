"""Fenced code is told from text as CommonMark does, wherever a range or a section begins."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import write
from markdown_it import MarkdownIt
from stdio import Fumishirube

from fumishirube_manual.evidence.code_blocks import code_lines, inside_code
from fumishirube_manual.sentences import sentences

GATES = """# Gates

The gate opens at six.

```sh
open --gate north

close --gate north
```

The gate closes at nine.

~~~~
~~~
```
open --gate south
~~~~

The gate rests on Sunday.

## Keys

Use ```key``` at night.
"""


FENCED = ["```", "````", "~~~", "~~~~", "```py", "~~~ sh", "words", ""]
QUOTED = ["> ```", "> ~~~", "> words", ">", "> > ```", "> > words", ">```"]


@given(st.lists(st.sampled_from([*FENCED, *QUOTED])))
def test_code_is_what_commonmark_calls_fenced(above: list[str]) -> None:
    lines = [*above, "the end"]
    tokens = MarkdownIt().parse("\n".join(lines))
    blocks = [range(*token.map) for token in tokens if token.type == "fence" and token.map]
    assert code_lines(lines) == [any(at in block for block in blocks) for at in range(len(lines))]


def test_a_line_with_code_between_ticks_opens_no_block() -> None:
    assert not any(inside_code(["Use ```key``` at night.", "```key```", "text"]))


def test_a_directive_of_restructuredtext_has_code_indented_below_it() -> None:
    text = """Open it:

.. code-block:: console
   :emphasize-lines: 1

   $ open --gate

   It opens.

Then wait.

- Close it:

  .. code:: sh

     close --gate

  and go.
.. note:: no code
   at all
"""
    lines = text.split("\n")
    inside = [at for at, within in enumerate(code_lines(lines), start=1) if within]
    assert inside == [3, 4, 5, 6, 7, 8, 14, 15, 16]
    assert all(code_lines(["    .. code:: sh", "", "\tmake"]))


def test_a_listing_of_asciidoc_is_code_between_its_marks() -> None:
    listing = "[source,sh]\n----\nopen\n\nshut\n----\n"
    lines = f"Open it:\n\n{listing}\nThen wait.\n\n[source]\n----\nno end\n".split("\n")
    assert [at for at, inside in enumerate(code_lines(lines), start=1) if inside] == [*range(3, 9)]
    assert not any(code_lines(["[source]", "text", "", "----"]))


def test_a_range_without_code_may_begin_within_code(tmp_path: Path) -> None:
    with Fumishirube(write(tmp_path, {"guide/gates.md": GATES})) as server:
        server.ok("manual_ls")
        for first in range(1, 24):
            ref = {"manual_id": "guide", "path": "gates.md", "start_line": first, "end_line": 23}
            (item,) = server.ok("manual_read", refs=[ref], code=False)["items"]
            text = [(3, "The gate opens at six."), (11, "The gate closes at nine.")]
            text += [(19, "The gate rests on Sunday."), (23, "Use ```key``` at night.")]
            expected = [[at, line] for at, line in [(1, "# Gates"), *text, (21, "## Keys")]]
            assert item["lines"] == sorted(row for row in expected if row[0] >= first)
            hidden = sum(first <= at for at in [*range(5, 10), *range(13, 18)])
            assert item.get("code_left_out", 0) == hidden


QUOTED_CODE = """# Gates

> The gate opens so:
>
> ```sh
> open --gate north
> ```
>
> > rust,ignore
> > Gate::open();
>
> It closes by itself.

> sh
close --gate north
"""


def test_a_range_without_code_has_none_of_quotations(tmp_path: Path) -> None:
    with Fumishirube(write(tmp_path, {"guide/gates.md": QUOTED_CODE})) as server:
        server.ok("manual_ls")
        (item,) = server.ok("manual_read", refs=["guide/gates.md"], code=False)["items"]
        shown = [number for number, line in item["lines"] if any(map(str.isalnum, line))]
        assert shown == [1, 3, 12, 14, 15]
        asked = {"query": "gate closes by itself", "required_terms": ["gate"], "manual_id": "guide"}
        (hit,) = server.ok("manual_find", **asked)["inline_hits"]["items"]
        assert hit["whole"]
        assert [number for number, _ in hit["lines"]] == [3, 6, 10, 12, 14, 15]


def test_sentences_are_those_outside_of_code() -> None:
    assert [*sentences(GATES)] == [
        "Gates",
        "The gate opens at six.",
        "The gate closes at nine.",
        "The gate rests on Sunday.",
        "Keys",
        "Use ```key``` at night.",
    ]


CONVERTED = """# Lamps

The lamp is lit by this:

rust,no_run
let lamp = Lamp::new();

// The wick comes first, as in every lamp.
lamp.light(wick);

It burns for an hour, and
for two in winter.

json
{ "hours": 2 }

where a lamp that is lit once has to burn until it is
put out.

json
{ "lamp": 1 }

## Oil

text

The word above names no code.

shell
Shells lie on the beach, and are collected at noon.
"""


def test_code_below_the_name_of_its_language_needs_no_fences(tmp_path: Path) -> None:
    with Fumishirube(write(tmp_path, {"guide/lamps.md": CONVERTED})) as server:
        server.ok("manual_ls")
        ref = {"manual_id": "guide", "path": "lamps.md", "start_line": 1, "end_line": 40}
        (item,) = server.ok("manual_read", refs=[ref], code=False)["items"]
        assert [number for number, _ in item["lines"]] == [
            *(1, 3, 11, 12, 17, 18, 23, 25, 27, 29, 30)
        ]
        asked = {"query": "lamp wick", "required_terms": ["lamp"], "manual_id": "guide"}
        (hit, *_) = server.ok("manual_find", **asked)["inline_hits"]["items"]
        assert "rust,no_run" not in [text for _, text in hit["lines"]]
        assert [8, "// The wick comes first, as in every lamp."] in hit["lines"]


@pytest.mark.parametrize(
    "text",
    [
        "Über die Lampe",
        "램프는 한 시간 동안 켜져 있다",
        "Лампа горит один час",
        "注意",
        "¿Cómo arde?",
    ],
)
def test_text_of_any_script_ends_code_without_fences(text: str) -> None:
    lines = ["json", "{", '  "größe": 1', "", '  "hour": 2', "}", "", text]
    assert code_lines(lines) == [True] * 6 + [False] * 2


def test_the_name_of_a_language_within_fences_is_code_like_any_other(tmp_path: Path) -> None:
    text = "# Lamps\n\n```\nlamp:\n\njson\n{}\n```\n"
    with Fumishirube(write(tmp_path, {"guide/lamps.md": text})) as server:
        server.ok("manual_ls")
        asked = {"query": "lamp json", "required_terms": ["lamp"], "manual_id": "guide"}
        (hit, *_) = server.ok("manual_find", **asked)["inline_hits"]["items"]
        assert [6, "json"] in hit["lines"]
