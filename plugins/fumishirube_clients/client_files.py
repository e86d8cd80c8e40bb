"""Read a client's file, change one server in it, and leave the rest of its text as it is."""

from __future__ import annotations

import codecs
import json
import os
import re
import time
import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE
from typing import Any

from fumishirube import ConfigError
from fumishirube.disk import read_own, replace_file
from fumishirube_clients.client_specs import ClientSpec
from fumishirube_clients.json_text import with_value, without_value

_INDENT = re.compile(r'^([ \t]+)"', re.MULTILINE)
_MOST_BYTES = 16 * 1024 * 1024
_START = ("type", "command", "args")
"""What starts a server in its entry; people may change the rest."""


class ClientFile:
    """The file in which a client lists its servers; it may not exist yet.

    Raises:
        ConfigError: when it cannot be parsed; ``by_hand`` says what to do then.
    """

    def __init__(self, client: ClientSpec, path: Path) -> None:
        self.path = path
        self._client = client
        try:
            data = _content(path) or b""
            self._marked = data.startswith(codecs.BOM_UTF8)
            self.before = data.decode("utf-8-sig")
            self._content = _read(client, self.before)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path.name}: it cannot be read: {_reason(error)}") from error
        except (ValueError, RecursionError) as error:
            plain = "plain JSON, without comments" if client.form == "json" else "TOML"
            raise ConfigError(
                f"{path.name}: it is not {plain} ({error}); repair it, or change it by hand"
            ) from error
        servers = self._content.get(client.key, {})
        if not isinstance(servers, MutableMapping):
            raise ConfigError(
                f"{path.name}: {client.key} is not a table of servers; repair it first"
            )
        self._servers = servers

    def with_server(self, name: str, entry: Mapping[str, Any]) -> str:
        """Return the file's text with an entry for a server; other text is unchanged.

        An entry that starts a server by a command keeps whatever else is in it.

        Raises:
            ConfigError: when the entry cannot be added without a change of something else.
        """
        known = self._servers.get(name)
        if not isinstance(known, MutableMapping) or "command" not in known:
            return self._with({(name,): entry})
        changed: dict[tuple[str, ...], Any] = {
            (name, key): value
            for key, value in entry.items()
            if key not in known or (key in _START and known[key] != value)
        }
        return self._with(changed) if changed else self.before

    def without_server(self, name: str) -> str:
        """Return the file's text without a server: empty if nothing else is in the file.

        The target of a link keeps an empty configuration.

        Raises:
            ConfigError: when the entry cannot be removed without a change of something else.
        """
        if name not in self._servers:
            return self.before
        alone = len(self._servers) == 1
        if self._client.form == "json":
            path = (self._client.key,) if alone else (self._client.key, name)
            text = without_value(self.before, path)
        else:
            from fumishirube_clients import toml_text  # noqa: PLC0415 - only one client pays for it

            wanted = tomllib.loads(self.before)
            del wanted[self._client.key][name]
            toml_text.remove_table(self._content, self._client.key, name)
            text = self._toml(wanted)
        is_empty = alone and "".join(text.split()) in ("", "{}")
        return "" if is_empty and not self.path.is_symlink() else text

    def save(self, text: str) -> Path | None:
        """Replace the file's text, and return the path of the backup of the former file.

        A file without text is deleted.

        Raises:
            ConfigError: when writing fails, or another process changed the file meanwhile.
        """
        target = self.path.resolve()  # such files are often links to other folders
        try:
            current = _content(target)
            if (current or b"").decode("utf-8-sig") != self.before:
                raise ConfigError(f"{self.path.name}: another process changed it; try again")
            target.parent.mkdir(parents=True, exist_ok=True)
            backup = None if current is None else _backup(target, current)
            if text:
                content = (codecs.BOM_UTF8 if self._marked else b"") + text.encode()
                mode = None if current is None else S_IMODE(target.stat().st_mode)
                replace_file(target, content, durable=True, mode=mode)
            else:
                self.path.unlink(missing_ok=True)
        except (OSError, UnicodeEncodeError) as error:
            raise ConfigError(f"{self.path.name}: it was not changed: {_reason(error)}") from error
        return backup

    def _with(self, changed: Mapping[tuple[str, ...], Any]) -> str:
        """Return the file's text with some values, each at its path below the servers."""
        if self._client.form == "json":
            match = _INDENT.search(self.before)
            text = self.before if self.before.strip() else "{}\n"
            for path, value in changed.items():
                text = with_value(
                    text, (self._client.key, *path), value, match[1] if match else "  "
                )
            return self._with_line_ends(text)
        import tomlkit  # noqa: PLC0415 - only one client pays for it

        from fumishirube_clients import toml_text  # noqa: PLC0415 - as above

        wanted = tomllib.loads(self.before)
        wanted.setdefault(self._client.key, {})
        if self._client.key not in self._content:
            self._content[self._client.key] = tomlkit.table(is_super_table=True)
        for (name, *rest), value in changed.items():
            after = toml_text.ending(self._servers.get(name))
            for content in (self._content, wanted):
                servers = content[self._client.key]
                table = servers[name] if rest else servers
                table[rest[0] if rest else name] = value
            if not rest:
                toml_text.append(self._content[self._client.key][name], after)
        return self._toml(wanted)

    def _toml(self, wanted: Mapping[str, Any]) -> str:
        """Return the changed text, if it has the ``wanted`` content.

        Raises:
            ConfigError: when it has another content: a new table can take over keys behind it.
        """
        import tomlkit  # noqa: PLC0415 - only one client pays for it

        text = self._with_line_ends(tomlkit.dumps(self._content))
        with suppress(tomllib.TOMLDecodeError):
            made = {self._client.key: {}, **tomllib.loads(text)}
            if _comparable(made) == _comparable(wanted):
                return text
        raise ConfigError(
            f"{self.path.name}: its other settings would be changed too; change it by hand"
        )

    def _with_line_ends(self, text: str) -> str:
        """Return a text with the line ends of the file."""
        if self.before.count("\n") == self.before.count("\r\n") > 0:
            return text.replace("\r\n", "\n").replace("\n", "\r\n")
        return text


def block(client: ClientSpec, name: str, entry: Mapping[str, Any]) -> str:
    """Return the entry of a server as text, for a person to copy."""
    if client.form == "json":
        return json.dumps({client.key: {name: entry}}, ensure_ascii=False, indent=2)
    import tomlkit  # noqa: PLC0415 - only one client pays for it

    return tomlkit.dumps({client.key: {name: entry}}).strip()


def _content(path: Path) -> bytes | None:
    """Return the content of a file, or of the one that a link names; ``None`` if there is none."""
    try:
        return read_own(path, _MOST_BYTES, linked=True)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _comparable(content: Mapping[str, Any]) -> str:
    """Return content of TOML as text: NaN, which may be in it, is not equal to itself."""
    return json.dumps(content, sort_keys=True, default=str)


def _read(client: ClientSpec, text: str) -> MutableMapping[str, Any]:
    if client.form == "toml":
        tomllib.loads(text)  # which refuses more, such as a name that a table has twice
        from fumishirube_clients import toml_text  # noqa: PLC0415 - only one client pays for it

        return toml_text.parsed(text)
    content = json.loads(text, object_pairs_hook=_once) if text.strip() else {}
    if not isinstance(content, dict):
        raise ValueError("it contains no object")  # noqa: TRY004 - the file is wrong, not a type
    return content


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; refuse duplicate keys, of which JSON parsers keep only the last."""
    unique = dict(pairs)
    if len(unique) != len(pairs):
        twice = next(key for place, (key, _) in enumerate(pairs) if key in dict(pairs[:place]))
        raise ValueError(f"the key {twice!r} occurs twice")
    return unique


def _backup(target: Path, content: bytes) -> Path:
    """Copy a file beside itself, under an unused name."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1000):
        more = f"-{number}" if number else ""
        place = target.with_name(f"{target.name}.{stamp}{more}.bak")
        try:
            handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, target.stat().st_mode)
        except FileExistsError:
            continue
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        return place
    raise FileExistsError(f"there are too many copies of {target.name}")


def _reason(error: OSError | UnicodeError) -> str:
    if isinstance(error, UnicodeError):
        return "it is not UTF-8"
    return error.strerror or type(error).__name__
