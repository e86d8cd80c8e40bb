"""The known MCP clients, and where each lists its servers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple


class ClientFolders(NamedTuple):
    """The folders that a client's path may be relative to: home, project, environment."""

    home: Path
    project: Path
    environ: Mapping[str, str]


class ClientSpec(NamedTuple):
    """A client: its name, its file and the format of that file, and the key of its servers.

    With ``typed``, entries name their transport, ``stdio``. ``then`` is what a person does next.
    """

    title: str
    file: Callable[[ClientFolders], Path]
    then: str
    key: str = "mcpServers"
    form: Literal["json", "toml"] = "json"
    typed: bool = False


def _desktop(places: ClientFolders) -> Path:
    if sys.platform == "darwin":
        folder = places.home / "Library" / "Application Support"
    elif sys.platform == "win32":
        configured = places.environ.get("APPDATA", "")
        folder = Path(configured) if configured else places.home / "AppData" / "Roaming"
    else:
        configured = places.environ.get("XDG_CONFIG_HOME", "")
        folder = Path(configured) if configured else places.home / ".config"
    return folder / "Claude" / "claude_desktop_config.json"


def _codex(places: ClientFolders) -> Path:
    configured = places.environ.get("CODEX_HOME", "")
    return (Path(configured) if configured else places.home / ".codex") / "config.toml"


CLIENTS: Mapping[str, ClientSpec] = {
    "claude-code": ClientSpec(
        "Claude Code",
        lambda places: places.project / ".mcp.json",
        "start claude in that folder, and approve the server",
        typed=True,
    ),
    "claude-desktop": ClientSpec(
        "Claude Desktop", _desktop, "quit Claude Desktop, and open it again"
    ),
    "cursor": ClientSpec(
        "Cursor",
        lambda places: places.home / ".cursor" / "mcp.json",
        "open Cursor's settings, MCP, and switch the server on",
    ),
    "vscode": ClientSpec(
        "VS Code",
        lambda places: places.project / ".vscode" / "mcp.json",
        "open that folder, and choose Start above the server in the file",
        key="servers",
        typed=True,
    ),
    "codex": ClientSpec("Codex", _codex, "restart codex", key="mcp_servers", form="toml"),
    "gemini": ClientSpec(
        "Gemini CLI",
        lambda places: places.home / ".gemini" / "settings.json",
        "restart gemini; /mcp lists the server",
    ),
}
"""Clients by the names that ``fumishirube init --client`` takes."""
