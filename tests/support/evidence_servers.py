"""A server of the manuals in which an answer is a few lines.

A test module asks for it with ``pytest_plugins = ["evidence_servers"]`` and the fixture's name.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from evidence_manuals import MANUALS
from manuals import write
from stdio import Fumishirube


@pytest.fixture(scope="module")
def evidence_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    """A connection that has listed the manuals."""
    with Fumishirube(write(tmp_path_factory.mktemp("evidence"), MANUALS)) as connected:
        connected.ok("manual_ls")
        yield connected
