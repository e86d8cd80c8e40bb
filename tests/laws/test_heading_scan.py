"""Headings that are found without parsing are those that the parser finds."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from torture import examples

from fumishirube.text import Lines
from fumishirube_stages.loaders.markdown_files.heading_scan import pieces
from fumishirube_stages.loaders.markdown_files.headings import headings, parsed

STARTS = [
    "",
    "",
    "",
    " ",
    "  ",
    "   ",
    "    ",
    "\t",
    "> ",
    "- ",
    "1. ",
    "10. ",
    "* ",
    "  - ",
    "-\t",
]
BODIES = [
    *(
        "",
        "",
        "",
        "text",
        "# one",
        "## two ##",
        "###### six",
        "#",
        "#no",
        "---",
        "===",
        "-",
        "- - -",
    ),
    *("* * *", "```", "```py", "``` a`b", "````", "~~~", "<div>", "</div>", "<!-- x -->", "<!--"),
    *("-->", "<!-->", "x --> # no", "<pre>", "</pre>", "<?", "[a]: /u", "[a]: /u 'x", "# [a]"),
    *("y'", "| a | b |", "| - | - |", "a | b", "-|-", "- | -", "\\# x", "# `x` *y*", "<script>"),
    *("1) x", "    code"),
]
line = st.builds(str.__add__, st.sampled_from(STARTS), st.sampled_from(BODIES))


@settings(max_examples=examples(2_000))
@given(st.lists(line, max_size=14), st.booleans())
@example(["- a", "", "  ```", "# no", "", "# yes"], True)
@example(["1. a", "10. b", "   ```", "# no", "   ```"], True)
@example(["* * *", "  ```", "# no", "", "# no"], True)
@example(["text", "``` a`b", "# yes"], True)
@example(["<div>", "```", "# no", "", "# yes"], True)
@example(["<!--", "", "# no", "  -->", "# yes"], True)
@example(["- a", "", "  <!--", "", "# yes", "-->"], True)
@example(["text", "<!-- a", "", "# no"], False)
@example(["| a | b |", "| - | - |", "```", "# no", "```", "# yes"], True)
def test_headings_are_those_of_the_parser(given_lines: list[str], ended: bool) -> None:
    text = "\n".join(given_lines) + "\n" * ended
    lines = Lines(text)
    assert headings(text, 0, lines) == parsed(text, 0, lines).headings


def test_the_usual_blocks_need_no_parser() -> None:
    blocks = [
        "# Title\n\nText\nand more\n\n- a\n- b\n\n  more of b\n\n",
        "1. one\n   ```py\n   x\n\n   ```\n",
        "Text:\n```sh\n# no heading\n\n# none\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n",
        "> quoted\n> - a\n\n<!-- remark\n\n# none\n-->\n\n<a name='x'></a>\n\n## Next\n",
    ]
    parts = pieces("\n".join(blocks), 0)
    assert parts is not None
    assert [part.heading for part in parts] == [True, True]
