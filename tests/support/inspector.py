"""`fumishirube inspect` as a process, and a workspace with something to look at."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx2
from http_server import Serving
from manuals import write

HOSTILE = "</summary><script>document.title='evil'</script><img src=x onerror=alert(1)>"
TURNED = "\u202ereversed \u0627\u0644\u0639\u0631\u0628\u064a\u0629"
MANUAL: dict[str, str | bytes] = {
    "m1/leave.md": "# Leave\n\n## Parental leave\nApply a month before parental leave begins.\n"
    "## Sick leave\nCall in sick before nine. Sick leave is paid.\n",
    "m1/travel.md": "# Travel\n\n## Allowance\nThe travel allowance is paid with the leave.\n",
    "m1/hostile.md": f"# {HOSTILE}\n\nHostile leave {HOSTILE}\n\n# {TURNED}\n\nleave {TURNED}\n",
}
OTHER = "pipelines: {manual: {scorers: [{use: lexical, with: {coverage_weight: 9.0}}]}}\n"


def workspace(folder: Path) -> Path:
    """Make a folder a workspace with one manual and a second configuration."""
    (folder / "other.yaml").write_text(OTHER)
    return write(folder, MANUAL)


class Inspector(Serving):
    """An inspector at a free port, until it is left."""

    def __init__(self, folder: Path, *words: str, **environ: str) -> None:
        self.folder = folder
        words = ("inspect", "--port", "0", "--no-browser", *words)
        super().__init__(words, folder / "inspector.log", folder, **environ)

    def get(self, path: str, **given: Any) -> httpx2.Response:
        """Ask for a page."""
        return self.client.get(path, **given)

    def page(self, path: str, status: int = 200) -> str:
        """Return a page's HTML."""
        answer = self.get(path)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        return answer.text

    def find(self, question: str, **given: str) -> str:
        """Send the form, and return where it leads."""
        form = {"q": question, "manual": "m1", **given}
        answer = self.client.post("/find", data=form)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]


def parts(html: str) -> dict[str, str]:
    """Return the sections of a page by their ids."""
    found = re.findall(r'<section id="([\w-]+)"(.*?)</section>', html, re.DOTALL)
    return dict(found)
