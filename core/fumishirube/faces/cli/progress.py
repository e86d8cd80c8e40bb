"""The progress of long work, on standard error."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Never

from fumishirube.faces.cli.output import complain, terminal_width
from fumishirube.text.controls import printable
from fumishirube.tools.definitions import Progress

if TYPE_CHECKING:
    from tqdm import tqdm

_SILENT_SECONDS = 1.0
"""Seconds of work before a line says what is running."""


class Bar:
    """A progress bar on standard error, which appears with the first step.

    Without a terminal, one line is printed if the work takes over a second; none for ``expected``
    work, which the user requested by name.
    """

    def __init__(self, *, expected: bool = False) -> None:
        self._bar: tqdm[Never] | None = None
        self._began: float | None = None
        self._announced = expected

    @property
    def progress(self) -> Progress | None:
        """The callback for long work, or ``None`` if nobody would see it."""
        stream = sys.stderr
        if stream is None:
            return None
        return self._step if stream.isatty() else self._announce

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _announce(self, done: float, total: int, what: str) -> None:
        if self._announced or done >= total:
            return
        now = time.monotonic()
        if self._began is None:
            self._began = now
        elif now - self._began > _SILENT_SECONDS:
            self._announced = True
            complain(f"{what}: {int(done)} of {total} done; this may take a while")

    def _step(self, done: float, total: int, what: str) -> None:
        bar = self._bar
        if bar is None:
            from tqdm import tqdm  # noqa: PLC0415 - only long work on a terminal pays for it

            # Some terminals report no size, and tqdm would then draw nothing.
            columns = terminal_width()
            bar = self._bar = tqdm(
                total=total, unit="file", file=sys.stderr, leave=False, ncols=columns, nrows=2
            )
        bar.set_description(printable(what))
        bar.total = total
        bar.update(int(done) - bar.n)
        if done >= total:
            self.close()
