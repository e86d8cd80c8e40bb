"""A stage that could do nothing where it is configured stops the start, and is named."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from manuals import ask, fumishirube, opened, write

from fumishirube import ConfigError

WEIGHED = "{use: weighted-sum, with: {weights: {vector: 0.7, graph: 0.1, fulltext: 0.2}}}"
MARKDOWN = "{use: markdown, as: all, with: {suffixes: [.md, .txt]}}"
PLAIN = "{use: text, with: {suffixes: [.TXT], extensionless: false}}"
SURFACES = "surfaces: [{use: manual}, {use: vault}, {use: chapters}, {use: graph}]\n"


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("pipeline", "stages", "told"),
    [
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
    ("pipeline", "stages", "where"),
    [
        ("manual", "scorers: [{use: phrase}, {use: numbers}]", "scorers[0]: 'phrase'"),
        ("manual", "scorers: [{use: phrase}, {use: lexical}]", "scorers[0]: 'phrase'"),
        ("manual", "fusers: [{use: weighted-sum}]", "fusers[0]: 'weighted-sum'"),
        ("manual", "embedder: {use: hashing}", "embedder: 'hashing'"),
        ("manual", "scorers: [{use: lexical}, {use: vector}]", "scorers[1]: 'vector'"),
        ("chapters", "scorers: [{use: lexical}]", "scorers[0]: 'lexical'"),
        ("chapters", "loaders: [{use: toc-text}, {use: markdown}]", "loaders[1]: 'markdown'"),
        (
            "manual",
            f"loaders: [{MARKDOWN}, {{use: json}}, {{use: markdown}}]",
            "loaders[2]: 'markdown'",
        ),
        ("manual", "loaders: [{use: json}, {use: json, as: again}]", "loaders[1]: 'again'"),
        (
            "manual",
            f"loaders: [{MARKDOWN}, {PLAIN}]",
            "loaders[1]: 'text'",
        ),
        ("docs", "loaders: [{use: markdown}, {use: markdown, as: m}]", "loaders[1]: 'm'"),
        ("docs", "fusers: [{use: alternatives}]", "fusers[0]: 'alternatives'"),
        ("docs", "scorers: [{use: graph}, {use: fulltext}]", "scorers[0]: 'graph'"),
        ("docs", "scorers: [{use: vector}]", "scorers[0]: 'vector'"),
        (
            "docs",
            "{embedder: {use: hashing}, scorers: [{use: fulltext}]}",
            "embedder: 'hashing'",
        ),
        (
            "docs",
            f"{{scorers: [{{use: vector}}, {{use: fulltext}}], fusers: [{WEIGHED}]}}",
            "fusers[0]: 'weighted-sum'",
        ),
    ],
)
def test_what_it_lacks_is_said(tmp_path: Path, pipeline: str, stages: str, where: str) -> None:
    (tmp_path / "docs").mkdir()
    stages = stages if stages.startswith("{") else f"{{{stages}}}"
    yaml = f"{SURFACES}pipelines: {{{pipeline}: {stages}}}\n"
    (tmp_path / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
    with pytest.raises(ConfigError) as refusal:
        opened(write(tmp_path, {}))
    assert f"pipelines.{pipeline}.{where} could do nothing here, because" in str(refusal.value)


@pytest.mark.parametrize(
    ("stages", "why"),
    [
        ("embedder: {use: hashing}", "no stage asks for vectors, as 'vector' does;"),
        (
            "scorers: [{use: lexical}, {use: vector}]",
            "no embedder makes vectors, as 'hashing' does;",
        ),
    ],
)
def test_a_stage_that_would_make_another_useful_is_named(
    tmp_path: Path, stages: str, why: str
) -> None:
    yaml = f"pipelines: {{manual: {{{stages}}}}}\n"
    (tmp_path / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
    with pytest.raises(ConfigError, match=why):
        opened(write(tmp_path, {}))


@pytest.mark.parametrize(
    ("pipeline", "stages"),
    [
        ("manual", "loaders: [{use: markdown}, {use: text, with: {suffixes: [.md]}}]"),
        (
            "manual",
            "loaders: [{use: markdown, as: a, with: {exclude: [old/**]}}, {use: markdown}]",
        ),
        (
            "manual",
            "loaders: [{use: markdown}, {use: markdown, as: b, with: {suffixes: [.md, .rst]}}]",
        ),
        ("graph", "scorers: [{use: lexical}, {use: phrase}, {use: graph}, {use: vector}]"),
        ("graph", "embedder: {use: hashing}"),
        ("graph", "scorers: [{use: vector}, {use: graph}, {use: fulltext}]"),
        ("manual", "embedder: {use: none}"),
        ("manual", "{embedder: {use: hashing}, scorers: [{use: lexical}, {use: vector}]}"),
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
    with closing(opened(tmp_path)) as application:
        assert ask(application, "manual_ls")["items"]
