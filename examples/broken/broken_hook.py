"""A plugin that misspells a hook."""

from fumishirube import Register, Scorer, hook


@hook
def register_scorrers(register: Register[Scorer]) -> None:
    raise AssertionError("never called")
