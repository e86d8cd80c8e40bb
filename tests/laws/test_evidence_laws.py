"""Which lines of a section are evidence, what a passage is, and how long lines are cut."""

from __future__ import annotations

import time
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube.testing import MemoryCorpus
from fumishirube.testing import passage as section
from fumishirube_manual.evidence import excerpts
from fumishirube_manual.evidence.blocks import headers, is_row, leads, passages, related
from fumishirube_manual.evidence.code_blocks import EnclosingBlocks
from fumishirube_manual.evidence.concept_weights import (
    ConceptWeight,
    LineText,
    concept_weights,
    shares,
)
from fumishirube_manual.evidence.excerpts import excerpt
from fumishirube_manual.evidence.lines import BEST_CHARS, SectionLines
from fumishirube_manual.evidence.markup import never_shown, rendered_lines, without_anchor
from fumishirube_stages.tokenizers.bigram import Bigram

WHOLE = 1.15
"""What a concept counts that occurs as a whole."""

WEIGHTS = [ConceptWeight("fee", 3.0, {"fee": 1.0}), ConceptWeight("料金", 4.0, {"料金": 1.0})]


@pytest.mark.parametrize(
    "label",
    [
        "r[type.closure.unique]",
        "[!code-csharp]",
        "> [!NOTE]",
        "[TOC]",
        "[a]: https://b.example/closure",
        "[closure]:\n  https://b.example/closure",
        '{{< closure type="unique" >}}',
        "{% closure unique %}",
        '<closure-tab label="unique">',
        "</closure>",
    ],
)
def test_a_label_in_brackets_is_no_evidence(label: str) -> None:
    text = f"# Closures\n{label}\n\nA unique closure type.\n" + "Other words.\n" * 99
    weights = [ConceptWeight("closure", 2.0, {"closure": 1.0})]
    shown = SectionLines(text, 1, weights).evidence(100)
    assert shown.lines[0].text == "A unique closure type."
    assert {line.text for line in shown.lines}.isdisjoint(map(str.strip, label.split("\n")))


def test_a_long_line_is_cut_at_no_number_and_keeps_what_a_full_stop_begins() -> None:
    line = (
        "A fee of 0.3333 (the default) is due after e.g. file.md was sent to us " + "on time " * 40
    )
    weights = [ConceptWeight("fee", 2.0, {"fee": 1.0}), ConceptWeight("due", 1.0, {"due": 1.0})]
    assert excerpt(f"{line.strip()}.", 40, weights).startswith(
        "A fee of 0.3333 (the default) is due"
    )
    for most in range(20, 60):
        shown = excerpt("Pay " * 30 + "a fee of 12.50 EUR due " + "now " * 30, most, weights)
        assert "12.50" in shown or not set("12.50") & set(shown)


@pytest.mark.parametrize(
    "figure", ["The lifetime is `7d`, or so.", "期間（lifetime）は既定で7日です。"]
)
def test_of_sentences_about_as_relevant_the_one_with_a_figure_is_shown(figure: str) -> None:
    weights = [ConceptWeight("lifetime", 2.0, {"lifetime": 1.0})]
    link = "See [the lifetime of a leaf](a1.md#20) for more of it."
    for line in (f"{link} {figure} {'No more. ' * 20}", f"{'No more. ' * 20}{figure}{link}"):
        assert figure in excerpt(line, 60, weights)
        assert link not in excerpt(line, 60, weights)
    assert excerpt(f"{'In 1999. ' * 20}{link}", 60, weights) == f"…{link}"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            "<span class='x'>`mounted`</span><span>`onMounted`</span> runs",
            "`mounted` `onMounted` runs",
        ),
        ("⚠️ <i>Experimental</i> <br/>`<i>`", "⚠️ Experimental `<i>`"),
        (
            "See [it](https://example.org/a/long/path/of/the/web) and [b](c.md).",
            "See [it](…) and [b](c.md).",
        ),
        ("## Fees <sup data-text='3.5+' /> {#fees}", "## Fees <sup data-text='3.5+' />"),
        ("Vec<b> of HashMap<i, u> and List<a>", "Vec<b> of HashMap<i, u> and List<a>"),
        ("<a href='x'>Fee</a>", "<a href='x'>Fee</a>"),
        ("Add [!INCLUDE[vs](../inc/vs.md)] here", "Add [!INCLUDE[vs](…)] here"),
        ("> [!INCLUDE [note](inc/note.md)]", "> [!INCLUDE [note](inc/note.md)]"),
        ("1. [!INCLUDE [step](inc/step.md)]", "1. [!INCLUDE [step](inc/step.md)]"),
        ("a. [!INCLUDE [step](inc/step.md)]", "a. [!INCLUDE [step](inc/step.md)]"),
        ("- [ ] [!INCLUDE [task](inc/task.md)]", "- [ ] [!INCLUDE [task](inc/task.md)]"),
        ("- [x] [!INCLUDE [task](inc/task.md)]", "- [x] [!INCLUDE [task](inc/task.md)]"),
        (
            "Add [!INCLUDE[a](a.md)] a. [!INCLUDE[b](b.md)]",
            "Add [!INCLUDE[a](…)] a. [!INCLUDE[b](…)]",
        ),
        ("[!INCLUDE[a](a.md)] [!INCLUDE[b](b.md)]", "[!INCLUDE[a](a.md)] [!INCLUDE[b](b.md)]"),
        ("    print('<b>fee</b>')", "    print('<b>fee</b>')"),
        ("``a ` <b>``<b>c</b>", "``a ` <b>``c"),
    ],
)
def test_tags_and_long_targets_are_left_out_but_not_of_code(written: str, shown: str) -> None:
    assert [*rendered_lines([written])] == [shown]
    assert [*rendered_lines(["```", written, "```", written])] == ["```", written, "```", shown]


@pytest.mark.parametrize("length", [20_000, 200_000])
@pytest.mark.parametrize(
    ("begin", "marks"),
    [
        ("a <b", "`"),
        ("a {#x ", " "),
        ("a <span", " "),
        ("a [!INCLUDE[x](", "x"),
        ("[!INCLUDE[x](", "x"),
        ("1. [!INCLUDE[x](x)]", "-"),
    ],
)
def test_a_line_of_marks_without_an_end_is_shown_as_it_is(
    length: int, begin: str, marks: str
) -> None:
    line = begin + marks * (length - len(begin) - 1) + "!"
    assert [*rendered_lines([line])] == [line]


@given(
    st.lists(st.sampled_from(["| a |", "| b | c |", "|---|", "text", "- item", ""]), max_size=12)
)
def test_the_header_of_many_rows_is_that_of_each(lines: list[str]) -> None:
    rows = [at for at, line in enumerate(lines) if is_row(line)]
    each = {top for at in rows for top in related(lines, at) if top < at}
    assert {*headers(lines, rows)} == each


@pytest.mark.slow
@pytest.mark.timeout(30)
def test_all_rows_of_a_long_table_are_shown_with_their_header() -> None:
    """For each row, its table was read from the top."""
    text = "| part | fee |\n|---|---|\n" + "| p | 7 |\n" * 30_000 + f"\n{'text ' * 30_000}\n"
    shown = SectionLines(text, 1, WEIGHTS).evidence(20, range(2, 30_002)).lines
    assert [number for number, _ in shown][:3] == [1, 3, 4]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("run", [" ", ":", "a"])
def test_long_runs_are_read_once(run: str) -> None:
    long = run * 200_000
    assert leads(f"As follows:{long}") is (run != "a")
    assert not leads(f"As follows: {long}!")
    assert without_anchor(f"Fees {long}x}}") == f"Fees {long}x}}"
    assert EnclosingBlocks(f"::: zone {long}:\n").around(2) == ""
    assert not any(never_shown([f":::{long}x"], ()))


def test_a_passage_is_worth_more_below_a_heading_that_answers_too() -> None:
    weights = [ConceptWeight("deadline", 2.0, {"deadline": 1.0}), ConceptWeight("apply", 1.0, {})]
    text = "Apply early.\n\nNothing here.\n\nApply within 30 days.\n"
    worths = {
        title: [
            each.worths[0] for each in SectionLines(text, 1, weights, [title]).passages([weights])
        ]
        for title in ("Deadline", "Other")
    }
    assert worths["Other"] == pytest.approx([WHOLE / 3, 0, WHOLE / 3])
    # The lead counts for all that its heading names, a later passage for a part of it.
    assert worths["Deadline"] == pytest.approx([(WHOLE + 2) / 3, 0, (WHOLE + 0.3 * 2) / 3])


@pytest.mark.parametrize(("hidden", "shown"), [("Short.", [1, 3, 5, 7]), ("L" * 151, [1, 5])])
def test_little_text_between_passages_or_after_them_is_shown_too(
    hidden: str, shown: list[int]
) -> None:
    text = f"The fee is 7.\n\n{hidden}\n\nFees rise.\n\n{hidden}\n"
    evidence = SectionLines(text, 1, WEIGHTS).evidence(20, [0, 4], closed=True)
    assert [number for number, _ in evidence.lines] == shown


def test_text_before_the_first_passage_is_not_shown() -> None:
    text = "Short.\n\nThe fee is 7.\n\nOther.\n\n" + "L" * 151
    evidence = SectionLines(text, 1, WEIGHTS).evidence(20, [2, 4], closed=True)
    assert [number for number, _ in evidence.lines] == [3, 5]


def test_the_json_object_of_a_shown_member_is_shown_too() -> None:
    text = (
        '[\n  {\n    "id": "HR-13",\n    "fee": 7,\n    "note": "Heater"\n  },\n' + "other\n" * 99
    )
    section = SectionLines(text, 1, WEIGHTS)
    assert [number for number, _ in section.evidence(20, [3], closed=True).lines] == [3, 4, 5]


@given(
    st.text(st.sampled_from("fee 料金abc。.\n|#`*-: "), max_size=600),
    st.integers(1, 900),
    st.integers(0, 500),
)
def test_evidence_is_made_of_lines_of_the_section(text: str, first: int, room: int) -> None:
    evidence = SectionLines(text, first, WEIGHTS).evidence(room)
    lines = text.splitlines()
    numbers = [number for number, _ in evidence.lines]
    assert numbers == sorted(set(numbers))
    for number, shown in evidence.lines:
        plain = shown.removeprefix("…").removesuffix("…")
        assert plain in lines[number - first]
    assert sum(len(shown) for _, shown in evidence.lines) <= max(1.25 * room, BEST_CHARS) + room


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("::: zone a\n*\n::: zone-end\n", "zone a"),
        ("::: zone a\n::: zone-end\n*\n::: zone b\n::: zone-end\n", ""),
        (
            '::: moniker range=">= 2"\n::: zone a\n::: zone-end\n*\n::: moniker-end\n',
            'moniker range=">= 2"',
        ),
        ("::: zone a\n*\n", ""),
        (":::image source=a:::\n*\n:::image-end\n", ""),
    ],
)
def test_a_block_reaches_to_its_end(text: str, block: str) -> None:
    line = text[: text.index("*")].count("\n") + 1
    assert EnclosingBlocks(text).around(line) == block


@given(
    st.lists(
        st.sampled_from(
            ["", "fee", "- fee", "料金:", "```", "第１節 料金", "x" * 400, f"- {'x' * 400}"]
        )
    )
)
def test_passages_are_all_of_a_text_but_blank_lines(lines: list[str]) -> None:
    found = [at for passage in passages(lines) for at in passage]
    assert found == sorted(set(found))
    assert {at for at, line in enumerate(lines) if line} <= set(found)
    for passage in passages(lines):
        size = sum(len(lines[at]) for at in passage)
        rows = sum(lines[at].startswith("- ") for at in passage)
        assert size <= (2_000 if 2 * rows > len(passage) else 1_300) or len(passage) == 1


def test_a_passage_reaches_from_an_article_to_the_next() -> None:
    text = "第１節 期限\nThree days.\n\n| a | b |\n\n第２節 料金\n\nNone:\n\n- one\n".splitlines()
    assert [*passages(text)] == [range(4), range(5, 10)]
    assert [*passages(["Fees:", "", "- one", "", "Then."])] == [range(3), range(4, 5)]


@given(st.text(st.sampled_from("fee 料金ab。. "), min_size=1, max_size=600), st.integers(20, 200))
def test_an_excerpt_is_a_stretch_of_its_line(line: str, most: int) -> None:
    shown = excerpt(line, most, WEIGHTS)
    plain = shown.removeprefix("…").removesuffix("…")
    assert plain in line
    assert len(plain) <= most


@pytest.mark.slow
@pytest.mark.parametrize("before", [0, 3, 90_000, 1_000_000])
def test_of_a_very_long_line_the_best_sentence_is_shown_and_few_are_read(
    before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    whole = excerpts.line_weight
    monkeypatch.setattr(
        excerpts, "line_weight", lambda text, weights: read.append(text) or whole(text, weights)
    )
    line = "別の文。" * before + "この料金は安い。" + "別の文。" * 50_000
    assert "料金は安い" in excerpt(line, 60, WEIGHTS)
    assert len(read) < 3_000


@pytest.mark.parametrize(
    ("word", "plural"),
    [
        ("fee", "fees"),
        ("story", "stories"),
        ("cookie", "cookies"),
        ("box", "boxes"),
        ("cache", "caches"),
        ("class", "classes"),
        ("status", "statuses"),
        ("menu", "menus"),
    ],
)
def test_a_word_is_in_a_line_that_has_it_in_the_other_number(word: str, plural: str) -> None:
    for asked, written in ((word, plural), (plural, word)):
        line = f"about {written} here"
        known = concept_weights([asked], MemoryCorpus([section("a.md", body=line)], Bigram()))
        assert shares(LineText.of(line), known) == (1.0,)


FORMS = """
    reject rejects rejected rejecting, truncate truncated truncating, cache cached caching,
    err erred, plan planned planning, retry retried retrying, add added adding, process processed,
    pass passed, address addressing, miss missing, focus focused, embed embedded, use used using,
    agree agreed, tie tied, control controlled, cancel cancelled, note noted, open opened,
    edit editing, stop stopped, run running, create creating, pipe piped
"""
UNLIKE = """
    note not, noted not, none non, here her, pipe pip, piped pip, site sit, paste past, state stat,
    bare bar, coded cod, string stre, thing the, bring br, king k, us used, us using, see seed,
    fee feed, ad added
"""


def words_of(groups: str) -> list[list[str]]:
    return [group.split() for group in groups.split(",")]


def share_of(asked: str, written: str) -> tuple[float, ...]:
    """Return the share of one word in a line with another one."""
    corpus = MemoryCorpus([section("a.md", body=f"{asked} and {written}")], Bigram())
    return shares(LineText.of(f"it is {written}"), concept_weights([asked], corpus))


def test_a_word_is_in_a_line_that_has_another_form_of_it() -> None:
    for group in words_of(FORMS):
        for asked, written in permutations(group, 2):
            assert share_of(asked, written) == (1.0,), (asked, written)


def test_a_word_that_looks_like_a_form_is_none() -> None:
    for one, other in words_of(UNLIKE):
        for pair in ((one, other), (other, one)):
            assert share_of(*pair) in ((), (0.0,)), pair


@pytest.mark.parametrize(
    "unit", ["</div>", "<div>", "</a-b>", "<a-b c>", "{{<", "{%", "<!--", "_", "*", "~", "[", "!["]
)
def test_a_line_of_marks_is_read_in_time_by_its_length(unit: str) -> None:
    before = time.process_time()
    line = "# a" + unit * 20_000 + "x"
    assert [*never_shown([unit * 20_000 + "x", line], ["Lamps", line[:-1]])] == [False, False]
    assert time.process_time() - before < 1


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("C", "C++"),
        ("1.2", "12"),
        ("Part | Volt", "Part,Volt"),
        ("ab", "a_b"),
        ("SELECT", "SELECT *"),
    ],
)
def test_a_first_line_with_other_signs_than_the_title_is_shown(title: str, line: str) -> None:
    assert [*never_shown([line], [title])] == [False]


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("Lamp setup", "== Lamp setup"),
        ("Lamp_setup", "# Lamp\\_setup"),
        ("Lamp", "# ![](x.png) Lamp"),
        ("Lamp", "## **Lamp**"),
        ("Deno cron", "# [Deno](https://deno.example/a-long-way-to-it) `cron`"),
    ],
)
def test_a_first_line_that_is_the_title_is_not_shown(title: str, line: str) -> None:
    assert [*never_shown([line], [title])] == [True]


@pytest.mark.parametrize("line", ["<your-token>", "<lamp-name>"])
def test_a_placeholder_alone_is_shown(line: str) -> None:
    assert [*never_shown([line], ())] == [False]


@pytest.mark.parametrize(
    ("room", "between", "last", "shown"),
    [(600, 200, 999, [1, 3, 5]), (60, 200, 999, [1, 5]), (150, 40, 40, [1, 3, 5])],
)
def test_what_is_between_shown_lines_is_shown_where_room_is_left(
    room: int, between: int, last: int, shown: list[int]
) -> None:
    text = f"The fee is 7.\n\n{'x' * between}\n\n{'z' * 300}\n\n{'y' * last}\n"
    evidence = SectionLines(text, 1, WEIGHTS).evidence(room, [0, 4])
    assert [number for number, _ in evidence.lines] == shown


@pytest.mark.parametrize(
    "lead",
    [
        "メールアドレスが以下のいずれかに相当する場合、外部の協力者としてはこの画面から招待できません。",
        "You can use one of the following ways to pay.",
    ],
)
def test_a_list_belongs_to_the_sentence_before_it(lead: str) -> None:
    text = f"About fees.\n\n{lead}\n\n- By card\n- In cash\n\nOther text."
    ranges = [passage.lines for passage in SectionLines(text, 1, WEIGHTS).passages([WEIGHTS])]
    assert range(2, 6) in ranges


@pytest.mark.parametrize(("hidden", "whole"), [(100, True), (150, True), (151, False)])
def test_the_rest_of_a_section_is_shown_where_it_is_very_little(hidden: int, whole: bool) -> None:
    text = f"The red one.\n\n{'x' * hidden}"
    evidence = SectionLines(text, 1, WEIGHTS).evidence(20, closed=True)
    assert evidence.whole is whole
    assert evidence.lines[0].text == "The red one."
