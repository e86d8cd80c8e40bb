"""What all tests share: examples of a property, signals, and what takes an environment."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest
from hypothesis import is_hypothesis_test, settings
from torture import SHARE

ENVIRONMENTS = {"plugin_venv", "bare_venv"}
"""The fixtures that build packages and make a virtual environment with them."""

# What tests compare is plain English, whatever the shell of who runs them asks for.
for variable in ("LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "FORCE_COLOR", "PYTHON_COLORS"):
    os.environ.pop(variable, None)

# The same examples every time, at whatever speed; `--hypothesis-profile random` looks for more.
settings.register_profile("house", derandomize=True, deadline=None, max_examples=20)
settings.register_profile("thorough", settings.get_profile("house"), max_examples=100)
settings.register_profile("random", deadline=None, max_examples=3000)
settings.load_profile("thorough" if os.environ.get("FUMISHIRUBE_THOROUGH") else "house")

# A shell starts what runs in the background with interrupts ignored, and servers would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs an environment, with a longer time limit; what is a property; many cases.

    Of the cases of a test with ``many_cases`` all but one in five are ``slow`` and ``further``.
    """
    cases: Counter[tuple[str, str]] = Counter()
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("many_cases"):
            test = str(item.path), item.originalname
            if cases[test] % SHARE:
                item.add_marker("slow")
                item.add_marker("further")
            cases[test] += 1
        if ENVIRONMENTS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("environment")
            item.add_marker(pytest.mark.timeout(600))
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("property")
