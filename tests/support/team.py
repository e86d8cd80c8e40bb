"""A workspace of several people, and for each of them one with only that person's files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, Self, get_args

from manuals import opened

from fumishirube import Cancelled, ToolError
from fumishirube.disk import FolderRights
from fumishirube.host.catalog import Catalog
from fumishirube.host.people import PersonalTools
from fumishirube.host.reload.reloader import Served, ServedApplication
from fumishirube.tools.calls import call_tool, error_payload
from fumishirube.tools.definitions import Call, Session
from fumishirube_manual.surface import Extra

CONFIGURATION = (
    f"surfaces: [{{use: manual, with: {{extras: [{', '.join(get_args(Extra))}]}}}}, "
    "{use: vault, with: {history: true}}, {use: chapters}, {use: graph}]\n"
    "adaptive: {file: var/statistics.jsonl}\n"
    "traces: {keep: 10000}\n"  # which of the oldest are gone already, a thread decides
)

CHAPTERS = {"manual": "契約編", "toc": [{"id": "1", "title": "解約", "file": "01.txt"}]}

FILES: Mapping[str, str] = {
    "manuals/給付編/01.md": (
        "# 総則\n入院給付金は対象です。\n## 例外\n美容手術は対象外です。第2章を参照。\n"
        "## 期限\n請求の期限は3年とする。\n"
    ),
    "manuals/給付編/sub/02.md": (
        "# 手術\n手術給付金は入院を伴う場合に支払う。\n## 限度\n20回まで。\n"
    ),
    "manuals/事務編/03.md": "# 請求\n請求書と診断書を提出する。\n## 期限\n審査は5日とする。\n",
    "manuals/事務編/table.json": '{"手数料": {"通常": 500, "特急": 1500}}',
    "manuals/秘密編/04.md": (
        "# 極秘査定\n入院の査定基準は暗号名ペガサス。\n## 例外\n役員は対象外の期限なし。\n"
    ),
    "manuals/secret/05.md": (
        "# Pegasus\nThe underwriting password is zebrafish.\n## Deadline\nNone.\n"
    ),
    "manuals/契約編/00_目次.json": json.dumps(CHAPTERS, ensure_ascii=False),
    "manuals/契約編/01.txt": "第1章 解約\n解約の期限は30日。入院中の解約は対象外。\n",
    "vault/team/plan.md": "# Plan\nShip the manual.\n",
    "vault/team/deep/note.md": "Deep note.\n",
    "vault/aiko/daily.md": "Aiko's diary: 期限.\n",
    "vault/boss/salary.md": "Salaries: zebrafish.\n",
    "docs/index.md": "# Index\nSee [guide](guide.md).\n",
    "docs/guide.md": "# Guide\nInstall Pegasus, then see [index](index.md).\n",
}

LONG_AGO = 1_700_000_000
"""When the files were changed: not within the grain of any clock."""
EVERYTHING = FolderRights(write=frozenset({""}))


def rights(
    manuals: str = "", read: str = "", write: str = "", docs: bool = False
) -> dict[str, FolderRights]:
    """Return rights to some manuals and folders of the vault, and perhaps to the documents."""
    return {
        "manuals": FolderRights(frozenset(manuals.split())),
        "vault": FolderRights(frozenset(read.split()), frozenset(write.split())),
        **({"docs": FolderRights(frozenset({""}))} if docs else {}),
    }


PEOPLE: Mapping[str, dict[str, FolderRights]] = {
    "aiko": rights("給付編", read="team", write="aiko"),
    "ben": rights("事務編 契約編", read="team/deep", docs=True),
    "chie": rights("給付編 事務編", write="team"),
    "dan": rights("nothing", write="empty"),
    "boss": {"manuals": FolderRights(frozenset({""})), "vault": EVERYTHING},
}


def workspace(folder: Path) -> Path:
    """Write the workspace of all."""
    for name, text in {**FILES, "fumishirube.yaml": CONFIGURATION}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (LONG_AGO, LONG_AGO))
    return folder


def only(whole: Path, folder: Path, to: Mapping[str, FolderRights]) -> Path:
    """Copy the files of one person to another workspace, with their times."""
    for root in ("manuals", "vault"):
        (folder / root).mkdir(parents=True)
    shutil.copy2(whole / "fumishirube.yaml", folder / "fumishirube.yaml")
    for name in FILES:
        root, _, path = name.partition("/")
        if to.get(root, FolderRights()).readable(path):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(whole / name, folder / name)
    return folder


class Caller:
    """What one person gets from a server, with random and measured values replaced."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.tools = {tool.name: tool for tool in catalog.tools}
        self.resources = {resources.scheme: resources for resources in catalog.resources}
        self.prompts = {prompt.name: prompt for prompt in catalog.prompts}
        self.session = Session()
        self.traces: list[str] = []

    def tool(self, name: str, arguments: Any) -> Any:
        """Call a tool, and return its answer or its error."""
        if name not in self.tools:
            return "no such tool"
        try:
            answer = call_tool(self.tools[name], arguments, Call(self.session))
        except ToolError as error:
            return self._plain(error_payload(error))
        except Cancelled:
            return "cancelled"
        if isinstance(trace := answer.get("trace_id"), str) and trace not in self.traces:
            self.traces.append(trace)
        return self._plain(answer)

    def listed(self) -> Any:
        """Return all that the lists of a client hold."""
        return {
            "tools": sorted(self.tools),
            "resources": [[*item.listed()] for item in self.resources.values()],
            "prompts": sorted(self.prompts),
        }

    def read(self, uri: str) -> Any:
        """Read a resource."""
        resources = self.resources.get(uri.partition(":")[0])
        try:
            return resources and self._plain([*resources.read(uri, Call(self.session))])
        except ToolError as error:
            return self._plain(error_payload(error))

    def stamped(self, uri: str) -> Any:
        """Return the stamp by which subscribers learn of changes, or the error."""
        resources = self.resources.get(uri.partition(":")[0])
        if resources is None or resources.stamp is None:
            return None
        try:
            return resources.stamp(uri)
        except ToolError as error:
            return self._plain(error_payload(error))

    def question(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Return the question that a call leaves open to the person behind a client."""
        tool = self.tools.get(name)
        return tool and tool.question and tool.question(arguments, self.session)

    def prompt(self, name: str, arguments: Mapping[str, str], place: str, typed: str) -> Any:
        """Return the text of a prompt, and what completes one of its arguments."""
        prompt = self.prompts[name]
        needed = {it.name: arguments.get(it.name, "x") for it in prompt.arguments}
        try:
            return [prompt.write(needed), [*prompt.complete(place, typed, arguments)]]
        except ToolError as error:
            return self._plain(error_payload(error))

    def completed(self, place: str, typed: str, manual: str) -> Any:
        """Complete an argument of the resources."""
        try:
            return [
                self._plain([*item.complete(place, typed, {"manual": manual})])
                for item in self.resources.values()
            ]
        except ToolError as error:
            return self._plain(error_payload(error))

    def _plain(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: self._plain(inner)
                for name, inner in value.items()
                if not name.endswith(("_ms", "elapsed", "error_id"))
            }
        if isinstance(value, (list, tuple)):
            return [self._plain(inner) for inner in value]
        if isinstance(value, str):
            for place, trace in enumerate(self.traces):
                value = value.replace(trace, f"trace {place}")
        return value


class Team:
    """A server of all people in this process, and a server of each person alone."""

    def __init__(self, folder: Path) -> None:
        self.workspace = workspace(folder / "all")
        self._closing = ExitStack()
        self._whole = self._serve(self.workspace)
        self.people: dict[str, Caller] = {}
        self.alone: dict[str, Caller] = {}
        for person, to in PEOPLE.items():
            tools = Served(
                PersonalTools(self._whole.application, person, to), nullcontext, self._whole
            )
            self._closing.callback(tools.close)
            self.people[person] = Caller(tools.catalog)
            lonely = self._serve(only(self.workspace, folder / person, to))
            self.alone[person] = Caller(_without(lonely.catalog, tools.application))

    def _serve(self, folder: Path) -> ServedApplication:
        served = ServedApplication(opened(folder), nullcontext)
        self._closing.callback(served.close)
        return served

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()


def _without(catalog: Catalog, personal: PersonalTools) -> Catalog:
    """Leave out the tools that a person without any right to a root is not offered."""
    tools = [tool for tool in catalog.tools if tool.name in personal.tools]
    return Catalog(tools, catalog.resources, catalog.prompts)
