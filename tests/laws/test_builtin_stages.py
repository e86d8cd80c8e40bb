"""The built-ins pass the contracts that every plugin author inherits."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import tiny_models
from hypothesis import given
from hypothesis import strategies as st

from fumishirube import Budget, Fields, IndexedFile, Query, Root, SurfaceContext
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.engine.library import Library
from fumishirube.plugins.discovery import load_plugins
from fumishirube.testing import (
    EmbedderContract,
    FuserContract,
    IndexContract,
    LoaderContract,
    MemoryContext,
    MemoryCorpus,
    RefinerContract,
    ScorerContract,
    StageContract,
    SurfaceContract,
    TokenizerContract,
)
from fumishirube.testing.answers import answers
from fumishirube.testing.samples import BLANK, PASSAGES
from fumishirube.text import fold, words
from fumishirube_stages.embedders.none import NullEmbedder
from fumishirube_stages.embedders.sentence_transformers import SentenceTransformers
from fumishirube_stages.fusers.decompose import Decompose
from fumishirube_stages.fusers.required_terms import RequiredTerms
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.loaders import Json, Markdown, Notebook, Text, TocText
from fumishirube_stages.refiners.cutoff import Cutoff
from fumishirube_stages.refiners.exploration import Exploration
from fumishirube_stages.refiners.feedback import Feedback
from fumishirube_stages.refiners.fuzzy import Fuzzy
from fumishirube_stages.refiners.linked import Linked
from fumishirube_stages.scorers.exceptions import Exceptions
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.loose import Loose
from fumishirube_stages.scorers.numbers import Numbers
from fumishirube_stages.scorers.phrase import PhraseScorer
from fumishirube_stages.scorers.proximity import Proximity
from fumishirube_stages.tokenizers.bigram import Bigram
from fumishirube_stages.tokenizers.ngram import NGram
from fumishirube_vault.surface import VaultSurface

RULES = """---
title: 休暇規程
---
# 総則

この規程は休暇について定める。

## 例外

- 試用期間中は取得できない。

```
# 見出しではない
```

付則
====

本規程は4月1日から施行する。
"""
TOC = {
    "toc": [
        {"id": "1", "title": "はじめに", "file": "01_はじめに.txt"},
        {"id": "2", "title": "資格", "file": "02_資格.txt"},
    ]
}


class TestMarkdown(LoaderContract):
    stage = Markdown()

    def files(self) -> Mapping[str, str | bytes]:
        return {
            "rules.md": RULES,
            "guide/Signing in.MD": "Text before.\r\n\r\n# Signing in\r\nType your password.\r\n",
            "図表.md": "# 表\n\n| 号 | 額 |\n|---|---|\n| 1 | 5,000円 |\n",
            "notes.txt": "nobody speaks for this",
        }


class TestJson(LoaderContract):
    stage = Json()

    def files(self) -> Mapping[str, str | bytes]:
        return {
            "codes.json": json.dumps({"E-104": {"意味": "時間切れ", "retry": True}}),
            "深い/list.JSON": "[1, [2, [null, 3.50]]]\n",
            "broken.json": '{"no": ',
        }


class TestTocText(LoaderContract):
    stage = TocText()

    def files(self) -> Mapping[str, str | bytes]:
        return {
            "00_目次.json": json.dumps(TOC, ensure_ascii=False),
            "01_はじめに.txt": "この編は給付金を扱う。\n",
            "02_資格.txt": "会員の資格は第3章を参照。\n別表も見ること。\n".encode("cp932"),
            "unlisted.txt": "nobody speaks for this",
        }


class TestNGramOfSingleCharacters(TokenizerContract):
    stage = NGram(n=1)


class TestLexical(ScorerContract):
    stage = Lexical()
    queries = (Query("給"), Query("給付の例外", must=("有給休暇",)))


class TestPhrase(ScorerContract):
    stage = PhraseScorer()
    queries = (Query("入社から6か月後に10日付与"), Query("the reset link in the mail"))


class TestProximity(ScorerContract):
    stage = Proximity()
    queries = (Query("試用期間 有給休暇"), Query("reset link mail"))


class TestNumbers(ScorerContract):
    stage = Numbers()
    queries = (Query("日当2,500円"), Query("error E-1042"), Query("60回 6か月 10日"))


class TestLoose(ScorerContract):
    stage = Loose()
    queries = (Query("有 給-休暇"), Query("・"), Query("Password", case_sensitive=True))


class TestExceptions(ScorerContract):
    stage = Exceptions(extra_words=("休暇",), merge=True)


class TestRequiredTerms(FuserContract):
    stage = RequiredTerms()
    queries = (Query("休暇の例外", required=("有給休暇", "試用期間", "日")),)


class TestDecompose(FuserContract):
    stage = Decompose()
    queries = (Query("difference between password and link"), Query("入院と通院の違い"))


class TestExplorationOfASmallPool(RefinerContract):
    stage = Exploration(pool=2, per_file=1, least=1)


class TestCutoffThatIsSureOfNothing(RefinerContract):
    stage = Cutoff(limit=3, sure=1, score_share=0.9, coverage=1.0)


class TestFeedback(RefinerContract):
    stage = Feedback(least_words=1)


class TestLinked(RefinerContract):
    stage = Linked(weight=3.0)


class TestFuzzy(RefinerContract):
    stage = Fuzzy()
    queries = (Query("年次有結休暇"),)


class TestVaultSurface(SurfaceContract):
    stage = VaultSurface(history=True)

    @pytest.fixture(autouse=True)
    def _vault(self, tmp_path: Path) -> None:
        self._folder = tmp_path

    def context(self) -> SurfaceContext:
        return MemoryContext({}, self._folder)


@tiny_models.installed
class TestSentenceTransformers(EmbedderContract):
    stage = SentenceTransformers()

    @pytest.fixture(autouse=True)
    def _model(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        folder = tmp_path_factory.getbasetemp() / "tiny-model"
        if not folder.exists():
            tiny_models.tiny_model(folder)
        self.stage = SentenceTransformers(model=str(folder / "model"), batch_size=3)


class TestNullEmbedder(EmbedderContract):
    stage = NullEmbedder()

    def test_vectors_have_dimensions(self) -> None:
        """It alone is there to make none."""
        assert [*self.stage.embed(["a"], "query")] == [()]


class TestText(LoaderContract):
    stage = Text()

    def files(self) -> Mapping[str, str | bytes]:
        return {
            "a.txt": "word " * 200 + "\n" + "line\n\n" * 80,
            "b.rst": "Title\n=====\n\n" + "line\n" * 90 + "\nPart\n----\nx\n",
            "c.csv": "a,b\n" + '1,"two\nlines"\n' * 50,
            "LICENSE": "Free.\n",
        }


class TestNotebook(LoaderContract):
    stage = Notebook(outputs=True)

    def files(self) -> Mapping[str, str | bytes]:
        words = {"cell_type": "markdown", "source": ["# Fit\n", "\n", "Words.\n"]}
        output = {"output_type": "stream", "text": ["0.5\n"]}
        code = {"cell_type": "code", "source": "x = 1", "outputs": [output]}
        return {"a.ipynb": json.dumps({"cells": [words, code]}), "b.IPYNB": '{"cells": []}'}


class TestDividedJson(LoaderContract):
    stage = Json()

    def files(self) -> Mapping[str, str | bytes]:
        items = [{"name": f"n{n}", "text": "w " * 90, "more": {"a": [n]}} for n in range(20)]
        return {"a.json": json.dumps({"items": items, "last": 1}, indent=1)}


CONTRACTS: Mapping[str, type[StageContract[Any]]] = {
    "loaders": LoaderContract,
    "tokenizers": TokenizerContract,
    "embedders": EmbedderContract,
    "indexes": IndexContract,
    "scorers": ScorerContract,
    "fusers": FuserContract,
    "refiners": RefinerContract,
    "surfaces": SurfaceContract,
}

# Who needs nothing but its defaults needs no lines of its own; a loader needs files to load.
for kind, offer in load_plugins(strangers=False).registry.offers():
    name = f"Test{offer.stage.__name__}"
    made = type(
        name, (CONTRACTS[kind.kind_name],), {"stage": offer.stage(), "__module__": __name__}
    )
    globals().setdefault(name, made)


def test_every_built_in_stands_here() -> None:
    here = {
        type(contract.stage)
        for name, contract in globals().items()
        if name.startswith("Test") and inspect.isclass(contract)
        if issubclass(contract, StageContract) and hasattr(contract, "stage")
    }
    assert here == {offer.stage for _, offer in load_plugins(strangers=False).registry.offers()}


# --- what the contracts cannot know: the built-ins work together -----------------------------


@pytest.fixture(scope="module")
def samples() -> Path:
    return Path(__file__).parents[2] / "manuals"


def test_every_file_of_the_sample_manuals_has_one_loader(samples: Path) -> None:
    library = Library(Root(samples), [Markdown(), TocText(), Json()])
    for manual_id in library.manuals():
        manual = library.manual(manual_id)
        there = {entry.path for entry in Root(samples / manual_id).files()}
        assert set(manual.paths()) == there


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@given(st.lists(st.text("給付休ひとり𠮷カ", min_size=1) | st.text("ab1", min_size=1)))
def test_the_grams_of_a_japanese_run_slide_over_it_alone(n: int, parts: list[str]) -> None:
    text = fold(" ".join(parts))
    expected = [
        run[start : start + n] if japanese else run
        for run, japanese in words(text)
        for start in range(max(1, len(run) - n + 1) if japanese else 1)
    ]
    assert list(NGram(n=n).terms(text))[: len(expected)] == expected


@pytest.mark.parametrize("tokenizer", [Bigram(), NGram(), NGram(n=1)], ids=repr)
def test_whatever_the_tokenizer_the_index_answers_like_memory(
    tmp_path: Path, tokenizer: NGram
) -> None:
    passages = [*PASSAGES, BLANK]
    batches = [
        (
            IndexedFile(path, "stamp", None, len(list(pages))),
            [p for p in passages if p.path == path],
        )
        for path, pages in groupby(sorted(passages), key=lambda one: one.path)
    ]
    index = Tantivy().open(Root(tmp_path), Fields(FIELDS, tokenizer))
    with index.writing(Budget()):
        index.sync((), batches)
    assert answers(index.corpus("m")) == answers(MemoryCorpus(passages, tokenizer))
    index.close()
