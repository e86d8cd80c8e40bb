"""The inspector shows past searches and new ones, on this machine alone, and trusts no text."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import httpx2
import pytest
from http_server import Serving
from hypothesis import given
from hypothesis import strategies as st
from inspector import HOSTILE, TURNED, Inspector, parts, workspace
from manuals import appears, fumishirube

from fumishirube.host.startup import open_application
from fumishirube_inspect import traces
from fumishirube_inspect.exports import decode_export
from fumishirube_inspect.markup import page, tag
from fumishirube_inspect.session import InspectorSession, SearchForm
from fumishirube_inspect.traces import listing_page


@pytest.fixture(scope="module")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspector]:
    folder = workspace(tmp_path_factory.mktemp("inspect"))
    with Inspector(folder, "--against", "other.yaml") as running:
        yield running


@pytest.fixture(scope="module")
def found(inspector: Inspector) -> str:
    """Return the address of a search."""
    return inspector.find("when does parental leave begin", config="defaults")


class Elements(HTMLParser):
    """The elements of a page, and whether each is closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs
        if tag not in {"meta", "link", "input", "img", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


# --- what it shows --------------------------------------------------------------------------


def test_it_says_how_to_make_a_search_when_there_is_none(tmp_path: Path) -> None:
    with Inspector(workspace(tmp_path)) as running:
        html = running.page("/")
        assert "No recent searches" in html
        assert "fumishirube find" in html


def test_searches_of_other_processes_are_listed(tmp_path: Path) -> None:
    workspace(tmp_path)
    told = fumishirube("find", "sick leave", "--json", cwd=tmp_path).json["traces"]["m1"]
    with Inspector(tmp_path) as running:
        html = running.page("/")
        assert f'href="/trace/{told}"' in html
        assert "sick leave" in html
        assert "Sick leave" in running.page(f"/trace/{told}")


def test_a_damaged_file_is_named_and_spoils_nothing(tmp_path: Path) -> None:
    workspace(tmp_path)
    traces = tmp_path / ".fumishirube" / "traces"
    told = fumishirube("find", "sick leave", "--json", cwd=tmp_path).json["traces"]["m1"]
    whole = (traces / f"{told}.json").read_bytes()
    (traces / f"{'a' * 32}.json").write_bytes(whole[:900])
    (traces / f"{'b' * 32}.json").write_bytes(whole.replace(b'"ms":', b'"ms":"x","was":', 1))
    with Inspector(tmp_path) as running:
        html = running.page("/")
        assert f"{'a' * 32}.json</code>" in html
        assert f"{'b' * 32}.json</code>" in html
        assert f'href="/trace/{told}"' in html
        running.page(f"/trace/{'a' * 32}", 404)


def test_a_search_shows_hits_ranks_stages_and_settings(inspector: Inspector, found: str) -> None:
    html = inspector.page(found)
    shown = parts(html)
    assert [*shown] == ["hits", "ranks", "stages", "why-not", "settings"]
    first = re.search(r"<li data-hit=\"([^\"]+)\".*?</li>", shown["hits"], re.DOTALL)
    assert first is not None
    assert first[1] == "leave.md#L3"
    assert re.search(r'aria-label="lexical \d+\.\d\d', first[0])
    assert "Apply a month before" in first[0]
    assert re.findall(r'class="name"><title>([^<]+)', shown["ranks"])[-1] == "cutoff"
    assert "required-terms" in shown["ranks"]
    assert 'data-line="leave.md#L3"' in shown["ranks"]
    for stage in ("run", "scorer", "fuser", "refiner"):
        assert f'class="kind {stage}"' in shown["stages"]
    assert shown["stages"].count("<rect") == shown["stages"].count("</tr>") - 1
    assert "coverage_weight" in shown["settings"]


def test_hits_show_the_lines_that_bear_on_the_question(inspector: Inspector) -> None:
    hits = parts(inspector.page(inspector.find("sick leave")))["hits"]
    first = hits.partition('<ol dir="auto" class="evidence">')[2].partition("</ol>")[0]
    assert re.sub("<[^>]+>", "", first) == "Call in sick before nine. Sick leave is paid."
    assert '<li value="6">' in first
    assert re.findall("<mark><bdi>(.*?)</bdi></mark>", first) == ["sick", "Sick", "leave"]


def test_why_not_is_answered_for_any_section(inspector: Inspector, found: str) -> None:
    html = inspector.page(f"{found}/why?path=leave.md&line=4")
    assert re.search(r"It ranks 1 of \d+", html)
    assert "leave.md</bdi>#L3" in html
    html = inspector.page(f"{found}/why?path=travel.md&line=1")
    assert "No stage generated it as a candidate" in html
    assert "not among" in html
    inspector.page(f"{found}/why?path=none.md&line=1", 404)
    for asked in ("path=leave.md&line=x", "path=leave.md&line=" + "9" * 99, "line=3", "path="):
        assert "invalid_parameter" in inspector.page(f"{found}/why?{asked}", 400)


def test_a_search_outlives_its_files(tmp_path: Path) -> None:
    workspace(tmp_path)
    with Inspector(tmp_path) as running:
        leads = running.find("parental leave")
        (tmp_path / "manuals" / "m1" / "leave.md").unlink()
        html = running.page(leads)
        assert "Parental leave" in html
        assert "Apply a month before" not in html
        assert "It ranks 1" in running.page(f"{leads}/why?path=leave.md&line=3")


def test_two_configurations_stand_side_by_side(inspector: Inspector) -> None:
    leads = inspector.find("parental leave", config="defaults", against="other.yaml")
    assert leads.startswith("/compare?a=")
    html = inspector.page(leads)
    assert "other.yaml" in html
    shown = parts(html)
    assert "scorers.lexical.coverage_weight" in shown["changes"]
    assert "<code>9.0</code>" in shown["changes"]
    assert shown["hits"].count('class="bar"') >= 2
    assert 'class="alone"' in shown["stages"]
    ids = re.findall("[0-9a-f]{32}", leads)
    again = inspector.page(f"/compare?a={ids[0]}&b={ids[0]}")
    assert "The same ranking, scores included" in again


def test_searches_with_another_configuration_leave_no_marks(
    inspector: Inspector, found: str
) -> None:
    leads = inspector.find("parental leave", config="other.yaml")
    listed = inspector.page("/")
    assert f'href="{leads}"' in listed
    told = leads.removeprefix("/trace/")
    marks = inspector.folder / ".fumishirube" / "traces" / f"{found.removeprefix('/trace/')}.json"
    appears(marks)  # files of traces are written in the background
    kept = {file.stem for file in marks.parent.iterdir()}
    assert told not in kept
    assert inspector.get(f"{leads}/export").json()["id"] == told


def test_what_is_exported_is_what_the_command_line_exports(
    inspector: Inspector, found: str
) -> None:
    answer = inspector.get(f"{found}/export")
    assert "attachment" in answer.headers["content-disposition"]
    assert decode_export(answer.content, "f").trace.text == "when does parental leave begin"
    assert json.loads(answer.content)["corpus"]["content"]


def test_nothing_comes_from_anywhere_else(inspector: Inspector, found: str) -> None:
    for path in ("/", found):
        html = inspector.page(path)
        assert not re.search(r'(?:src|href|action)="(?!/|#)', html)
        assert "style=" not in html
        for name in set(re.findall(r'(?:src|href)="(/static/[^"]+)"', html)):
            answer = inspector.get(name)
            assert answer.status_code == 200
            assert b"http://" not in answer.content.replace(b"http://www.w3.org/2000/svg", b"")
            assert b"https://" not in answer.content
            assert b"@import" not in answer.content


# --- whom it trusts -------------------------------------------------------------------------


def test_hostile_text_stays_text(inspector: Inspector) -> None:
    leads = inspector.find(f"hostile leave {HOSTILE} {TURNED}")
    pages = [leads, "/", f"{leads}/why?path=hostile.md&line=1"]
    pages.append(f"/compare?a={leads[7:]}&b={leads[7:]}")
    for path in pages:
        html = inspector.page(path)
        elements = Elements(html)
        assert elements.open == []
        assert elements.names.count("script") == 1
        assert "img" not in elements.names
        assert not [name for name, _ in elements.attributes if name.startswith("on")]
    html = inspector.page(leads)
    assert "onerror=alert(1)" in "".join(Elements(html).text)
    for turned in re.finditer("\u202e", html):
        before = html[: turned.start()]
        near = before[before.rindex("<") :]
        assert re.match(r"<(bdi|title|pre|option)\b|<input|<text|<svg|<g|<li", near), near[:80]


@given(st.text(), st.text())
def test_any_text_is_escaped(text: str, value: str) -> None:
    html = page(tag("p", text, title=value)).decode("utf-8")
    inside = html.removeprefix("<!doctype html><p title=").removesuffix("</p>")
    assert inside.count("<") == 0
    assert inside.count('"') == 2
    elements = Elements(html)
    assert elements.names == ["p"]


def test_only_this_machine_s_own_pages_are_answered(inspector: Inspector, found: str) -> None:
    for headers, status in (
        ({"host": "evil.example"}, 400),
        ({"host": f"evil.example:{inspector.port}"}, 400),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"host": f"localhost:{inspector.port}"}, 200),
    ):
        for path in ("/", found, "/static/inspect.js"):
            answer = inspector.get(path, headers=headers)
            assert answer.status_code == status, (headers, path)
            assert "parental" not in answer.text or status == 200
    form = {"q": "leave", "manual": "m1"}
    headers = {"origin": "http://evil.example"}
    assert inspector.client.post("/find", data=form, headers=headers).status_code == 403
    assert inspector.get("/find").status_code == 405


def test_every_answer_keeps_other_sites_out(inspector: Inspector, found: str) -> None:
    for path in ("/", found, "/none", "/static/inspect.css", f"{found}/export"):
        headers = inspector.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


def test_it_listens_on_this_machine_alone(inspector: Inspector) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outwards:
        try:
            outwards.connect(("192.0.2.1", 9))  # sends nothing; no name needs to be resolved
        except OSError:
            pytest.skip("this machine has no address in a network")
        address = outwards.getsockname()[0]
    with pytest.raises(httpx2.TransportError):
        httpx2.get(f"http://{address}:{inspector.port}/", timeout=2, trust_env=False)


# --- what goes wrong ------------------------------------------------------------------------


def test_what_is_asked_wrongly_is_a_page_that_says_so(inspector: Inspector) -> None:
    def refusal(**form: str) -> str:
        answer = inspector.client.post("/find", data={"manual": "m1", **form})
        assert answer.status_code in {400, 404}
        return answer.text

    assert "blank" in refusal(q="  ")
    assert "too long" in refusal(q="x" * 20_000)
    assert "not_found" in refusal(q="leave", manual="m9")
    assert "at most 2 required terms" in refusal(q="leave", require="a, b, c")
    assert "too long" in refusal(q="leave", require="x" * 20_000)
    for name in ("../other.yaml", "/etc/passwd", "none.yaml"):
        assert "there is no configuration" in refusal(q="leave", config=name)
    answer = inspector.client.post("/find", data={"q": "x" * 200_000})
    assert answer.status_code == 413
    inspector.page("/trace/" + "0" * 32, 404)
    inspector.page("/trace/..%2f..%2fsecret", 404)
    inspector.page("/compare", 400)
    inspector.page("/nothing", 404)
    inspector.page("/report/" + "9" * 5000, 404)
    page = inspector.find("parental leave")
    assert "from 1 on" in inspector.page(f"{page}/why?path=leave.md&line=0", 400)
    assert inspector.get("/static/..%2findex.py").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"), [("GET", "/find", {"POST"}), ("POST", "/", {"GET", "HEAD"})]
)
def test_a_method_that_a_page_does_not_have_is_named(
    inspector: Inspector, method: str, path: str, allowed: set[str]
) -> None:
    answer = inspector.client.request(method, path)
    assert answer.status_code == 405
    assert {*answer.headers["allow"].split(", ")} == allowed
    assert f"{method} is not possible here" in answer.text
    assert "no such page" not in answer.text


def test_another_configuration_alone_is_compared_with_that_of_the_session(
    inspector: Inspector,
) -> None:
    leads = inspector.find("parental leave", against="other.yaml")
    assert leads.startswith("/compare?a=")
    assert "scorers.lexical.coverage_weight" in parts(inspector.page(leads))["changes"]


def test_it_says_how_many_searches_are_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path)
    for word in ("leave", "travel", "allowance"):
        fumishirube("find", word, cwd=tmp_path)
    application = open_application(tmp_path, environ={})
    with closing(InspectorSession(application)) as session:
        assert b"These are the newest" not in listing_page(session)
        monkeypatch.setattr(traces, "_MOST", 2)
        assert b"These are the newest 2 of 3 searches" in listing_page(session)
    application.close()


def test_a_configuration_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    workspace(tmp_path)
    (tmp_path / "bad.yaml").write_text("pipelines: {manual: {scorers: [{use: lexicl}]}}")
    with Inspector(tmp_path) as running:
        form = {"q": "leave", "manual": "m1", "config": "bad.yaml"}
        answer = running.client.post("/find", data=form)
        assert answer.status_code == 400
        assert "did you mean &#x27;lexical&#x27;?" in answer.text
        (tmp_path / "bad.yaml").write_text("pipelines: {manual: {scorers: [{use: lexical}]}}")
        assert running.client.post("/find", data=form).status_code == 303


def test_what_is_written_into_a_configuration_counts_at_once(tmp_path: Path) -> None:
    file = workspace(tmp_path) / "fumishirube.yaml"
    file.write_text("version: 1\n")
    with Inspector(tmp_path) as running:
        assert "proximity" in parts(running.page(running.find("leave")))["settings"]
        file.write_text("pipelines: {manual: {scorers: [{use: lexical}]}}\n")
        os.utime(file, (1, 1))
        assert "proximity" not in parts(running.page(running.find("leave")))["settings"]


def test_a_configuration_of_the_same_name_is_another_one(tmp_path: Path) -> None:
    folder, own, beside = workspace(tmp_path), "fumishirube.yaml", tmp_path / "there"
    beside.mkdir()
    (folder / own).write_text("version: 1\n")
    (beside / own).write_text("pipelines: {manual: {scorers: [{use: lexical}]}}\n")
    with Inspector(folder, "--against", f"there/{own}") as running:
        named = {*re.findall(r'<option value="(\S*fumishirube.yaml)"', running.page("/"))}
        assert own in named
        (other,) = named - {own}
        leads = running.find("leave", config=own, against=other)
        assert "proximity" in parts(running.page(leads))["changes"]


def test_the_former_state_of_a_configuration_is_closed_when_no_page_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, scratch = workspace(tmp_path), tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    form = SearchForm("leave", (), (), "other.yaml", "")
    with (
        closing(open_application(folder, strangers=False, environ={})) as application,
        closing(InspectorSession(application, strangers=False)) as session,
        ThreadPoolExecutor(1) as threads,
    ):
        (trace,) = session.find(form)
        with session.application_of(trace) as other:
            assert other is not application
            os.utime(folder / "other.yaml", (1, 1))
            threads.submit(session.find, form).result(timeout=20)
            kept = len([*scratch.iterdir()])
        assert len([*scratch.iterdir()]) == kept // 2
        with session.application_of(trace) as other:
            assert other is application


def test_a_browser_that_keeps_its_terminal_is_answered(tmp_path: Path) -> None:
    folder, seen = workspace(tmp_path), tmp_path / "seen"
    browser = tmp_path / "browser.py"
    browser.write_text(
        "import sys, urllib.request\n"
        "answer = urllib.request.urlopen(sys.argv[1], timeout=20)\n"
        f"open({str(seen)!r}, 'w').write(str(answer.status))\n"
    )
    words = ("inspect", "--port", "0")
    opens = {"BROWSER": f"{sys.executable} {browser} %s", "no_proxy": "127.0.0.1"}
    with Serving(words, tmp_path / "log", folder, **opens):
        appears(seen)
        assert seen.read_text() == "200"


def test_a_port_in_use_and_a_wrong_one_are_told(inspector: Inspector, tmp_path: Path) -> None:
    workspace(tmp_path)
    words = ("inspect", "--no-browser", "--port")
    done = fumishirube(*words, str(inspector.port), cwd=tmp_path)
    assert done.code == 2
    assert f"--port: nothing can listen at 127.0.0.1 port {inspector.port}" in done.err
    for port in ("65536", "9" * 5000):
        done = fumishirube(*words, port, cwd=tmp_path)
        assert done.code == 2
        assert "expected a whole number of at most 65535, got '" in done.err
        assert len(done.err) < 2000
    done = fumishirube("inspect", "--no-browser", "--against", "none.yaml", cwd=tmp_path)
    assert (done.code, "there is no file 'none.yaml'" in done.err) == (2, True)


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    workspace(tmp_path)
    hidden = tmp_path / "hidden" / "starlette"
    hidden.mkdir(parents=True)
    told = "raise ModuleNotFoundError(\"No module named 'starlette'\", name='starlette')"
    (hidden / "__init__.py").write_text(told)
    done = fumishirube("inspect", cwd=tmp_path, environ={"PYTHONPATH": str(hidden.parent)})
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "starlette is not installed; run: python -m pip install" in done.err
