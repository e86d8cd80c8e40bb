"""Trust: paths outside a workspace take effect only if the user, not a file, allows them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fumishirube.config.environment import TRUE_WORDS
from fumishirube.config.personal import UNUSABLE, changing, configuration_folder, write_private
from fumishirube.config.yaml_file import MOST_BYTES
from fumishirube.disk.own_files import read_own
from fumishirube.errors import ConfigError

VARIABLE = "FUMISHIRUBE_TRUST"
_SHOWN = 3


class TrustRequest(NamedTuple):
    """A target or value that needs trust, with its coordinate and origin."""

    coordinate: str
    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.coordinate} ({self.source})"


class Trust(NamedTuple):
    """The trusted targets: all, or those recorded for these files."""

    workspace: Path = Path()
    digest: str = ""
    all_trusted: bool = False
    targets: frozenset[str] = frozenset()

    def check(self, requests: Iterable[TrustRequest]) -> None:
        """Refuse what is not trusted; name its lines, and the command that trusts it."""
        if self.all_trusted:
            return
        refused = [request for request in requests if request.target not in self.targets]
        if refused:
            more = f" and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
            named = ", ".join(map(str, refused[:_SHOWN])) + more
            raise ConfigError(
                f"{named}: this leads out of the workspace, or opens what is closed; if you trust "
                "the workspace, run 'fumishirube trust' in it, or start with --trust"
            )


def trust_for(
    workspace: Path, files: Iterable[Path], environ: Mapping[str, str], *, trusted: bool
) -> Trust:
    """Return the recorded trust for a workspace whose configuration is in these files."""
    digest = _digest(files)
    all_trusted = trusted or environ.get(VARIABLE, "").strip().lower() in TRUE_WORDS
    # Whoever writes into the user's own workspace could record trust there too.
    all_trusted |= workspace == configuration_folder(environ).resolve()
    entry = _recorded(trust_store(environ)).get(str(workspace), {})
    known = entry.get("digest") == digest
    targets = frozenset(entry["targets"]) if known else frozenset[str]()
    return Trust(workspace, digest, all_trusted, targets)


def record_trust(
    trust: Trust, requests: Sequence[TrustRequest], environ: Mapping[str, str]
) -> None:
    """Record trust in the user's own configuration.

    Without targets, trust in the workspace is revoked.

    Raises:
        ConfigError: when the file cannot be written.
    """
    store = trust_store(environ)
    with changing(environ):
        entries = dict(_recorded(store))
        entries.pop(str(trust.workspace), None)
        if requests:
            targets = sorted({request.target for request in requests})
            entries[str(trust.workspace)] = {"digest": trust.digest, "targets": targets}
        write_private(store, {"version": 1, "workspaces": entries})


def trust_store(environ: Mapping[str, str]) -> Path:
    """Return the file with what the user trusts."""
    return configuration_folder(environ) / "trust.json"


def _recorded(store: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the trusted targets by workspace; an unreadable file trusts nothing."""
    try:
        entries = json.loads(store.read_text(encoding="utf-8"))["workspaces"]
        return {name: entry for name, entry in entries.items() if _is_entry(entry)}
    except UNUSABLE:
        return {}


def _is_entry(entry: Any) -> bool:
    targets = entry.get("targets") if isinstance(entry, dict) else None
    return isinstance(targets, list) and all(isinstance(target, str) for target in targets)


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        try:
            data = read_own(file, MOST_BYTES, linked=True)
        except OSError:
            data = b""
        digest.update(f"{file.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()
