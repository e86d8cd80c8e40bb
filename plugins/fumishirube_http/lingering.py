"""Closes connections so that the last answer reaches the client."""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle, Transport, get_running_loop
from collections.abc import Callable
from functools import partial
from typing import Any

LINGER = 10.0
"""The most seconds in which a client may continue to send after a refusal."""
DRAINED = 64 * 1024 * 1024
"""The most bytes that are read and dropped meanwhile."""


class Timer:
    """Calls a function later, unless it is stopped."""

    def __init__(self, loop: AbstractEventLoop, seconds: float, act: Callable[[], None]) -> None:
        self._start = partial(loop.call_later, seconds, self._fire)
        self._act = act
        self._handle: TimerHandle | None = None

    @property
    def runs(self) -> bool:
        """Whether the timer is running."""
        return self._handle is not None

    def start(self) -> None:
        """Start, or start again."""
        self.stop()
        self._handle = self._start()

    def stop(self) -> None:
        """Stop without calling the function."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        self._act()


class LingeringTransport:
    """A transport that, when closed, first reads what the client is still sending.

    The operating system resets a connection that is closed with unread bytes, and the client loses
    an answer that it has not read. ``may_send_more`` returns whether unread bytes may come.
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
        """Whether received bytes are dropped."""
        return self._last.runs

    def is_closing(self) -> bool:
        """Return whether nothing more will be sent."""
        return self.drains or self._transport.is_closing()

    def close(self) -> None:
        """Close the connection after the client has received the answer."""
        if self.drains:
            return
        if self._transport.is_closing() or not self._may_send_more():
            self._transport.close()
            return
        self._last.start()
        if self._transport.can_write_eof():  # over TLS there is no such end
            self._transport.write_eof()
        self._transport.resume_reading()

    def drop(self, data: bytes) -> None:
        """Drop received bytes."""
        self._dropped += len(data)
        if self._dropped > DRAINED:
            self.abort()

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def end(self) -> None:
        """Record that the connection was closed."""
        self._last.stop()
