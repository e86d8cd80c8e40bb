"""Checks of ``fumishirube doctor`` for any workspace: installation, folders, leftovers."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal, NamedTuple

from fumishirube.disk.folders import is_full
from fumishirube.disk.roots import Root
from fumishirube.faces.cli.call import show
from fumishirube.faces.cli.messages import translated
from fumishirube.faces.cli.output import counted, table

SPACE = 1024 * 1024
"""Bytes written to test whether the disk has space left."""

_PACKAGE = re.compile(r"^[A-Za-z0-9._-]+")
_PLATFORM = re.compile(r"sys_platform\s*==\s*['\"](\w+)")
_BOUND = re.compile(r"(>=|<)([0-9.]+)")


class Check(NamedTuple):
    """The result of one check: its subject, its finding, and the remedy if it failed."""

    status: Literal["ok", "warn", "FAIL"]
    subject: str
    finding: str
    remedy: str = ""


def print_checks(checks: Sequence[Check], options: Namespace) -> None:
    """Print a line for each check, with its remedy, or all of them as JSON."""
    rows = [(c.status, c.subject, "; ".join(filter(None, map(translated, c[2:])))) for c in checks]
    show([check._asdict() for check in checks], options, lambda _: table(rows))


def installation() -> Iterator[Check]:
    """Name Python's version; check the encoding of file names, and all required packages."""
    yield Check("ok", "python", ".".join(map(str, sys.version_info[:3])))
    if sys.getfilesystemencoding() != "utf-8":
        finding = f"read as {sys.getfilesystemencoding()}: Japanese ones cannot be seen"
        yield Check("FAIL", "file names", finding, "set the environment variable PYTHONUTF8=1")
    installed: list[str] = [f"fumishirube {_version('fumishirube')}"]
    missing: list[str] = []
    for requirement in requires("fumishirube") or ():
        name = _PACKAGE.match(requirement)
        wanted, _, marker = requirement.partition(";")
        platform = _PLATFORM.search(marker)
        if name is None or "extra ==" in marker or (platform and platform[1] != sys.platform):
            continue
        known = _version(name.group())
        (installed if known else missing).append(f"{name.group()} {known}".strip())
        if known and not _fits(known, wanted):
            finding = f"{name.group()} {known} is installed, but {wanted.strip()} is needed"
            yield Check("FAIL", "packages", finding, f"python -m pip install '{wanted.strip()}'")
    yield Check("ok", "packages", ", ".join(installed))
    if missing:
        remedy = "install fumishirube again into this environment"
        yield Check("FAIL", "packages", f"missing: {', '.join(missing)}", remedy)


def check_writable(root: Root, subject: str, remedy: str) -> Check:
    """Check that a folder can be written to, and that the disk has space left."""
    try:
        with tempfile.TemporaryFile(dir=root.path) as file:
            file.write(bytes(SPACE))
            file.flush()
    except OSError as error:
        if is_full(error):
            return Check("FAIL", subject, "there is no space left", "free some, or move it")
        return Check("FAIL", subject, "cannot be written", remedy)
    return Check("ok", subject, "can be written")


def leftovers(others: Sequence[Path], subject: str, command: str) -> Iterator[Check]:
    """Report indexes of other settings or versions, which a server may delete meanwhile."""
    if others:
        size = sum(map(_size, others))
        number = counted(len(others), "folder")
        finding = (
            f"{number} with an index of other settings, or of another version, {size / 1e6:.1f} MB"
        )
        remedy = f"if it is no longer used, run '{command}'"
        yield Check("warn", subject, finding, remedy)


def _size(folder: Path) -> int:
    """Return the bytes of the files in a folder that are still there."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(place, name).stat().st_size
    return size


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _fits(known: str, wanted: str) -> bool:
    """Tell whether a version satisfies a requirement."""
    bounds = _BOUND.findall(wanted)
    return all((_numbers(known) < _numbers(bound)) is (sign == "<") for sign, bound in bounds)


def _numbers(release: str) -> tuple[int, ...]:
    match = re.match(r"[0-9.]*", release)
    numbers = [int(part) for part in (match.group() if match else "").split(".") if part]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
