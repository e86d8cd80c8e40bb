"""The inspector over several manuals, with reports, and where names are mistyped."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspector import Inspector, parts, workspace
from manuals import fumishirube, write
from webdriver import Browser, chromedriver, chromium

from fumishirube_inspect.reports import mean, read_report

ROWS = [
    {
        "run": run,
        "case_id": f"c\u2028{n}",
        "metrics": {"mrr@5": value, "tokens_per_query": 700.0 + n},
    }
    for run, values in (("config", (1.0, 0.5, 1.0, 0.0)), ("against", (1.0, 1.0, 1.0, 0.5)))
    for n, value in enumerate(values)
]
AGENT = {
    "version": 1,
    "camp": "ours",
    "agent": "an agent",
    "grading": "exact",
    "answers": [
        {"id": f"q{n}", "kind": "fact", "answer": "x", "seconds": 2.0 * n, "facts": [True, n > 1],
         "calls": [{"characters": 1000 * n, "tokens": 1, "seconds": 1.0}]}
        for n in range(1, 4)
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspector]:
    folder = workspace(tmp_path_factory.mktemp("inspect"))
    (folder / "coarse.yaml").write_text(
        "pipelines: {manual: {loaders: [{use: markdown, with: {heading_levels: 1}}]}}\n"
    )
    write(folder, {"m2/leave.md": "# Leave\n\n## Sick leave\nStay at home when sick.\n"})
    write(folder, {"m3/other.md": "# Other\n\nNothing of interest, sick or not.\n"})
    rows, agent = folder / "rows.jsonl", folder / "run.json"
    rows.write_text(
        "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in ROWS), encoding="utf-8"
    )
    agent.write_text(json.dumps(AGENT), encoding="utf-8")
    with Inspector(folder, "--report", str(rows), "--report", str(agent)) as running:
        yield running


def found(inspector: Inspector, *manuals: str) -> str:
    answer = inspector.client.post("/find", data={"q": "sick leave", "manual": [*manuals]})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


@pytest.mark.parametrize(
    ("manuals", "searched"),
    [
        (("m1", "m2"), {"m1", "m2"}),
        (("m2",), {""}),
        (("*",), {"m1", "m2", "m3"}),
        ((), {"m1", "m2", "m3"}),
    ],
)
def test_one_search_covers_the_chosen_manuals(
    inspector: Inspector, manuals: tuple[str, ...], searched: set[str]
) -> None:
    page = inspector.page(found(inspector, *manuals))
    paths = re.findall(r'<span class="path"><bdi>([^<]*)</bdi>', parts(page)["hits"])
    assert {path.rpartition("/")[0] for path in paths} == searched


@pytest.mark.parametrize(
    ("form", "hint"),
    [({"manual": "m11"}, "did you mean 'm1'?"), ({"config": "othr.yaml"}, "'other.yaml'?")],
)
def test_the_nearest_name_is_proposed(
    inspector: Inspector, form: dict[str, str], hint: str
) -> None:
    answer = inspector.client.post("/find", data={"q": "leave", **form})
    assert answer.status_code == 404
    assert hint in unescape(answer.text)


def test_a_mistyped_file_is_corrected(inspector: Inspector) -> None:
    trace = found(inspector, "m1")
    for line in ("", "&line=4"):
        page = inspector.page(f"{trace}/why?path=leve.md{line}", 404)
        assert "did you mean 'leave.md'?" in unescape(page)


def test_a_section_is_picked_by_file_then_by_heading(inspector: Inspector) -> None:
    trace = found(inspector, "m1")
    picker = parts(inspector.page(trace))["why-not"]
    assert '<option value="leave.md">' in picker
    assert 'type="number"' not in picker
    sections = parts(inspector.page(f"{trace}/why?path=leave.md"))["sections"]
    links = dict(re.findall(r'href="([^"]+)"[^>]*><bdi>([^<]*)</bdi>', sections))
    assert "Leave &gt; Sick leave" in links.values()
    assert all("What each stage did" in inspector.page(unescape(link)) for link in links)


def test_a_search_is_shown_with_the_sections_of_its_configuration(inspector: Inspector) -> None:
    form = {"q": "sick leave", "manual": "m1", "config": "coarse.yaml"}
    trace = str(inspector.client.post("/find", data=form).headers["location"])
    assert "Apply a month before parental" in parts(inspector.page(trace))["hits"]
    assert "It ranks 1" in inspector.page(f"{trace}/why?path=leave.md&line=5")
    sections = parts(inspector.page(f"{trace}/why?path=leave.md"))["sections"]
    assert re.findall(r" line (\d+)<", sections) == ["1"]
    (inspector.folder / "coarse.yaml").write_text("pipelines: {manual: {loaders: [none]}}\n")
    assert "It ranks 1" in inspector.page(f"{trace}/why?path=leave.md&line=1")
    sections = parts(inspector.page(f"{trace}/why?path=leave.md"))["sections"]
    assert re.findall(r" line (\d+)<", sections) == ["1"]
    assert "Apply a month before parental" in parts(inspector.page(trace))["hits"]


def test_the_runs_of_the_gates_are_explained(inspector: Inspector) -> None:
    answer = inspector.client.post(
        "/find", data={"q": "sick parental leave", "manual": "m1", "require": "sick, parental"}
    )
    ranks = parts(inspector.page(answer.headers["location"]))["ranks"]
    explained = dict(re.findall(r"<dt>([^<]*)</dt><dd>(.+?)</dd>", ranks))
    assert explained["g0"].startswith("first gate")
    both = "only sections with the required <bdi>sick</bdi> and <bdi>parental</bdi>"
    assert both in explained["g_req:A+B"]
    assert "<bdi>parental</bdi>" in explained["g_req:B"]


def test_the_opened_text_has_its_matches_marked(inspector: Inspector) -> None:
    page = inspector.page(found(inspector, "m1"))
    assert re.search(r'<pre[^>]*class="text".*?<mark><bdi>[Ss]ick', page, re.DOTALL)


def test_an_evaluation_is_charted_with_its_intervals(inspector: Inspector) -> None:
    assert 'href="/report/0"' in inspector.page("/")
    chart = parts(inspector.page("/report/0"))["measures"]
    labels = re.findall(r'aria-label="([\d.]+), from ([\d.]+) to ([\d.]+)"', chart)
    assert [label[0] for label in labels] == ["0.625", "0.875", "701.500", "701.500"]
    assert all(float(low) <= float(at) <= float(high) for at, low, high in labels)
    assert all(run in chart for run in ("config", "against"))


def test_the_run_of_an_agent_is_charted(inspector: Inspector) -> None:
    page = parts(inspector.page("/report/1"))
    assert all(name in page["measures"] for name in ("points", "calls", "characters", "seconds"))
    assert "0.833, from " in page["measures"]
    assert [*re.findall(r"<bdi>(q\d)</bdi>", page["questions"])] == ["q1", "q2", "q3"]
    assert "report" in inspector.page("/report/2", 404)


def test_a_report_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """As PowerShell writes it."""
    for name, data in (("rows.jsonl", ROWS[0]), ("run.json", AGENT)):
        plain, marked = tmp_path / name, tmp_path / "marked" / name
        marked.parent.mkdir(exist_ok=True)
        plain.write_text(json.dumps(data), encoding="utf-8")
        marked.write_text(json.dumps(data), encoding="utf-8-sig")
        assert read_report(marked) == read_report(plain)


@pytest.mark.parametrize(("rows", "run"), [("rows.json", "run.jsonl"), ("rows", "run")])
def test_a_report_is_known_by_its_content(tmp_path: Path, rows: str, run: str) -> None:
    lines = "".join(f"{json.dumps(row)}\n" for row in ROWS)
    (tmp_path / rows).write_text(lines, encoding="utf-8")
    (tmp_path / run).write_text(json.dumps(AGENT, indent=1), encoding="utf-8")
    assert [*read_report(tmp_path / rows).runs] == ["config", "against"]
    assert read_report(tmp_path / run).kind == "an agent's run"


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_the_means_of_a_large_evaluation_take_linear_time() -> None:
    """Resampling a hundred thousand rows takes minutes."""
    numbers = [float(number % 4 == 0) for number in range(100_000)]
    for shift in range(20):
        value, low, high, _ = mean([number + shift for number in numbers])
        assert value == pytest.approx(shift + 0.25)
        assert (value - low, high - value) == pytest.approx((0.0027, 0.0027), abs=0.0001)


def test_drawn_and_reckoned_intervals_agree() -> None:
    few, many = (mean([float(n % 5 == 0) for n in range(size)]) for size in (500, 505))
    assert few[:3] == pytest.approx(many[:3], abs=0.004)


HUGE = f'{{"run": "x", "case_id": "c", "metrics": {{"m": {"9" * 400}}}}}'


@pytest.mark.parametrize(
    "content", ["", "{}", "[1]", "no json", '{"run": "x"}\n', "[" * 100_000, HUGE]
)
def test_another_file_is_no_report(tmp_path: Path, content: str) -> None:
    write(tmp_path, {"m/a.md": "# A\n\na\n"})
    (tmp_path / "x.jsonl").write_text(content, encoding="utf-8")
    words = ("inspect", "--port", "0", "--no-browser", "--report", "x.jsonl")
    done = fumishirube(*words, cwd=tmp_path)
    assert (done.code, "--report" in done.err) == (2, True), done.err


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.sampled_from([1, 600]))
def test_a_mean_lies_in_its_interval(few: list[float], times: int) -> None:
    numbers = few * times
    value, low, high, cases = mean(numbers)
    assert cases == len(numbers)
    assert min(numbers) - 1e-6 <= low <= value + 1e-6
    assert value - 1e-6 <= high <= max(numbers) + 1e-6


# --- in a browser -----------------------------------------------------------------------------

CLIPPED = """
const found = [];
for (const one of document.querySelectorAll("main *, header *")) {
  if (!one.offsetParent || one.closest("svg, .scroll, pre, .parts, datalist, select")) continue;
  const box = one.getBoundingClientRect();
  if (box.right > innerWidth + 1 || box.left < -1) found.push(`${one.tagName}.${one.className}`);
  if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible")
    found.push(`${one.tagName}.${one.className} is cut`);
}
return found;
"""


def test_nothing_is_clipped_on_a_telephone(inspector: Inspector, tmp_path: Path) -> None:
    chromium()
    chromedriver()
    trace = found(inspector)
    pages = ["/", trace, f"{trace}/why?path={quote('m1/leave.md')}", "/report/0", "/report/1"]
    with Browser(width=390, height=800) as browser:
        for number, path in enumerate(pages):
            browser.open(inspector.url + path)
            browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
            browser.screenshot(tmp_path / f"{number}.png")
            assert browser.run(CLIPPED) == [], path
            for part in ("html", ".parts"):
                wide = f"return document.querySelector('{part}')?.scrollWidth ?? 0"
                assert browser.run(wide) <= 390, (path, part)


def test_two_searches_are_chosen_and_compared_with_keys(inspector: Inspector) -> None:
    chromium()
    chromedriver()
    found(inspector, "m1")
    trace = found(inspector, "m1", "m2")
    with Browser() as browser:
        browser.open(inspector.url + trace)
        browser.press("h")
        deadline = time.monotonic() + 20
        while browser.url != f"{inspector.url}/":
            assert time.monotonic() < deadline
            time.sleep(0.05)
        browser.press("j", "a", "j", "b", "c")
        browser.arrives("/compare?")
        browser.open(inspector.url + trace)
        browser.press("j", "w")
        browser.arrives("/why?")
        browser.press("/")
        assert browser.run("return document.activeElement.name") == "q"
