"""A Greek letter and its name find each other, in English and in Japanese."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from documents import documents
from stdio import Wire

TEXTS = {
    "letter": "# Shielding\n\nSheets of paper stop α particles.\n",
    "name": "# Detectors\n\nThe counter registers alpha particles too.\n",
    "letter-ja": "# 遮蔽\n\n紙はα線を止める。\n",
    "name-ja": "# 検出\n\n計数管は alpha 線も数える。\n",
    "unit": "# Terminal\n\nThe resistor has 10\u2126.\n",
    "unit-name": "# Load\n\nThe load has 10 ohms.\n",
    "prefix": "# Width\n\nThe wire is 5 \u00b5 wide.\n",
    "word": "# Λόγος\n\nΜια απλή λέξη στα ελληνικά.\n",
    "other": "# Other\n\nParticles of dust, alphabets and micrometers. 線と紙。\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    workspace = documents(tmp_path_factory.mktemp("greek"), {})
    for name, text in TEXTS.items():
        path = workspace / "manuals" / "m" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with Wire(workspace) as server:
        server.ok("manual_ls")
        yield server


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("α particles", {"letter", "name"}),
        ("alpha particles", {"letter", "name"}),
        ("α線", {"letter-ja", "name-ja"}),
        ("alpha 線", {"letter-ja", "name-ja"}),
        ("10Ω", {"unit", "unit-name"}),
        ("10\u2126", {"unit", "unit-name"}),
        ("10 ohm", {"unit", "unit-name"}),
    ],
)
def test_a_letter_and_its_name_find_each_other(server: Wire, query: str, pages: set[str]) -> None:
    required = query.split(maxsplit=1)[:1]
    found = server.ok("manual_find", query=query, manual_id="m", required_terms=required)
    hits = server.ok("manual_hits", trace_id=found["trace_id"])["items"]
    assert {hit["ref"]["path"].removesuffix(".md") for hit in hits[:2]} == pages


@pytest.mark.parametrize("query", ["α", "alpha", "Α"])
def test_a_letter_alone_is_a_word(server: Wire, query: str) -> None:
    found = server.ok("manual_find", query=query, manual_id="m", required_terms=[query])
    hits = server.ok("manual_hits", trace_id=found["trace_id"])["items"]
    names = {hit["ref"]["path"].removesuffix(".md") for hit in hits}
    assert names == {"letter", "name", "letter-ja", "name-ja"}
    forms = {form for hit in hits for form in hit.get("matched_tokens", ())}
    assert forms <= {"α", "alpha"}


@pytest.mark.parametrize("query", ["μ", "\u00b5", "mu", "micro"])
def test_the_micro_sign_is_the_letter(server: Wire, query: str) -> None:
    found = server.ok("manual_find", query=query, manual_id="m", required_terms=[query])
    hits = server.ok("manual_hits", trace_id=found["trace_id"])["items"]
    assert [hit["ref"]["path"] for hit in hits] == ["prefix.md"]
