"""Interrupts by the user, told from a ``KeyboardInterrupt`` that a plugin raises by itself."""

from __future__ import annotations

import signal
from threading import current_thread, main_thread
from typing import NoReturn


def interrupt(_number: int, _frame: object) -> NoReturn:
    """Interrupt the main thread: a handler of signals."""
    raise KeyboardInterrupt


def handle_interrupts() -> None:
    """Let the process know its interrupts, unless something else handles or ignores them."""
    if current_thread() is main_thread() and _is_default():
        signal.signal(signal.SIGINT, interrupt)


def release_interrupts() -> None:
    """Leave interrupts to an event loop, which handles them unless something else does."""
    if signal.getsignal(signal.SIGINT) is interrupt:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_interrupt(error: BaseException) -> bool:
    """Tell whether an error is an interrupt by the user, which only the main thread gets.

    Without :func:`handle_interrupts`, every ``KeyboardInterrupt`` there is taken for one.
    """
    if not isinstance(error, KeyboardInterrupt) or current_thread() is not main_thread():
        return False
    return _is_default() or raised_in(error, __name__)


def raised_in(error: BaseException, package: str) -> bool:
    """Tell whether an error was raised by the code of a module, or of a package."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = str(trace.tb_frame.f_globals.get("__name__", "")) if trace else ""
    return name == package or name.startswith(f"{package}.")


def _is_default() -> bool:
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler
