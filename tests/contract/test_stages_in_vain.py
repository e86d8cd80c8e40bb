"""A stage that could do nothing where it is configured stops the start, and is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from manuals import fumishirube, write

SURFACES = "surfaces: [{use: manual}, {use: vault}, {use: chapters}, {use: graph}]\n"


@pytest.mark.parametrize(
    ("pipeline", "stages", "told"),
    [
        ("manual", "embedder: {use: hashing}", "pipelines.manual.embedder: 'hashing'"),
        ("manual", "scorers: [{use: lexical}, {use: vector}]", "scorers[1]: 'vector'"),
        ("manual", "scorers: [{use: lexical}, {use: graph}]", "scorers[1]: 'graph'"),
        ("vault", "loaders: [{use: markdown}]", "pipelines.vault.loaders[0]: 'markdown'"),
        ("vault", "tokenizer: {use: bigram}", "pipelines.vault.tokenizer: 'bigram'"),
        ("chapters", "index: {use: tantivy}", "pipelines.chapters.index: 'tantivy'"),
        ("chapters", "embedder: {use: hashing}", "pipelines.chapters.embedder: 'hashing'"),
        ("chapters", "fusers: [{use: rrf}]", "pipelines.chapters.fusers[0]: 'rrf'"),
        ("chapters", "refiners: [{use: cutoff}]", "pipelines.chapters.refiners[0]: 'cutoff'"),
    ],
)
@pytest.mark.parametrize("words", [("ls",), ("serve",), ("doctor",)])
def test_it_stops_the_start(
    tmp_path: Path, pipeline: str, stages: str, told: str, words: tuple[str, ...]
) -> None:
    write(tmp_path, {"m/a.md": "# A\n"})
    yaml = f"{SURFACES}pipelines:\n  {pipeline}:\n    {stages}\n"
    (tmp_path / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
    done = fumishirube(*words, cwd=tmp_path)
    assert done.code != 0
    assert told in done.out + done.err
    assert f"the surface '{pipeline}'" in done.out + done.err
    assert "fumishirube.yaml line 4" in done.out + done.err


@pytest.mark.parametrize(
    ("pipeline", "stages"),
    [
        ("graph", "embedder: {use: hashing}"),
        ("graph", "scorers: [{use: vector}, {use: graph}, {use: fulltext}]"),
        ("manual", "embedder: {use: none}"),
        ("manual", "scorers: [{use: lexical}, {use: fulltext}]"),
        ("vault", "loaders: []"),
    ],
)
def test_what_can_work_starts(tmp_path: Path, pipeline: str, stages: str) -> None:
    write(tmp_path, {"m/a.md": "# A\n"})
    (tmp_path / "docs").mkdir()
    name = "docs" if pipeline == "graph" else pipeline
    yaml = f"{SURFACES}pipelines:\n  {name}:\n    {stages}\n"
    (tmp_path / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
    done = fumishirube("ls", cwd=tmp_path)
    assert done.code == 0, done.err
