"""`answerable` says whether what was asked occurs together, apart, or is absent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_runs import fumishirube
from manuals import write
from stdio import Fumishirube

MANUALS = ("complete", "cut")
_ROOMS = ("食堂", "車庫", "図書室", "洗濯室", "工作室", "受付", "犬舎", "写真室", "倉庫", "温室")
OTHERS = {
    "rooms.md": "# 施設\n\n"
    + "\n".join(f"## {name}\n\n{name}は八時に開き、当番が訪れた人を控える。\n" for name in _ROOMS),
    "shop.md": "# 売店\n\n## 布\n\n布の料金は窓口で払う。\n\n## 雑貨\n\n雑貨に運賃はかからない。\n",
}
FERRY = """# 潮見丸航路

## 潮見丸航路の出航

潮見丸航路の連絡船は、北桟橋から七時に出航する。

## 潮見丸航路の乗組員

潮見丸航路の連絡船には、船長と機関員が乗り組む。

## 潮見丸航路の寝台

潮見丸航路の連絡船は昼に運航し、寝台を持たない。
"""
FARE = "\n## 潮見丸航路の運賃\n\n潮見丸航路の連絡船の大人の運賃は、片道九百円とする。\n"
QUESTION = "潮見丸航路の連絡船の大人の片道の運賃"
NOTE = "no searched section has the words of the question together; it may have no answer\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    files = {f"{manual}/{name}": text for manual in MANUALS for name, text in OTHERS.items()}
    files |= {"complete/ferry.md": FERRY + FARE, "cut/ferry.md": FERRY}
    with Fumishirube(write(tmp_path_factory.mktemp("answerable"), files)) as running:
        running.ok("manual_ls")
        yield running


def found(server: Fumishirube, manual_id: str, query: str, required: str) -> dict[str, Any]:
    return server.ok("manual_find", manual_id=manual_id, query=query, required_terms=[required])


def test_words_that_occur_together_are_answerable(server: Fumishirube) -> None:
    assert found(server, "complete", QUESTION, "潮見丸")["answerable"] == "yes"


def test_the_subject_without_the_answer_is_not(server: Fumishirube) -> None:
    assert found(server, "cut", QUESTION, "潮見丸")["answerable"] == "no"


def test_the_command_line_says_so_too(server: Fumishirube) -> None:
    """``find`` says of a search what ``manual_find`` answers, here where the answer was removed."""
    for manual_id, answerable in (("complete", "yes"), ("cut", "no")):
        find = ("find", QUESTION, "--require", "潮見丸", "--manual", manual_id)
        assert fumishirube(*find, "--json", cwd=server.workspace).json["answerable"] == answerable
        assert (NOTE in fumishirube(*find, cwd=server.workspace).out) == (answerable == "no")


def test_the_command_line_does_not_say_so_of_an_index_that_lacks_a_file(tmp_path: Path) -> None:
    workspace = write(tmp_path, {"m/ferry.md": FERRY} | {f"m/{p}": t for p, t in OTHERS.items()})
    find = ("find", QUESTION, "--require", "潮見丸")
    assert NOTE in fumishirube(*find, cwd=workspace).out
    (lock,) = (workspace / ".fumishirube").rglob(".tantivy-writer.lock")
    lock.unlink()
    lock.mkdir()  # nobody can write the index
    write(tmp_path, {"m/fare.md": FARE})
    before = fumishirube(*find, cwd=workspace).out
    assert "this is the state before" in before
    assert NOTE not in before
    lock.rmdir()
    assert "fare.md" in fumishirube(*find, cwd=workspace).out


def test_words_foreign_to_the_manual_leave_it_open(server: Fumishirube) -> None:
    """The answer may be there in other words, so that it is not said to be absent."""
    query = "島へ渡るのにいくらかかるか、子どもは安くなるか、当番は知っているか"
    assert found(server, "complete", query, "当番")["answerable"] == "partly"


def test_a_search_without_hits_is_not_answerable(server: Fumishirube) -> None:
    answer = found(server, "complete", "zzyzx qwrtp", "zzyzx")
    assert answer["candidates"] == 0
    assert answer["answerable"] == "no"


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("word", "nowhere"),
    [("10MB", False), ("14.4pt", False), ("30MB", False), ("99MB", True), ("12.4pt", True)],
)
def test_a_number_is_somewhere_with_or_without_a_space_before_its_unit(
    tmp_path: Path, word: str, nowhere: bool
) -> None:
    text = "# A\n\nThe limit is 10 MB.\n\n# B\n\nThe limit is 30MB.\n\n# C\n\nIt is 14.4 pt.\n"
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        server.ok("manual_ls")
        asked = {"manual_id": "m", "required_terms": ["limit"]}
        shown = server.ok("manual_find", query=f"lamps of {word}", **asked)
    unknown = [*shown.get("nowhere", ()), *(n["name"] for n in shown.get("names", ()))]
    assert (word in unknown) is nowhere
