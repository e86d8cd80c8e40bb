"""TLS and passwords, by a real proxy in front of a node: right ones, and each kind of wrong one."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from certificates import certificate
from cluster_nodes import Cluster
from cluster_workspaces import opened
from tls_proxy import TlsProxy, tls_proxy

from fumishirube import ConfigError, ToolError
from fumishirube.tools.calls import call_tool, error_payload
from fumishirube.tools.definitions import Call, Session

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")

PASSWORD = f"パß{secrets.token_hex(12)}"
TOKEN = f"t{secrets.token_hex(12)}"
WRONG = f"w{secrets.token_hex(12)}"
SECRETS = (PASSWORD, TOKEN, WRONG)
IN_ENVIRONMENT = {"OPENSEARCH_USER": "indexer", "OPENSEARCH_PASSWORD": PASSWORD}


class Shop:
    """A workspace with one manual, whose index is behind a proxy."""

    def __init__(self, folder: Path, proxy: TlsProxy, authority: Path) -> None:
        self.folder = folder
        self.proxy = proxy
        self.authority = authority
        self.namespace = f"p{secrets.token_hex(4)}"
        self.manuals = folder / "manuals"
        (self.manuals / "m").mkdir(parents=True)
        (self.manuals / "m" / "a.md").write_text("# Valve\n\nThe valve opens slowly.\n")

    def found(
        self, environ: Mapping[str, str], scheme: str = "https", **tls: Any
    ) -> Mapping[str, Any]:
        """Return what a find answers, or its error."""
        settings: dict[str, Any] = {
            "hosts": [f"{scheme}://127.0.0.1:{self.proxy.port}"],
            "namespace": self.namespace,
            "replicas": 0,
        }
        if scheme == "https":
            settings["tls"] = {"authority": str(self.authority)} | tls
        with opened(self.folder / "w", self.manuals, environ, **settings) as application:
            tools = {tool.name: tool for tool in application.catalog.tools}
            query = {"manual_id": "m", "query": "valve", "required_terms": ["valve"]}
            call = Call(Session())
            call_tool(tools["manual_ls"], {}, call)
            try:
                return call_tool(tools["manual_find"], query, call)
            except ToolError as error:
                return error_payload(error)


@pytest.fixture
def shop(node: Cluster, tmp_path: Path) -> Iterator[Shop]:
    own = certificate(tmp_path / "own")
    with tls_proxy(node.nodes[0], own) as proxy:
        proxy.users["indexer"] = PASSWORD
        proxy.tokens.add(TOKEN)
        made = Shop(tmp_path / "shop", proxy, own.pem)
        yield made
    node.nodes[0].delete(f"/{made.namespace}-*")


@pytest.fixture(autouse=True)
def _nothing_leaks(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> Iterator[None]:
    """Nothing that is logged, or written to a file, has a secret in it."""
    caplog.set_level(logging.DEBUG)
    yield
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    for secret in SECRETS:
        assert secret not in caplog.text
        assert not any(secret.encode() in content for content in written)


def refusal(answer: Mapping[str, Any]) -> tuple[str, str]:
    assert "code" in answer, answer
    assert not any(secret in str(answer) for secret in SECRETS)
    return str(answer["code"]), str(answer["message"])


def found(answer: Mapping[str, Any]) -> bool:
    return answer.get("status") == "required_effective" and answer["candidates"] == 1


@pytest.mark.parametrize("environ", [IN_ENVIRONMENT, {"OPENSEARCH_TOKEN": TOKEN}])
def test_a_password_and_a_token_of_the_environment_count(
    shop: Shop, environ: Mapping[str, str]
) -> None:
    answer = shop.found(environ)
    assert found(answer)
    assert shop.proxy.passed > 5
    assert shop.proxy.refused == 0


@pytest.mark.parametrize(
    "environ",
    [
        {**IN_ENVIRONMENT, "OPENSEARCH_PASSWORD": WRONG},
        {**IN_ENVIRONMENT, "OPENSEARCH_USER": "nobody"},
        {"OPENSEARCH_TOKEN": WRONG},
        {},
    ],
)
def test_a_wrong_password_is_refused_and_named_by_its_variable(
    shop: Shop, environ: Mapping[str, str]
) -> None:
    code, message = refusal(shop.found(environ))
    assert code == "forbidden"
    assert "401" in message
    assert "OPENSEARCH_PASSWORD" in message
    assert shop.proxy.passed == 0


def test_a_user_without_rights_learns_which_are_needed(shop: Shop) -> None:
    shop.proxy.forbidden.add("indexer")
    code, message = refusal(shop.found(IN_ENVIRONMENT))
    assert code == "forbidden"
    assert "lacks a right in OpenSearch (403)" in message


def test_a_certificate_of_a_stranger_is_not_trusted(shop: Shop, tmp_path: Path) -> None:
    stranger = certificate(tmp_path / "stranger")
    for authority in (str(stranger.pem), None):
        code, message = refusal(shop.found(IN_ENVIRONMENT, authority=authority))
        assert code == "unavailable"
        assert "not trusted; name the file of its authority in tls.authority" in message
    assert shop.proxy.passed == 0, "the password went to a stranger"


def test_a_certificate_of_another_host_is_refused(node: Cluster, tmp_path: Path) -> None:
    other = certificate(tmp_path / "other", "10.9.8.7")
    with tls_proxy(node.nodes[0], other) as proxy:
        proxy.users["indexer"] = PASSWORD
        code, message = refusal(Shop(tmp_path / "shop", proxy, other.pem).found(IN_ENVIRONMENT))
        assert code == "unavailable"
        assert "is for another host; in hosts, write a name" in message
        assert proxy.passed == 0


def test_verify_false_trusts_anybody(shop: Shop) -> None:
    assert found(shop.found(IN_ENVIRONMENT, authority=None, verify=False))


def test_a_proxy_that_wants_a_certificate_gets_it(node: Cluster, tmp_path: Path) -> None:
    own, mine = certificate(tmp_path / "own"), certificate(tmp_path / "mine")
    with tls_proxy(node.nodes[0], own, clients=mine) as proxy:
        proxy.users["indexer"] = PASSWORD
        shop = Shop(tmp_path / "shop", proxy, own.pem)
        _, message = refusal(shop.found(IN_ENVIRONMENT))
        assert "tls.certificate" in message
        pair = {"certificate": str(mine.pem), "key": str(mine.key)}
        assert found(shop.found(IN_ENVIRONMENT, **pair))
        assert found(shop.found(IN_ENVIRONMENT, **pair, authority=None, verify=False))
    node.nodes[0].delete(f"/{shop.namespace}-*")


def test_plain_text_where_tls_is_spoken_and_the_reverse(
    shop: Shop, node: Cluster, tmp_path: Path
) -> None:
    code, message = refusal(shop.found(IN_ENVIRONMENT, scheme="http"))
    assert code == "unavailable"
    assert "no node of the OpenSearch cluster answers" in message
    settings = {"hosts": [node.nodes[0].url.replace("http:", "https:")]}
    with (
        opened(tmp_path / "w", shop.manuals, {}, **settings) as application,
        pytest.raises(ToolError, match="check that the port speaks TLS"),
    ):
        application.contexts["manual"].indexed_of("m")


@pytest.mark.parametrize(
    ("tls", "named"),
    [
        ({"authority": "missing.pem"}, "tls.authority"),
        ({"certificate": "missing.pem"}, "tls.certificate"),
    ],
)
def test_files_that_cannot_be_used_are_named(shop: Shop, tls: Any, named: str) -> None:
    code, message = refusal(shop.found(IN_ENVIRONMENT, **tls))
    assert code == "unavailable"
    assert named in message


def test_a_secret_that_is_refused_is_not_repeated(shop: Shop, tmp_path: Path) -> None:
    for settings in (
        {"hosts": [f"https://indexer:{WRONG}@127.0.0.1:9200"]},
        {"user": "indexer", "password": [WRONG]},
        {"user": "indexer", "password": 86_420_975},
        {"token": f"{WRONG}\n"},
        {"token": f"パ{WRONG}"},
        {"hosts": ["https://127.0.0.1:port"]},
        {"hosts": ["https://127.0.0.1:99999"]},
        {"hosts": ["https://:9200"]},
        {"hosts": ["https://127.0.0.1:9200?pretty"]},
        {"password": WRONG, "user": "index:er"},
        {"user": "indexer", "password": f"{WRONG}\udce9"},
    ):
        manuals = shop.manuals
        with pytest.raises(ConfigError) as raised, opened(tmp_path / "w", manuals, **settings):
            pass
        assert [*settings][-1] in str(raised.value)
        assert WRONG not in str(raised.value)
        assert "86420975" not in str(raised.value)
    (tmp_path / "w" / "fumishirube.yaml").unlink()
