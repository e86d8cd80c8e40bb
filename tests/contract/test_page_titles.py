"""The title that front matter gives to a whole page: searched, listed, and no heading."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manuals import ask, opened, write

from fumishirube.host.application import Application

FRONT = "---\ntitle: 出張旅費規程\ntags: [a]\n---\n"
MANUALS = {
    "m/travel.md": f"{FRONT}\n## 日当\n日当は三千円とする。\n## 宿泊\n宿泊料は実費とする。\n",
    "m/preamble.md": "---\ntitle: Parking\n---\n\nAsk the gate keeper.\n\n# Fees\nTwo euros.\n",
    "m/same.md": "---\ntitle: Lunch\n---\n# Lunch\n\n## Hours\nFrom twelve to one.\n",
    "m/bare.md": "# Empty\n\n# Badges\nWear your badge.\n",
    "m/only.md": "---\ntitle: Nothing else\n---\n",
}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    application = opened(
        write(tmp_path_factory.mktemp("titles"), MANUALS),
        FUMISHIRUBE_SURFACE_EXTRAS="coverage,titles",
    )
    yield application
    application.close()


def outline(application: Application, path: str) -> Any:
    answer = ask(application, "manual_toc", manual_id="m", path_prefix=path, depth="deep")
    return answer["items"][0]


def read(application: Application, path: str, **more: Any) -> str:
    ref = {"manual_id": "m", "path": path, **more}
    return str(ask(application, "manual_read", ref=ref)["text"])


def test_a_title_of_front_matter_is_searched_in_every_section(application: Application) -> None:
    terms = {"query": "出張旅費規程", "required_terms": ["出張旅費規程"]}
    answer = ask(application, "manual_find", manual_id="m", **terms)
    assert answer["status"] == "required_effective"
    found = {
        (hit["ref"]["path"], hit["ref"]["start_line"]) for hit in answer["inline_hits"]["items"]
    }
    assert found == {("travel.md", 6), ("travel.md", 8)}
    # The block of front matter has no text of its own, yet its title counts as there.
    assert answer["coverage"]["terms"] == [{"term": "出張旅費規程", "sections": 3}]


def test_a_title_helps_the_section_that_is_asked_for(application: Application) -> None:
    terms = {"query": "出張旅費規程の宿泊", "required_terms": ["宿泊"]}
    hits = ask(application, "manual_find", manual_id="m", **terms)["inline_hits"]["items"]
    assert hits[0]["ref"] == {"manual_id": "m", "path": "travel.md", "start_line": 8}
    assert "出張旅費規程" in "".join(hits[0]["matched_tokens"])


def test_a_toc_lists_the_title_with_the_page_and_no_heading_for_it(
    application: Application,
) -> None:
    travel = outline(application, "travel.md")
    assert travel["title"] == "出張旅費規程"
    assert [(h["title"], h["line_start"]) for h in travel["headings"]] == [("日当", 6), ("宿泊", 8)]
    assert "headings_total" not in travel
    # Text between front matter and the first heading is a section as before.
    lines = [h["line_start"] for h in outline(application, "preamble.md")["headings"]]
    assert lines == [1, 7]
    assert "title" not in outline(application, "bare.md")


def test_no_extra_means_no_title(tmp_path: Path) -> None:
    application = opened(write(tmp_path, MANUALS), FUMISHIRUBE_SURFACE_EXTRAS="none")
    assert "title" not in outline(application, "travel.md")
    application.close()


def test_reading_without_a_line_starts_at_the_first_section_with_text(
    application: Application,
) -> None:
    assert read(application, "travel.md") == f"{FRONT}\n## 日当\n日当は三千円とする。\n"
    assert read(application, "preamble.md").endswith("Ask the gate keeper.\n\n")
    assert read(application, "same.md") == MANUALS["m/same.md"]
    assert read(application, "bare.md") == "# Badges\nWear your badge.\n"
    assert read(application, "only.md") == MANUALS["m/only.md"]
    assert read(application, "travel.md", start_line=1) == f"{FRONT}\n"
    assert read(application, "bare.md", start_line=1) == "# Empty\n\n"
