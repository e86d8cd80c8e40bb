"""The known MCP clients, and where each lists its servers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import Any, Literal, NamedTuple


class ClientFolders(NamedTuple):
    """The folders that a client's path may be relative to: home, project, environment."""

    home: Path
    project: Path
    environ: Mapping[str, str]


Words = Sequence[str]
"""A command and its arguments."""


def _plain(words: Words) -> dict[str, Any]:
    return {"command": words[0], "args": [*words[1:]]}


def _typed(words: Words) -> dict[str, Any]:
    return {"type": "stdio", **_plain(words)}


def _with_all_tools(words: Words) -> dict[str, Any]:
    return {"type": "local", **_plain(words), "tools": ["*"]}


def _as_one_list(words: Words) -> dict[str, Any]:
    return {"type": "local", "command": [*words], "enabled": True}


class ClientSpec(NamedTuple):
    """A client: its name, its file and the format of that file, and the key of its servers.

    ``entry`` makes the entry of a server from the command that starts it. ``then`` is what a person
    does next. A file ``in_project`` may have come with it. A client is installed if one of its
    ``programs`` is on the path, or its ``folder`` is in the user's home folder.
    """

    title: str
    file: Callable[[ClientFolders], Path]
    then: str
    programs: tuple[str, ...] = ()
    folder: str = ""
    key: str = "mcpServers"
    form: Literal["json", "toml"] = "json"
    entry: Callable[[Words], dict[str, Any]] = _plain
    in_project: bool = False

    def is_installed(self, places: ClientFolders) -> bool:
        """Tell whether the client seems to be on this machine."""
        path = places.environ.get("PATH")
        folder = places.home / self.folder if self.folder else self.file(places).parent
        return folder.is_dir() or any(which(program, path=path) for program in self.programs)


def _configured(places: ClientFolders, variable: str, *default: str) -> Path:
    """Return the folder that a variable names, or else one in the user's home folder."""
    configured = places.environ.get(variable, "")
    return Path(configured) if configured else places.home.joinpath(*default)


def _desktop(places: ClientFolders) -> Path:
    if sys.platform == "darwin":
        folder = places.home / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = _configured(places, "APPDATA", "AppData", "Roaming")
    else:
        folder = _configured(places, "XDG_CONFIG_HOME", ".config")
    return folder / "Claude" / "claude_desktop_config.json"


def _own_folder(variable: str, folder: str, file: str) -> Callable[[ClientFolders], Path]:
    """Return what finds a file in a folder that a variable may name."""
    return lambda places: _configured(places, variable, folder) / file


CLIENTS: Mapping[str, ClientSpec] = {
    "claude-code": ClientSpec(
        "Claude Code",
        lambda places: places.project / ".mcp.json",
        "start claude in that folder, and approve the server",
        programs=("claude",),
        in_project=True,
        folder=".claude",
        entry=_typed,
    ),
    "claude-desktop": ClientSpec(
        "Claude Desktop", _desktop, "quit Claude Desktop, and open it again"
    ),
    "cursor": ClientSpec(
        "Cursor",
        lambda places: places.home / ".cursor" / "mcp.json",
        "open Cursor's settings, MCP, and switch the server on",
        programs=("cursor", "cursor-agent"),
    ),
    "vscode": ClientSpec(
        "VS Code",
        lambda places: places.project / ".vscode" / "mcp.json",
        "open that folder, and choose Start above the server in the file",
        programs=("code",),
        in_project=True,
        folder=".vscode",
        key="servers",
        entry=_typed,
    ),
    "codex": ClientSpec(
        "Codex",
        _own_folder("CODEX_HOME", ".codex", "config.toml"),
        "restart codex",
        programs=("codex",),
        folder=".codex",
        key="mcp_servers",
        form="toml",
    ),
    "copilot": ClientSpec(
        "Copilot",
        _own_folder("COPILOT_HOME", ".copilot", "mcp-config.json"),
        "restart copilot; /mcp show lists the server",
        programs=("copilot",),
        folder=".copilot",
        entry=_with_all_tools,
    ),
    "gemini": ClientSpec(
        "Gemini CLI",
        lambda places: places.home / ".gemini" / "settings.json",
        "restart gemini; /mcp lists the server",
        programs=("gemini",),
    ),
    "kiro": ClientSpec(
        "Kiro",
        lambda places: places.home / ".kiro" / "settings" / "mcp.json",
        "open Kiro's panel, MCP servers: the server is listed",
        programs=("kiro", "kiro-cli"),
        folder=".kiro",
    ),
    "opencode": ClientSpec(
        "opencode",
        _own_folder("XDG_CONFIG_HOME", ".config", "opencode/opencode.json"),
        "restart opencode; opencode mcp list lists the server",
        programs=("opencode",),
        key="mcp",
        entry=_as_one_list,
    ),
}
"""Clients by the names that ``fumishirube init --client`` takes."""
