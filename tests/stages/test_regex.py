"""Regex by hand: the normal form of patterns, the first match of each text, and the limits."""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, NamedTuple

import pytest

from fumishirube import (
    Budget,
    Cancelled,
    Passage,
    Query,
    Ranking,
    SequenceCorpus,
    texts_of,
)
from fumishirube.parsing import idle_processes
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import Projection, TextForm, TextRange, project
from fumishirube_stages.scorers import regex
from fumishirube_stages.scorers.pattern_search.patterns import (
    Pattern,
    _PatternWriter,
    parse_pattern,
)
from fumishirube_stages.scorers.pattern_search.worker_pool import (
    TextSpans,
    Worker,
    WorkerLost,
    WorkerPool,
)
from fumishirube_stages.scorers.regex import Regex, RunningRegex

SPACE = r"\t-\r\x1c-\x20\x{85}\p{Z}"
WORD = r"\p{L}\p{N}_"

# Each pattern in the normal form, and in RE2's syntax if that means the same.
NORMAL_FORMS = [
    ("ab", "ab", "ab"),
    ("a.c", "a.c", "a.c"),
    ("1-2", r"1\-2", r"1\-2"),
    ("A①B", "A1B", "A1B"),
    ("a①.②b", "a1.2b", "a1.2b"),
    ("", "", ""),
    (r"\Aa\Z", r"\Aa\Z", r"\Aa\z"),
    ("^a", "^a", r"\Aa"),
    ("a$", "a$", None),
    (r"\ba", r"\ba", None),
    (r"\Ba", r"\Ba", None),
    ("[ab]", "[ab]", "[ab]"),
    ("[^ab]", "[^ab]", "[^ab]"),
    ("[^a]", "[^a]", "[^a]"),
    ("[a-z]", "[a-z]", "[a-z]"),
    ("[+--]", r"[\+-\-]", r"[\+-\-]"),
    ("[①-③]", "[123]", "[123]"),
    ("[Ａ-Ｃ]", "[ABC]", "[ABC]"),
    ("[Zａ-ｂ]", "[Zab]", "[Zab]"),
    ("[a-zＡ]", "[a-zA]", "[a-zA]"),
    ("[©-ª]", "[©a]", "[©a]"),
    ("[¦-§]", "[¦-§]", "[¦-§]"),
    ("[ĳa]", "(?:ij|[a])", "(?:ij|[a])"),
    ("[㍿a]", "(?:株式会社|[a])", "(?:株式会社|[a])"),
    ("[㍿㌀]", "(?:アパート|株式会社)", "(?:アパート|株式会社)"),
    ("[㌀㌃a]", "(?:アパート|アール|[a])", "(?:アパート|アール|[a])"),
    ("[^㌀]", "(?s:.)", "(?s:.)"),
    ("[^㍿a]", "[^a]", "[^a]"),
    (r"\d\D", r"[\d][\D]", r"[\p{Nd}][\P{Nd}]"),
    (r"\s", r"[\s]", f"[{SPACE}]"),
    (r"\S", r"[\S]", f"[^{SPACE}]"),
    (r"\w", r"[\w]", f"[{WORD}]"),
    (r"\W", r"[\W]", f"[^{WORD}]"),
    (r"[\Wa]", r"[\Wa]", None),
    (r"[^\W]", r"[^\W]", None),
    (r"[^\d]", r"[^\d]", r"[^\p{Nd}]"),
    ("a|bc", "(?:a|bc)", "(?:a|bc)"),
    ("(a)b", "(a)b", "(?:a)b"),
    ("(?P<n>a)b", "(a)b", "(?:a)b"),
    ("(?i:a)b", "(?i:a)b", None),
    ("(?-i:a)b", "(?-i:a)b", None),
    ("(?s-i:a)b", "(?s-i:a)b", None),
    ("(?im:a)b", "(?im:a)b", None),
    ("(?a:a)", "(?a:a)", None),
    ("a*", "(?:a)*", "(?:a)*"),
    ("a+?", "(?:a)+?", "(?:a)+?"),
    ("a?", "(?:a)?", "(?:a)?"),
    ("a??", "(?:a)??", "(?:a)??"),
    ("a{2}", "(?:a){2,2}", "(?:a){2,2}"),
    ("a{2,}", "(?:a){2,}", "(?:a){2,}"),
    ("a{0,3}?", "(?:a){0,3}?", "(?:a){0,3}?"),
    ("a{1000}", "(?:a){1000,1000}", "(?:a){1000,1000}"),
    ("a{1001}", "(?:a){1001,1001}", None),
    ("a{1001,}", "(?:a){1001,}", None),
    ("a{0,1001}", "(?:a){0,1001}", None),
    ("(a*)*", "(?:((?:a)*))*", None),
    ("a*+", "(?:a)*+", None),
    ("(?>a)", "(?>a)", None),
    ("(?=a)", "(?=a)", None),
    ("(?!a)", "(?!a)", None),
    ("(?<=a)", "(?<=a)", None),
    ("(?<!a)", "(?<!a)", None),
    ("(?!)", "(?!)", None),
    (r"(a)\1", r"(a)(?:\1)", None),
    ("(a)?(?(1)b|c)", "(?:(a))?(?(1)b|c)", None),
    ("(a)?(?(1)b)", "(?:(a))?(?(1)b)", None),
]


@pytest.mark.parametrize(("pattern", "python", "re2"), NORMAL_FORMS)
def test_a_pattern_is_written_again_with_one_meaning(
    pattern: str, python: str, re2: str | None
) -> None:
    parsed = parse_pattern(pattern, ignore_case=False)
    assert parsed is not None
    assert (parsed.python, parsed.flags, parsed.re2) == (python, 0, re2)
    re.compile(parsed.python)
    caseless = parse_pattern(pattern, ignore_case=True)
    assert caseless is not None
    assert caseless.flags == re.IGNORECASE
    assert caseless.re2 == (None if re2 is None else f"(?i){re2}")


BLANKS = "\\\t\\\x0b-\\\r\x1c-\\ \x85\\ \u1680\u2028-\u2029"
ASCII_BLANKS = "\\\t\\\x0b-\\\r\\ "

# Each pattern as it matches within lines. Of the blanks that the normal form may have.
OF_LINES = [
    ("(?s)a.c", "a.c", "a.c"),
    ("^a$", "^a$", "(?m:^)a(?m:$)"),
    (r"\Aa\Z", "^a$", "(?m:^)a(?m:$)"),
    (r"\ba\B", r"\ba\B", None),
    ("[^a]", "[^a\\\n]", "[^a\\\n]"),
    ("[^ab]", "[^ab\\\n]", "[^ab\\\n]"),
    (r"a\nb", "a(?!)b", None),
    (r"[\na]", "[a]", "[a]"),
    (r"[\n]", "(?!)", None),
    (r"[\t-\r]", "[\\\t\\\x0b-\\\r]", "[\\\t\\\x0b-\\\r]"),
    (r"[\n-a]", "[\\\x0b-a]", "[\\\x0b-a]"),
    (r"[\t-\n]", "[\\\t]", "[\\\t]"),
    (r"[\t-\x0b]", "[\\\t\\\x0b]", "[\\\t\\\x0b]"),
    (r"[\t-\n\r-a]", "[\\\t\\\r-a]", "[\\\t\\\r-a]"),
    (r"\s", f"[{BLANKS}]", f"[{BLANKS}]"),
    (r"[\s,]", f"[{BLANKS},]", f"[{BLANKS},]"),
    (r"(?a)\s", f"[{ASCII_BLANKS}]", None),
    (r"(?a:\s)\s", f"(?a:[{ASCII_BLANKS}])[{BLANKS}]", None),
    (r"\S", r"[\S]", f"[^{SPACE}]"),
    (r"\W", "[^\\w\\\n]", f"[^{WORD}\\\n]"),
    (r"\D", "[^\\d\\\n]", "[^\\p{Nd}\\\n]"),
    (r"[\W,]", "(?!\\\n)[\\W,]", None),
    (r"[,\D]", "(?!\\\n)[,\\D]", None),
    (r"(?=[\Da]b)", "(?=(?!\\\n)[\\Da]b)", None),
    (r"[^\s]", "[^\\s\\\n]", f"[^{SPACE}\\\n]"),
    ("(?ms:^a.)", "(?:^a.)", "(?:(?m:^)a.)"),
    ("(?i-ms:a$)", "(?i:a$)", None),
    ("(.)\\1", r"(.)(?:\1)", None),
    (r"(a|[^b]\n){2}", r"(?:((?:a|[^b\\\n](?!)))){2,2}".replace(r"\\\n", "\\\n"), None),
    ("[^a]+?", "(?:[^a\\\n])+?", "(?:[^a\\\n])+?"),
    ("[^a]*+", "(?:[^a\\\n])*+", None),
    ("(?>[^a])", "(?>[^a\\\n])", None),
    ("(?=[^a])", "(?=[^a\\\n])", None),
    ("(?<![^a])", "(?<![^a\\\n])", None),
    ("(a)?(?(1)[^a]|[^b])", "(?:(a))?(?(1)[^a\\\n]|[^b\\\n])", None),
    ("(a)?(?(1)[^a])", "(?:(a))?(?(1)[^a\\\n])", None),
]


@pytest.mark.parametrize(("pattern", "python", "re2"), OF_LINES)
def test_a_pattern_is_written_again_to_stay_in_its_line(
    pattern: str, python: str, re2: str | None
) -> None:
    parsed = parse_pattern(pattern, ignore_case=False, by_line=True)
    assert parsed is not None
    assert (parsed.python, parsed.re2) == (python, re2)
    assert parsed.flags & ~re.ASCII == re.MULTILINE
    assert parsed.by_line
    re.compile(parsed.python, parsed.flags)


class Texts(SequenceCorpus):
    """Texts with their line feeds, as files have them."""

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self._texts = texts

    def texts(self) -> Iterator[Text]:
        for number, text in enumerate(self._texts):
            yield Text(passage(f"{number}.md"), text)


class Text(NamedTuple):
    passage: Passage
    own: str

    def form(self, form: TextForm) -> Projection:
        return project(self.own, form)


@pytest.mark.parametrize("ending", ["", r"(?!\Ax)"])
@pytest.mark.parametrize("installed", [True, False])
def test_by_line_each_line_has_its_matches(
    monkeypatch: pytest.MonkeyPatch, ending: str, installed: bool
) -> None:
    if not installed:
        monkeypatch.setattr(regex, "_compiled", lambda _: None)
    corpus = Texts("rad red\nblue\n\nrid\n", "d")
    for every_place, spans in [(False, [(0, 3), (14, 17)]), (True, [(0, 3), (4, 7), (14, 17)])]:
        stage = unhurried(by_line=True, every_place=every_place)
        (hit,) = stage.score(Query(f"r[^b]d{ending}"), corpus, {}).hits
        assert hit.places == tuple(TextRange(*span) for span in spans)
    (hit,) = unhurried(by_line=True).score(Query(f"d?{ending}"), corpus, {}).hits[1:]
    assert hit.places == (TextRange(0, 1),)


def test_ranges_are_normalised_up_to_2048_characters_beyond_the_first() -> None:
    """A range within them that is all in NFKC stays as it is."""
    for pattern, kept in [("[㌀-㍿]", False), ("[あ-ん]", True), ("[!-䀀]", True)]:
        parsed = parse_pattern(pattern, ignore_case=False)
        assert parsed is not None
        assert ("-" in parsed.python.replace(r"\-", "")) is kept, pattern
    for width, kept in [(2048, False), (2049, True)]:
        parsed = parse_pattern(f"[¼-{chr(0xBC + width)}]", ignore_case=False)
        assert parsed is not None
        assert parsed.python.startswith("[¼-") is kept


def test_a_construct_that_a_later_python_may_have_is_refused() -> None:
    with pytest.raises(re.error, match="LATER is not supported"):
        _PatternWriter(0).item("LATER", None)


def test_flags_inside_a_pattern_count() -> None:
    assert parse_pattern("(?s)a.c", ignore_case=False) == Pattern(
        "a.c", re.DOTALL, "(?s)a.c", ("a", "c")
    )
    assert parse_pattern("(?s)a.c", ignore_case=True) == Pattern(
        "a.c", re.DOTALL | re.IGNORECASE, "(?is)a.c"
    )
    assert parse_pattern("(?m)^a", ignore_case=False) == Pattern(
        "^a", re.MULTILINE, "(?m:^)a", ("a",)
    )
    assert parse_pattern("(?a)a", ignore_case=False) == Pattern("a", re.ASCII, None, ("a",))
    assert parse_pattern("(?x) a b # c", ignore_case=False) == Pattern("ab", 0, "ab", ("ab",))


@pytest.mark.parametrize("pattern", ["(", "a**", "\\", "(" * 3000, "[z-a]", "a{3,2}"])
def test_what_is_no_pattern_is_nothing(pattern: str) -> None:
    assert parse_pattern(pattern, ignore_case=True) is None


@pytest.mark.parametrize(
    ("pattern", "cased", "caseless"),
    [
        ("a1(b)2ß", ("a1", "2ß"), ()),
        ("1(b)2", ("1", "2"), ("1", "2")),
        ("A①", ("A1",), ()),
        ("休暇.*A", ("休暇", "A"), ("休暇",)),
        ("Ꭰ.Ꮳ", ("Ꭰ", "Ꮳ"), ()),
        (".*", (), ()),
    ],
)
def test_what_every_match_contains(
    pattern: str, cased: Sequence[str], caseless: Sequence[str]
) -> None:
    for ignore_case, needed in [(False, cased), (True, caseless)]:
        parsed = parse_pattern(pattern, ignore_case=ignore_case)
        assert parsed is not None
        assert parsed.needed == needed


def test_no_letter_of_which_another_case_exists_is_needed_when_case_is_ignored() -> None:
    for letter in map(chr, range(0x110000)):
        if letter.lower() != letter or letter.upper() != letter:
            parsed = parse_pattern(letter, ignore_case=True)
            assert parsed is not None
            assert parsed.needed == ()


def test_a_pattern_that_a_later_python_reads_otherwise_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_pattern("[[a]", ignore_case=True) is not None


# --- matches ----------------------------------------------------------------------------------

CORPUS = MemoryCorpus(
    [
        passage("a.md", body="sky red red"),
        passage("b.md", body="第1条 Red sea"),
        passage("c.md", body="blue"),
    ]
)
ROWS = list[tuple[str, float, tuple[TextRange, ...]]]


def rows(ranking: Ranking) -> ROWS:
    return [(hit.passage.path, hit.score, tuple(hit.places)) for hit in ranking.hits]


def unhurried(**settings: bool | int) -> Regex:
    """Return the scorer with time enough to start a worker on any machine."""
    return Regex(deadline_ms=60_000, chapter_deadline_ms=60_000, **settings)


def found(query: Query, stage: Regex | None = None) -> ROWS:
    return rows((stage or unhurried()).score(query, CORPUS, {}))


# Each runs in RE2, and the same with a look-ahead in a worker.
@pytest.mark.parametrize("more", ["", "(?=)"])
def test_the_first_match_of_each_text_scores_one(more: str) -> None:
    assert found(Query(f"r.d{more}")) == [
        ("a.md", 1.0, (TextRange(4, 7),)),
        ("b.md", 1.0, (TextRange(4, 7),)),
    ]
    assert len(found(Query(f"R.d{more}"))) == 2
    assert found(Query(f"R.d{more}", case_sensitive=True)) == []
    assert found(Query(f"条 r{more}")) == [("b.md", 1.0, (TextRange(2, 5),))]
    assert found(Query(f"r.d{more}", must=("sea",))) == [("b.md", 1.0, (TextRange(4, 7),))]


@pytest.mark.many_cases
@pytest.mark.parametrize("more", ["", "(?=)"])
@pytest.mark.parametrize(
    ("pattern", "body", "spans"),
    [
        ("[0-9]{2}", "1234 5 67", [(0, 2), (2, 4), (7, 9)]),
        (r"\A[0-9]", "1234", [(0, 1)]),
        ("条.", "é条文と条件", [(1, 3), (4, 6)]),
        ("x*", "axx", [(0, 0), (1, 3), (3, 3)]),
        ("１", "1と１", [(0, 1), (2, 3)]),
        ("x", "x" * 3000, [(at, at + 1) for at in range(3000)]),
    ],
)
def test_every_place_of_a_pattern_is_located_as_python_does(
    pattern: str, body: str, spans: list[tuple[int, int]], more: str
) -> None:
    corpus = MemoryCorpus([passage("a.md", body=body)])
    ranking = unhurried(every_place=True).score(Query(f"{pattern}{more}"), corpus, {})
    assert [(place.start, place.end) for place in ranking.hits[0].places] == spans
    assert len(unhurried().score(Query(f"{pattern}{more}"), corpus, {}).hits[0].places) == 1


def test_what_stands_before_a_match_is_looked_at() -> None:
    corpus = MemoryCorpus([passage("a.md", body="E1E2 1234")])
    for pattern, spans in {r"\bE[0-9]": [(0, 2)], "(?<![0-9])[0-9]{2}": [(5, 7)]}.items():
        ranking = unhurried(every_place=True).score(Query(pattern), corpus, {})
        assert [(place.start, place.end) for place in ranking.hits[0].places] == spans


@pytest.mark.parametrize("more", ["", "(?=)"])
def test_what_is_not_searched_in_time_is_left_out_in_order(more: str) -> None:
    late = Budget(deadline=time.monotonic() - 1)
    ranking = Regex().score(Query(f"[rb]{more}", budget=late), CORPUS, {})
    assert not ranking.hits
    assert [(out.path, out.start_line, out.reason) for out in ranking.left_out] == [
        (path, 1, "deadline") for path in ("a.md", "b.md", "c.md")
    ]
    later = Budget(deadline=time.monotonic() + 3600)
    assert not unhurried().score(Query(f"[rb]{more}", budget=later), CORPUS, {}).left_out


@pytest.mark.parametrize("more", ["", "(?=)"])
def test_a_caller_who_has_gone_waits_for_nothing(more: str) -> None:
    budget = Budget()
    budget.cancelled.set()
    with pytest.raises(Cancelled):
        found(Query(f"r.d{more}", budget=budget))


def test_a_text_that_takes_too_long_costs_only_itself() -> None:
    corpus = MemoryCorpus(
        [
            passage("a.md", body="a" * 40 + "!"),
            passage("b.md", body="aab x"),
            passage("c.md", body="ab"),
        ]
    )
    query = Query("(?=a)(a|aa)+b")
    stage = Regex(deadline_ms=5000, chapter_deadline_ms=700)
    ranking = stage.score(query, corpus, {})
    assert [hit.passage.path for hit in ranking.hits] == ["b.md", "c.md"]
    assert [out.path for out in ranking.left_out] == ["a.md"]
    began = time.monotonic()
    ranking = Regex(deadline_ms=300, chapter_deadline_ms=60_000).score(query, corpus, {})
    assert time.monotonic() - began < 20
    assert [out.path for out in ranking.left_out] == ["a.md", "b.md", "c.md"]


def test_an_invalid_pattern_is_searched_word_for_word() -> None:
    corpus = MemoryCorpus([passage("a.md", body="f(X"), passage("b.md", body="fx")])
    assert rows(unhurried().score(Query("f(x"), corpus, {})) == [("a.md", 1.0, (TextRange(0, 3),))]
    assert not unhurried().score(Query("f(X", case_sensitive=True), corpus, {}).hits


def test_a_pattern_that_re2_refuses_for_its_size_runs_in_a_worker() -> None:
    pattern = r"red|\w{300}"
    parsed = parse_pattern(pattern, ignore_case=True)
    assert parsed is not None
    assert parsed.re2 is not None
    assert regex._compiled(parsed.re2) is None
    assert regex._compiled("a\ud800") is None
    assert [row[0] for row in found(Query(pattern))] == ["a.md", "b.md"]


def test_patterns_of_usual_size_run_in_re2() -> None:
    for pattern in ("r.d", "[a-z]{300}"):
        compiled = regex._compiled(pattern)
        assert compiled is not None
        assert compiled.search(b"x" * 300 + b"red") is not None


def test_when_no_worker_is_free_the_texts_are_left_out() -> None:
    with Regex(workers=1, deadline_ms=200).open() as running:
        patient = RunningRegex(unhurried(), running._workers)
        with running._workers.borrow(time.monotonic() + 60) as worker:
            assert worker is not None
            ranking = running.score(Query("r.d(?=)"), CORPUS, {})
            assert not ranking.hits
            assert len(ranking.left_out) == 3
        assert len(patient.score(Query("r.d(?=)"), CORPUS, {}).hits) == 2


def test_texts_that_cannot_match_are_not_left_out() -> None:
    late = Budget(deadline=time.monotonic() - 1)
    ranking = unhurried().score(Query("第1条(?=)", budget=late), CORPUS, {})
    assert [out.path for out in ranking.left_out] == ["b.md"]


def test_without_re2_all_patterns_run_in_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    regex._compiled.cache_clear()
    assert regex._compiled("r.d") is None
    assert [row[0] for row in found(Query("r.d"))] == ["a.md", "b.md"]
    regex._compiled.cache_clear()


def test_texts_without_what_a_match_needs_are_not_searched() -> None:
    pattern = parse_pattern("(?=x)休暇", ignore_case=True)
    assert pattern is not None
    corpus = MemoryCorpus([passage("a.md", body="休憩"), passage("b.md", body="休暇")])
    possible = regex._possible_texts(corpus, Query(""), pattern)
    assert [text.passage.path for text in possible] == ["b.md"]


def test_a_running_scorer_answers_again_and_again() -> None:
    with unhurried(workers=1).open() as running:
        for _ in range(2):
            assert len(running.score(Query("r.d(?=)"), CORPUS, {}).hits) == 2


class ForbiddenPool(WorkerPool):
    """A pool that must not be used."""

    def _taken(self, until: float) -> Worker:
        raise AssertionError(until)


@pytest.mark.parametrize(
    ("settings", "pattern", "expected"),
    [
        ({}, "e?", [(0, 0)]),
        ({}, "r.d|e", [(1, 4)]),
        ({"every_place": True}, "r.d|e", [(1, 4), (8, 9)]),
        ({"by_line": True}, "r.d|e", [(1, 4), (8, 9)]),
        ({"by_line": True, "every_place": True}, "r.d|e", [(1, 4), (8, 9)]),
    ],
)
def test_what_re2_finds_as_python_does_needs_no_worker(
    settings: dict[str, bool], pattern: str, expected: list[tuple[int, int]]
) -> None:
    running = RunningRegex(Regex(**settings), ForbiddenPool(1))
    (hit,) = running.score(Query(pattern), Texts("赤red\nblue"), {}).hits
    assert [(place.start, place.end) for place in hit.places] == expected


def test_all_matches_of_a_pattern_that_can_be_empty_are_those_of_python() -> None:
    with unhurried(every_place=True).open() as running:
        (hit,) = running.score(Query("(?:1)*?"), Texts("赤1"), {}).hits
    assert [(place.start, place.end) for place in hit.places] == [(0, 0), (1, 1), (1, 2), (2, 2)]


def test_its_limits_by_default() -> None:
    limits = {"deadline_ms": 1000, "chapter_deadline_ms": 250, "workers": 2}
    assert Regex().model_dump() == {**limits, "every_place": False, "by_line": False}
    assert regex._CACHED_PATTERNS == 128
    assert regex._RE2_MEMORY == 1_048_576
    assert Regex.generates is True
    assert regex.RunningRegex.generates is True
    for wrong in ({"deadline_ms": 0}, {"chapter_deadline_ms": 0}, {"workers": 0}, {"workers": 65}):
        with pytest.raises(ValueError, match="Input should be"):
            Regex.model_validate(wrong)
    for name in ("deadline_ms", "chapter_deadline_ms"):
        for long in (86_400_001, 10**15, 10**400):
            with pytest.raises(ValueError, match="Input should be"):
                Regex.model_validate({name: long})
    Regex(deadline_ms=1, chapter_deadline_ms=1, workers=1)
    Regex(workers=64)


def test_a_deadline_of_a_day_is_one() -> None:
    day = Regex(deadline_ms=86_400_000, chapter_deadline_ms=86_400_000)
    ranking = day.score(Query("r.d(?=)"), CORPUS, {})
    assert ranking.hits == unhurried().score(Query("r.d(?=)"), CORPUS, {}).hits
    assert ranking.hits
    assert not ranking.left_out


def clock(monkeypatch: pytest.MonkeyPatch, *times: float) -> None:
    """Let the scorer read these times, one after the other."""
    monkeypatch.setattr(regex, "monotonic", iter(times).__next__)


def test_the_deadline_is_in_milliseconds_and_ends_a_search_when_it_is_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock(monkeypatch, 100.0, 101.0, 150.0, 151.0)  # a text takes a second; 49 are between them
    ranking = Regex(deadline_ms=2000).score(Query("[sb]"), Texts("sky", "sea", "blue"), {})
    assert [hit.passage.path for hit in ranking.hits] == ["0.md", "1.md"]
    assert [out.path for out in ranking.left_out] == ["2.md"]


class SlowText(Text):
    """A text whose form takes longer than texts may be searched, by a clock of its own."""

    seconds: ClassVar[float] = 0.0

    def form(self, form: TextForm) -> Projection:
        SlowText.seconds += 60
        return super().form(form)


class SlowTexts(Texts):
    def texts(self) -> Iterator[Text]:
        return (SlowText(*text) for text in super().texts())


@pytest.mark.parametrize("more", ["", "(?=)"])
def test_the_time_to_make_texts_is_not_that_of_searching(
    monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    monkeypatch.setattr(regex, "monotonic", lambda: time.monotonic() + SlowText.seconds)
    with Regex(deadline_ms=50_000, chapter_deadline_ms=50_000).open() as running:
        query = Query(f"r.d{more}")
        running.score(query, CORPUS, {})  # starts the process
        ranking = running.score(query, SlowTexts("red", "sky"), {})
    assert [hit.passage.path for hit in ranking.hits] == ["0.md"]
    assert not ranking.left_out


class WatchedWorker(Worker):
    """A worker that records its deadlines, and has no time for one text."""

    def __init__(self) -> None:
        super().__init__(time.monotonic() + 60)
        self.deadlines: list[float] = []

    def search(self, texts: Sequence[str], most: int | None, until: float) -> Sequence[TextSpans]:
        self.deadlines.append(until)
        if texts == ["sky red red"]:
            return ["late"]
        return super().search(texts, most, time.monotonic() + 60)


def searched(until: float, patience: float) -> tuple[list[float], list[str], list[str]]:
    """Return the deadlines of the searches, and the texts that were found, and left out."""
    pattern = parse_pattern("(?=r)red", ignore_case=True)
    assert pattern is not None
    searches = regex._Searches([*texts_of(CORPUS)], Query("red"), 1, patience)
    worker = WatchedWorker()
    try:
        assert worker.takes(pattern, 60, time.monotonic() + 60)
        searches.run(worker, until)
    finally:
        worker.end()
    ranking = searches.ranking()
    found_in = [hit.passage.path for hit in ranking.hits]
    return worker.deadlines, found_in, [out.path for out in ranking.left_out]


def test_a_worker_goes_on_after_a_text_that_took_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "_BATCH_CHARS", 1)
    clock(monkeypatch, 10.0, 10.0, 10.5, 10.5, 10.75, 10.75)
    deadlines = [10.25, 10.75, 10.875]
    assert searched(10.875, 0.25) == (deadlines, ["b.md"], ["a.md"])


def test_a_worker_gets_no_text_once_the_deadline_is_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regex, "_BATCH_CHARS", 1)
    clock(monkeypatch, 10.0, 10.0, 11.0, 11.0, 11.0, 11.0)
    assert searched(11.0, 0.25) == ([10.25], [], ["a.md", "b.md", "c.md"])


def test_short_texts_are_searched_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, 10.0, 10.0)
    assert searched(11.0, 0.25) == ([10.25], ["a.md", "b.md"], [])


class SlowBatches(Worker):
    """A worker that finishes the search of one text only."""

    batches: ClassVar[list[int]] = []

    def search(self, texts: Sequence[str], most: int | None, until: float) -> Sequence[TextSpans]:
        self.batches.append(len(texts))
        if len(texts) > 1:
            self.end()
            raise WorkerLost
        return super().search(texts, most, time.monotonic() + 60)


class SlowBatchesPool(WorkerPool):
    """A pool of such workers."""

    def _taken(self, until: float) -> Worker:
        return SlowBatches(time.monotonic() + 60)


class OverdueWorker(WatchedWorker):
    """A worker that answers after the deadline, and can be used again."""

    def search(self, texts: Sequence[str], most: int | None, until: float) -> Sequence[TextSpans]:
        time.sleep(0.3)
        return super().search(texts, most, until)


def test_no_worker_is_asked_again_once_the_deadline_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regex, "_BATCH_CHARS", 1)
    worker = OverdueWorker()
    pool = WorkerPool(1)
    monkeypatch.setattr(pool, "_taken", lambda _: worker)
    ranking = RunningRegex(Regex(deadline_ms=250), pool).score(Query("r.d(?=)"), CORPUS, {})
    pool.close()
    assert len(worker.deadlines) == 1
    assert [out.path for out in ranking.left_out] == ["a.md", "b.md", "c.md"]


def test_texts_that_take_too_long_together_are_searched_one_by_one() -> None:
    SlowBatches.batches.clear()
    with unhurried().open() as usual:
        expected = usual.score(Query("r.d(?=)"), CORPUS, {})
    pool = SlowBatchesPool(1)
    running = RunningRegex(Regex(deadline_ms=60_000), pool)
    assert running.score(Query("r.d(?=)"), CORPUS, {}) == expected
    pool.close()
    assert SlowBatches.batches == [3, 1, 1, 1]


def test_a_text_that_ends_the_process_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fumishirube_stages.scorers.pattern_search.worker_pool._GRACE", 0.3)
    texts = {"a.md": "red", "b.md": "x" * 40, "c.md": "red"}
    slow = MemoryCorpus([passage(path, body=text) for path, text in texts.items()])
    with Regex(deadline_ms=60_000).open() as running:
        ranking = running.score(Query(r"red|(x|xx)+(?=!)$"), slow, {})
    assert [hit.passage.path for hit in ranking.hits] == ["a.md", "c.md"]
    assert [out.path for out in ranking.left_out] == ["b.md"]


class ExhaustedWorker(Worker):
    """A worker that every pattern exhausts."""

    patience: ClassVar[list[float]] = []

    def takes(self, pattern: Pattern, patience: float, until: float) -> bool:
        self.end()
        assert not self.patience, "a second worker has the same pattern"
        self.patience.append(patience)
        raise WorkerLost


class ExhaustedPool(WorkerPool):
    """A pool of such workers."""

    def _taken(self, until: float) -> Worker:
        return ExhaustedWorker(time.monotonic() + 60)


def test_a_pattern_that_exhausts_a_worker_gets_no_second_one() -> None:
    ExhaustedWorker.patience.clear()
    running = RunningRegex(Regex(deadline_ms=60_000, chapter_deadline_ms=750), ExhaustedPool(1))
    ranking = running.score(Query("[rb](?=)"), CORPUS, {})
    assert [out.path for out in ranking.left_out] == ["a.md", "b.md", "c.md"]
    assert ExhaustedWorker.patience == [0.75]


def test_the_processes_end_with_the_scorer() -> None:
    with unhurried(workers=1).open() as running:
        running.score(Query("r.d(?=)"), CORPUS, {})
        with running._workers.borrow(time.monotonic() + 60) as worker:
            assert worker is not None
            process = worker._process
            assert process.poll() is None
    assert process.poll() is not None


@pytest.mark.slow
def test_idle_processes_end_each_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_processes, "IDLE_SECONDS", 0.6)
    pool = WorkerPool(2)
    until = time.monotonic() + 30
    with pool.borrow(until) as first, pool.borrow(until) as second:
        assert first is not None
        assert second is not None
    with pool.borrow(until) as again:
        assert again is not None
        other = first if again is second else second
        wait_until(lambda: not other.lives)
        assert again.lives
    wait_until(lambda: not again.lives)
    pool.close()


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_re2_writes_nothing_about_a_pattern_that_it_refuses(
    capfd: pytest.CaptureFixture[str],
) -> None:
    regex._compiled.cache_clear()
    assert regex._compiled("(") is None
    assert capfd.readouterr() == ("", "")


def batches(*lengths: int, singles: int = 0) -> list[int]:
    """Return how many texts of these lengths a process gets at a time."""
    corpus = MemoryCorpus(
        [passage(f"{n:02}.md", body="x" * length) for n, length in enumerate(lengths)]
    )
    searches = regex._Searches([*texts_of(corpus)], Query("x"), 1, 1.0)
    assert [len(form.text) for _, form in searches.waiting] == [*lengths]
    searches._singles = singles
    numbers = []
    while searches.waiting:
        numbers.append(len(searches._batch()))
    return numbers


def test_a_process_gets_texts_of_less_than_20_000_characters_at_once() -> None:
    assert batches(10_000, 9_999) == [2]
    assert batches(10_000, 10_000) == [1, 1]
    assert batches(9_000, 9_000, 1_999, 1) == [3, 1]
    assert batches(30_000, 1, 1) == [1, 2]


def test_texts_that_took_too_long_together_go_one_by_one_and_the_others_together() -> None:
    assert batches(1, 1, 1, 1, singles=2) == [1, 1, 2]


class LostWorker(Worker):
    """A worker that ends in every search."""

    def search(self, texts: Sequence[str], most: int | None, until: float) -> Sequence[TextSpans]:
        self.end()
        raise WorkerLost


@pytest.mark.parametrize(
    ("chars", "late", "waiting"), [(1, ["a.md"], ["b.md", "c.md"]), (20_000, [], ["a.md"])]
)
def test_a_lone_text_that_ends_a_process_is_late_and_several_wait_to_be_searched_alone(
    monkeypatch: pytest.MonkeyPatch, chars: int, late: list[str], waiting: list[str]
) -> None:
    monkeypatch.setattr(regex, "_BATCH_CHARS", chars)
    searches = regex._Searches([*texts_of(CORPUS)], Query("red"), 1, 1.0)
    searches.run(LostWorker(time.monotonic() + 60), time.monotonic() + 60)
    assert [passage.path for passage in searches._late] == late
    paths = [text.passage.path for text, _ in searches.waiting]
    assert paths[: len(waiting)] == waiting
    assert searches._singles == (0 if late else 3)
