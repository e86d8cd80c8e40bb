"""How much text an answer shows, and which passages fill its room."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from evidence_manuals import PARTS, PERMITS, WATERING, items, line
from manuals import ask, opened, write
from stdio import Fumishirube

pytest_plugins = ["evidence_servers"]


@pytest.fixture(scope="module")
def server(evidence_server: Fumishirube) -> Fumishirube:
    return evidence_server


def test_room_is_filled_with_the_best_passages_of_the_files_shown(server: Fumishirube) -> None:
    asked = "How long is a permit valid, and who issues it?"
    plain = items(server, asked, "permit")
    filled = items(server, asked, "permit", max_chars=4_000)
    assert len(plain) <= 5 < len(filled)
    assert {hit["ref"]["path"] for hit in filled} == {"permits.md"}
    lines = [text for hit in filled for _, text in hit["lines"]]
    assert len(lines) == len(set(lines))
    valid = {f"The {one} permit is valid for as long as its colour says." for one in PERMITS}
    assert valid <= set(lines)
    assert sum(map(len, lines)) <= 4_000
    for hit in filled:
        numbers = [number for number, _ in hit["lines"]]
        assert [line("guide/permits.md", number) for number in numbers] == [
            text for _, text in hit["lines"]
        ]


def test_the_best_hit_has_as_much_text_with_more_room(tmp_path: Path) -> None:
    told = "as is told elsewhere of it " * 4
    names = ["retries", "delay", "folder"]
    rows = "".join(f"| {name} | A value of it, {told}|\n" for name in names)
    others = "".join(f"| word{n} | Another value, {told}|\n" for n in range(12))
    short = "".join(f"| {name} | The value of a load. |\n" for name in names)
    head = "| Name | Meaning |\n|---|---|\n"
    best = f"| unchanged | Of a copy with delay, {told}|\n"
    files = {
        "m/copy.md": f"# Copy\n\n{head}{others}{rows}{best}",
        "m/load.md": f"# Load\n\n{head}{short}| unchanged | The value of a load. |\n",
    }
    asked = f"copy {' '.join(names)} unchanged"
    with Fumishirube(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        plain = items(server, asked, "unchanged", manual_id="m")
        filled = items(server, asked, "unchanged", manual_id="m", max_chars=4_000)
    least, most = ({number for number, _ in hits[0]["lines"]} for hits in (plain, filled))
    assert plain[0]["ref"]["path"] == filled[0]["ref"]["path"] == "copy.md"
    assert len(least) > 3
    assert least <= most


def test_room_is_filled_with_good_passages_only(tmp_path: Path) -> None:
    good = "".join(f"Lamp {n} of the harbour burns whale oil at night.\n\n" for n in range(20))
    weak = "".join(f"Oil of the harbour lamp is in shop {n}, {'and ' * 12}.\n\n" for n in range(40))
    write(tmp_path, {"m/a.md": f"# Lamps\n\n{good}{weak}"})
    asked = "whale oil of the harbour lamp"
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        filled = items(server, asked, "oil", manual_id="m", max_chars=6_000)
    lines = [text for hit in filled for _, text in hit["lines"]]
    assert sum(text.startswith("Lamp") for text in lines) == 20
    assert sum(text.startswith("Oil") for text in lines) < 5


def test_a_long_table_is_shown_in_time_by_its_length(tmp_path: Path) -> None:
    rows = "".join(f"| pump valve | {number} |\n" for number in range(1_000))
    application = opened(
        write(tmp_path, {"m/a.md": f"# Parts\n\n| part | no |\n|---|---|\n{rows}"})
    )
    find = {"query": "pump oil", "required_terms": ["pump"], "manual_id": "m", "use_cache": False}

    def seconds(**more: int) -> float:
        before = time.process_time()
        (hit,) = ask(application, "manual_find", **find, **more)["inline_hits"]["items"]
        assert (len(hit["lines"]) > 50) == bool(more)
        return time.process_time() - before

    plain = min(seconds(), seconds())
    # Comparing all rows after each that is added took eight times as long.
    assert min(seconds(max_chars=50_000), seconds(max_chars=50_000)) < 5 * plain
    application.close()


def test_each_part_of_a_question_is_answered_with_whole_passages(server: Fumishirube) -> None:
    found = server.ok(
        "manual_find",
        query="watering of the palm by the gardener",
        manual_id="hall",
        required_terms=["palm"],
        alternatives=PARTS,
    )
    lines = [text for hit in found["inline_hits"]["items"] for _, text in hit["lines"]]
    steps = {"* wipe the leaves", "* isolate the pot", "* tell the curator within two days"}
    assert steps | {"* twenty pupils", "* one hour", "* no food"} <= set(lines)
    assert sum(text.startswith("Watering of palm") for text in lines) > 1
    assert sum(map(len, lines)) <= 6_000


def test_beside_passages_a_short_section_is_shown_whole(tmp_path: Path) -> None:
    rules = "".join(f"## Rule {n}\n\nPalm rule {n} is short.\n\n" for n in range(3))
    write(tmp_path, {"m/a.md": f"# Palms\n\n{WATERING}\n{rules}"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        asked = {"manual_id": "m", "required_terms": ["palm"], "max_chars": 256}
        found = server.ok("manual_find", query="watering of the palm at dawn", **asked)
        (first, *others) = found["inline_hits"]["items"]
        assert first["ref"]["start_line"] == 1
        assert [hit["lines"][0][1] for hit in others] == [
            f"Palm rule {n} is short." for n in range(3)
        ]
        assert all(hit["whole"] for hit in others)


def test_other_words_for_one_thing_fill_no_room(server: Fumishirube) -> None:
    asked = "watering of the palm"
    (plain, *_) = items(server, asked, "palm", manual_id="hall")
    others = ["palm water gardener", "gardener watering the palm at dawn"]
    (same, *_) = items(server, asked, "palm", manual_id="hall", alternatives=others)
    assert sum(len(text) for _, text in same["lines"]) <= 1_000
    assert same["ref"] == plain["ref"]


def test_a_long_list_shows_the_item_of_each_wording(tmp_path: Path) -> None:
    names = [f"{first}{second}" for first in "klmnprst" for second in "bdfgz"]
    items = "".join(f"* {name} runs on {name}-ware, {'and more ' * 6}\n" for name in names)
    others = "".join(f"## Part {n}\n\nText {n}.\n\n" for n in range(9))
    write(tmp_path, {"m/a.md": f"# Tests\n\n{items}{others}"})
    with Fumishirube(tmp_path) as server:
        asked = {"query": "kb-ware runs on", "manual_id": "m", "required_terms": ["runs"]}
        server.ok("manual_ls")
        for wordings in ([], ["sg-ware runs on"], ["sg-ware runs on", "tz-ware runs on"]):
            found = server.ok(
                "manual_find", **asked, **({"alternatives": wordings} if wordings else {})
            )
            hit = found["inline_hits"]["items"][0]
            assert hit["title"] == "Tests"
            shown = "\n".join(text for _, text in hit["lines"])
            assert [name for name in ("kb", "sg", "tz") if f"{name}-ware" in shown] == [
                "kb",
                *(wording[:2] for wording in wordings),
            ]


def test_of_an_answer_that_is_nowhere_three_hits_have_text(tmp_path: Path) -> None:
    fees = "".join(f"## Fee {n}\n\nThe fee of stand {n} is due in spring.\n\n" for n in range(6))
    write(tmp_path, {"m/a.md": f"# Stands\n\n{fees}"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        asked = {"query": "fee of zeppelin hangars", "manual_id": "m", "required_terms": ["fee"]}
        for beside in ({}, {"alternatives": ["airship shed rent"]}):
            found = server.ok("manual_find", **asked, **beside)
            assert found["answerable"] != "yes"
            page = found["inline_hits"]["items"]
            assert len(page) > 3
            assert [bool(hit.get("lines")) for hit in page] == [True] * 3 + [False] * (
                len(page) - 3
            )
        filled = server.ok("manual_find", **asked, max_chars=4_000)["inline_hits"]["items"]
        assert all(hit.get("lines") for hit in filled)


def test_what_is_worth_little_fills_no_room(server: Fumishirube) -> None:
    (hit, *_) = items(server, "How much is the parking fee a day?", "parking fee", max_chars=9_000)
    assert hit["ref"]["path"] == "parking.md"
    assert not any("weather" in text for _, text in hit["lines"][:1])
    assert len(hit["lines"]) <= 4


def test_filled_lines_end_where_a_sentence_does(tmp_path: Path) -> None:
    crews = "".join(
        f"The crew of boat {number} sails\nat dawn with nets and {number} lamps on board, and"
        " comes home before the night falls on the quiet harbour.\n"
        for number in range(40)
    )
    fee = "The harbour master of Skerry allows a lantern fee, provided that you"
    paid = f"{fee}\npay it in coins on the first morning.\nOther money is refused.\n"
    with Fumishirube(write(tmp_path, {"m/a.md": f"# Boats\n\n{crews}{paid}{crews}"})) as server:
        asked = {"manual_id": "*", "required_terms": ["lantern"], "max_chars": 400}
        found = server.ok("manual_find", query="harbour master Skerry lantern fee", **asked)
        lines = [text for _, text in found["inline_hits"]["items"][0]["lines"]]
    assert fee in lines
    assert lines[lines.index(fee) + 1] == "pay it in coins on the first morning."
    assert lines[-1].endswith(".")
