"""Front matter: what describes the page is searched and shown; other metadata is neither."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manuals import ask, opened, write

from fumishirube.host.application import Application

PAGE = """---
title: Parking
ms.author: warden
"description": >
  How guests register
  a visiting vehicle.
keywords: [carport, bollard]
uid: parking-1
---
Ask the gate keeper for a badge.

# Fees
Two euros.
"""
MANUALS = {
    "m/parking.md": PAGE,
    "m/lunch.md": "---\nDescription: 社員食堂の営業時間\ndate: 2021-02-03\n---\n# 昼食\n\n正午。\n",
    "m/broken.md": (
        "---\ntitle: Amber: wax\ndescription: a colon: kept\nsummary: [unclosed\nx: y\n---\n"
        "Broken front matter, whole text.\n"
    ),
    "m/notes.txt": "---\nsetting: sentinel\n---\nother: beacon\n",
}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    application = opened(write(tmp_path_factory.mktemp("front"), MANUALS))
    yield application
    application.close()


def found(application: Application, query: str, *terms: str) -> Any:
    return ask(application, "manual_find", manual_id="m", query=query, required_terms=list(terms))


def first(answer: Any) -> tuple[str, int, list[list[Any]]]:
    hit = answer["inline_hits"]["items"][0]
    return hit["ref"]["path"], hit["ref"]["start_line"], hit["lines"]


def test_a_description_is_searched_and_shown_with_the_text_below_it(
    application: Application,
) -> None:
    answer = found(application, "register a visiting vehicle", "vehicle")
    assert answer["status"] == "required_effective"
    path, line, evidence = first(answer)
    assert (path, line) == ("parking.md", 1)
    assert evidence == [
        [4, '"description": >'],
        [5, "  How guests register"],
        [6, "  a visiting vehicle."],
        [10, "Ask the gate keeper for a badge."],
    ]


def test_a_description_alone_makes_a_page_found(application: Application) -> None:
    path, line, evidence = first(found(application, "社員食堂の営業時間", "社員食堂"))
    assert (path, line) == ("lunch.md", 1)
    assert evidence == [[2, "Description: 社員食堂の営業時間"]]


def test_metadata_is_neither_searched_nor_shown(application: Application) -> None:
    for word in ("warden", "carport", "2021-02-03"):
        answer = found(application, word, word)
        assert answer["status"] == "required_none_matched", word
    _, _, evidence = first(found(application, "gate keeper parking-1", "keeper"))
    assert [number for number, _ in evidence] == [4, 5, 6, 10]


def test_of_front_matter_with_a_mistake_lines_with_a_value_are_read(
    application: Application,
) -> None:
    path, line, lines = first(found(application, "amber: wax", "amber"))
    assert (path, line) == ("broken.md", 1)
    assert lines == [[3, "description: a colon: kept"], [7, "Broken front matter, whole text."]]
    assert found(application, "unclosed", "unclosed")["status"] == "required_none_matched"
    hit = found(application, "amber: wax", "amber")["inline_hits"]["items"][0]
    assert hit["title"] == "Amber: wax"


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        ("description: The okapi guide.\n# an okapi of ours\nog:title: okapi\n", [2]),
        ('description: "The okapi\nguide: okapi care"\nog: okapi\n', [2, 3]),
        ("description: 'okapi'\nlang: okapi\n", [2]),
        ("{title: Flow, description: The okapi guide}\n", [2]),
        ("a: &a okapi\ndescription: [*a, *a]\nsummary: *a\n", [3]),
    ],
)
def test_lines_of_metadata_are_told_from_texts(
    tmp_path: Path, block: str, shown: list[int]
) -> None:
    application = opened(write(tmp_path, {"m/a.md": f"---\n{block}---\n\nA guide.\n"}))
    _, _, lines = first(found(application, "okapi", "okapi"))
    application.close()
    assert [number for number, _ in lines[:-1]] == shown


@pytest.mark.parametrize(
    ("block", "title"),
    [
        ("---\nTitle: Okapi care\n---\n", "Okapi care"),
        ("---\nTITLE: Okapi: care\nx: [\n---\n", "Okapi: care"),
        ("---\ntitle: |\n  Okapi\n  care\n---\n", "Okapi care"),
        ('---\ntitle: "Okapi\\0\\e[31m care"\n---\n', "Okapi [31m care"),
        ('+++\ntitle = "Okapi\\n\\u001b care"\n+++\n', "Okapi care"),
        ('---\ntitle: "\\UFFFFFFFF"\n---\n', "\\UFFFFFFFF"),
        ('---\ntitle: "\\0"\n---\n', "a"),
    ],
)
def test_a_title_is_one_line_whatever_the_case_of_its_key(
    tmp_path: Path, block: str, title: str
) -> None:
    application = opened(write(tmp_path, {"m/a.md": f"{block}\nLeaves.\n"}))
    answer = found(application, "leaves", "leaves")
    application.close()
    assert answer["inline_hits"]["items"][0]["title"] == title


def test_toml_is_front_matter_too(tmp_path: Path) -> None:
    texts = 'title = "Okapi care"\nweight = 5\ndescription = """Feed\nthe okapi."""\n'
    block = f'{texts}[menu]\nx = "okapi"\n'
    files = {"m/a.md": f"+++\n{block}+++\n\nLeaves.\n", "m/b.md": "+++\nno toml\n+++\n"}
    application = opened(write(tmp_path, files))
    answer = found(application, "feed the okapi", "okapi")
    path, line, lines = first(answer)
    assert (path, line) == ("a.md", 1)
    assert [number for number, _ in lines] == [4, 5, 10]
    assert answer["inline_hits"]["items"][0]["title"] == "Okapi care"
    assert first(found(application, "no toml", "toml"))[0] == "b.md"
    application.close()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("key", ["a." * 31_000, '"\\"".' * 12_000, "'!' . " * 10_000])
def test_a_key_of_toml_with_many_parts_costs_no_more_than_the_values(
    tmp_path: Path, key: str
) -> None:
    """Python takes half a minute for it."""
    block = f'+++\ntitle = "Okapi"\n{key}b = 1\n+++\n'
    application = opened(write(tmp_path, {"m/a.md": f"{block}\nLeaves.\n"}))
    answer = found(application, "leaves", "leaves")
    assert found(application, "okapi", "okapi")["candidates"] == 0
    application.close()
    assert answer["candidates"] == 1


def test_a_text_that_aliases_repeat_is_read_once(tmp_path: Path) -> None:
    block = f"a: &a {'okapi ' * 10_000}\ndescription: [{'*a , ' * 10_000}]\n"
    application = opened(write(tmp_path, {"m/a.md": f"---\n{block}---\n\nText.\n"}))
    assert found(application, "okapi", "okapi")["candidates"] == 1
    application.close()


@pytest.mark.parametrize(
    "top",
    [
        "# The okapi deck\n",
        "# Agenda\n- Costs: 5 percent: see the okapi\n- Next steps\n",
        "# the okapi\n\n  - a: [\n",
    ],
)
def test_a_slide_between_two_rules_is_text(tmp_path: Path, top: str) -> None:
    application = opened(write(tmp_path, {"m/a.md": f"---\n{top}---\n\n# Fees\nTwo euros.\n"}))
    answer = found(application, "okapi", "okapi")
    application.close()
    assert answer["status"] == "required_effective"


def test_three_dots_end_lines_of_settings_alone(tmp_path: Path) -> None:
    prose = "---\n\nThe zebra: a text.\n\n...\n\n# Rest\n\nother words\n"
    settings = """title: Okapi\nuid: x1\nog:title: x1\nog.type: x1\n"a key": x1\n"""
    files = {"m/a.md": f"---\n{settings}...\n\nLeaves.\n", "m/b.md": prose}
    application = opened(write(tmp_path, files))
    leaves, zebra = found(application, "leaves", "leaves"), found(application, "zebra", "zebra")
    uid = found(application, "x1", "x1")
    application.close()
    assert leaves["inline_hits"]["items"][0]["title"] == "Okapi"
    assert uid["status"] == "required_none_matched"
    assert first(zebra) == ("b.md", 1, [[3, "The zebra: a text."]])


def test_text_of_another_kind_has_no_front_matter(application: Application) -> None:
    path, _, lines = first(found(application, "sentinel setting", "sentinel"))
    assert (path, lines) == ("notes.txt", [[2, "setting: sentinel"], [4, "other: beacon"]])


def test_the_keys_are_a_setting(tmp_path: Path) -> None:
    write(tmp_path, MANUALS)
    (tmp_path / "fumishirube.yaml").write_text(
        "pipelines:\n  manual:\n    loaders:\n"
        "      - use: markdown\n        with: {front_matter: [Keywords]}\n",
        encoding="utf-8",
    )
    application = opened(tmp_path)
    try:
        path, _, evidence = first(found(application, "bollard", "bollard"))
        assert path == "parking.md"
        assert [7, "keywords: [carport, bollard]"] in evidence
        assert found(application, "vehicle", "vehicle")["status"] == "required_none_matched"
    finally:
        application.close()
