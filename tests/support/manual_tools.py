"""The manual tools and their arguments, and short ways to call them on the tests' manuals."""

from __future__ import annotations

import base64
import re
import unicodedata
from typing import Any

from stdio import Fumishirube

TOOLS = {
    "manual_ls": ["id"],
    "manual_toc": [
        "manual_id",
        "path_prefix",
        "max_files",
        "cursor",
        "depth",
        "max_headings_per_file",
    ],
    "manual_find": [
        "query",
        "manual_id",
        "required_terms",
        "expand_scope",
        "only_unscanned_from_trace_id",
        "budget",
        "include_claim_graph",
        "use_cache",
        "inline_hits",
    ],
    "manual_hits": ["trace_id", "kind", "offset", "limit"],
    "manual_read": ["ref", "max_chars", "scope"],
    "manual_scan": ["manual_id", "path", "start_line", "cursor", "max_chars"],
}
KINDS = [
    "candidates",
    "unscanned",
    "conflicts",
    "gaps",
    "integrated_top",
    "claims",
    "evidences",
    "edges",
    "gate_runs",
    "fusion_debug",
]
CONTRACT = "coverage,cite"
"""Extras: the tools of the contract alone, and two keys that have always joined them."""
EXTRAS = {"coverage", "est_tokens", "degraded"}
ROW_EXTRAS = {"cite", "end_line", "refers_to", "addressed"}
GUIDE, PASSPORT = "がいど", "パス.md"
HEX = re.compile(r"[0-9a-f]{32}")
CITE = re.compile(r"@[0-9a-f]{6}")

FIND: dict[str, Any] = {"query": "対象外", "manual_id": "m1", "required_terms": ["対象外"]}

AFTER_DISCOVERY: dict[str, dict[str, Any]] = {
    "manual_toc": {"manual_id": "m1"},
    "manual_find": FIND,
    "manual_read": {"ref": {"manual_id": "m1", "path": "rules.md"}},
    "manual_scan": {"manual_id": "m1", "path": "rules.md"},
}

GOOD: dict[str, dict[str, Any]] = {
    "manual_ls": {},
    **AFTER_DISCOVERY,
    "manual_hits": {"trace_id": "<m1>"},
}


def found(server: Fumishirube, **changes: Any) -> dict[str, Any]:
    return server.ok("manual_find", **(FIND | changes))


def coded(path: str) -> str:
    return base64.urlsafe_b64encode(path.encode()).rstrip(b"=").decode()


def decomposed(text: str) -> str:
    found = unicodedata.normalize("NFD", text)
    assert found != text
    return found
