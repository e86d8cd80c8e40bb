"""The built-in stages, offered through the same entry point and hooks as anybody else's."""

import sys

from shirube import (
    Embedder,
    Fuser,
    Index,
    Loader,
    Refiner,
    Register,
    Scorer,
    Surface,
    Tokenizer,
    Trace,
    hook,
)
from shirube_builtin.embedders.hashing import Hashing
from shirube_builtin.embedders.none import Nothing
from shirube_builtin.embedders.sentence_transformers import SentenceTransformers
from shirube_builtin.fusers.decompose import Decompose
from shirube_builtin.fusers.required_terms import RequiredTerms
from shirube_builtin.fusers.rrf import Rrf
from shirube_builtin.fusers.weighted_sum import WeightedSum
from shirube_builtin.indexes.tantivy import Tantivy
from shirube_builtin.loaders.json import Json
from shirube_builtin.loaders.markdown import Markdown
from shirube_builtin.loaders.toc_text import TocText
from shirube_builtin.refiners.cutoff import Cutoff
from shirube_builtin.refiners.diversity import Diversity
from shirube_builtin.refiners.exploration import Exploration
from shirube_builtin.refiners.fuzzy import Fuzzy
from shirube_builtin.refiners.siblings import Siblings
from shirube_builtin.scorers.exceptions import Exceptions
from shirube_builtin.scorers.fulltext import Fulltext
from shirube_builtin.scorers.graph import Graph
from shirube_builtin.scorers.lexical import Lexical
from shirube_builtin.scorers.loose import Loose
from shirube_builtin.scorers.numbers import Numbers
from shirube_builtin.scorers.phrase import Phrase
from shirube_builtin.scorers.plain import Plain
from shirube_builtin.scorers.proximity import Proximity
from shirube_builtin.scorers.regex import Regex
from shirube_builtin.scorers.vector import Vector
from shirube_builtin.surfaces.chapters import ChaptersSurface
from shirube_builtin.surfaces.graph import GraphSurface
from shirube_builtin.surfaces.manual import ManualSurface
from shirube_builtin.surfaces.vault import VaultSurface
from shirube_builtin.tokenizers.bigram import Bigram
from shirube_builtin.tokenizers.ngram import NGram
from shirube_builtin.tokenizers.pairs import Pairs


@hook
def register_loaders(register: Register[Loader]) -> None:
    """Offer the loaders of Markdown, JSON, and chapters with a table of contents."""
    register("markdown", Markdown)
    register("json", Json)
    register("toc-text", TocText)


@hook
def register_tokenizers(register: Register[Tokenizer]) -> None:
    """Offer character n-grams for Japanese, with whole words for all else; and pairs of all."""
    register("bigram", Bigram)
    register("ngram", NGram)
    register("pairs", Pairs)


@hook
def register_embedders(register: Register[Embedder]) -> None:
    """Offer what needs no model: none, and vectors of hashed terms; and what runs one."""
    register("none", Nothing)
    register("hashing", Hashing)
    register("sentence-transformers", SentenceTransformers)


@hook
def register_indexes(register: Register[Index]) -> None:
    """Offer the embedded index."""
    register("tantivy", Tantivy)


@hook
def register_scorers(register: Register[Scorer]) -> None:
    """Offer the scorers of manuals, those that read every text through, and those of links."""
    register("lexical", Lexical)
    register("phrase", Phrase)
    register("proximity", Proximity)
    register("numbers", Numbers)
    register("plain", Plain)
    register("regex", Regex)
    register("loose", Loose)
    register("exceptions", Exceptions)
    register("vector", Vector)
    register("graph", Graph)
    register("fulltext", Fulltext)


@hook
def register_fusers(register: Register[Fuser]) -> None:
    """Offer the gates, the comparisons, plain rank fusion, and the sum over documents."""
    register("required-terms", RequiredTerms)
    register("decompose", Decompose)
    register("rrf", Rrf)
    register("weighted-sum", WeightedSum)


@hook
def register_refiners(register: Register[Refiner]) -> None:
    """Offer what reorders and shortens a ranking."""
    register("siblings", Siblings)
    register("exploration", Exploration)
    register("diversity", Diversity)
    register("cutoff", Cutoff)
    register("fuzzy", Fuzzy)


@hook
def register_surfaces(register: Register[Surface]) -> None:
    """Offer the tools over manuals, over notes, and over linked documents."""
    register("manual", ManualSurface)
    register("vault", VaultSurface)
    register("chapters", ChaptersSurface)
    register("graph", GraphSurface)


@hook
def search_finished(trace: Trace) -> None:
    """Make spans of a search where the process has OpenTelemetry's SDK, and nothing elsewhere."""
    if "opentelemetry.sdk.trace" in sys.modules:
        from shirube_builtin.telemetry import make_spans  # noqa: PLC0415 - see above

        make_spans(trace)
