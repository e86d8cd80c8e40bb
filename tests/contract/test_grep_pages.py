"""The pages of ``manual_grep`` hold every place once, and none is lost."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grep_files import places
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from manuals import Application, ask, opened, write

from fumishirube.text import FileText, decode, reading, reading_form
from fumishirube_manual.grep.matching_lines import running_text

SAMPLES = Path(__file__).parents[2] / "manuals"


def pages(application: Application, **arguments: Any) -> list[dict[str, Any]]:
    """Return the pages of an answer, which show the matching lines alone."""
    arguments = {"context": 0, **arguments}
    answers = [ask(application, "manual_grep", **arguments)]
    while "next_cursor" in answers[-1]:
        cursor = answers[-1]["next_cursor"]
        answers.append(ask(application, "manual_grep", cursor=cursor, **arguments))
    return answers


def check_pages(answers: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """See that pages have no gap and no repeat, and that each accounts for the rest."""
    every = []
    for number, answer in enumerate(answers):
        every += places(answer)
        left = {row["path"]: row["count"] for row in answer.get("remaining", ())}
        after = [path for later in answers[number + 1 :] for path, _ in places(later)]
        folders = tuple(path for path in left if path.endswith("/") and path != "/")
        rest = [path for path in after if path not in left and not path.startswith(folders)]
        for path, count in left.items():
            below = [p for p in after if p == path or (path in folders and p.startswith(path))]
            assert count == len(rest if path == "/" else below)
        assert sum(left.values()) == len(after)
        assert len(every) + len(after) == answer["total"] == answers[0]["total"]
    assert len(set(every)) == len(every)
    return sorted(every)


def test_pages_of_the_samples_have_no_gap_and_no_repeat(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES, tmp_path / "manuals")
    application = opened(tmp_path)
    texts = ["請求", "給付"]
    answers = pages(application, any=texts, manual_id="給付金編", max_chars=1_000)
    assert len(answers) > 5
    expected = []
    for path in sorted((SAMPLES / "給付金編").iterdir()):
        expected += [(path.name, line) for line in naive(decode(path.read_bytes()), texts)]
    assert check_pages(answers) == expected
    for answer in answers:
        assert len(json.dumps(answer["groups"], ensure_ascii=False)) <= 1_000 + 400
    application.close()


def naive(
    text: str, texts: list[str], name: str = "a.md", *, exact: bool = False, word: bool = False
) -> list[int]:
    """Return the lines of a whole text in which one of some texts begins."""
    readings = [reading(each, exact=exact, word=word) for each in texts]
    form = reading_form(text)
    goes_on = running_text(FileText(name, text, lambda _: ()))
    found = (each.matching_lines(text, form, goes_on) for each in readings if each is not None)
    return sorted({line for lines in found for line, _ in lines})


LINE = st.sampled_from(
    [
        *(
            "",
            "## Limits of 5 秒",
            "The abort signal",
            "AbortSignals",
            "15 秒",
            "５秒と5 秒",
            "入院",
        ),
        *(
            "入 院",
            "- [5](http://host/a_b)",
            "| a | 5 秒 |",
            "```",
            "`x_y`",
            "caf\u00e9",
            "# *入*院",
        ),
        *(
            "Setext 5 秒",
            "======",
            "<!-- 5秒 -->",
            "&amp; 5&nbsp;秒",
            "\ttab 5\u3000秒",
            "---",
            "a: 5秒",
        ),
    ]
)
PLACES = 9
FILE = st.lists(LINE, max_size=14).map("\n".join)
TEXT = st.sampled_from(
    [
        "5 秒",
        "abort signal",
        "AbortSignal",
        "入院",
        "院",
        "amp",
        "http",
        "host",
        "a b",
        "x y",
        "é",
        "-",
        "5",
    ]
)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """An application whose manual gets other files again and again, as its index follows."""
    application = opened(write(tmp_path_factory.mktemp("lasting"), {"m/a.md": "a"}))
    yield application
    application.close()


@pytest.mark.timeout(600)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(
        st.sampled_from(["a.md", "b/c.md", "b/d.json", "e.md", "INDEX.md"]), FILE, max_size=5
    ),
    texts=st.lists(TEXT, min_size=1, max_size=3, unique=True),
    exact=st.booleans(),
    word=st.booleans(),
    max_chars=st.sampled_from([256, 600, 10_000]),
)
def test_no_place_is_lost_against_a_look_at_every_line(
    lasting: Application,
    files: dict[str, str],
    texts: list[str],
    exact: bool,
    word: bool,
    max_chars: int,
) -> None:
    lines = Counter(line.strip() for text in files.values() for line in text.split("\n"))
    assume(max(lines.values(), default=0) <= PLACES)  # of more equal lines only the number is told
    folder = lasting.contexts["manual"].root.path / "m"
    shutil.rmtree(folder)
    folder.mkdir()
    write(folder.parent.parent, {f"m/{name}": text for name, text in files.items()})
    expected = [
        (name, number)
        for name, text in sorted(files.items())
        for number in naive(text, texts, name, exact=exact, word=word)
    ]
    arguments: dict[str, Any] = {"any": texts, "exact": exact, "word": word, "max_chars": max_chars}
    answers = pages(lasting, manual_id="m", **arguments)
    assert check_pages(answers) == sorted(expected)
    for page, answer in enumerate(answers, start=1):
        after = {place for later in answers[page:] for place in places(later)}
        for row in answer.get("texts", ()):
            holding = {
                (name, number)
                for name, text in files.items()
                for number in naive(text, [row["text"]], name, exact=exact, word=word)
            }
            assert row["count"] == len(holding)
            assert row.get("left", 0) == len(holding & after)


def test_changed_files_are_read_as_they_are_and_end_a_cursor(tmp_path: Path) -> None:
    workspace = write(
        tmp_path, {f"m/{n}.md": f"# {n}\nline {n} {'x' * 90} here\n" for n in range(9)}
    )
    application = opened(workspace)
    first = ask(application, "manual_grep", any=["here"], manual_id="m", max_chars=400)
    assert first["total"] == 9
    write(workspace, {"m/4.md": "# 4\nnothing\n", "m/new.md": "now here\n"})
    again = ask(application, "manual_grep", any=["here"], manual_id="m")
    assert places(again) == sorted([(f"{n}.md", 2) for n in range(9) if n != 4] + [("new.md", 1)])
    with pytest.raises(Exception, match="have changed since"):
        ask(
            application,
            "manual_grep",
            any=["here"],
            manual_id="m",
            max_chars=400,
            cursor=first["next_cursor"],
        )
    application.close()
