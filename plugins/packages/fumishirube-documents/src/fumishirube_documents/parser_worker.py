"""What runs in the processes of parsers: it gets bytes, and returns documents and pictures."""

from __future__ import annotations

import gc
import importlib
import json
import sys
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from fumishirube import Document, Unreadable
from fumishirube.parsing import Channel, PageView, Picture, document_record
from fumishirube_documents import part_texts


def serve(channel: Channel, setup: bytes) -> None:
    """Answer requests until there are no more; ``setup`` is empty."""
    del setup
    gc.enable()
    part_texts.connect(channel)
    while (head := channel.receive()) is not None and (data := channel.receive()) is not None:
        part_texts.send(channel, _answer(channel, json.loads(head), data))


def _answer(channel: Channel, request: Mapping[str, Any], data: bytes) -> Mapping[str, Any]:
    _limit(request["memory"])
    try:
        module, _, function = request["parser"].partition(":")
        parser = getattr(importlib.import_module(module), function)
        part_texts.send(channel, {"started": True})  # from now on, its time is limited
        wanted = _view(*request["view"]) if request["view"] else request["name"]
        return _record(parser(data, wanted, request["settings"]))
    except Unreadable as error:
        return {"unreadable": error.reason, "message": str(error)}
    except MemoryError:
        return {"unreadable": "parser_memory", "message": ""}
    except Exception as error:  # libraries raise anything on damaged files
        return {"unreadable": "damaged", "message": "", "fault": type(error).__name__}


def _view(page: int, lines: list[str], marked: list[int]) -> PageView:
    return PageView(page, tuple(lines), tuple(marked))


def _record(result: Document | Picture) -> dict[str, Any]:
    if isinstance(result, Picture):
        return {"picture": b64encode(result.data).decode(), "marked": result.marked}
    return {"document": document_record(result)}


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
