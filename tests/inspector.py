"""`shirube inspect` as a process, and a workspace with something to look at."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any, Self

import httpx2
from http_server import SECONDS, environment, script
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


class Inspector:
    """An inspector at a free port, until it is left."""

    def __init__(self, folder: Path, *words: str, **environ: str) -> None:
        self.folder = folder
        self._errors = (folder / "inspector.log").open("a+", encoding="utf-8")
        self.process = subprocess.Popen(
            [script(), "inspect", "--port", "0", "--no-browser", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment(**environ),
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip().rstrip("/")
        self.client = httpx2.Client(base_url=self.url, timeout=SECONDS, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait(SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._errors.close()

    @property
    def port(self) -> int:
        """The port it listens at."""
        return httpx2.URL(self.url).port or 0

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
