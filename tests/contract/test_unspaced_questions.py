"""A question without spaces finds what it is about, whatever holds the sentence together."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from documents import documents
from stdio import Wire

SUBJECTS = {
    "設計": "design",
    "締切": "deadline",
    "給付金": "benefit",
    "サーバー": "machine",
    "お金": "money",
    "引っ越し": "move",
    "子ども": "child",
    "第3条": "article",
}
QUESTIONS = (
    "{}はどこに書いてあるか",
    "{}について教えてください",
    "どのような場合に{}が必要になるのでしょうか",
    "この{}とはどういうものですか",
    "いつまでに{}を出せばよろしいでしょうか",
    "{}が見つからないんだけど",
    "{}ってどうすればいいの",
    "{}",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    files = {f"{name}.md": f"# {name}\n\n{term}の内容。\n" for term, name in SUBJECTS.items()}
    files["other.md"] = "# Other\n\nどこにも書いていないので、必要なことは係に聞いてください。\n"
    workspace = documents(tmp_path_factory.mktemp("unspaced"), files)
    nouns = ("違い", "関係", "理由", "注意点")
    others = {f"{noun}.md": f"# 手引\n\n認定、通知、その{noun}。\n" for noun in nouns}
    others["all.md"] = "# 手続\n\n認定は通知される。返還も書面による。\n"
    manuals = [("m", files), ("n", others)]
    for manual, name, text in ((m, *file) for m, named in manuals for file in named.items()):
        path = workspace / "manuals" / manual / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (workspace / "fumishirube.yaml").write_text(
        "surfaces: [{use: manual}, {use: graph}]\n", encoding="utf-8"
    )
    with Wire(workspace) as server:
        server.ok("manual_ls")
        yield server


@pytest.mark.many_cases
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_search_finds_what_the_question_is_about(
    server: Wire, subject: str, question: str
) -> None:
    query = question.format(subject)
    documents_found = server.ok("ubp_search", query=query)["results"]
    assert documents_found[0]["filepath"] == f"{SUBJECTS[subject]}.md"
    found = server.ok("manual_find", query=query, manual_id="m", required_terms=[subject])
    hits = server.ok("manual_hits", trace_id=found["trace_id"])
    assert hits["items"][0]["ref"]["path"] == f"{SUBJECTS[subject]}.md"


def test_a_whole_concept_counts_beside_a_much_longer_one(server: Wire) -> None:
    found = server.ok("ubp_search", query="締切と組織横断的情報共有基盤整備計画はどこですか")
    assert [result["filepath"] for result in found["results"]] == ["deadline.md"]


def test_words_that_hold_a_sentence_together_find_nothing(server: Wire) -> None:
    found = server.ok("ubp_search", query="存在しない語彙はどこに書いてあるか")
    assert "other.md" not in [result["filepath"] for result in found["results"]]


@pytest.mark.parametrize(
    "question",
    [
        "認定、通知、返還の違い",
        "認定と通知と返還の関係について教えてください",
        "認定の通知は返還とどう関係しますか",
        "認定の通知が返還になる理由を説明して",
    ],
)
def test_what_is_asked_about_things_counts_less_than_the_things(
    server: Wire, question: str
) -> None:
    found = server.ok("manual_find", query=question, manual_id="n", required_terms=["認定"])
    hits = server.ok("manual_hits", trace_id=found["trace_id"])["items"]
    assert hits[0]["ref"]["path"] == "all.md"


@pytest.mark.slow
@pytest.mark.parametrize("run", ["ので", "a-", "a ", "漢", "ア", "知り"])
def test_a_query_that_is_long_and_dull_is_answered_in_no_time(server: Wire, run: str) -> None:
    start = time.monotonic()
    for tool, more in (
        ("manual_find", {"manual_id": "m", "required_terms": ["設計"]}),
        ("ubp_search", {}),
    ):
        server.ok(tool, query=run * 4_000 + "ぬ設計", **more)
    assert time.monotonic() - start < 10
