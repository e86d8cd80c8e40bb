"""The process in which parsers run: bytes and settings come in, a document goes out."""

from __future__ import annotations

import importlib
import json
import os
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO

HEAD = struct.Struct(">IQ")
"""Before each request: how many bytes of JSON come, and how many of the file."""
ANSWER = struct.Struct(">Q")
"""Before each answer: how many bytes of JSON come."""


def main() -> None:
    """Answer requests until there are none."""
    source, sink = _streams()
    sink.write(ANSWER.pack(0))
    sink.flush()
    while len(head := source.read(HEAD.size)) == HEAD.size:
        said, size = HEAD.unpack(head)
        request = json.loads(source.read(said))
        answer = json.dumps(_answer(request, source.read(size))).encode()
        sink.write(ANSWER.pack(len(answer)) + answer)
        sink.flush()


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Take the pipes away from parsers, which may print."""
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    return source, sink


def _answer(request: dict[str, Any], data: bytes) -> dict[str, Any]:
    sys.path[:] = request["path"]
    _limit(request["memory"])
    from fumishirube.errors import Unreadable  # noqa: PLC0415 - the path has come just now
    from fumishirube.parsing.records import document_record  # noqa: PLC0415 - see above

    try:
        module, _, function = request["parser"].partition(":")
        parser = getattr(importlib.import_module(module), function)
        return {"document": document_record(parser(data, request["name"], request["settings"]))}
    except Unreadable as error:
        return {"unreadable": error.reason, "message": str(error)}
    except MemoryError:
        return {"unreadable": "parser_memory", "message": ""}
    except Exception as error:  # whatever a library meets in a broken file
        return {"unreadable": "damaged", "message": "", "fault": type(error).__name__}


def _limit(memory: int) -> None:
    """Let the system refuse memory, files and cores, where it can."""
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
