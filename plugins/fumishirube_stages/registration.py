"""The built-in stages, registered through the public hooks."""

import sys

from fumishirube import (
    DefaultRegister,
    Embedder,
    Fuser,
    Index,
    Loader,
    Refiner,
    Register,
    Scorer,
    Tokenizer,
    Trace,
    hook,
)
from fumishirube_stages.embedders.hashing import Hashing
from fumishirube_stages.embedders.none import NullEmbedder
from fumishirube_stages.embedders.sentence_transformers import SentenceTransformers
from fumishirube_stages.fusers.alternatives import Alternatives
from fumishirube_stages.fusers.decompose import Decompose
from fumishirube_stages.fusers.glossary import GlossaryFuser
from fumishirube_stages.fusers.required_terms import RequiredTerms
from fumishirube_stages.fusers.rrf import Rrf
from fumishirube_stages.fusers.weighted_sum import WeightedSum
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.loaders.json import Json
from fumishirube_stages.loaders.markdown import Markdown
from fumishirube_stages.loaders.notebook import Notebook
from fumishirube_stages.loaders.text import Text
from fumishirube_stages.loaders.toc_text import TocText
from fumishirube_stages.refiners.cutoff import Cutoff
from fumishirube_stages.refiners.diversity import Diversity
from fumishirube_stages.refiners.exploration import Exploration
from fumishirube_stages.refiners.feedback import Feedback
from fumishirube_stages.refiners.fuzzy import Fuzzy
from fumishirube_stages.refiners.linked import Linked
from fumishirube_stages.refiners.siblings import Siblings
from fumishirube_stages.scorers.exceptions import Exceptions
from fumishirube_stages.scorers.fulltext import Fulltext
from fumishirube_stages.scorers.graph import Graph
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.loose import Loose
from fumishirube_stages.scorers.numbers import Numbers
from fumishirube_stages.scorers.phrase import PhraseScorer
from fumishirube_stages.scorers.plain import Plain
from fumishirube_stages.scorers.proximity import Proximity
from fumishirube_stages.scorers.regex import Regex
from fumishirube_stages.scorers.vector import Vector
from fumishirube_stages.tokenizers.bigram import Bigram
from fumishirube_stages.tokenizers.ngram import NGram
from fumishirube_stages.tokenizers.pairs import Pairs


@hook
def register_loaders(register: DefaultRegister[Loader]) -> None:
    """Register the loaders of Markdown, JSON, chapters with a table of contents, and texts."""
    register("markdown", Markdown)
    register("json", Json)
    register("toc-text", TocText)
    register("text", Text, default=True)
    register("notebook", Notebook, default=True)


@hook
def register_tokenizers(register: Register[Tokenizer]) -> None:
    """Register character n-grams with whole words, and pairs of characters."""
    register("bigram", Bigram)
    register("ngram", NGram)
    register("pairs", Pairs)


@hook
def register_embedders(register: Register[Embedder]) -> None:
    """Register the embedders: none, hashed terms, and sentence-transformers."""
    register("none", NullEmbedder)
    register("hashing", Hashing)
    register("sentence-transformers", SentenceTransformers)


@hook
def register_indexes(register: Register[Index]) -> None:
    """Register the embedded index."""
    register("tantivy", Tantivy)


@hook
def register_scorers(register: Register[Scorer]) -> None:
    """Register the scorers of manuals, of whole texts, and of linked documents."""
    register("lexical", Lexical)
    register("phrase", PhraseScorer)
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
    """Register the fusers."""
    register("required-terms", RequiredTerms)
    register("alternatives", Alternatives)
    register("glossary", GlossaryFuser)
    register("decompose", Decompose)
    register("rrf", Rrf)
    register("weighted-sum", WeightedSum)


@hook
def register_refiners(register: Register[Refiner]) -> None:
    """Register the refiners."""
    register("siblings", Siblings)
    register("exploration", Exploration)
    register("diversity", Diversity)
    register("cutoff", Cutoff)
    register("fuzzy", Fuzzy)
    register("feedback", Feedback)
    register("linked", Linked)


@hook
def search_finished(trace: Trace) -> None:
    """Export the spans of a search to OpenTelemetry, where the process has its SDK."""
    if "opentelemetry.sdk.trace" in sys.modules:
        from fumishirube_stages.telemetry import make_spans  # noqa: PLC0415 - see above

        make_spans(trace)
