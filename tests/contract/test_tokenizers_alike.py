"""Whatever tokenizer is configured, what a query is about is found; only the order may differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from manuals import fumishirube, write

FILES = {
    "m/a.md": "# 規則\n規定の例外は次のとおり。\n# 他\n規定を守る。\n# 税\n税を払う。\n",
    "m/b.md": "# 期限\n期限は三日。\n# ライト\nライトを点ける。\n# 申請書\n休暇申請書を出す。\n",
}


@pytest.mark.many_cases
@pytest.mark.parametrize("tokenizer", ["ngram", "bigram", "pairs", "ngram, with: {n: 5}"])
@pytest.mark.parametrize(
    ("query", "required", "titles"),
    [
        ("規定の例外", "規定", {"規則", "他"}),
        ("規定の例外", None, {"規則", "他"}),
        ("規定", None, {"規則", "他"}),
        ("税", "税", {"税"}),
        ("例外について", "期限", {"規則", "期限"}),
        ("申請書", None, {"申請書"}),
        ("休暇", "申請", {"申請書"}),
    ],
)
def test_every_section_of_a_concept_is_found(
    tmp_path: Path, tokenizer: str, query: str, required: str | None, titles: set[str]
) -> None:
    write(tmp_path, FILES)
    pipelines = f"pipelines: {{manual: {{tokenizer: {{use: {tokenizer}}}}}}}\n"
    yaml = f"surfaces: [{{use: manual}}]\n{pipelines}"
    (tmp_path / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
    more = ("--require", required) if required else ()
    done = fumishirube("find", query, *more, "--limit", "20", "--json", cwd=tmp_path)
    assert {hit["title"] for hit in done.json["hits"]} == titles
