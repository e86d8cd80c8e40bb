"""The script of worker processes, and what one exchanges with the process that began it."""

from __future__ import annotations

import gc
import importlib
import json
import os
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

_HEAD = struct.Struct(">Q")
"""The head of a message: how many bytes follow."""


class Channel:
    """Messages of bytes over two pipes, between a worker process and the one that began it."""

    def __init__(self, source: IO[bytes], target: IO[bytes]) -> None:
        self._source = source
        self._target = target

    def send(self, data: bytes) -> None:
        """Send a message; if the other process is gone, the next receipt shows it."""
        with suppress(OSError):
            self._target.write(_HEAD.pack(len(data)) + data)
            self._target.flush()

    def receive(self, most: int | None = None) -> bytes | None:
        """Wait for a message; return ``None`` if the other process is gone.

        Raises:
            OverflowError: when it has more than ``most`` bytes.
        """
        with suppress(OSError):
            head = self._source.read(_HEAD.size)
            if len(head) == _HEAD.size:
                (size,) = _HEAD.unpack(head)
                if most is not None and size > most:
                    raise OverflowError
                data = self._source.read(size)
                return data if len(data) == size else None
        return None


def main() -> None:
    """Call the function that the first message names with the second one, when they come."""
    channel = _channel()
    channel.send(b"")
    head, setup = channel.receive(), channel.receive()
    if head is None or setup is None:
        return
    request = json.loads(head)
    sys.path[:] = request["path"]
    gc.disable()  # while modules are imported, which leave no garbage
    module, _, function = request["serve"].partition(":")
    getattr(importlib.import_module(module), function)(channel, setup)


def _channel() -> Channel:
    """Keep the pipes from what this process runs, which may print."""
    channel = Channel(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    with Path(os.devnull).open("r+b") as null:
        os.dup2(null.fileno(), 0)
        os.dup2(null.fileno(), 1)
    return channel


if __name__ == "__main__":
    main()
