"""A server for people as a process, and their tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import stdio
from http_server import Serving
from manuals import Done, fumishirube
from team import workspace

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": stdio.HELLO}
MCP = {"accept": "application/json, text/event-stream"}


class TeamServer(Serving):
    """A server for people, and their tokens by name."""

    def __init__(
        self,
        folder: Path,
        place: str = "127.0.0.1:0",
        *options: str,
        workers: int = 1,
        **environ: str,
    ) -> None:
        self.folder = workspace(folder / "all")
        self.people = folder / "people.json"
        self.tokens: dict[str, str] = {}
        self.users("add", "aiko", "--read", "manuals/給付編", "--write", "vault/aiko")
        self.users("add", "ben", "--read", "manuals/事務編", "--read", "docs", "--metrics")
        self.users("add", "boss", "--read", "manuals", "--write", "vault")
        words = (
            "serve",
            "--http",
            place,
            "--workspace",
            str(self.folder),
            "--workers",
            str(workers),
            *options,
        )
        super().__init__(words, folder / "log", FUMISHIRUBE_PEOPLE=str(self.people), **environ)

    def users(self, command: str, *words: str) -> Done:
        """Run ``fumishirube users``."""
        done = fumishirube("users", "--people", str(self.people), command, *words, cwd=self.folder)
        if done.code == 0 and command in ("add", "token") and done.out:
            self.tokens[words[0]] = done.out.strip()
        return done

    def headers(self, name: str) -> dict[str, str]:
        """Return the header of a person."""
        return {"authorization": f"Bearer {self.tokens[name]}"}

    def call(self, name: str, tool: str, **arguments: Any) -> httpx2.Response:
        """Call a tool as a person."""
        return self.client.post(f"/tools/{tool}", json=arguments, headers=self.headers(name))

    def get(self, name: str, path: str) -> httpx2.Response:
        """Get a page as a person."""
        return self.client.get(path, headers=self.headers(name))

    def mcp(self, name: str, method: str, session: str = "", /, **params: Any) -> httpx2.Response:
        """Send a request of MCP."""
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        named = {"mcp-session-id": session} if session else {}
        return self.client.post("/mcp", json=body, headers={**MCP, **self.headers(name), **named})

    def session(self, name: str) -> str:
        """Open a session of MCP, and return its id."""
        answer = self.client.post("/mcp", json=HELLO, headers={**MCP, **self.headers(name)})
        assert answer.status_code == 200, answer.text
        return str(answer.headers["mcp-session-id"])

    def audit(self) -> list[dict[str, Any]]:
        """Return the lines of the audit log."""
        if not self.audit_file.exists():
            return []
        return [json.loads(line) for line in self.audit_file.read_text().splitlines()]

    @property
    def audit_file(self) -> Path:
        """The audit log."""
        return self.folder / "var" / "audit.log"


def names(answer: httpx2.Response) -> list[str]:
    """Return the manuals in an answer of ``manual_ls``."""
    return [item["name"] for item in answer.json()["items"]]
