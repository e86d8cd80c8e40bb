"""A server without any file of the manuals: it lists, finds, reads and greps like one with them."""

from __future__ import annotations

import json
import secrets
import shutil
import time
import zlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cluster_nodes import Cluster
from cluster_workspaces import MANUALS, opened
from team import Caller

from fumishirube import Budget
from fumishirube.disk import FolderRights
from fumishirube.host.application import Application
from fumishirube.host.people import PersonalTools

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")

LISTED_WITHIN = 10.0
EUC = "契約の解約は30日前に申し出る。\n".encode("euc_jp")


def write_manuals(folder: Path) -> Path:
    """Write two samples, and one manual with folders, chapters, other encodings and no text."""
    for manual in sorted(path for path in MANUALS.iterdir() if path.is_dir())[:2]:
        shutil.copytree(manual, folder / manual.name)
    own = folder / "混成"
    (own / "sub" / "deep").mkdir(parents=True)
    toc = {"manual": "混成", "toc": [{"id": "1", "title": "解約", "file": "01.txt"}]}
    (own / "00_目次.json").write_text(json.dumps(toc, ensure_ascii=False), encoding="utf-8")
    (own / "01.txt").write_bytes(EUC)
    (own / "sub" / "a.md").write_text("# Valve\n\nThe valve opens slowly.\n\n## Limits\n\n５秒。\n")
    (own / "sub" / "deep" / "b.md").write_text("# 期限\n\n請求の期限は3年とする。\n")
    (own / "table.json").write_text('{"手数料": {"通常": 500}}', encoding="utf-8")
    (own / "blob.md").write_bytes(b"\xff\xfe\x00\x01 \xd8\x00 broken")
    return folder


class Servers(NamedTuple):
    """An indexer with the files, a server with them that never writes, and one without them."""

    manuals: Path
    indexer: Application
    beside: Application
    without: Application

    def index(self) -> None:
        context = self.indexer.contexts["manual"]
        for manual in context.manuals():
            context.indexed_of(manual).bring_up_to_date(Budget())


@pytest.fixture
def servers(node: Cluster, tmp_path: Path) -> Iterator[Servers]:
    settings: dict[str, Any] = {
        "hosts": [node.nodes[0].url],
        "namespace": f"f{secrets.token_hex(4)}",
        "replicas": 0,
    }
    manuals = write_manuals(tmp_path / "manuals")
    with ExitStack() as stack:
        made = Servers(
            manuals,
            stack.enter_context(opened(tmp_path / "indexer", manuals, **settings)),
            stack.enter_context(opened(tmp_path / "beside", manuals, **settings, writes=False)),
            stack.enter_context(
                opened(tmp_path / "without", tmp_path / "nowhere", **settings, writes=False)
            ),
        )
        made.index()
        until_listed(made.without, len([*manuals.iterdir()]))
        yield made
    node.nodes[0].delete(f"/{settings['namespace']}-*")


def until_listed(application: Application, number: int) -> None:
    deadline = time.monotonic() + LISTED_WITHIN
    while len(application.contexts["manual"].manuals()) < number:
        assert time.monotonic() < deadline, application.contexts["manual"].manuals()
        time.sleep(0.2)


def calls(manuals: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls of each tool, right and wrong ones."""
    yield "manual_ls", {}
    for manual in sorted(path.name for path in manuals.iterdir()):
        yield "manual_ls", {"id": manual}
        yield "manual_toc", {"manual_id": manual}
        for text in ("期限", "valve", "手続き", "nowhere"):
            query = {"manual_id": manual, "query": text, "required_terms": [text]}
            yield "manual_find", query
            yield "manual_grep", {"manual_id": manual, "any": [text, "5 秒"]}
        paths = sorted((manuals / manual).rglob("*.*"))
        for path in [it.relative_to(manuals / manual).as_posix() for it in paths][:12]:
            yield "manual_read", {"ref": {"manual_id": manual, "path": path, "start_line": 1}}
            yield "manual_scan", {"manual_id": manual, "path": path}
    yield "manual_find", {"manual_id": "*", "query": "期限", "required_terms": ["期限"]}
    yield "manual_read", {"ref": {"manual_id": "混成", "path": "nope.md", "start_line": 1}}
    yield "manual_read", {"ref": {"manual_id": "混成", "path": "../x.md", "start_line": 1}}
    yield "manual_scan", {"manual_id": "混成", "path": "sub"}
    yield "manual_toc", {"manual_id": "nope"}


def test_answers_are_those_of_a_server_with_the_files(servers: Servers) -> None:
    beside, without = (Caller(it.catalog) for it in (servers.beside, servers.without))
    answered = 0
    for name, arguments in calls(servers.manuals):
        assert name in without.tools
        mine = without.tool(name, arguments)
        assert mine == beside.tool(name, arguments), (name, arguments)
        answered += "code" not in mine
    assert answered > 40
    for trace, other in zip(without.traces, beside.traces, strict=True):
        hits = without.tool("manual_hits", {"trace_id": trace})
        assert hits == beside.tool("manual_hits", {"trace_id": other})
    assert without.listed() == beside.listed()
    uri = "manual://混成/sub/a.md"
    assert "valve" in str(without.read(uri))
    assert without.read(uri) == beside.read(uri)
    assert without.completed("path", "s", "混成") == beside.completed("path", "s", "混成")
    assert not (servers.manuals.parent / "nowhere").exists()


def test_changes_and_deletions_reach_it(servers: Servers) -> None:
    reader = Caller(servers.without.catalog)
    reader.tool("manual_ls", {})
    place = {"manual_id": "混成", "path": "sub/a.md"}
    assert "slowly" in str(reader.tool("manual_scan", place))
    (servers.manuals / "混成" / "sub" / "a.md").write_text("# Valve\n\nThe valve opens at once.\n")
    (servers.manuals / "混成" / "table.json").unlink()
    assert "slowly" in str(reader.tool("manual_scan", place)), "not indexed yet"
    servers.index()
    assert "at once" in str(reader.tool("manual_scan", place))
    gone = reader.tool("manual_scan", {"manual_id": "混成", "path": "table.json"})
    assert gone["code"] == "not_found"
    query = {"manual_id": "混成", "query": "slowly", "required_terms": ["slowly"]}
    assert reader.tool("manual_find", query)["candidates"] == 0


def damaged(key: str) -> dict[str, Any]:
    """Return the document of a file with other bytes; the engine has only its data as a source."""
    version, _, line = key.rpartition("-")
    data = ["sub/deep/b.md", b64encode(zlib.compress(b"something else")).decode()]
    fields = {"kind": "file", "of": "sub/deep/b.md", "line": int(line), "data": data}
    return fields | {"version": version, "born": int(version.partition("-")[0], 16)}


def test_stored_bytes_that_differ_from_their_hash_are_not_read(
    servers: Servers, node: Cluster
) -> None:
    reader = Caller(servers.without.catalog)
    reader.tool("manual_ls", {})
    inner = node.nodes[0]
    names = [row["index"] for row in inner.get("/_cat/indices?format=json&h=index")]
    changed = 0
    for name in names:
        hits = inner.get(f"/{name}/_search?q=kind:file&size=1000")["hits"]["hits"]
        for hit in hits:
            if hit["_source"]["data"][0] == "sub/deep/b.md":
                inner.post(f"/{name}/_doc/{hit['_id']}?refresh=true", damaged(hit["_id"]))
                changed += 1
    assert changed == 1
    answer = reader.tool("manual_scan", {"manual_id": "混成", "path": "sub/deep/b.md"})
    assert answer["code"] == "invalid_scope"
    assert "not as its page says" in answer["message"]


def test_a_person_sees_only_the_stored_manuals_of_the_rights(servers: Servers) -> None:
    to = {"manuals": FolderRights(frozenset({"混成"}))}
    with ExitStack() as stack:
        tools = PersonalTools(servers.without, "aiko", to)
        stack.callback(tools.close)
        aiko = Caller(tools.catalog)
        assert [item["name"] for item in aiko.tool("manual_ls", {})["items"]] == ["混成"]
        hidden = next(it.name for it in servers.manuals.iterdir() if it.name != "混成")
        answers = [aiko.tool("manual_toc", {"manual_id": name}) for name in (hidden, "nope")]
        assert answers[0]["code"] == "not_found"
        assert str(answers[0]).replace(hidden, "nope") == str(answers[1])


def test_a_server_that_writes_lists_only_its_folders(
    servers: Servers, node: Cluster, tmp_path: Path
) -> None:
    namespace = servers.without.config.pipelines["manual"].index.settings["namespace"]
    settings = {"hosts": [node.nodes[0].url], "namespace": namespace}
    with opened(tmp_path / "writer", tmp_path / "empty", **settings) as writer:
        assert writer.contexts["manual"].manuals() == []
