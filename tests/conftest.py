"""What all tests share: examples of a property, signals, and what takes an environment."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

ENVIRONMENTS = {"plugin_venv", "bare_venv"}
"""The fixtures that build packages and make a virtual environment with them."""

# The same examples every time, at whatever speed; `--hypothesis-profile thorough` looks for more.
settings.register_profile("house", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.load_profile("house")

# A shell starts what runs in the background with interrupts ignored, and servers would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs an environment: it is long, and its time limit is longer."""
    for item in items:
        if ENVIRONMENTS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("environment")
            item.add_marker(pytest.mark.timeout(600))
