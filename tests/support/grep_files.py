"""Files to search for every place, and the places that an answer names."""

from __future__ import annotations

import json
import re
from typing import Any

TIMES = """# Times
Before all.
## Limits
The timeout is 5 秒.
Wait 15 秒, or 1.5 秒.

Retries: 3
### Old
The timeout is 5 秒.
"""
TOC = {"manual": "chapters", "toc": [{"id": "1", "title": "第1章", "file": "01.txt"}]}
FILES: dict[str, str | bytes] = {
    "m/times.md": TIMES,
    "m/sub/code.md": "---\ntitle: 設定\n---\nuse `AbortSignal`\nFnOnce\ncall once\n"
    + "x" * 700
    + " middle "
    + "y" * 700
    + "\n",
    "m/copy.md": "# Copy\nThe timeout is 5 秒.\n",
    "m/values.json": '{\n  "wait": "５秒",\n  "caf\\u00e9": 5\n}\n',
    "m/binary.md": b"\x81\x00\xff\xfe\x00\x81" * 40,
    "m/.hidden.md": "5 秒\n",
    "m/image.png": b"\x89PNG 5 \xe7\xa7\x92",
    "chapters/00_目次.json": json.dumps(TOC, ensure_ascii=False),
    "chapters/01.txt": "第1章\n待ち時間は5秒です。\n".encode("cp932"),
}


def places(answer: dict[str, Any]) -> list[tuple[str, int]]:
    """Return every place that an answer names, but for lines around."""
    named = []
    for group in answer["groups"]:
        for number, _ in group["lines"]:
            named.append((group["path"], number))
        for also in group.get("also", {}).values():
            for place in also:
                path, line = re.fullmatch(r"(?:(.+)#)?L(\d+)(?: .*)?", place).groups()
                named.append((path or group["path"], int(line)))
    return sorted(named)
