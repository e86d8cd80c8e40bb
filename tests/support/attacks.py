"""Paths and ids that try to lead out of a root: hand-made ones, and the products of their parts."""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

UPS = (
    *(
        "../",
        "..\\",
        "..//",
        ".././",
        "..\\/",
        "./../",
        "x/../../",
        "rules.md/../../",
        "sub/../../",
    ),
    *("%2e%2e/", "%2e%2e%2f", "..%2f", "..%5c", "%252e%252e%252f", "..%c0%af", "%c0%ae%c0%ae/"),
    *("%u002e%u002e/", "..%00/", "&#46;&#46;/", "..;/", "....//", "...//", "..../", "{..}/"),
    *(
        ".. /",
        " ../",
        "..\u00a0/",
        "..\t/",
        "..\n/",
        "..\x00/",
        "..\x7f/",
        "..\u200b/",
        "\ufeff../",
    ),
    *(
        "\u202e../",
        "．．/",
        "．．／",
        "..／",
        "..＼",
        "‥/",
        "‥／",
        "․․/",
        "。。/",
        "..∕",
        "..⁄",
        "..⧸",
    ),
    *("..\u0338/", "\ud800../", "..\udcff/", "~/../", "link/../", "sub/link/"),
)
TARGETS = ("secret.md", "outside/secret.md", "canary.md")
DEVICES = ("CON", "NUL", "nul.md", "AUX.txt", "COM1", "com1.md", "LPT9.tar.gz", "PRN ", "CONIN$")
LINKS = ("link.md", "linked", "linked/secret.md", "dangling.md", "loop", "loop/loop", "up", "up/up")
ABSOLUTE = (
    *("/etc/passwd", "//etc/passwd", "\\etc\\passwd", "///", "/", "\\", "/dev/null", "/dev/zero"),
    *("/proc/self/environ", "/proc/self/cmdline", "/proc/self/cwd/secret.md", "/proc/self/fd/0"),
    *("proc/self/environ", "/proc/self/root/etc/passwd", "/dev/fd/0", "/dev/stdin", "~", "~root"),
    *("~/secret.md", "$HOME/secret.md", "${HOME}", "%USERPROFILE%\\x", "`pwd`"),
    *("$(pwd)/secret.md"),
    *("file:///etc/passwd", "file://localhost/etc/passwd", "http://localhost/", "data:,x", "C:"),
    *("C:\\secret.md", "c:secret.md", "C:/secret.md", "Z:\\", "\\\\server\\share\\a"),
    *("//server/a"),
    *(
        "\\\\?\\C:\\secret.md",
        "\\\\.\\C:\\",
        "\\\\.\\pipe\\x",
        "\\\\?\\UNC\\server\\share",
        "\\??\\C:",
    ),
    *("/etc/passwd\x00.md", "rules.md\x00", "\x00", "\x00/etc/passwd", "rules.md\n", "rules.md\r"),
)
ODD = (
    *(
        "",
        " ",
        ".",
        "..",
        "...",
        "./",
        "../",
        "..\\",
        "./.",
        "\u3000",
        "\u00a0",
        "\ud800",
        "\udcff",
    ),
    *("x" * 255, "x" * 256, "あ" * 86, "x/" * 511 + "x", "x/" * 600, "../" * 400, "/" * 1100),
    *("rules.md/", "rules.md/.", "rules.md/x", "rules.md/../rules.md", "rules.md ", "RULES.MD"),
    *(
        "rules.md.",
        "rules.md::$DATA",
        "rules.md:stream",
        "rules.md:",
        "fifo",
        "fifo/x",
        ".",
        ".git",
    ),
    *("*", "?", "[a-z]*", "r*.md", "{rules,secret}.md", "rules.md;secret.md", "rules.md|cat", "-"),
    *(
        "--help",
        "-rf",
        "@secret.md",
        "<secret.md",
        "'; --",
        "\u202erules.md",
        "rules.md\u200b",
        "m",
    ),
    *(
        "manuals",
        "MANUALS",
        "manuals/m",
        "vault",
        ".fumishirube",
        ".fumishirube/index",
        "fumishirube.yaml",
    ),
    *("../m", "m/..", "m/../..", "m/", "/m", "m\\rules.md", "m::rules", "::", ".hidden", "1e999"),
    *(".system", ".system/journal", ".SYSTEM", ".system.", ".system ", "．system", ".sy\u017ftem"),
    *(
        unicodedata.normalize("NFD", "がé.md"),
        unicodedata.normalize("NFD", "が") + "/../../secret.md",
    ),
)
IDS = (
    *("dir::", "file::", "dir::m", "dir::m::", "dir::::", "dir::m::%", "dir::m::!!!!"),
    *("dir::m::A"),
    *(
        "dir::m::Li4::x",
        "dir::m::Li4 ",
        "DIR::m::Li4",
        "dir:m:Li4",
        "dir::m::Li4=",
        "dir::m::Li4==",
    ),
    *(
        "dir::m::_w",
        "dir::m::gA",
        "dir::../m::c3Vi",
        "dir::..::c3Vi",
        "dir::::c3Vi",
        "dir::.::c3Vi",
    ),
    *(
        "dir::linked::c3Vi",
        "dir::manuals::c3Vi",
        "dir::/etc::c3Vi",
        "dir::m\x00::c3Vi",
        "x::m::c3Vi",
    ),
)
FORGED = (
    "..",
    "../..",
    "../outside",
    "/etc",
    "linked",
    "up",
    "sub/../..",
    "\x00",
    "C:\\",
    "sub/..",
    "",
)


def attacks(outside: Path) -> Sequence[str]:
    """Return them all, each once; some name a place by its absolute path."""
    return [*dict.fromkeys(_attacks(outside))]


def _attacks(outside: Path) -> Iterator[str]:
    for up, depth, target in product(UPS, (1, 2, 5), TARGETS):
        yield up * depth + target
    for one in (*DEVICES, *LINKS):
        yield from (one, f"sub/{one}", f"{one}/x.md", f"./{one}")
    yield from (*ABSOLUTE, *ODD, *IDS)
    for place in (outside, outside / "secret.md"):
        yield from (str(place), f" {place}", str(place).replace("/", "\\"), f"file://{place}")
        yield from ("/".join([".."] * 20) + str(place), f"rules.md/{place}", str(place)[1:])
    for kind, manual, path in product(
        ("dir", "file"), ("m", "..", "linked"), (*FORGED, str(outside))
    ):
        coded = base64.urlsafe_b64encode(path.encode()).decode().rstrip("=")
        yield f"{kind}::{manual}::{coded}"
