"""A page that another one names by a link is found by that name, as long as the link is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from manuals import write
from stdio import Wire

NAMES = {
    "来客用の駐車場": ("駐車場", "第一車庫", "ゲートは七時に開く。駐車場の番号札を返すこと。"),
    "visitor parking": (
        "parking",
        "Garage One",
        "The gate opens at seven. Return the parking badge.",
    ),
}
FILES = 12


def files(link: str, title: str, text: str) -> dict[str, str]:
    # Each of the others has the words of the question once more than the page has.
    others = {
        f"m/notes/{number:02}.md": f"# {title} {number}\n\n{text}\n{text}\n"
        for number in range(FILES)
    }
    return {
        **others,
        "m/index.md": f"# Office\n\n{link}\n",
        "m/rooms/zz-page.md": f"# {title} zz\n\n{text}\n",
    }


def found(server: Wire, question: str) -> list[str]:
    required = [NAMES[question][0]]
    answer = server.ok("manual_find", manual_id="m", query=question, required_terms=required)
    hits = server.ok("manual_hits", trace_id=answer["trace_id"], limit=50)
    return list(dict.fromkeys(hit["ref"]["path"] for hit in hits["items"]))


@pytest.mark.parametrize("question", NAMES)
def test_a_page_follows_the_one_that_links_to_it(tmp_path: Path, question: str) -> None:
    _, title, text = NAMES[question]
    plain = files(question, title, text)
    workspace = write(tmp_path, plain)
    index = workspace / "manuals/m/index.md"
    with Wire(workspace) as server:
        server.ok("manual_ls")
        before = found(server, question)
        assert before[0] == "index.md"
        assert before.index("rooms/zz-page.md") > 5
        index.write_text(f"# Office\n\n[{question}](rooms/zz-page.md)\n", encoding="utf-8")
        os.utime(index, (1e9, 1e9))
        assert found(server, question)[:2] == ["index.md", "rooms/zz-page.md"]
        index.write_text(plain["m/index.md"], encoding="utf-8")
        os.utime(index, (1.1e9, 1.1e9))
        assert found(server, question) == before
