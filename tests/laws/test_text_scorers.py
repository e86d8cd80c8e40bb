"""The scorers that read texts through: what each mode finds, and what no pattern can do."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import manuals
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube import Budget, Document, Query, Ranking, Root, Scorer
from fumishirube.errors import Cancelled
from fumishirube.text import LOOSE, TextForm, form_of
from fumishirube_chapters.cache import OpenChapter
from fumishirube_chapters.projection_store import ProjectionStore
from fumishirube_chapters.reader import Chapters
from fumishirube_stages.divisions import whole
from fumishirube_stages.scorers.loose import Loose
from fumishirube_stages.scorers.pattern_search.patterns import parse_pattern
from fumishirube_stages.scorers.plain import Plain
from fumishirube_stages.scorers.regex import Regex

LETTERS = st.text("あかがﾊﾟABaｂ１①㍻株（）.*+?[]\\^$|", max_size=30)
UNHURRIED = Regex(deadline_ms=60_000, chapter_deadline_ms=60_000)
SPACED = st.text("帝王切 　・-\u200b/", max_size=40)


def corpus(*texts: str) -> Chapters:
    store = ProjectionStore(Root(Path("nowhere")))
    documents = (
        Document(f"{place}.txt", "txt", text, whole(text, "章")) for place, text in enumerate(texts)
    )
    return Chapters("m", [OpenChapter("m", "", document, store) for document in documents])


def ranked(scorer: Scorer, query: Query, *texts: str) -> Ranking:
    scored = scorer.score(query, corpus(*texts), {})
    return scored if isinstance(scored, Ranking) else Ranking(tuple(scored))


def places(scorer: Scorer, wanted: str, text: str) -> list[tuple[int, int]]:
    hits = ranked(scorer, Query(wanted), text).hits
    return [(place.start, place.end) for hit in hits for place in hit.places]


@given(LETTERS, LETTERS)
def test_the_three_modes_agree_where_there_are_no_separators(text: str, query: str) -> None:
    if not query:
        return
    plain = places(Plain(), query, text)
    assert places(Loose(), query, text) == plain
    assert places(UNHURRIED, re.escape(query), text) == plain


@given(LETTERS, st.integers(0, 30), st.integers(1, 30))
def test_what_stands_in_a_text_is_found(text: str, start: int, length: int) -> None:
    part = text[start : start + length]
    # What a combining mark follows is another character; it is then no part of the text.
    if part and form_of(part, TextForm()) in form_of(text, TextForm()):
        assert places(Plain(), part, text)


@given(SPACED, SPACED)
def test_loose_is_what_it_is_defined_to_be(text: str, query: str) -> None:
    wanted = form_of(query, LOOSE)
    naive = bool(wanted) and wanted in form_of(text, LOOSE)
    assert bool(places(Loose(), query, text)) == naive


@given(SPACED, st.text("帝王切", min_size=1, max_size=3), st.data())
def test_separators_in_a_loose_query_change_nothing(
    text: str, query: str, data: st.DataObject
) -> None:
    gaps = data.draw(st.lists(st.sampled_from(["", " ", "・", "－"]), min_size=4, max_size=4))
    spaced = "".join(gap + letter for gap, letter in zip(gaps, query, strict=False)) + gaps[-1]
    assert places(Loose(), spaced, text) == places(Loose(), query, text)


@pytest.mark.parametrize("scorer", ["plain", "loose", "regex", "exceptions"])
def test_over_an_index_they_read_its_folded_sections(tmp_path: Path, scorer: str) -> None:
    workspace = manuals.write(tmp_path, {"m/a.md": manuals.RULES, "m/b.md": "# 別\nなし\n"})
    yaml = f"pipelines: {{manual: {{scorers: [{{use: {scorer}}}], fusers: [], refiners: []}}}}\n"
    (workspace / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
    asked = {"query": "対象外", "manual_id": "m", "required_terms": ["対象外"]}
    found = manuals.ask(manuals.opened(workspace), "manual_find", **asked)
    assert [one["ref"]["start_line"] for one in found["inline_hits"]["items"]] == [3]


# --- patterns -------------------------------------------------------------------------------

FOLDED = [
    ("（", r"\("),
    ("㈱", r"\(株\)"),
    ("㈱+", r"(?:\(株\))+"),
    (r"\１", "1"),
    ("[（あ]", r"[\(あ]"),
    ("[㈱あ]", r"(?:\(株\)|[あ])"),
    ("[^㈱あ]", "[^あ]"),
    ("[^㈱]", "(?s:.)"),
    ("[０-２]", "[012]"),
    ("か\u3099", "が"),
    ("(?P<x>ａ)(?P=x)", r"(a)(?:\1)"),
    ("a{e<=1}", r"a\{e<=1\}"),
]


@pytest.mark.parametrize(("written", "folded"), FOLDED)
def test_a_pattern_is_folded(written: str, folded: str) -> None:
    pattern = parse_pattern(written, ignore_case=False)
    assert pattern is not None
    assert pattern.python == folded
    assert re.compile(pattern.python)


@pytest.mark.parametrize("pattern", ["(", "[", "*", "a**", "(?P<n>", r"\p{L}", "(" * 1000])
def test_what_is_no_pattern_is_none(pattern: str) -> None:
    assert parse_pattern(pattern, ignore_case=True) is None


LINEAR = [
    "第.章",
    r"[^\d]+\s?\w*",
    "(?i)a|b",
    "^x",
    "(?m)^x$",
    r"x\Z",
    "a{2,1000}",
    "(?s)a.*b",
    r"[\w.]+@",
]
OTHERS = [
    r"\bx",
    "x$",
    "(?=x)",
    r"(.)\1",
    "x{1,1001}",
    "(?m:^x)",
    "(?>a+)",
    "a++",
    "(a*)*",
    "(?a)é",
]


@pytest.mark.parametrize("pattern", LINEAR)
def test_what_means_the_same_in_linear_time_runs_there(pattern: str) -> None:
    found = parse_pattern(pattern, ignore_case=True)
    assert found is not None
    assert found.re2 is not None


@pytest.mark.parametrize("pattern", OTHERS)
def test_what_could_mean_something_else_does_not(pattern: str) -> None:
    found = parse_pattern(pattern, ignore_case=True)
    assert found is not None
    assert found.re2 is None


ATOMS = st.sampled_from(["a", "あ", "１", ".", r"\d", r"\w", r"\s", "[a-cあ]", "[^a]", r"\W", "ab"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda arms: f"(?:{'|'.join(arms)})"),
        st.tuples(inner, st.sampled_from("*+?")).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        st.tuples(inner, st.sampled_from(["*?", "{1,2}", "{,3}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.text("abcあ1 \n_-", max_size=15))
def test_re2_finds_what_python_finds(pattern: str, text: str) -> None:
    found = parse_pattern(pattern, ignore_case=True)
    assert found is not None
    if found.re2 is None:
        return
    match = re.compile(found.python, found.flags).search(text)
    assert places(UNHURRIED, pattern, text) == ([match.span()] if match else [])


OF_LINES = st.one_of(
    ATOMS,
    st.sampled_from(["^", "$", r"\A", r"\Z", r"\b", r"\B", r"\n", r"[\n]", "(?s:.)", "(?-m:$)"]),
    st.sampled_from([r"\D", r"[\s,]", r"[\Wa]", r"[^\s]", r"[\x00-\x20]", r"(?a:\s)", "(?>a*)"]),
    st.sampled_from([r"(?!\s)", "(?<=a)", r"(?<!\s)", "(?<!.)", "(?!.)", "(あ)?(?(1)a|b)", "b*+"]),
)
LINE_PATTERNS = st.tuples(
    st.sampled_from(["", "(?s)", "(?m)", "(?a)", "(?ms)"]),
    st.lists(st.one_of(OF_LINES, PATTERNS), min_size=1, max_size=4).map("".join),
).map("".join)


@given(LINE_PATTERNS, st.text("abcあ1 \n_-,\u2028", max_size=15), st.booleans())
def test_by_line_a_pattern_matches_as_in_each_line_alone(
    pattern: str, text: str, every_place: bool
) -> None:
    unhurried = UNHURRIED.model_copy(update={"every_place": True})
    offset, expected = 0, []
    for line in text.split("\n"):
        spans = places(unhurried, pattern, line) if line else []
        within = [(offset + start, offset + end) for start, end in spans]
        expected += within if every_place else within[:1]
        offset += len(line) + 1
    by_line = unhurried.model_copy(update={"by_line": True, "every_place": every_place})
    of_lines = places(by_line, pattern, text)
    # An empty line has no match in the lines alone.
    empty = {place for place in range(len(text) + 1) if f"\n{text}\n"[place : place + 2] == "\n\n"}
    assert [span for span in of_lines if span[0] not in empty] == expected


def test_a_pattern_that_could_hang_costs_its_deadline_and_only_that() -> None:
    settings = Regex(deadline_ms=60_000, chapter_deadline_ms=700)
    ranking = ranked(settings, Query(r"(a|aa)+\Z(?!b)"), "a" * 60 + "!", "aa")
    assert [hit.passage.path for hit in ranking.hits] == ["1.txt"]
    assert [(out.path, out.reason) for out in ranking.left_out] == [("0.txt", "deadline")]


def test_a_pattern_that_would_fill_the_memory_is_answered() -> None:
    """Where the engine with a clock cannot compile it, ``re`` runs it, and is ended if need be."""
    pattern = r"(?:(?:(?:x{1000}){1000}){1000}){1000}(?=a)"
    assert places(Regex(deadline_ms=2000), pattern, "x") == []


def test_who_finds_no_worker_free_is_told_so_at_the_deadline() -> None:
    settings = Regex(workers=1, deadline_ms=600, chapter_deadline_ms=500)
    hanging = Query(r"(a|aa)+\Z(?!b)")
    with settings.open() as running, ThreadPoolExecutor(4) as pool:
        texts = corpus(*["a" * 60 + "!"] * 3)
        rankings = list(pool.map(lambda _: running.score(hanging, texts, {}), range(4)))
    for ranking in rankings:
        assert {out.reason for out in ranking.left_out} == {"deadline"}
        assert len(ranking.left_out) == 3


def test_workers_are_used_again_and_end_with_the_scorer() -> None:
    with UNHURRIED.open() as running:
        for _ in range(3):
            assert running.score(Query(r"\bx"), corpus("x"), {}).hits
    assert running.score(Query(r"\bx"), corpus("x"), {}).hits  # it starts another one, and ends it


def workers_of_this_process() -> list[int]:
    told = subprocess.run(
        ["ps", "-ww", "-A", "-o", "pid=,ppid=,args="], capture_output=True, check=True
    )
    rows = (line.split(None, 2) for line in told.stdout.decode(errors="replace").splitlines())
    return [
        int(p) for p, parent, args in rows if int(parent) == os.getpid() and "worker.py" in args
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="asks ps")
def test_a_worker_that_was_ended_while_it_idled_is_replaced() -> None:
    """A pattern is then still a pattern, and not taken for words."""
    pattern, text = Query(r"(?<=a)b+(?!c)"), corpus("abb")
    with UNHURRIED.open() as running:
        assert running.score(pattern, text, {}).hits
        (started,) = workers_of_this_process()
        os.kill(started, signal.SIGKILL)
        while workers_of_this_process():
            time.sleep(0.01)
        assert running.score(pattern, text, {}).hits


def test_a_cancelled_search_stops() -> None:
    budget = Budget()
    budget.cancelled.set()
    for scorer in (Plain(), Loose(), Regex()):
        with pytest.raises(Cancelled):
            ranked(scorer, Query("x", budget=budget), "x")


@pytest.mark.slow
def test_long_texts_do_not_keep_others_waiting(tmp_path: Path) -> None:
    """While a text of 8 MB is projected, another thread gets its turn again and again."""
    del tmp_path
    text = "第3章（ｶﾞ）ABC か\u3099・\n" * 400_000
    turns, before = 0, time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(places, Loose(), "存在しない", text)
        while not running.done():
            time.sleep(0.001)
            turns += 1
    assert running.result() == []
    assert turns > (time.monotonic() - before)


@pytest.mark.parametrize("depth", [50, 150, 180, 200, 250, 400, 499])
@pytest.mark.parametrize(("begin", "end"), [("(", ")"), ("(?:", ")?"), ("(?=", ")")])
def test_deeply_nested_groups_are_parsed_or_are_no_pattern(
    depth: int, begin: str, end: str
) -> None:
    pattern = parse_pattern(begin * depth + "a" + end * depth, ignore_case=True)
    assert pattern is None or "a" in pattern.python
