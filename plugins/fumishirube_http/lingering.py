"""How a connection is closed so that its last answer arrives."""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle, Transport, get_running_loop
from collections.abc import Callable
from functools import partial
from typing import Any

LINGER = 10.0
"""Seconds in which a client may go on sending what was refused already."""
DRAINED = 64 * 1024 * 1024
"""Bytes of it that are read and dropped."""


class Timer:
    """Does something later, unless it is stopped."""

    def __init__(self, loop: AbstractEventLoop, seconds: float, act: Callable[[], None]) -> None:
        self._start = partial(loop.call_later, seconds, self._fire)
        self._act = act
        self._handle: TimerHandle | None = None

    @property
    def runs(self) -> bool:
        """Whether it waits."""
        return self._handle is not None

    def start(self) -> None:
        """Wait, from now on."""
        self.stop()
        self._handle = self._start()

    def stop(self) -> None:
        """Wait no longer."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        self._act()


class LingeringTransport:
    """A transport that, on closing, first reads to the end what the client is still sending.

    A system that closes a connection with unread bytes resets it, and the client loses an answer
    that it had not read yet. ``may_send_more`` tells whether such bytes may come.
    """

    def __init__(self, transport: Transport, may_send_more: Callable[[], bool]) -> None:
        self._transport = transport
        self._may_send_more = may_send_more
        self._dropped = 0
        self._last = Timer(get_running_loop(), LINGER, transport.abort)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    @property
    def drains(self) -> bool:
        """Whether what arrives is dropped."""
        return self._last.runs

    def is_closing(self) -> bool:
        """Tell whether nothing more will be sent."""
        return self.drains or self._transport.is_closing()

    def close(self) -> None:
        """Close the connection once the client has heard the last of it."""
        if self.drains:
            return
        if self._transport.is_closing() or not self._may_send_more():
            self._transport.close()
            return
        self._last.start()
        self._transport.write_eof()
        self._transport.resume_reading()

    def drop(self, data: bytes) -> None:
        """Take what arrived, and forget it."""
        self._dropped += len(data)
        if self._dropped > DRAINED:
            self.abort()

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def end(self) -> None:
        """Note that the connection is no more."""
        self._last.stop()
