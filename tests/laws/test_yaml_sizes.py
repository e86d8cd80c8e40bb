"""A YAML file takes time and memory by its own size, whatever its aliases repeat."""

from __future__ import annotations

import os
import sys
import time
import tracemalloc
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manuals import fumishirube, opened, write

from fumishirube.config.yaml_file import MOST_BYTES, MOST_VALUES, read_yaml
from fumishirube.errors import ConfigError
from fumishirube_stages.loaders.markdown_files.front_matter import front_matter

widths = st.lists(st.integers(1, 40), min_size=1, max_size=40)


def layered(widths: list[int], *, merged: bool = False) -> str:
    """Return lists, or mappings merged into mappings, each made of aliases of the last."""
    lines = ["k0: &k0 {x: y}"]
    for level, width in enumerate(widths, 1):
        aliases = ", ".join([f"*k{level - 1}"] * width)
        inner = f"{{<<: [{aliases}]}}" if merged else f"[{aliases}]"
        lines.append(f"k{level}: &k{level} {inner}")
    return "\n".join(lines) + "\n"


def written_out(widths: list[int]) -> int:
    """Return how many values and keys :func:`layered` makes, the outermost mapping included."""
    last = 3
    total = 1 + 1 + last
    for width in widths:
        last = 1 + width * last
        total += 1 + last
    return total


def counted(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(1 + counted(inner) for inner in value.values())
    return 1 + sum(map(counted, value)) if isinstance(value, list) else 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(widths=widths)
def test_a_file_is_built_if_it_is_small_when_its_aliases_are_written_out(
    tmp_path: Path, widths: list[int]
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(layered(widths))
    if written_out(widths) <= MOST_VALUES:
        assert counted(read_yaml(file).values) == written_out(widths)
        return
    with pytest.raises(ConfigError, match=r"^a\.yaml line \d+: this makes over"):
        read_yaml(file)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(widths=widths)
def test_merged_mappings_are_bounded_too(tmp_path: Path, widths: list[int]) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(layered(widths, merged=True))
    before = time.process_time()
    try:
        assert counted(read_yaml(file).values) <= MOST_VALUES
    except ConfigError as error:
        assert "this makes over" in str(error)  # noqa: PT017 - either is right
    assert time.process_time() - before < 5


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: &a {b: [{c: *a}]}\n", "&a {b: *a}\n"])
def test_what_holds_itself_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text)
    with pytest.raises(
        ConfigError, match=r"^a\.yaml line 1: an alias names a value that contains it"
    ):
        read_yaml(file)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("roots: {}\na: 1\nroots: {}\n", "line 3: the key 'roots' occurs twice"),
        ("a: [{b: 1, c: 2, b: 3}]\n", "line 1: the key 'b' occurs twice"),
        (f"a: {'9' * 9_000}\n", "line 1: a number has over 100 characters"),
        (f"a: 1{':00' * 400}.5\n", "line 1: a number has over 100 characters"),
        (f"a: 0x{'7' * 5_000}\n", "line 1: a number has over 100 characters"),
        ("a: {b: ['x', \"y\\0\"]}\n", "line 1: a text holds a NUL"),
        ("~: 1\n", "line 1: a key is empty"),
        ("a: 2024-02-30\n", "a value is impossible: "),
        (f"a: {'[' * 20_000}{']' * 20_000}\n", "line 1: it is nested over 64 deep"),
        ("a: 1\nb:\n" + "".join(f"  k{n}: {n}\n" for n in range(60_000)), "this makes over 10000"),
        (f"a: !{'x' * 90_000} b\n", "line 1: could not determine a constructor"),
    ],
)
def test_what_cannot_be_is_refused_at_once_in_a_few_words(
    tmp_path: Path, text: str, problem: str
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text)
    before = time.process_time()
    with pytest.raises(ConfigError) as refusal:
        read_yaml(file)
    assert time.process_time() - before < 5
    assert str(refusal.value).startswith("a.yaml")
    assert problem in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_a_file_of_any_size_costs_no_more_than_the_largest(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("# comment\n" * (MOST_BYTES // 10 + 1))
    with pytest.raises(ConfigError, match=r"^a\.yaml: it has over 1048576 bytes"):
        read_yaml(file)


@pytest.mark.parametrize("name", ["fumishirube.yaml", "config.yaml"])
@pytest.mark.parametrize("kind", ["large", "pipe"])
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
@pytest.mark.timeout(10)
def test_what_is_no_configuration_is_not_read(tmp_path: Path, name: str, kind: str) -> None:
    if kind == "pipe":
        os.mkfifo(tmp_path / name)
    else:
        with (tmp_path / name).open("wb") as file:
            file.truncate(256 * MOST_BYTES)
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError) if name != "config.yaml" else nullcontext():
            opened(write(tmp_path, {"m/a.md": "# A\n"})).close()
        assert tracemalloc.get_traced_memory()[1] < 64 * MOST_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["fumishirube.yaml", "config.yaml"])
@pytest.mark.parametrize("words", [("ls",), ("serve",), ("config", "show"), ("doctor",)])
def test_a_hostile_configuration_stops_the_start_at_once(
    tmp_path: Path, name: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "manuals").mkdir()
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: chapters}]\n")
    (tmp_path / name).write_text(layered([9] * 30))
    started = time.monotonic()
    done = fumishirube(*words, cwd=tmp_path)
    assert time.monotonic() - started < 30
    assert done.code != 0
    assert f"{name} line 5: this makes over 10000 values; use fewer aliases" in done.out + done.err


@given(widths=widths)
def test_front_matter_makes_no_more_values_than_it_may(widths: list[int]) -> None:
    front = front_matter(f"---\n{layered(widths)}---\ntext\n")
    assert counted(dict(front.facts)) <= 2 * MOST_VALUES


def test_front_matter_that_repeats_a_list_without_end_is_ignored_and_says_so() -> None:
    names = "\n".join(f"k{number}: *a" for number in range(100))
    text = f"---\na: &a [{', '.join('x' * 20_000)}]\n{names}\n---\ntext\n"
    before = time.process_time()
    front = front_matter(text)
    assert time.process_time() - before < 10
    assert front.facts == {}
    assert text[front.end :] == "text\n"
    (remark,) = front.remarks
    assert remark.message.startswith("the front matter is ignored: it makes over")
