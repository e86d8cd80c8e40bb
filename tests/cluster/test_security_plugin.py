"""The security plugin of OpenSearch itself: its TLS, its users, and the rights that are needed."""

from __future__ import annotations

import base64
import json
import shutil
import signal
import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from certificates import Certificate, certificate
from cluster_artifacts import SECURITY, MissingArtifacts, class_path, unpacked
from cluster_nodes import Cluster, Node, free_port
from cluster_workspaces import first_ten, opened

from fumishirube import Forbidden, Query

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")

pytestmark = pytest.mark.slow

ADMIN = "admin:admin"
PASSWORD = "Waterproof-Lighthouse-52"
ROLE = {
    "cluster_permissions": [
        "cluster:monitor/main",
        "cluster:monitor/nodes/info",
        "cluster_composite_ops",
    ],
    "index_permissions": [{"index_patterns": ["team-*"], "allowed_actions": ["indices_all"]}],
}


class SecureNode(Node):
    """A node that speaks TLS, and asks for a user."""

    def __init__(self, folder: Path, own: Certificate) -> None:
        super().__init__("n1", folder, "127.0.0.1", free_port(), (), [SECURITY])
        self.own = own
        security = "plugins.security"
        for name, file in (("pemcert", own.pem), ("pemkey", own.key), ("pemtrustedcas", own.pem)):
            shutil.copy(file, folder)
            for layer in ("transport", "http"):
                self.settings[f"{security}.ssl.{layer}.{name}_filepath"] = file.name
        self.settings |= {
            "http.type": None,
            "transport.type": None,
            f"{security}.ssl.http.enabled": "true",
            f"{security}.ssl.transport.enforce_hostname_verification": "false",
            f"{security}.allow_default_init_securityindex": "true",
            f"{security}.restapi.roles_enabled": "all_access",
        }
        shutil.copytree(unpacked(SECURITY) / "config", folder / "opensearch-security")

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}"

    def get(self, path: str, timeout: float = 5) -> Any:
        return self.ask("GET", path, None, timeout)

    def ask(self, method: str, path: str, body: Any, timeout: float = 30) -> Any:
        """Send a request as the administrator."""
        user = base64.b64encode(ADMIN.encode()).decode()
        headers = {"authorization": f"Basic {user}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        context = ssl.create_default_context(cafile=str(self.own.pem))
        with urllib.request.urlopen(request, timeout=timeout, context=context) as response:
            return json.load(response)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureNode]:
    try:
        class_path([SECURITY])
    except MissingArtifacts as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("secure")
    node = SecureNode(folder, certificate(folder / "own"))
    try:
        node.start([node])
        Cluster([node], "loopback").wait()
        api = "/_plugins/_security/api"
        node.ask("PUT", f"{api}/roles/team", ROLE)
        for name, roles in (("indexer", ["team"]), ("stranger", [])):
            user = {"password": PASSWORD, "opendistro_security_roles": roles}
            node.ask("PUT", f"{api}/internalusers/{name}", user)
        yield node
    finally:
        node.signal(signal.SIGCONT)
        node.kill()


def test_a_user_with_rights_to_the_namespace_indexes_and_finds(
    secure: SecureNode, tmp_path: Path
) -> None:
    manual = tmp_path / "manuals" / "m"
    manual.mkdir(parents=True)
    (manual / "a.md").write_text("# Valve\n\nThe valve opens slowly.\n")
    settings = {
        "hosts": [secure.url],
        "namespace": "team",
        "replicas": 0,
        "tls": {"authority": str(secure.own.pem)},
    }

    def found(user: str, password: str, **more: Any) -> object:
        environ = {"OPENSEARCH_USER": user, "OPENSEARCH_PASSWORD": password}
        folder = tmp_path / f"workspace-{len([*tmp_path.iterdir()])}"
        with opened(folder, tmp_path / "manuals", environ, **settings | more) as server:
            return first_ten(server, "m", Query("valve", cache=False))

    assert found("indexer", PASSWORD) == [("a.md", 1)]
    for user, password, more, message in (
        ("indexer", "wrong", {}, "refuses the user or token"),
        ("stranger", PASSWORD, {}, "lacks a right"),
        ("indexer", PASSWORD, {"namespace": "other"}, "lacks a right"),
        ("indexer", PASSWORD, {"tls": {}}, "is not trusted"),
    ):
        with pytest.raises(Forbidden, match=message):
            found(user, password, **more)
