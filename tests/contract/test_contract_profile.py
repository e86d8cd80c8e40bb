"""Without extras the server offers the eleven tools of the contract, and answers in its shape.

With ``RECORD_CONTRACT_PROFILE=1`` the test records both anew; look at what changed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from manuals import write
from stdio import Fumishirube

RECORD = Path(__file__).with_name("contract_profile.json")
FILES = {
    "guide/fees.md": "# Fees\n\nThe parking fee is 1,200 yen a day.\n\n## Lockers\n\n100 yen.\n",
    "guide/rates.json": '{"parking": {"day": 1200}}\n',
}
FIND = {"query": "parking fee", "manual_id": "guide", "required_terms": ["parking fee"]}
KINDS = (
    *("candidates", "unscanned", "conflicts", "gaps", "integrated_top"),
    *("claims", "evidences", "edges", "gate_runs", "fusion_debug"),
)


def shape(value: Any) -> Any:
    """Return the keys and the types of an answer; of a list, those of its first item."""
    if isinstance(value, dict):
        return {key: shape(member) for key, member in sorted(value.items())}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return type(value).__name__


def profile(workspace: Path) -> dict[str, Any]:
    """Return what is listed, in its order, and the shape of an answer of each tool."""
    with Fumishirube(workspace, FUMISHIRUBE_SURFACE_EXTRAS="none") as server:
        listed = {name: parameters(tool) for name, tool in server.tools().items()}
        answers = {
            "manual_ls": server.ok("manual_ls", id="manuals"),
            "manual_toc": server.ok("manual_toc", manual_id="guide"),
            "manual_find": (found := server.ok("manual_find", **FIND, include_claim_graph=True)),
            "manual_read": server.ok("manual_read", ref={"manual_id": "guide", "path": "fees.md"}),
            "manual_scan": server.ok("manual_scan", manual_id="guide", path="rates.json"),
            "vault_create": server.ok("vault_create", path="a.md", content="# A\n\none\n"),
            "vault_ls": server.ok("vault_ls"),
            "vault_read": server.ok("vault_read", path="a.md", full=True),
            "vault_scan": server.ok("vault_scan", path="a.md"),
            "vault_replace": server.ok("vault_replace", path="a.md", find="one", replace="two"),
        }
        for kind in KINDS:
            page = server.ok("manual_hits", trace_id=found["trace_id"], kind=kind)
            answers[f"manual_hits {kind}"] = page
    return {"tools": listed, "answers": {name: shape(answer) for name, answer in answers.items()}}


def parameters(tool: Any) -> dict[str, Any]:
    """Return what a tool takes, and what it must be given."""
    schema = tool.input_schema
    return {
        "parameters": list(schema.get("properties", {})),
        "required": schema.get("required", []),
        "nested": {
            name: list(one["properties"])
            for name, one in schema.get("properties", {}).items()
            if "properties" in one
        },
    }


def test_the_contract_is_as_it_was_recorded(tmp_path: Path) -> None:
    now = profile(write(tmp_path, FILES))
    if os.environ.get("RECORD_CONTRACT_PROFILE"):
        RECORD.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    assert list(now["tools"]) == list(recorded["tools"])
    assert len(now["tools"]) == 11
    assert now == recorded
