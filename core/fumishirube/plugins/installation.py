"""How this program was installed: the command that starts it, and that adds an extra."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fumishirube.plugins.entry_points import DISTRIBUTION

_PIP = "python -m pip install"
_START = (
    "import sys; sys.path[:] = [place for place in sys.path if place]; "
    "from fumishirube.commands import main; sys.exit(main())"
)


def start_command() -> list[str]:
    """Return the command that starts this installation from any folder.

    Without an installed script, the command avoids ``python -m``, which would prefer a module of
    the current folder.
    """
    script = shutil.which(DISTRIBUTION, path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-c", _START]


def install_command(extra: str) -> str:
    """Return the shell command that adds an extra to this installation.

    It names the folder, wheel or repository that pip recorded in ``direct_url.json`` (PEP 610), so
    it is for the user's own terminal, not for answers of tools. If pip recorded nothing, ``PATH``
    stands for the folder or wheel.
    """
    return command_for(extra, _direct_url())


def command_for(extra: str, direct_url: Mapping[str, Any] | None) -> str:
    """Return the command for an installation that pip recorded as ``direct_url``."""
    url = direct_url.get("url") if direct_url else None
    if not direct_url or not isinstance(url, str):
        return f"{_PIP} 'PATH[{extra}]' (PATH: the folder or wheel of {DISTRIBUTION})"
    if isinstance(vcs := direct_url.get("vcs_info"), dict):
        source = f"{vcs.get('vcs', 'git')}+{url}@{vcs.get('commit_id', 'HEAD')}"
        return f"{_PIP} {shlex.quote(f'{DISTRIBUTION}[{extra}] @ {source}')}"
    if urlsplit(url).scheme != "file" or "archive_info" in direct_url:
        return f"{_PIP} {shlex.quote(f'{DISTRIBUTION}[{extra}] @ {url}')}"
    from urllib.request import url2pathname  # noqa: PLC0415 - it imports HTTP and TLS

    folder = url2pathname(urlsplit(url).path)
    info = direct_url.get("dir_info")
    editable = "-e " if isinstance(info, dict) and info.get("editable") is True else ""
    return f"{_PIP} {editable}{shlex.quote(f'{folder}[{extra}]')}"


def _direct_url() -> Mapping[str, Any] | None:
    try:
        text = distribution(DISTRIBUTION).read_text("direct_url.json")
        recorded = json.loads(text) if text else None
    except (PackageNotFoundError, OSError, ValueError):
        return None
    return recorded if isinstance(recorded, dict) else None
