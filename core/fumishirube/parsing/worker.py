"""The process in which parsers run: it reads bytes and settings, and writes documents and pictures.

It may run another loop of answers instead; see ``serve`` in a request.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import struct
import sys
from pathlib import Path
from typing import IO, Any, BinaryIO

HEAD = struct.Struct(">IQ")
"""The head of a request: the bytes of JSON, and the bytes of the file."""
ANSWER = struct.Struct(">Q")
"""The head of an answer: the bytes of JSON."""


def main() -> None:
    """Answer requests until the input ends."""
    source, target = _streams()
    write_frame(target, b"")
    while len(head := source.read(HEAD.size)) == HEAD.size:
        head_size, size = HEAD.unpack(head)
        request = json.loads(source.read(head_size))
        if "serve" in request:
            sys.path[:] = request["path"]
            gc.disable()  # while modules are imported, which leave no garbage
            _function(request["serve"])(source, target, source.read(size))
            return
        data = source.read(size)
        write_frame(target, json.dumps(_answer(request, data, source, target)).encode())


def frame(data: bytes) -> bytes:
    """Return an answer with its head."""
    return ANSWER.pack(len(data)) + data


def write_frame(target: BinaryIO, data: bytes) -> None:
    """Write an answer with its head."""
    target.write(frame(data))
    target.flush()


def read_frame(source: IO[bytes], most: int = sys.maxsize) -> bytes | None:
    """Return an answer without its head, or ``None`` if the source ends before.

    Raises:
        OverflowError: when it has more than ``most`` bytes.
    """
    head = source.read(ANSWER.size)
    if len(head) < ANSWER.size:
        return None
    (size,) = ANSWER.unpack(head)
    if size > most:
        raise OverflowError
    data = source.read(size)
    return data if len(data) == size else None


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes from parsers, which may print."""
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("r+b") as null:
        os.dup2(null.fileno(), 0)
        os.dup2(null.fileno(), 1)
    return source, target


def _answer(
    request: dict[str, Any], data: bytes, source: BinaryIO, target: BinaryIO
) -> dict[str, Any]:
    sys.path[:] = request["path"]
    _limit(request["memory"])
    from fumishirube.errors import Unreadable  # noqa: PLC0415 - the path has come just now
    from fumishirube.parsing import part_texts  # noqa: PLC0415 - see above
    from fumishirube.parsing.records import page_view, result_record  # noqa: PLC0415 - see above

    part_texts.connect(source, target)
    try:
        parser = _function(request["parser"])
        part_texts.report_start()
        wanted = page_view(request["view"]) if request["view"] else request["name"]
        return result_record(parser(data, wanted, request["settings"]))
    except Unreadable as error:
        return {"unreadable": error.reason, "message": str(error)}
    except MemoryError:
        return {"unreadable": "parser_memory", "message": ""}
    except Exception as error:  # libraries raise anything on damaged files
        return {"unreadable": "damaged", "message": "", "fault": type(error).__name__}


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def _limit(memory: int) -> None:
    """Limit memory, files and core dumps, where the system supports it."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not on Windows

    limits = {"RLIMIT_AS": memory, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0}
    for name, most in limits.items():
        number = getattr(resource, name, None)
        if number is not None:
            _, hard = resource.getrlimit(number)
            soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(number, (soft, hard))


if __name__ == "__main__":
    main()
