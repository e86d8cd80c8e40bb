"""The page that draws a graph, as a browser shows it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from documents import docs, documents
from webdriver import chromium

PNG = b"\x89PNG\r\n\x1a\n"
FILES = {
    "guide.md": "---\ndoc_type: guide\n---\n# Guide\n\n[[design|depends_on]] [[api|extends]]\n",
    "design.md": "---\ndoc_type: design\n---\n# 設計\n\n[[api]]\n",
    "api.md": "---\ndoc_type: api\ntitle: '</script><b id=\"evil\">API</b>'\n---\n",
}


@pytest.fixture(scope="module")
def browser() -> str:
    """Return the browser, or skip."""
    return chromium()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    documents(tmp_path, FILES)
    page = tmp_path / "graph.html"
    page.write_text(docs("get-graph", "--format", "html", cwd=tmp_path).out, encoding="utf-8")
    return page


def headless(browser: str, *words: str) -> str:
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,800", *words],
        capture_output=True,
        timeout=100,
        check=True,
    )
    return done.stdout.decode()


def test_nodes_have_types_and_edges_have_kinds(browser: str, page: Path) -> None:
    shown = headless(browser, "--dump-dom", page.as_uri())
    assert sorted(re.findall(r'data-type="(\w+)"', shown)) == ["api", "design", "guide"]
    kinds = sorted(re.findall(r'data-kind="(\w+)"', shown))
    assert kinds == ["depends_on", "extends", "references"]
    assert "3 documents, 3 links" in shown
    assert not re.search(r'<b id="evil">', shown)


def test_a_search_leaves_the_rest_dim(browser: str, page: Path) -> None:
    shown = headless(browser, "--dump-dom", f"{page.as_uri()}#q=%E8%A8%AD%E8%A8%88")
    assert "1 of 3 documents" in shown
    nodes = re.findall(r'<g [^>]*data-path="([^"]+)"[^>]*?(class="dim")?>', shown)
    assert sum("dim" in node for node in re.findall(r"<g [^>]*data-path[^>]*>", shown)) == 2
    assert len(nodes) == 3


def test_a_screenshot_can_be_made(browser: str, page: Path, tmp_path: Path) -> None:
    picture = tmp_path / "graph.png"
    headless(browser, f"--screenshot={picture}", page.as_uri())
    assert picture.read_bytes().startswith(PNG)
    assert picture.stat().st_size > 10_000
