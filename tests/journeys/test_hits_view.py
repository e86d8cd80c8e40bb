"""The page with the hits of a search, in a browser, as a client with MCP Apps shows it."""

from __future__ import annotations

import html
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manuals import write
from stdio import Wire
from webdriver import Browser, chromedriver, chromium

from fumishirube_manual.views import hits_view

HOSTILE = "<img src=x onerror=alert(1)>"
FILES = {"bikes/oil.md": f"# Oil\n\nOil the chain {HOSTILE} with 油 weekly.\n\nKeep it dry.\n"}
HOST = """<!doctype html><meta charset="utf-8"><title>Host</title>
<iframe id="view" srcdoc="%s" style="width:100%%;border:0"></iframe>
<script>
const frame = document.getElementById("view"), seen = [];
const reply = (message) => frame.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
addEventListener("message", ({data}) => {
  seen.push(data.method);
  if (data.method === "ui/initialize") reply({id: data.id, result: {
    protocolVersion: "2026-01-26", hostInfo: {name: "host", version: "1"},
    hostCapabilities: {serverTools: {}}, hostContext: {theme: "%s"}}});
  if (data.method === "ui/notifications/initialized")
    reply({method: "ui/notifications/tool-result", params: {structuredContent: %s}});
  if (data.method === "ui/notifications/size-changed")
    frame.style.height = data.params.height + "px";
  if (data.method === "tools/call") reply({id: data.id, result: {content: [],
    structuredContent: {text: "The whole section of " + data.params.arguments.ref.path}}});
});
</script>
"""
INSIDE = "return document.getElementById('view').contentDocument"


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with Wire(write(tmp_path_factory.mktemp("view"), FILES)) as wire:
        wire.ok("manual_ls")
        search = {"query": "oil chain 油", "required_terms": ["oil"], "manual_id": "bikes"}
        return wire.ok("manual_find", **search, inline_hits={"limit": 5})


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium()
    chromedriver()
    with Browser(width=390, height=700) as running:
        yield running


def hosted(browser: Browser, folder: Path, answer: object, theme: str) -> None:
    """Open a page that hosts the view, and wait until it shows the answer."""
    told = json.dumps(answer).replace("<", "\\u003c")
    page = folder / "host.html"
    view = html.escape(hits_view().html)
    page.write_text(HOST % (view, theme, told), encoding="utf-8")
    browser.open(page.as_uri())
    deadline = time.monotonic() + 20
    while "Waiting" in browser.run(f"{INSIDE}.getElementById('state').textContent"):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_hits_are_shown_with_their_lines(
    browser: Browser, tmp_path: Path, answer: dict[str, Any], theme: str
) -> None:
    hosted(browser, tmp_path, answer, theme)
    assert browser.run(f"{INSIDE}.getElementById('state').textContent").startswith("1 of 1")
    assert browser.run(f"{INSIDE}.querySelector('.place').textContent").startswith("bikes/oil.md")
    shown = browser.run(f"{INSIDE}.querySelector('.line div').textContent")
    assert shown == f"Oil the chain {HOSTILE} with 油 weekly."
    marks = f"{INSIDE}.querySelectorAll('mark')"
    assert "油" in browser.run(f"{INSIDE}.body.innerText")
    assert browser.run(f"return [...{marks.removeprefix('return ')}].map((m) => m.textContent)")
    assert browser.run(f"{INSIDE}.images.length") == 0
    assert browser.run(f"{INSIDE}.documentElement.scrollWidth") <= 390
    colour = browser.run(
        "return getComputedStyle(document.getElementById('view').contentDocument.body).colorScheme"
    )
    assert theme in colour


def test_a_click_shows_the_section(
    browser: Browser, tmp_path: Path, answer: dict[str, Any]
) -> None:
    hosted(browser, tmp_path, answer, "light")
    browser.run(f"{INSIDE}.querySelector('h2 button').click()")
    deadline = time.monotonic() + 20
    while "whole section of oil.md" not in browser.run(f"{INSIDE}.body.innerText"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert "ui/notifications/size-changed" in browser.run("return seen")


@pytest.mark.parametrize("answer", [{}, {"inline_hits": {"items": [], "total": 0}}])
def test_no_hits_are_said_to_be_none(
    browser: Browser, tmp_path: Path, answer: dict[str, Any]
) -> None:
    hosted(browser, tmp_path, answer, "light")
    assert browser.run(f"{INSIDE}.getElementById('state').textContent") == "No section was found."
