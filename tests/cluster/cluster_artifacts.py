"""What an OpenSearch node is made of: pinned jars from Maven Central, and one class."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import urllib.request
import zipfile
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError

REPOSITORY = "https://repo1.maven.org/maven2/"
HERE = Path(__file__).parent
_SOURCE = HERE / "ClusterNode.java"
_SECONDS = 60


class Plugin(NamedTuple):
    """A plugin of OpenSearch: its archive in the repository, the checksum, and its class."""

    archive: str
    checksum: str
    classname: str


KNN = Plugin(
    "org/opensearch/plugin/opensearch-knn/2.19.1.0/opensearch-knn-2.19.1.0.zip",
    "eab8c9818865bc035212eab5068cdacae164baa09d4c152f49b736d6f6b0e85c",
    "org.opensearch.knn.plugin.KNNPlugin",
)
SECURITY = Plugin(
    "org/opensearch/plugin/opensearch-security/2.19.3.0/opensearch-security-2.19.3.0.zip",
    "ae79a0cf1094446e357758904552717c52c2d9b30ec153271b52ec73497510df",
    "org.opensearch.security.OpenSearchSecurityPlugin",
)


class MissingArtifacts(Exception):
    """Why no node can be started here: no JDK, or no way to Maven Central."""


def java(command: str = "java") -> str:
    """Return a command of the JDK that ``JAVA_HOME`` names, or of the one on the path.

    Raises:
        MissingArtifacts: when there is none.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(command, path=str(Path(home, "bin")) if home else None)
    if found is None:
        raise MissingArtifacts(f"there is no {command}; set JAVA_HOME to a JDK of 17 or later")
    return found


def class_path(plugins: Collection[Plugin] = ()) -> str:
    """Return the class path of a node, after fetching and compiling what is not cached yet.

    The jars of plugins come last: a node has its own version of what both need.

    Raises:
        MissingArtifacts: when something cannot be fetched or compiled.
    """
    cache = _cache()
    jars = [line.split() for line in (HERE / "artifacts.txt").read_text().splitlines()]
    with ThreadPoolExecutor(8) as pool:
        fetched = [pool.submit(_file, cache, row[1], row[0]) for row in jars]
        try:
            files = [file.result() for file in fetched]
        finally:  # without a network each of the others would wait for it too
            pool.shutdown(cancel_futures=True)
    classes = cache / f"classes-{hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:12]}"
    path = os.pathsep.join(map(str, files))
    if not (classes / "ClusterNode.class").exists():
        command = [java("javac"), "-cp", path, "-d", str(classes), str(_SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingArtifacts(f"the node's class does not compile: {done.stderr[-500:]}")
    added = [str(jar) for plugin in plugins for jar in sorted(unpacked(plugin).glob("*.jar"))]
    return os.pathsep.join((str(classes), path, *added))


def _cache() -> Path:
    named = os.environ.get("FUMISHIRUBE_CLUSTER_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "fumishirube-cluster"


def unpacked(plugin: Plugin) -> Path:
    """Return the folder of a plugin, unpacked beside its archive.

    Raises:
        MissingArtifacts: when it cannot be fetched.
    """
    archive = _file(_cache(), plugin.archive, plugin.checksum)
    folder = archive.with_suffix("")
    if not folder.exists():
        beside = folder.with_suffix(f".{os.getpid()}.part")
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(beside)
        beside.replace(folder)
    return folder


def _file(cache: Path, path: str, checksum: str) -> Path:
    """Return a file of the cache, fetched if it is not there with this checksum."""
    file = cache / path.rpartition("/")[2]
    if file.exists() and _checksum(file.read_bytes()) == checksum:
        return file
    try:
        with urllib.request.urlopen(REPOSITORY + path, timeout=_SECONDS) as response:
            content = response.read()
    except (URLError, OSError) as error:
        raise MissingArtifacts(f"Maven Central does not answer: {error}") from error
    if _checksum(content) != checksum:
        raise RuntimeError(f"{path} is not what was pinned")
    cache.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}.part")
    beside.write_bytes(content)
    beside.replace(file)
    return file


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
