"""Documents by their URIs, and prompts, as clients of the real server see them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from manuals import RULES, ask, citation, opened, write
from mcp import MCPError
from mcp_types import CompletionArgument, PromptReference, ResourceTemplateReference
from stdio import Fumishirube

from fumishirube.text import Lines, estimate_tokens

LONG = "".join(f"{number} 行目の規程。\n" for number in range(1, 6001))
WHOLE = "manual://{manual}/{+path}"
LINES = "manual://{manual}/{+path}#L{start}-L{end}"
FILES: dict[str, str | bytes] = {
    "m1/rules.md": RULES,
    "m1/a folder/50% & #1.md": "# One\ntwo\n",
    "m1/data.json": '{"rates": [\n1,\n2\n]}\n',
    "m1/plain.toml": "x",
    "業務:A@社/休暇/有給.md": "# 有給\n十日です。\n## 例外\n試用期間。\n",
    "long/long.md": LONG,
    "long/line.json": json.dumps({"text": "語" * 40_000}, ensure_ascii=False),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write(tmp_path_factory.mktemp("resources"), FILES)
    (folder / "secret.md").write_text("# secret\n", encoding="utf-8")
    (folder / "manuals" / "m1" / ".hidden.md").write_text("# hidden\n", encoding="utf-8")
    (folder / "manuals" / "m1" / "link.md").symlink_to(folder / "secret.md")
    (folder / "manuals" / "link").symlink_to(folder)
    return folder


@pytest.fixture(scope="module", params=["legacy", "2026-07-28"])
def server(workspace: Path, request: pytest.FixtureRequest) -> Iterator[Fumishirube]:
    with Fumishirube(workspace, request.param) as one:
        yield one


def read(server: Fumishirube, uri: str) -> list[Any]:
    contents: list[Any] = server.invoke("read_resource", uri).contents
    assert contents
    for content in contents:
        assert content.meta["fumishirube/content_trust"] == "untrusted"
        assert estimate_tokens(content.text) < 25_000
    return contents


def refused(server: Fumishirube, uri: str) -> MCPError:
    with pytest.raises(MCPError) as caught:
        server.invoke("read_resource", uri)
    assert len(caught.value.message) <= 300
    assert str(server.workspace) not in str(caught.value.data)
    return caught.value


def test_every_file_is_listed_and_gives_its_text(server: Fumishirube) -> None:
    listed = server.invoke("list_resources").resources
    names = [resource.name for resource in listed]
    assert sorted(names) == sorted(n for n in FILES if not n.endswith("toml"))
    assert [resource.uri for resource in listed] == sorted(resource.uri for resource in listed)
    for resource in listed:
        assert resource.uri.isascii()
        text = FILES[resource.name]
        assert isinstance(text, str)
        contents = read(server, resource.uri)
        if not resource.name.startswith("long/"):
            (content,) = contents
            assert (content.text, content.uri) == (text, resource.uri)
            assert content.mime_type == resource.mime_type
    kinds = {resource.name: resource.mime_type for resource in listed}
    assert kinds["m1/rules.md"] == "text/markdown"
    assert kinds["m1/data.json"] == "application/json"


def test_reading_needs_no_discovery_and_is_none(server: Fumishirube) -> None:
    """Who has a URI was given it; but a list that a host took is none that the model has seen."""
    with Fumishirube(server.workspace) as fresh:
        assert read(fresh, "manual://m1/rules.md")
        error = fresh.refused("manual_toc", manual_id="m1")
        assert error["details"]["required_first_call"] == "manual_ls"


def test_a_cite_gives_exactly_its_lines(server: Fumishirube, workspace: Path) -> None:
    application = opened(workspace)
    found = ask(
        application, "manual_find", query="対象外の例外", manual_id="m1", required_terms=["対象外"]
    )
    items = found["inline_hits"]["items"]
    assert items
    document = application.contexts["manual"].manual("m1").document("rules.md")
    for item in items:
        (content,) = read(server, citation(item))
        first = item["ref"]["start_line"]
        (section,) = [one for one in document.sections if one.start_line == first]
        assert content.text == document.text[section.start : section.end]
    application.close()


@pytest.mark.parametrize(("first", "last"), [(1, 1), (2, 4), (6, 6), (1, 6)])
def test_lines_are_those_between_line_feeds(server: Fumishirube, first: int, last: int) -> None:
    expected = "".join(f"{line}\n" for line in RULES.split("\n")[first - 1 : last])
    (content,) = read(server, f"manual://m1/rules.md#L{first}-L{last}")
    assert content.text == expected
    assert content.mime_type == "text/markdown"
    (content,) = read(server, "manual://m1/data.json#L2-L3")
    assert (content.text, content.mime_type) == ("1,\n2\n", "text/plain")
    (content,) = read(server, "manual://m1/rules.md#L2")
    assert content.text == "対象です。\n"


@pytest.mark.parametrize(
    "uri",
    [
        "manual://業務:A@社/休暇/有給.md",
        "manual://業務%3AA%40社/休暇/有給.md#L1-L4",
        "manual://%E6%A5%AD%E5%8B%99%3AA%40%E7%A4%BE/%E4%BC%91%E6%9A%87/%E6%9C%89%E7%B5%A6.md",
    ],
)
def test_escaped_or_not_a_uri_names_the_same(server: Fumishirube, uri: str) -> None:
    (content,) = read(server, uri)
    assert (content.text, content.uri) == (FILES["業務:A@社/休暇/有給.md"], uri)


def test_a_long_text_ends_early_and_says_how_to_go_on(server: Fumishirube) -> None:
    uri, whole, readings = "manual://long/long.md", "", 0
    while True:
        content, *words = read(server, uri)
        whole += content.text
        readings += 1
        if not words:
            break
        (word,) = words
        assert f"Go on with {word.uri}" in word.text
        assert read(server, content.uri)[0].text == content.text
        uri = word.uri
    assert whole == LONG
    assert readings > 2
    content, word = read(server, "manual://long/line.json")
    assert content.text == str(FILES["long/line.json"])[:24_000]
    assert content.mime_type == "text/plain"
    assert "manual_scan" in word.text
    assert '{"char_offset":24000}' in word.text


def test_lines_that_changed_since_they_were_cited_say_so(server: Fumishirube) -> None:
    content, word = read(server, "manual://m1/rules.md#L1-L2@000000")
    assert content.text == "# 総則\n対象です。\n"
    assert "changed" in word.text


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("manual://m1/none.md", "not_found"),
        ("manual://none/rules.md", "not_found"),
        ("manual://m1/plain.toml", "not_found"),
        ("manual://m1/.hidden.md", "not_found"),
        ("manual://m1/link.md", "forbidden"),
        ("manual://link/secret.md", "forbidden"),
        ("other://m1/rules.md", "not_found"),
        ("manual://m1/../../secret.md", "invalid_path"),
        ("manual://m1/%2e%2e/%2e%2e/secret.md", "invalid_path"),
        ("manual://../secret.md", "invalid_parameter"),
        ("manual://..%2f/secret.md", "invalid_parameter"),
        ("manual://m1//etc/passwd", "invalid_path"),
        ("manual://m1/C:%5Csecret.md", "invalid_path"),
        ("manual://m1/rules.md#L0-L2", "invalid_parameter"),
        ("manual://m1/rules.md#L4-L2", "invalid_parameter"),
        ("manual://m1/rules.md#L1-L7", "invalid_parameter"),
        ("manual://m1/rules.md#part", "invalid_parameter"),
        ("manual://m1", "invalid_parameter"),
        ("manual://manuals/rules.md", "invalid_parameter"),
        ("rules.md", "not_found"),
    ],
)
def test_no_uri_leads_elsewhere(server: Fumishirube, uri: str, code: str) -> None:
    error = refused(server, uri)
    assert error.data["code"] == code
    assert error.data["details"]["uri"] == uri
    modern = server.client.protocol_version == "2026-07-28"
    assert error.code == (-32602 if modern or code != "not_found" else -32002)


def listed_after(server: Fumishirube, cursor: str | None) -> Any:
    return server.invoke("list_resources", cursor=cursor)


def test_many_files_come_page_by_page(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"many/{n:04}.md": "x\n" for n in range(1234)}
    with Fumishirube(write(tmp_path, files)) as server:
        seen, pages, cursor = [], 0, None
        while True:
            page = listed_after(server, cursor)
            seen += [resource.name for resource in page.resources]
            pages, cursor = pages + 1, page.next_cursor
            if cursor is None:
                break
        assert seen == sorted(files)
        assert pages == 3
        for wrong in ("", "x", "3"):
            with pytest.raises(MCPError, match="cursor"):
                listed_after(server, wrong)


def test_the_templates_are_those_of_citations(server: Fumishirube) -> None:
    found = server.invoke("list_resource_templates").resource_templates
    assert [one.uri_template for one in found] == [WHOLE, LINES]


def completed(server: Fumishirube, ref: Any, name: str, typed: str, **others: str) -> list[str]:
    argument = CompletionArgument(name=name, value=typed)
    told = server.invoke("complete", ref, argument.model_dump(), others or None).completion
    assert told.total == len(told.values)
    values: list[str] = told.values
    return values


def test_ids_and_paths_are_proposed(server: Fumishirube) -> None:
    for ref in (
        ResourceTemplateReference(uri=WHOLE),
        ResourceTemplateReference(uri=LINES),
        PromptReference(name="comparison"),
    ):
        assert completed(server, ref, "manual", "") == ["long", "m1", "業務:A@社"]
        assert completed(server, ref, "manual", "M") == ["m1"]
        assert completed(server, ref, "manual", "社") == ["業務:A@社"]
        assert completed(server, ref, "start", "1") == []
    ref = ResourceTemplateReference(uri=WHOLE)
    paths = completed(server, ref, "path", "", manual="m1")
    assert paths == sorted(
        name[3:] for name in FILES if name.startswith("m1/") and "toml" not in name
    )
    assert completed(server, ref, "path", "rul", manual="m1") == ["rules.md"]
    assert completed(server, ref, "path", "") == []
    for wrong in ("none", "../m1"):
        with pytest.raises(MCPError):
            completed(server, ref, "path", "", manual=wrong)
    with pytest.raises(MCPError, match="no such template"):
        completed(server, ResourceTemplateReference(uri="x://{y}"), "y", "")
    with pytest.raises(MCPError, match="no such prompt"):
        completed(server, PromptReference(name="none"), "manual", "")


def test_prompts_are_written_out_with_their_arguments(server: Fumishirube) -> None:
    listed = {prompt.name: prompt for prompt in server.invoke("list_prompts").prompts}
    assert list(listed) == ["careful_reading", "exhaustive_check", "comparison"]
    tools = server.tools()
    for name, prompt in listed.items():
        assert prompt.title
        assert prompt.description
        given = {one.name: f"<{one.name} {{x}} 語>" for one in prompt.arguments}
        written = server.invoke("get_prompt", name, given)
        (message,) = written.messages
        assert message.role == "user"
        for value in given.values():
            assert value in message.content.text
        spoken = {word.strip(".,():") for word in message.content.text.split()}
        named = {word.partition("(")[0] for word in spoken if word.startswith("manual_")}
        assert {"manual_ls", "manual_find"} <= named <= {*tools}
        required = {one.name: "x" for one in prompt.arguments if one.required}
        assert (
            "choose the manual"
            in server.invoke("get_prompt", name, required).messages[0].content.text
        )
        for missing in required:
            with pytest.raises(MCPError, match=f"{missing} is required"):
                server.invoke(
                    "get_prompt", name, {k: v for k, v in required.items() if k != missing}
                )
        with pytest.raises(MCPError, match="unknown argument 'odd'"):
            server.invoke("get_prompt", name, {**required, "odd": "x"})
    with pytest.raises(MCPError, match="no such prompt"):
        server.invoke("get_prompt", "none", {})


def test_a_stranger_may_read_what_changed(workspace: Path, server: Fumishirube) -> None:
    """A reading shows what stands on the disk when it is asked for."""
    file = workspace / "manuals" / "m1" / "rules.md"
    try:
        file.write_text("# anew\n", encoding="utf-8")
        (content,) = read(server, "manual://m1/rules.md")
        assert content.text == "# anew\n"
    finally:
        file.write_text(RULES, encoding="utf-8")


def test_lines_agree_with_the_tools(server: Fumishirube) -> None:
    text = FILES["業務:A@社/休暇/有給.md"]
    assert isinstance(text, str)
    server.ok("manual_ls")
    uri = next(r.uri for r in server.invoke("list_resources").resources if "%3A" in r.uri)
    assert unquote(uri).endswith("業務:A@社/休暇/有給.md")
    for line in range(1, Lines(text).total + 1):
        scanned = server.ok(
            "manual_scan",
            manual_id="業務:A@社",
            path="休暇/有給.md",
            start_line=line,
            max_chars=256,
        )
        (content,) = read(server, f"{uri}#L{line}-L{Lines(text).total}")
        assert scanned["text"] == content.text


def test_results_that_may_quote_documents_say_so(tmp_path: Path) -> None:
    write(tmp_path, {"m1/rules.md": RULES}).joinpath("vault").mkdir()
    note = {"path": "a.md", "content": "x\n"}
    change = {"path": "a.md", "find": "x", "replace": "y"}
    with Fumishirube(tmp_path) as server:
        results = {
            name: server.invoke("call_tool", name, arguments)
            for name, arguments in (
                ("manual_ls", {}),
                ("manual_scan", {"manual_id": "m1", "path": "rules.md"}),
                ("vault_create", note),
                ("vault_read", {"path": "a.md", "full": True}),
                ("vault_replace", change),
            )
        }
    assert not any(result.is_error for result in results.values())
    marked = {name for name, one in results.items() if one.meta}
    assert marked == {"manual_ls", "manual_scan", "vault_read"}
    for name in marked:
        assert results[name].meta == {"fumishirube/content_trust": "untrusted"}
