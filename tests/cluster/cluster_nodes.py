"""A real OpenSearch cluster: each node a JVM with a data folder and a network of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cluster_artifacts import Plugin, class_path, java

_START_SECONDS = 90
_HEAP = "256m"
_JVM = (
    f"-Xms{_HEAP}",
    f"-Xmx{_HEAP}",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Dlog4j2.disable.jmx=true",
    "-Dopensearch.networkaddress.cache.ttl=1",
)
_BRIDGE = "fscl"
_SUBNET = "10.213.77"


class Node:
    """One node, in a process of its own."""

    def __init__(
        self,
        name: str,
        folder: Path,
        host: str,
        port: int,
        inside: Sequence[str],
        plugins: Sequence[Plugin] = (),
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.folder = folder
        self._inside = inside
        self._plugins = plugins
        self.settings: dict[str, str | None] = {}
        """Further settings; ``None`` removes one."""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it answers HTTP."""
        return f"http://{self.host}:{self.port}"

    @property
    def transport(self) -> str:
        """Where other nodes find it."""
        return f"{self.host}:{self.port + 100}"

    def start(self, nodes: Sequence[Node]) -> None:
        """Start its process; it joins the other nodes by itself."""
        single = len(nodes) == 1
        settings = {
            "path.home": str(self.folder),
            "path.data": str(self.folder / "data"),
            "path.logs": str(self.folder / "logs"),
            "node.name": self.name,
            "cluster.name": "fumishirube-test",
            "http.type": "netty4",
            "transport.type": "netty4",
            "http.port": str(self.port),
            "transport.port": str(self.port + 100),
            "network.host": self.host,
            "cluster.routing.allocation.disk.threshold_enabled": "false",
            "node.store.allow_mmap": "false",
            **(
                {"discovery.type": "single-node"}
                if single
                else {
                    "discovery.seed_hosts": ",".join(node.transport for node in nodes),
                    "cluster.initial_cluster_manager_nodes": ",".join(n.name for n in nodes),
                    # Minutes are the defaults; a test sees a lost node within seconds.
                    "cluster.fault_detection.leader_check.interval": "500ms",
                    "cluster.fault_detection.leader_check.timeout": "2s",
                    "cluster.fault_detection.follower_check.interval": "500ms",
                    "cluster.fault_detection.follower_check.timeout": "2s",
                    "cluster.publish.timeout": "5s",
                }
            ),
        }
        (self.folder / "config").mkdir(parents=True, exist_ok=True)
        command = [
            *self._inside,
            java(),
            *_JVM,
            "-cp",
            class_path(self._plugins),
            f"-Dnode.plugins={','.join(plugin.classname for plugin in self._plugins)}",
            *(
                f"-Dnode.setting.{key}={value}"
                for key, value in {**settings, **self.settings}.items()
                if value is not None
            ),
            "ClusterNode",
        ]
        with (self.folder / "output.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def signal(self, number: int) -> None:
        """Send its process a signal."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """End it without a chance to say anything."""
        self.signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """End it in order."""
        self.signal(signal.SIGTERM)
        try:
            if self._process is not None:
                self._process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def get(self, path: str, timeout: float = 5) -> Any:
        """Return what it answers to a request, read as JSON."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=timeout) as response:
            return json.load(response)

    def post(self, path: str, body: Any) -> None:
        """Send it something as JSON."""
        headers = {"content-type": "application/json"}
        data = json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers)
        with urllib.request.urlopen(request, timeout=30):
            pass

    def delete(self, path: str) -> None:
        """Delete something in it."""
        request = urllib.request.Request(f"{self.url}{path}", method="DELETE")
        with urllib.request.urlopen(request, timeout=30):
            pass

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.poll() is None

    def log(self) -> str:
        """Return the end of what it has written."""
        return (self.folder / "output.log").read_text(errors="replace")[-3000:]


class Cluster:
    """Some nodes that know each other."""

    def __init__(self, nodes: Sequence[Node], network: str) -> None:
        self.nodes = nodes
        self.network = network

    def wait(self, status: str = "yellow", size: int | None = None, seconds: float = 90) -> None:
        """Wait until so many nodes have joined, and shards are where they should be."""
        size = size or len(self.nodes)
        path = f"/_cluster/health?wait_for_status={status}&wait_for_nodes=%3E%3D{size}&timeout=2s"
        deadline = time.monotonic() + seconds
        while True:
            try:
                if not any(node.get(path)["timed_out"] for node in self.nodes if node.alive):
                    return
            except (OSError, ValueError):
                pass
            if time.monotonic() > deadline:
                alive = next(node for node in self.nodes if node.alive)
                shards = alive.get("/_cat/shards?format=json&h=index,shard,prirep,state,node")
                logs = f"{[row for row in shards if row['state'] != 'STARTED']}\n"
                logs += "\n".join(f"--- {node.name}\n{node.log()}" for node in self.nodes)
                raise TimeoutError(f"the cluster is not {status} with {size} nodes:\n{logs}")
            time.sleep(0.2)

    def manager(self) -> Node:
        """Return the elected manager."""
        alive = next(node for node in self.nodes if node.alive)
        name = alive.get("/_cat/cluster_manager?format=json")[0]["node"]
        return next(node for node in self.nodes if node.name == name)

    def cut_off(self, node: Node, *, healed: bool = False) -> None:
        """Take a node's link down, or up again."""
        state = "up" if healed else "down"
        _ip("link", "set", f"{_BRIDGE}-{node.name}", state)


def namespaces_missing() -> str:
    """Return why nodes cannot have networks of their own here; empty when they can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root makes network namespaces"
    if shutil.which("ip") is None:
        return "there is no ip command"
    probe = f"{_BRIDGE}-probe"
    try:
        _ip("netns", "add", probe)
        _ip("netns", "exec", probe, "true")
        _ip("netns", "del", probe)
    except subprocess.CalledProcessError as error:
        return f"no network namespaces here: {error.stderr.strip()}"
    return ""


@contextmanager
def started(folder: Path, number: int = 1, plugins: Sequence[Plugin] = ()) -> Iterator[Cluster]:
    """Start a cluster, wait for it, and end it: one node on loopback, several each in a network."""
    if number == 1:
        node = Node("n1", folder / "n1", "127.0.0.1", free_port(), (), plugins)
        yield from _run([node], "loopback")
        return
    if reason := namespaces_missing():
        raise RuntimeError(reason)
    names = [f"n{place}" for place in range(1, number + 1)]
    with _networks(names):
        yield from _run(
            [
                Node(name, folder / name, f"{_SUBNET}.{place}", 9200, _within(name), plugins)
                for place, name in enumerate(names, 11)
            ],
            "namespaces",
        )


def _run(nodes: Sequence[Node], network: str) -> Iterator[Cluster]:
    try:
        for node in nodes:
            node.start(nodes)
        cluster = Cluster(nodes, network)
        cluster.wait(seconds=_START_SECONDS)
        yield cluster
    finally:
        for node in nodes:
            node.signal(signal.SIGCONT)
            node.kill()


def _within(name: str) -> Sequence[str]:
    return ("ip", "netns", "exec", f"{_BRIDGE}-{name}")


@contextmanager
def _networks(names: Sequence[str]) -> Iterator[None]:
    """Make a bridge, and a namespace with a link to it for each name."""
    _clear(names)
    try:
        _ip("link", "add", _BRIDGE, "type", "bridge")
        _ip("addr", "add", f"{_SUBNET}.1/24", "dev", _BRIDGE)
        _ip("link", "set", _BRIDGE, "up")
        for place, name in enumerate(names, 11):
            space, link = f"{_BRIDGE}-{name}", f"{_BRIDGE}-{name}"
            _ip("netns", "add", space)
            _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
            _ip("link", "set", link, "master", _BRIDGE)
            _ip("link", "set", link, "up")
            _ip("-n", space, "link", "set", "lo", "up")
            _ip("-n", space, "addr", "add", f"{_SUBNET}.{place}/24", "dev", "eth0")
            _ip("-n", space, "link", "set", "eth0", "up")
        yield
    finally:
        _clear(names)


def _clear(names: Sequence[str]) -> None:
    for name in names:
        subprocess.run(
            ["ip", "netns", "del", f"{_BRIDGE}-{name}"], capture_output=True, check=False
        )
        subprocess.run(["ip", "link", "del", f"{_BRIDGE}-{name}"], capture_output=True, check=False)
    subprocess.run(["ip", "link", "del", _BRIDGE], capture_output=True, check=False)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True)


def free_port() -> int:
    """Return a port that is free, with the one a hundred above it."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 100))
            except (OSError, OverflowError):
                continue
            return port
