"""Manuals of chapters with tables of contents, and a server of one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import manuals
from stdio import Fumishirube

SURFACE = "surfaces: [{use: chapters}]\n"
NAME = "給付編"

FIRST = "第1章 総則\n\nこの編は給付について定める。\n"
SURGERY = (
    "第3章 重大手技\n異常分娩のうち、帝 王 切 開は対象とする。\n（１）入院給付金\n"
    "（２）手術給付金\n美容目的の手術は対象外とする。\n※事前の照会を要する。\n"
)


def entry(number: str, title: str, file: str | None = None, **more: Any) -> dict[str, Any]:
    """Return one chapter of a table of contents."""
    return {"id": number, "title": title, "file": file or f"{number}.txt", **more}


def made(workspace: Path, toc: object, settings: str = SURFACE, **files: str | bytes) -> Path:
    """Write a manual with a table of contents, and a configuration that serves it."""
    written = json.dumps({"manual": NAME, "toc": toc}, ensure_ascii=False)
    chapters = {f"{NAME}/{name}.txt": text for name, text in files.items()}
    manuals.write(workspace, {f"{NAME}/00_目次.json": written, **chapters})
    (workspace / "fumishirube.yaml").write_text(settings, encoding="utf-8")
    return workspace


def four_chapters(workspace: Path) -> Path:
    """Write a manual of three chapters and a fourth without a file, beside two other folders."""
    toc = [
        entry("01", "第1章 総則"),
        entry("02-1", "第2章-1 資格"),
        entry("03", "第3章 重大手技", children=[{"label": "手術", "at": [1, None]}]),
        entry("07", "第7章 欠番"),
    ]
    made(
        workspace,
        toc,
        **{
            "01": FIRST,
            "02-1": "第2章-1 資格\r\n会員とする。\r",
            "03": SURGERY,
        },
    )
    manuals.write(
        workspace, {"事務編/00_目次.json": '{"manual":"別","toc":[]}', "空/readme.md": ""}
    )
    return workspace


def searched(server: Fumishirube, query: str, **more: Any) -> list[str]:
    """Return the ids of the chapters that a search finds."""
    answer = server.ok("search_text", manual_name=NAME, query=query, **more)
    return [hit["section_id"] for hit in answer["results"]]


def scoring(*scorers: str) -> str:
    """Return a configuration that serves chapters with these scorers."""
    uses = ", ".join(f"{{use: {scorer}}}" for scorer in scorers)
    return f"{SURFACE}pipelines: {{chapters: {{scorers: [{uses}]}}}}\n"


def opened(workspace: Path, **environ: str) -> Callable[..., dict[str, Any]]:
    """Open a workspace in this process; return how a tool is called."""
    application = manuals.opened(workspace, **environ)
    return lambda name, **arguments: manuals.ask(application, name, **arguments)
