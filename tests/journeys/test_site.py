"""The documentation site: built without a network, and searched in a real browser."""

from __future__ import annotations

import html
import http.server
import itertools
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from webdriver import Browser

PROJECT = Path(__file__).parents[2]
BUILD = PROJECT / "docs" / "build_site.py"
NARROW = 390
_LINKS = """
    const links = [];
    const walk = root => {
        for (const one of root.querySelectorAll("*")) {
            if (one.tagName === "A" && one.getRootNode().host) links.push(one.textContent);
            if (one.shadowRoot) walk(one.shadowRoot);
        }
    };
    walk(document);
    return links;
"""
"""The results of the search, which are in a tree of their own."""

pytestmark = pytest.mark.skipif(
    shutil.which("zensical", path=sysconfig.get_path("scripts")) is None,
    reason="zensical is not installed: tox -e site",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, where the system allows it in a process without a network."""
    out = tmp_path_factory.mktemp("site") / "out"
    alone = ["unshare", "--map-root-user", "--net"]
    can = shutil.which("unshare") and subprocess.run([*alone, "true"], check=False).returncode == 0
    command = [*(alone if can else ()), sys.executable, str(BUILD), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def headings() -> Iterator[tuple[Path, str]]:
    """Yield every heading of the pages in the repository."""
    docs = PROJECT / "docs"
    for folder in (PROJECT, docs, docs / "experiments", docs / "reference"):
        for page in sorted(folder.glob("*.md")):
            tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
            for opening, content in itertools.pairwise(tokens):
                if opening.type == "heading_open":
                    yield page, content.content.replace("`", "")


def plain(title: str) -> str:
    """Return the letters and digits of a title, without tags."""
    return "".join(filter(str.isalnum, re.sub("<[^>]+>", "", title)))


def words() -> list[str]:
    """Return every word of two characters in a heading, and every two characters of Japanese."""
    made: set[str] = set()
    for _, heading in headings():
        made.update(re.findall(r"\b[A-Za-z]{2}\b", heading))
        for run in re.findall(r"[\u3041-\u30ff\u4e00-\u9fff]{2,}", heading):
            made.update(run[start : start + 2] for start in range(len(run) - 1))
    return sorted(made)


def test_every_page_is_built_and_every_heading_is_in_the_search_index(site: Path) -> None:
    index = json.loads((site / "search.json").read_text(encoding="utf-8"))
    titles = {plain(html.unescape(item["title"])) for item in index["items"]}
    for page, heading in headings():
        path = page.relative_to(PROJECT).with_suffix(".html")
        built = path.with_name("index.html") if path.stem == "README" else path
        assert (site / built).is_file(), page
        assert plain(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)) in titles
    for front, language in (("index.html", "Try it"), ("README.ja.html", "試す")):
        assert language in (site / front).read_text(encoding="utf-8")


def test_a_reader_needs_no_other_server(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|iframe)[^>]+src="(\w+:)?//', page.read_text("utf-8"))
        loaded += re.findall(r'<link[^>]+href="https?://(?!.*canonical)', page.read_text("utf-8"))
        assert not loaded, page


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Print nothing."""

    handler = partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def searched(browser: Browser, word: str) -> list[str]:
    """Type a word into the search, and return the results once they have it."""
    browser.press(*word)
    deadline = time.monotonic() + 5
    while True:
        results: list[str] = browser.run(_LINKS)
        if any(word.lower() in result.lower() for result in results):
            break
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    for _ in word:
        browser.press("\ue003")
    return results


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_heading_word_of_two_characters_is_found(address: str) -> None:
    assert {"メモ", "試す", "to"} <= {*words()}
    with Browser() as browser:
        browser.open(f"{address}/index.html")
        browser.click(".md-search__button")
        time.sleep(1)
        missed = [
            word
            for word in words()
            if not any(word.lower() in one.lower() for one in searched(browser, word))
        ]
    assert not missed


@pytest.mark.slow
@pytest.mark.parametrize("page", ["index.html", "README.ja.html", "docs/reference/plugins.html"])
def test_a_page_fits_a_narrow_and_a_wide_screen_and_asks_nobody_else(
    address: str, page: str
) -> None:
    for width in (NARROW, 1440):
        with Browser(width=width) as browser:
            browser.open(f"{address}/{page}")
            assert browser.run("return document.documentElement.scrollWidth") <= width
            asked = browser.run("return performance.getEntriesByType('resource').map(e => e.name)")
            assert all(name.startswith((address, "data:", "blob:")) for name in asked)
            assert browser.messages() == []
