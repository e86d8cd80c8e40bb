"""Samples for the contracts: a manual in two languages, awkward texts, and queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fumishirube import Budget, Document, Query, Section
from fumishirube.query import SearchState
from fumishirube.testing.corpora import passage

_RULES = "# 休暇\n年次有給休暇は10日。\n## 例外\n試用期間中は取得できない。\n"

PASSAGES = (
    passage("guide/login.md", 1, "Signing in", "Open the portal and type your password."),
    passage(
        "guide/login.md",
        4,
        "Password reset",
        "Use the reset link in the mail.\nThe link expires after 30 minutes.",
        ancestors=("Signing in",),
    ),
    passage("guide/api.md", 1, "REST API", "GET /v1/items returns a list; error E-1042 means 404."),
    passage("guide/api.md", 9, "API の制限", "1 分あたり 60 回まで。超えると E-429 を返す。"),
    passage("規程/休暇.md", 1, "休暇", "年次有給休暇は入社から6か月後に10日付与する。"),
    passage(
        "規程/休暇.md",
        5,
        "例外",
        "ただし、試用期間中は有給休暇を取得できない。",
        ancestors=("休暇",),
    ),
    passage("規程/旅費.md", 1, "出張旅費", "日当は国内2,500円、海外5,000円とする。"),
    passage(
        "規程/旅費.md",
        7,
        "宿泊費",
        "上限は1泊12,000円。ただし役員を除く。",
        ancestors=("出張旅費",),
    ),
    passage(
        "規程/給付.txt", 1, "入院給付と通院給付", "入院は1日5,000円、通院は1日3,000円を支払う。"
    ),
    passage("メモ.md", 1, "メモ", "カフェ ☕ と Ångström、ﾊﾝｶｸ ｶﾅ。"),
)

TEXTS = (
    "",
    " ",
    "。",
    "!? --- ###",
    "a",
    "給",
    "password",
    "Password RESET link",
    "年次有給休暇は入社から6か月後に10日付与する。",
    "API の制限は 1 分あたり 60 回",
    "コンピュータ・システム",
    "ｶﾀｶﾅ ＡＢＣ １２３",
    "snake_case kebab-case dotted.name C++ C# .NET E-1042",
    "Ångström naïve Straße İstanbul",
    "한국어 문서와 中文文档",
    "👩‍👩‍👧‍👦 ☕ 𠮷野家 e\u0301",
    "\u200b\u3000\t\n改行\r\nと　空白",
    "ﾊﾟｽﾜｰﾄﾞ ｶﾞｲﾄﾞ か\u3099き\u3099 がぎ",
    "מדריך למשתמש דליל العربية ٣٤",
    "\u202eright to left\u202c \ufeffmark \U000e0067 葛\U000e0100城",
    "\x00\x07\x1b[31m \ufffe\U0010ffff",
    "Ａ\u0301\u0323\u0301 ﷽ ﬁnal Ǆ ß ẞ",
)
"""Awkward texts: every script, composed and not, full and half width, and empty ones."""

QUERIES = (
    Query("有給休暇"),
    Query("password reset"),
    Query("API 制限 E-429"),
    Query("入院給付と通院給付の違いは？"),
    Query("出張の宿泊費はいくらですか", limit=3),
    Query("休暇", required=("有給休暇", "試用期間")),
    Query("password", required=("link",), must=("link",)),
    Query("休暇の制限", required=("休暇", "API", "password", "absent")),
    Query("", required=("給付",)),
    *(Query(text) for text in TEXTS),
    Query("長い質問 " * 200),
)


def with_new_state(queries: Iterable[Query]) -> list[Query]:
    """Return the same queries with new states."""
    return [replace(query, budget=Budget(), state=SearchState()) for query in queries]


BLANK = passage("規程/休暇.md", 9, "休暇の password", "", ancestors=("休暇",))
"""A passage with a title and no body: it is stored, but not searched."""

PLAIN_QUERY = Query("password")
"""A query without required terms, comparisons or other conditions."""


def sample_document() -> Document:
    """Return a document of two sections, one below the other."""
    first, second = _RULES.index("\n") + 1, _RULES.index("##")
    return Document(
        "rules.md",
        "md",
        _RULES,
        (
            Section("休暇", 1, 2, 0, second, len(_RULES), first),
            Section("例外", 3, 4, second, len(_RULES), len(_RULES), second + 6, 2, ("休暇",)),
        ),
    )
