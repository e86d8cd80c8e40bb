"""The record of a file and its passages have every word of the file, so no search leaves it out."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from torture import examples

from fumishirube import Root, Source
from fumishirube.engine.indexed_files import read_file, words_beside
from fumishirube.text import fold, words
from fumishirube_stages.loaders import Markdown

TITLE = st.text(alphabet="aé1#*`[]()・ー休暇 \u0301\u3099＃Ａ_-", max_size=12)
"""Titles with marks that compose, spaces that fold away, and characters that look like hashes."""


@given(st.lists(st.tuples(TITLE, st.sampled_from(["", " #", " ##"]), TITLE), max_size=4))
@settings(max_examples=examples(300), deadline=None)
def test_every_word_of_a_heading_is_in_a_passage_or_in_the_record(
    sections: list[tuple[str, str, str]],
) -> None:
    lines = [line for title, end, body in sections for line in (f"## {title}{end}", "", body, "")]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.md").write_text("\n".join(lines), encoding="utf-8")
        root = Root(Path(folder).resolve())
        page, passages = read_file(lambda: Markdown().load(root, Source("a.md")), "a.md", "1")
    known = (words_beside(page) or "").split()
    for passage in passages:
        if passage.fields["body"]:
            known += [word for name in ("title", "body") for word, _ in words(passage.fields[name])]
    for title, end, _ in sections if passages else ():
        missing = {word for word, _ in words(fold(f"## {title}{end}"))}.difference(known)
        assert not missing, f"{missing} of {title!r}"
