"""An agent without a model: it searches for a question's longest words, and quotes what it sees.

scripted_agent.py mcp CONFIG PROMPT     speaks MCP to the server that the configuration names
scripted_agent.py shell TOOLS PROMPT    runs commands through the wrapper
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "scripted", "version": "1"},
}


def words_of(question: str) -> list[str]:
    """Return the words of a question that look least common: the longest."""
    found = re.findall(r"「[^」]+」|[ァ-ヴー]{2,}|[一-鿿]{2,}|[A-Za-z0-9-]{4,}", question)
    found = [word.strip("「」") for word in found]
    return sorted(dict.fromkeys(found), key=len, reverse=True)


class Server:
    """The server of a client's configuration, spoken to over its standard input and output."""

    def __init__(self, config: Path) -> None:
        (entry,) = json.loads(config.read_text(encoding="utf-8"))["mcpServers"].values()
        pipe = subprocess.PIPE
        command = [entry["command"], *entry["args"]]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8")
        self._number = 0
        self.ask("initialize", _HELLO)
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._number:
                return message["result"]
        raise SystemExit("the server ended")

    def call(self, tool: str, **arguments: Any) -> tuple[str, Any]:
        """Return what a model reads of an answer, and the object."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(part["text"] for part in result["content"])
        return text, result.get("structuredContent")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()


def with_mcp(config: Path, manual: str, question: str) -> str:
    """Find, read the first hit of each manual, and answer with the texts."""
    server = Server(config)
    names = {tool["name"] for tool in server.ask("tools/list", {})["tools"]}
    assert {"manual_ls", "manual_find", "manual_read"} <= names, names
    listed = server.call("manual_ls", id="manuals")[1]["items"]
    texts = []
    for name in [manual] if manual else [item["id"] for item in listed]:
        terms = words_of(question)[:1]
        asked = {"query": question, "manual_id": name, "required_terms": terms}
        text, answer = server.call("manual_find", **asked)
        hits = answer["inline_hits"]["items"]
        texts += [text, *(server.call("manual_read", ref=hit["ref"])[0] for hit in hits[:1])]
    server.close()
    return "\n".join(texts)


def with_shell(tools: str, manual: str, question: str) -> str:
    """Search for each of three words, and answer with what was printed."""
    shown = []
    for word in words_of(question)[:3]:
        command = f"grep -rn '{word}' '{manual or '.'}' | head -5"
        done = subprocess.run([tools, command], capture_output=True, encoding="utf-8", check=False)
        shown.append(done.stdout)
    return "\n".join(shown)


def main() -> None:
    camp, given, prompt = sys.argv[1:]
    question = prompt.partition("Question: ")[2].strip()
    place = re.search(r"in the manual '([^']+)'", prompt)
    manual = place[1] if place else ""
    if camp == "mcp":
        answer = with_mcp(Path(given), manual, question)
    else:
        answer = with_shell(given, manual, question)
    sys.stdout.write(answer)


if __name__ == "__main__":
    main()
