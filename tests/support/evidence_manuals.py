"""Manuals in which an answer is a few lines of a long section, and ways to look at them."""

from __future__ import annotations

from typing import Any

from stdio import Fumishirube

LONG = "\n\n".join(
    f"Paragraph {n} tells of other things, such as weather and tea." for n in range(40)
)
BADGE = "# Badge\n\nWear the visitor badge inside.\nReturn it to desk {}.\nAsk the guard.\n"
TABLE = """| fee | amount |
| --- | --- |
| entry | 300 yen |
| parking | 1,200 yen |
"""
PERMITS = ("day", "week", "month", "year", "visitor", "staff", "night", "lorry")
PERMIT = """## {0} permit

The {0} permit is valid for as long as its colour says.

{1}

Reception issues the {0} permit.

"""
WATERING = "\n\n".join(
    f"Watering of palm {n}: the gardener gives the palm water at dawn, {'slowly ' * 40}and rests."
    for n in range(12)
)
PESTS = (
    f"{LONG}\n\nAgainst scale insects, the staff takes these steps:\n\n"
    "* wipe the leaves\n* isolate the pot\n* tell the curator within two days\n"
)
VISITS = (
    f"{LONG}\n\nSchool visits are limited as follows:\n\n* twenty pupils\n* one hour\n* no food\n"
)
PARTS = ["scale insects, what the staff does", "limits of school visits"]
MANUALS = {
    "guide/permits.md": "# Permits\n\n" + "".join(PERMIT.format(one, LONG) for one in PERMITS),
    "guide/gates.md": "# Gates\n\n## Tray\n\nThe tray takes a ticket.\n\n"
    '::: zone pivot="north"\n\n## Tray up\n\nThe ticket goes in the upper tray.\n\n::: zone-end\n'
    '## Tray down\n::: zone pivot="south"\nThe ticket goes in the lower tray.\n::: zone-end\n',
    "guide/parking.md": f"# Parking\n\n{LONG}\n\nThe parking fee is 1,200 yen a day.\n\n{LONG}\n",
    "sky/moorings.md": "# Moorings\n\n## Boats\n\nA mooring for boats costs 40 yen.\n\n"
    f"## Airships\n\n{LONG}\n\nThe mooring mast takes dirigibles{', and more' * 30}.\n\n{LONG}\n",
    "guide/fees.md": f"# Fees\n\n{LONG}\n\n{TABLE}\n{LONG}\n",
    "guide/short.md": "# Lockers\n\nA locker costs 100 yen.\n\nIt opens at nine.\n",
    "guide/v1.md": BADGE.format("one"),
    "guide/v2.md": BADGE.format("two"),
    "hall/plants.md": f"# Palm house\n\n{WATERING}\n## Pests\n\n{PESTS}\n## Visits\n\n{VISITS}",
    "stock/list.md": "# Stock\n\n| Stock of 2024 |\n| Item | Bin | Value |\n"
    + "".join(f"| Shackle S-{n} | B{n:02} | {n * 13} |\n" for n in range(60)),
    "stock/counts.md": "".join(f"# Count {n}\n\n{n} s, {n + 7} and 27.\n\n" for n in range(60)),
    "rules/late.md": "# 延滞\n\n返却が遅れた日数に応じて延滞料を支払う。\n",
}


def line(path: str, number: int) -> str:
    return MANUALS[path].split("\n")[number - 1]


def items(server: Fumishirube, query: str, *terms: str, **more: Any) -> list[dict[str, Any]]:
    arguments = {"query": query, "manual_id": "guide", "required_terms": [*terms]} | more
    hits: list[dict[str, Any]] = server.ok("manual_find", **arguments)["inline_hits"]["items"]
    return hits
