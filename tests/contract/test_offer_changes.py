"""What is offered: gates at registration, and strangers' resources and prompts that misbehave."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from manuals import RULES, fumishirube, opened, write
from mcp import Client, MCPError
from stdio import Wire

from fumishirube import NotFound
from fumishirube.faces.mcp.server import build_server
from fumishirube.host.catalog import Catalog, CatalogPublisher
from fumishirube.tools import Content, Prompt, PromptParameter, Resource, Resources, Template
from fumishirube.tools.resources import check_prompt, check_resources

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def nothing() -> Iterable[Resource]:
    return ()


def absent(uri: str, call: object) -> Any:
    raise NotFound("there is no such resource")


def broken(*_: object) -> Any:
    raise RuntimeError("a secret text")


def test_of_two_that_offer_the_same_the_first_keeps_it(tmp_path: Path) -> None:
    workspace = write(tmp_path, {"m1/rules.md": RULES})
    twice = "surfaces: [{use: manual}, {use: manual, as: other}]\n"
    (workspace / "fumishirube.yaml").write_text(twice, encoding="utf-8")
    application = opened(workspace)
    application.drop_faulty_tools()
    catalog = application.catalog
    assert [one.scheme for one in catalog.resources] == ["manual"]
    assert len(catalog.prompts) == 3
    expected = [
        "resources manual: left out: another surface offers resources of this scheme",
        "prompt comparison: left out: another surface offers a prompt of this name",
    ]
    assert set(expected) <= set(application.problems)
    application.close()
    told = fumishirube("doctor", cwd=workspace).out
    for problem in expected:
        assert problem in told


NOISY = """
import os, subprocess, sys
print("printed at import")
os.write(1, b"written at import")
subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
"""


def test_a_plugin_that_writes_when_it_is_imported_disturbs_nobody(tmp_path: Path) -> None:
    """The wire is claimed before any plugin is imported; every line is held to be a message."""
    workspace = write(tmp_path / "workspace", {"m1/rules.md": RULES})
    plugins = tmp_path / "plugins"
    (plugins / "noisy-1.0.dist-info").mkdir(parents=True)
    (plugins / "noisy.py").write_text(NOISY, encoding="utf-8")
    named = "[fumishirube.v1]\nnoisy = noisy\n"
    (plugins / "noisy-1.0.dist-info" / "entry_points.txt").write_text(named, encoding="utf-8")
    metadata = "Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n"
    (plugins / "noisy-1.0.dist-info" / "METADATA").write_text(metadata, encoding="utf-8")
    with Wire(workspace, PYTHONPATH=str(plugins)) as wire:
        assert wire.ok("manual_ls")["items"]
        told = wire.hang_up()
    for words in ("printed at import", "written at import", "printed by a child"):
        assert words in told


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        (Prompt("Not-snake", "T", "S", str), "does not match"),
        (Prompt("a", " ", "S", str), "no title"),
        (Prompt("a", "T", "", str), "no summary"),
        (Prompt("a", "T", "S", str, (PromptParameter("x y", "x"),)), "'x y' is no name"),
        (Prompt("a", "T", "S", str, (PromptParameter("x", "x"),) * 2), "is there twice"),
    ],
)
def test_prompts_that_clients_could_not_take_are_named(prompt: Prompt, problem: str) -> None:
    assert any(problem in fault for fault in check_prompt(prompt))
    assert not [*check_prompt(Prompt("a", "T", "S", str, (PromptParameter("x", "x"),)))]


@pytest.mark.parametrize(
    ("scheme", "template", "problem"),
    [
        ("Not a scheme", Template("x://{y}", "n", "t", "s"), "does not match"),
        ("x", Template("y://{y}", "n", "t", "s"), "another scheme"),
        ("x", Template("x://{y}", "n", "", "s"), "no name, title or summary"),
    ],
)
def test_resources_that_clients_could_not_take_are_named(
    scheme: str, template: Template, problem: str
) -> None:
    faulty = Resources(scheme, nothing, absent, (template,))
    assert any(problem in fault for fault in check_resources(faulty))
    good = Resources("x", nothing, absent, (Template("x://{y}", "n", "t", "s"),))
    assert not [*check_resources(good)]


def served(**given: Any) -> Any:
    resources = Resources(
        **{"scheme": "x", "listed": nothing, "read": absent, "complete": broken, **given},
        templates=(Template("x://{y}", "n", "t", "s"),),
    )
    prompt = Prompt("wrong", "Wrong", "Fails.", broken)
    publisher = CatalogPublisher(Catalog((), (resources,), (prompt,)))
    return build_server(publisher, name="n", session_of=lambda _: None, report=quiet)


def quiet(*_: object) -> None:
    """Hear of a call."""


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
@pytest.mark.parametrize(
    "asked",
    [
        lambda client: client.list_resources(),
        lambda client: client.read_resource("x://a"),
        lambda client: client.get_prompt("wrong", {}),
        lambda client: client.complete(
            {"type": "ref/resource", "uri": "x://{y}"}, {"name": "y", "value": ""}
        ),
    ],
)
async def test_what_a_stranger_raises_stays_inside(era: str, asked: Callable[..., Any]) -> None:
    async with Client(served(listed=broken, read=broken), mode=era) as client:
        with pytest.raises(MCPError) as caught:
            await asked(client)
        assert caught.value.code == -32603
        assert caught.value.data["code"] == "internal_error"
        assert caught.value.data["details"]["error_id"]
        assert "secret" not in f"{caught.value.message} {caught.value.data}"
        assert (await client.list_prompts()).prompts[0].name == "wrong"


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_client_in_memory_reads_texts_and_bytes(era: str) -> None:
    def read(uri: str, _: object) -> list[Content]:
        return [Content(uri, "a\ud800b"), Content(uri, b"\x00\xff", "image/png")]

    listed = [Resource("x://b", "b\udcff"), Resource("x://a", "a")]
    server = served(listed=lambda: listed, read=read)
    async with Client(server, mode=era) as client:
        found = (await client.list_resources()).resources
        assert [one.uri for one in found] == ["x://a", "x://b"]
        text, image = (await client.read_resource("x://a")).contents
        assert text.text == "a\ufffdb"
        assert (image.blob, image.mime_type) == ("AP8=", "image/png")


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")
async def test_clients_that_are_gone_are_forgotten() -> None:
    """Also what they subscribed to, which takes places of others, and at once."""
    server = served(stamp=len)
    entry = server.get_notification_handler("notifications/initialized")
    assert entry is not None
    known = entry.handler.__self__._older
    gc.disable()
    try:
        for number in range(5):
            async with Client(server, mode="legacy") as client:
                await client.subscribe_resource(f"x://{number}")
                assert known
                assert server.subscriptions._wanted() == {f"x://{number}"}
    finally:
        gc.enable()
    assert not known
    assert not server.subscriptions._wanted()


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_what_can_be_asked_follows_the_board(era: str) -> None:
    publisher = CatalogPublisher(Catalog())
    server = build_server(publisher, name="n", session_of=lambda _: None, report=quiet)
    async with Client(server, mode=era) as client:
        told = client.server_capabilities
        assert (told.resources, told.prompts, told.completions) == (None, None, None)
    publisher.publish(
        Catalog((), (Resources("x", nothing, absent),), (Prompt("a", "A", "Says a.", str),))
    )
    async with Client(server, mode=era) as client:
        told = client.server_capabilities
        assert told.resources is not None
        assert not told.resources.subscribe
        assert told.resources.list_changed
        assert told.prompts is not None
        assert told.completions is not None
        assert [one.name for one in (await client.list_prompts()).prompts] == ["a"]
