"""The inspector in a browser: with the keyboard alone, in the dark, on a telephone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from inspector import HOSTILE, TURNED, Inspector, workspace
from webdriver import Browser, chromedriver, chromium

PNG = b"\x89PNG\r\n\x1a\n"
FOCUSED = "return document.activeElement.closest('[data-hit]')?.dataset.hit ?? null"
CONTRAST = """
const parsed = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b]
  .map((one) => one / 255)
  .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
  .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
const ground = (one) => {
  for (; one; one = one.parentElement) {
    const colour = parsed(getComputedStyle(one).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const found = [];
for (const one of document.querySelectorAll("main *, header *, footer *")) {
  const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own || !one.offsetParent) continue;
  const pair = [light(parsed(getComputedStyle(one).color)), light(ground(one))].sort();
  const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  if (ratio < 4.5) found.push(`${one.tagName}.${one.className}: ${ratio.toFixed(2)}`);
}
return [...new Set(found)];
"""


@pytest.fixture(scope="module")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspector]:
    chromium()
    chromedriver()
    folder = workspace(tmp_path_factory.mktemp("inspect"))
    with Inspector(folder, "--against", "other.yaml") as running:
        running.find("when does parental leave begin", config="defaults")
        running.find(f"hostile leave {HOSTILE} {TURNED}", config="defaults")
        yield running


@pytest.fixture(scope="module")
def wide(inspector: Inspector) -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


def pages(inspector: Inspector) -> list[str]:
    """Return the addresses of one page of each kind."""
    one = inspector.find("parental leave", config="defaults")
    both = inspector.find("parental leave", config="defaults", against="other.yaml")
    return ["/", one, f"{one}/why?path=leave.md&line=4", both, "/trace/none"]


def test_a_search_is_made_and_compared_with_the_mouse(wide: Browser, inspector: Inspector) -> None:
    wide.open(f"{inspector.url}/")
    wide.type("main [data-search]", "sick leave")
    wide.click("button.main")
    wide.arrives("/compare?a=")
    assert "other.yaml" in wide.run("return document.querySelector('.sides').textContent")
    wide.click(".hits summary")
    assert wide.run("return document.querySelector('.hits details').open")
    wide.click(".sides a")
    wide.arrives("/trace/")
    wide.click(".hits li:first-child summary")
    wide.click(".hits li:first-child .inside a")
    wide.arrives("/why?path=")
    assert "It ranks 1" in wide.run("return document.querySelector('.verdict').textContent")


def test_a_search_is_made_and_read_with_the_keyboard_alone(
    wide: Browser, inspector: Inspector
) -> None:
    wide.open(f"{inspector.url}/")
    wide.press("/")
    assert wide.run("return document.activeElement.name") == "q"
    wide.press(*"leave/jk", "Enter")
    wide.arrives("/compare?a=")
    wide.open(inspector.url + inspector.find("parental leave", config="defaults"))
    hits = wide.run("return [...document.querySelectorAll('[data-hit]')].map(o => o.dataset.hit)")
    assert len(hits) > 2
    moves: list[tuple[str, str]] = [
        ("j", hits[0]),
        ("j", hits[1]),
        ("ArrowDown", hits[2]),
        ("k", hits[1]),
    ]
    for key, expected in moves:
        wide.press(key)
        assert wide.run(FOCUSED) == expected
    assert wide.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    lit = "return [...document.querySelectorAll('[data-line].lit')].map(o => o.dataset.line)"
    assert wide.run(lit) == [hits[1]]
    opened = "return document.querySelectorAll('.hits details[open]').length"
    wide.press("Enter")
    assert wide.run(opened) == 1
    wide.press("Tab", "Escape")
    assert wide.run(opened) == 0
    assert wide.run(FOCUSED) == hits[1]
    wide.press("Escape")
    assert wide.run(FOCUSED) is None
    wide.press("/")
    assert wide.run("return document.activeElement.name") == "q"


def test_the_first_stop_skips_to_the_content(wide: Browser, inspector: Inspector) -> None:
    wide.open(f"{inspector.url}/")
    wide.press("Tab")
    assert wide.run("return document.activeElement.textContent") == "Skip to content"
    assert wide.run("return document.activeElement.getBoundingClientRect().left") >= 0
    wide.press("Enter")
    assert wide.run("return document.activeElement.id") == "content"
    wide.press("Tab")
    assert wide.run("return document.activeElement.name") == "q"


def test_hostile_text_runs_nothing_and_turns_nothing_around(
    wide: Browser, inspector: Inspector
) -> None:
    wide.messages()
    wide.open(inspector.url + inspector.find(f"hostile leave {HOSTILE} {TURNED}"))
    assert wide.run("return document.querySelectorAll('main script, main img').length") == 0
    assert wide.run("return document.title").startswith("hostile leave")
    path = "const p = document.querySelector('[data-hit^=\"hostile\"] .path');"
    name = "const n = document.querySelector('[data-hit^=\"hostile\"] .name');"
    assert wide.run(f"{path} return p.textContent").startswith("hostile.md#L")
    assert wide.run(f"{name} return getComputedStyle(n).unicodeBidi") == "isolate"
    assert wide.messages() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_every_page_fits_and_can_be_read(
    inspector: Inspector, tmp_path: Path, *, dark: bool, width: int
) -> None:
    with Browser(dark=dark, width=width) as browser:
        for number, path in enumerate(pages(inspector)):
            browser.open(inspector.url + path)
            browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
            assert browser.run("return document.documentElement.scrollWidth") <= width, path
            assert browser.run(CONTRAST) == [], path
            picture = browser.screenshot(tmp_path / f"{number}.png")
            assert picture.read_bytes().startswith(PNG)
        ground = browser.run("return getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(20, 23, 26)") is dark
        allowed = [one for one in browser.messages() if "404" not in one]
        assert allowed == []


def test_every_page_works_without_scripts(inspector: Inspector) -> None:
    with Browser() as browser:
        browser.without_scripts()
        browser.open(f"{inspector.url}/")
        browser.type("main [data-search]", "sick leave")
        browser.click("button.main")
        browser.arrives("/compare?a=")
