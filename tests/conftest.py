"""What all tests share: how many examples a property is tried with, and what signals do."""

from __future__ import annotations

import signal

from hypothesis import settings

# The same examples every time, at whatever speed; `--hypothesis-profile thorough` looks for more.
settings.register_profile("house", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.load_profile("house")

# A shell starts what runs in the background with interrupts ignored, and servers would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
