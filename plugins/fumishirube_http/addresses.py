"""Names and addresses of machines: what one is, and which mean this machine alone."""

from __future__ import annotations

import re
from ipaddress import ip_address

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The names by which this machine calls itself."""

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(?::[0-9]{1,5})?")


def host_name(value: str) -> str | None:
    """Return the name of ``name:port`` in lower case, or ``None`` if it is no such thing."""
    match = _HOST.fullmatch(value.strip().lower())
    return match["name"] if match else None


def is_loopback(host: str) -> bool:
    """Tell whether a name or an address means this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
