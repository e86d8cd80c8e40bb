"""Nothing that a document or a name holds steers the terminal of who looks at it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import Done, fumishirube, write

from fumishirube.text import printable, printable_json

STEERING = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
CLIPBOARD = "\x1b]52;c;bGVha2Vk\x07"
HOSTILE = f"{CLIPBOARD}\x1b[2J\x9b31m\u202egnp.\u2066leave\u2069\x07\x08\x7f over\rwritten"
NAME = "ru\u202eles\u2066.md"
TEXT = f"# Leave {HOSTILE}\n\nleave is granted {HOSTILE}\n\n## Other {HOSTILE}\n\nsee [x]({NAME})\n"
CONFIG = "surfaces: [{use: manual}, {use: vault, with: {history: true}}, {use: graph}]\n"
COMMANDS = [
    ("ls",),
    ("ls", "m"),
    ("toc",),
    ("toc", "m"),
    ("find", f"leave {HOSTILE}"),
    ("find", "leave", "--explain"),
    ("find", "leave", "--full"),
    ("find", "leave", "--json"),
    ("find", "leave", "--full", "--claims"),
    ("read", "m", NAME),
    ("scan", "m", NAME),
    ("read", "m", HOSTILE),
    ("call", "manual_toc", '{"id": "m"}'),
    ("call", "manual_ls", '{"id": "m"}'),
    ("call", f"x{HOSTILE}", "{}"),
    ("cite", "check", f"manual://m/{HOSTILE}#L1-L2@abcdef"),
    ("coverage", HOSTILE),
    ("vault", "ls"),
    ("vault", "read", "note.md"),
    ("vault", "replace", "note.md", "leave", HOSTILE, "--dry-run"),
    ("vault", "replace", "note.md", "leave", HOSTILE),
    ("vault", "log"),
    ("vault", "show", "x\x1b[2J"),
    ("trace", "list"),
    ("docs", "list-pages"),
    ("docs", "status"),
    ("docs", "search", "leave"),
    ("docs", "page", NAME),
    ("doctor",),
    ("index",),
    ("config", "show"),
    ("tools",),
    ("plugins",),
    (f"no-such-{HOSTILE}",),
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("workspace")
    write(workspace, {f"m/{NAME}": TEXT, "m/plain.md": TEXT, f"\u202em{chr(7)}/a.md": TEXT})
    write(workspace, {f"m/esc{CLIPBOARD.replace('/', '')}.md": TEXT, "m/line\nfeed.md": TEXT})
    for place in ("docs", "vault"):
        (workspace / place).mkdir()
        (workspace / place / NAME).write_text(TEXT)
        (workspace / place / f"esc\x1b[2J{place}.md").write_text(TEXT)
    (workspace / "vault/note.md").write_text(TEXT)
    (workspace / "fumishirube.yaml").write_text(CONFIG)
    assert fumishirube("index", cwd=workspace).code == 0
    return workspace


def shown(done: Done) -> str:
    return done.out + done.err


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words)[:24].encode().hex())
@pytest.mark.many_cases
def test_no_command_lets_a_control_out(workspace: Path, words: tuple[str, ...]) -> None:
    for more in ((), ("--verbose",)):
        done = fumishirube(*words, *more, cwd=workspace)
        assert not STEERING.search(shown(done)), words


def test_what_was_hidden_shows(workspace: Path) -> None:
    done = fumishirube("scan", "m", "plain.md", cwd=workspace)
    assert r"\x1b]52;c;bGVha2Vk\x07" in done.out
    assert r"\u202egnp." in done.out
    assert "over\nwritten" in done.out, "a lone return ends a line of a document"


def test_raw_output_is_the_text_itself(workspace: Path) -> None:
    for words in (("scan", "m", "plain.md"), ("vault", "read", NAME)):
        done = fumishirube("--raw", *words, cwd=workspace)
        assert HOSTILE.replace("\r", "\n") in done.out.replace("\r", "\n")


def test_json_says_the_same_with_escapes(workspace: Path) -> None:
    done = fumishirube("scan", "m", "plain.md", "--json", cwd=workspace)
    assert not STEERING.search(done.out)
    assert CLIPBOARD in json.loads(done.out)["text"]
    listed = fumishirube("call", "manual_ls", '{"id": "m"}', cwd=workspace)
    assert NAME in json.dumps(json.loads(listed.out), ensure_ascii=False)


def test_a_name_that_no_path_may_hold_is_not_listed_and_named(workspace: Path) -> None:
    listed = fumishirube("call", "manual_ls", '{"id": "m"}', cwd=workspace)
    assert "feed" not in listed.out
    checked = fumishirube("doctor", cwd=workspace)
    assert "2 files not listed, no path can contain such a name" in checked.out
    assert r"line\nfeed.md" in checked.out
    assert r"m\x07: no manual: no path can begin with its name" in checked.out


@given(st.text())
def test_a_printable_text_steers_nothing_and_loses_nothing_else(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    assert not STEERING.search(printable(text))
    assert printable(printable(text)) == printable(text)
    if not STEERING.search(text) and not re.search("[\u2028\u2029\ufff9-\ufffb]", text):
        assert printable(text) == text or any("\U000e0000" <= c <= "\U000e007f" for c in text)


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=4)))
def test_json_stays_the_same_value(value: object) -> None:
    text = printable_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert not STEERING.search(text)


@pytest.mark.parametrize(
    "text", ["👩‍👩‍👧", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "葛󠄀城市", "a\tb\nc\r\n", "漢字かな　、。"]
)
def test_words_and_emoji_print_as_they_are(text: str) -> None:
    assert printable(text) == text
