"""What all tests share: how many examples a property is tried with."""

from __future__ import annotations

from hypothesis import settings

# The same examples every time, at whatever speed; `--hypothesis-profile thorough` looks for more.
settings.register_profile("house", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.load_profile("house")
