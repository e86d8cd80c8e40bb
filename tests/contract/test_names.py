"""Names in the wordings of a search that no hit shows: where they are, or that they are nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import write
from stdio import Fumishirube

from fumishirube_manual.evidence.names import names

FILLER = "\n".join(f"Paragraph {n} is about weather and tea." for n in range(60))
COMMON = "".join(f"## Case {n}\n\nSet idleTimeout for case {n}.\n\n" for n in range(9))
MANUALS = {
    "guide/backup.md": "# Backups\n\nThe job nightlyCopy copies every file each night: a backup.\n",
    "guide/flags.md": f"# Flags\n\n{FILLER}\n\nWith --dry-run nothing is written to the disk.\n\n"
    f"{FILLER}\n\n## Codes\n\n{FILLER}\n\nCode TX-22 means that the radio is silent.\n{FILLER}\n",
    "guide/cases.md": f"# Cases\n\n{COMMON}",
    "guide/classes.md": f"# Classes\n\n{FILLER}\n\nUse LongPollTimeout here.\n\n{FILLER}\n",
    "other/radio.md": f"# Radio\n\n{FILLER}\n\nThe key maxRetries is 4.\n\n{FILLER}\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    with Fumishirube(write(tmp_path_factory.mktemp("names"), MANUALS)) as connected:
        connected.ok("manual_ls")
        yield connected


def found(server: Fumishirube, *alternatives: str, manual: Any = "guide") -> dict[str, Any]:
    answer = server.ok(
        "manual_find",
        query="nightly backup of every file",
        manual_id=manual,
        required_terms=["backup"],
        alternatives=[*alternatives],
        inline_hits={"limit": 1},
    )
    return {row["name"]: row for row in answer.get("names", ())}


def test_a_name_that_no_hit_shows_comes_with_its_line(server: Fumishirube) -> None:
    named = found(server, "nightly backup of files, maxRetries", manual="*")["maxRetries"]
    number = MANUALS["other/radio.md"].split("\n").index("The key maxRetries is 4.") + 1
    assert named == {
        "name": "maxRetries",
        "sections": 1,
        "ref": {"manual_id": "other", "path": "radio.md", "start_line": 1},
        "lines": [[number, "The key maxRetries is 4."]],
    }


def test_a_name_that_a_hit_shows_is_not_repeated(server: Fumishirube) -> None:
    assert not found(server, "nightly backup of every file, nightlyCopy")


def test_a_name_is_nowhere_only_if_no_word_contains_it(server: Fumishirube) -> None:
    nowhere = found(server, "nightly backup of files, noSuchName, pollTimeout, --no-such-option")
    assert nowhere == {
        "noSuchName": {"name": "noSuchName", "sections": 0},
        "--no-such-option": {"name": "--no-such-option", "sections": 0},
    }


def test_a_name_in_many_sections_is_not_named(server: Fumishirube) -> None:
    assert "idleTimeout" not in found(server, "nightly backup of every file, idleTimeout")


def test_the_text_part_says_where_and_what_is_nowhere(server: Fumishirube) -> None:
    arguments = {
        "query": "nightly backup of every file",
        "manual_id": "*",
        "required_terms": ["backup"],
        "alternatives": ["nightly backup of files, maxRetries, noSuchName"],
        "inline_hits": {"limit": 1},
    }
    (block,) = server.invoke("call_tool", "manual_find", arguments).content
    text = block.text
    assert "; nowhere: noSuchName" in text.split("\n")[0]
    assert text.split("\n\n")[-1] == (
        "maxRetries (1 section) manual://other/radio.md\n64 The key maxRetries is 4."
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cargo test -- --test-threads=1 -v", ["--test-threads"]),
        ("codegen_units, codegen-units; TX-22", ["codegen_units", "codegen-units", "TX-22"]),
        ("AbortSignal.timeout と Cargo.toml の既定", ["AbortSignal.timeout", "Cargo.toml"]),
        ("PATH or HTTP2, 3.14, 2026-11-23, no names here.", ["PATH", "HTTP2"]),
        ("既定の maxRetries、再試行", ["maxRetries"]),
    ],
)
def test_names_are_options_identifiers_and_codes(text: str, expected: list[str]) -> None:
    assert names([text]) == expected


@given(st.lists(st.text(alphabet="aB1-_. あ", max_size=30), max_size=3))
def test_names_are_tokens_of_their_texts(texts: list[str]) -> None:
    found = names(texts)
    assert all(any(name in text for text in texts) for name in found)
    assert len({name.lower() for name in found}) == len(found)
