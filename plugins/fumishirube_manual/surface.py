"""The surface of manuals: its settings, and its tools to list, find, page, read and scan."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, field_validator

from fumishirube import Corpus, Env, Root, Stage, SurfaceContext, Tool, Trace, TraceRow
from fumishirube.tools import PAGE_CHARS, MaxChars, Prompt, Resources

if TYPE_CHECKING:
    from fumishirube_manual.adaptive import FindStatistics

SURFACE = "manual"
"""The name under which the surface is registered."""

Extra = Literal[
    "plain",
    "lines",
    "also",
    "answerable",
    "vocabulary",
    "names",
    "alternatives",
    "everywhere",
    "path_prefix",
    "refs",
    "grep",
    "batch",
    "cursor",
    "titles",
    "documents",
    "unread",
    "terms",
    "unsearched",
    "coverage",
    "cite",
    "est_tokens",
    "refers_to",
    "addressed",
]
"""Keys, parameters and tools beyond the contract."""

DEFAULT_EXTRAS: tuple[Extra, ...] = tuple(
    extra
    for extra in get_args(Extra)
    if extra not in ("coverage", "est_tokens", "refers_to", "addressed")
)

_INSTRUCTIONS = (
    "Manuals: manual_ls gives the ids that the other manual_* tools take, and is called before "
    "one is used; manual_find and manual_grep take '*' for all without it. A question: "
    "manual_find, with its parts and other wordings as alternatives; what its lines say is "
    "the document's own text, and needs no second look. A part still open: the lines beside "
    "those shown, by manual_read with refs, several short ranges at once, code: false without "
    "the code; or manual_grep for its names, in the file by path_prefix. Every place of a word "
    "or a pattern: manual_grep, where 'all below' means every line that matches. What there is "
    "of a kind: matches_only, and in the same manual_batch a manual_find (max_chars 2000) for "
    "the page that lists them, without those words or in a table. Calls that need not wait "
    "for each other's answers, as a search and patterns, or what is to be read and checked: "
    "one manual_batch."
)
_OF_THE_CONTRACT = (
    "Manuals: manual_ls gives the ids that the other manual_* tools take, and is called before "
    "one is used. A question: manual_find, with one or two words that the passage surely holds; "
    "more of its hits: manual_hits. Their sections: manual_read with a hit's ref; what follows, "
    "and JSON: manual_scan."
)


class ManualSurface(Stage):
    """Offers the ``manual_*`` tools.

    ``extras`` names additions to the contract: keys, parameters and a tool. Without any, answers,
    schemas and texts are those of the contract alone: ``degraded`` and the prompts go too. With
    any, ``manual_read`` without a line begins with the first section that has text, ``manual_toc``
    lists no front matter, and the ``unscanned`` rows of ``manual_hits`` include matches far below
    the best hit. With ``claim_graph``, a call that requests the graph of claims gets it.

    ``coverage_min`` is the coverage that an answering section needs. When a follow-up brings less
    than ``marginal_gain_min``, no further one is proposed.

    The extra ``names`` reports the options, identifiers and codes in the wordings of a query that
    no hit shows: the most relevant line of those in up to six sections, and those that occur
    nowhere.

    If the words of a query do not occur together, the extra ``vocabulary`` offers up to
    ``vocabulary_words`` words from the headings of the best ``vocabulary_hits`` hits. To estimate
    how frequent a word is in the manual, each section counts as ``vocabulary_section_words`` words,
    and a section with the word as one occurrence.

    With the extra ``addressed``, the scorer ``detector`` says which passages address the agent.
    """

    root: ClassVar[str] = "manuals"
    uses: ClassVar[tuple[str, ...]] = (
        "loaders",
        "tokenizer",
        "embedder",
        "index",
        "scorers",
        "fusers",
        "refiners",
        "vectors",
        "alternatives",
        "synonyms",
    )
    pipeline: ClassVar[Mapping[str, Any]] = {
        "loaders": ["markdown", "toc-text", "json"],
        "tokenizer": "bigram",
        "index": "tantivy",
        "scorers": ["lexical", "phrase", "proximity", "numbers"],
        "fusers": ["required-terms", "alternatives", "glossary", "decompose"],
        "refiners": ["feedback", "siblings", "linked", "exploration", "diversity", "cutoff"],
    }

    scan_max_chars: Annotated[MaxChars, Env("SCAN_MAX_CHARS")] = PAGE_CHARS
    coverage_min: Annotated[float, Field(ge=0, le=1), Env("COVERAGE_MIN_RATIO")] = 0.9
    marginal_gain_min: Annotated[float, Field(ge=0, le=1), Env("MARGINAL_GAIN_MIN")] = 0.02
    claim_graph: Annotated[bool, Env("MANUAL_FIND_CLAIM_GRAPH_ENABLED")] = True
    vocabulary_words: Annotated[int, Field(ge=1, le=8)] = 8
    vocabulary_hits: Annotated[int, Field(ge=1, le=200)] = 20
    vocabulary_section_words: Annotated[int, Field(ge=1)] = 100
    detector: str = "addressed"
    extras: Annotated[tuple[Extra, ...], Env("FUMISHIRUBE_SURFACE_EXTRAS", others=("append",))] = (
        DEFAULT_EXTRAS
    )

    @field_validator("extras", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        if isinstance(value, str):
            names = [name.strip() for name in value.split(",") if name.strip()]
            return () if names == ["none"] else tuple(names)
        return value

    def default_loaders(self, registered: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        """Return the loaders of the contract's file types; with ``documents``, all registered ones.

        Without ``documents``, a JSON file is one section. Without any extra, text before the first
        heading of a file goes by the file's name.
        """
        if "documents" not in self.extras:
            whole = {"use": "json", "with": {"section_chars": None}}
            named = {} if self.extras else {"with": {"page_titles": False}}
            return [{"use": "markdown", **named}, {"use": "toc-text"}, whole]
        names = dict.fromkeys((*self.pipeline["loaders"], *registered))
        return [{"use": name} for name in names]

    @property
    def instructions(self) -> str:
        """What clients tell the model of the tools; without extras, of those of the contract."""
        return _INSTRUCTIONS if self.extras else _OF_THE_CONTRACT

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the tools, in the order in which clients list them."""
        from fumishirube_manual.tools.tool_list import tools

        return tools(context, self)

    def commands(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the tools for callers inside the process, whatever tools clients are offered."""
        from fumishirube_manual.tools.tool_list import commands

        return commands(context, self)

    def with_evidence(self, context: SurfaceContext, trace: Trace, corpus: Corpus) -> Trace:
        """Return the trace of a search with the weights of the concepts of its wordings."""
        from fumishirube_manual.evidence.annotations import with_weights

        return with_weights(context, trace, corpus)

    def evidence(
        self, context: SurfaceContext, trace: Trace, row: TraceRow, characters: int
    ) -> Sequence[tuple[int, str]]:
        """Return the most relevant lines of a hit with their numbers; empty without weights."""
        from fumishirube_manual.evidence.annotations import ANNOTATION
        from fumishirube_manual.evidence.reader import EvidenceReader

        if ANNOTATION not in trace.annotations:
            return ()
        return EvidenceReader(context, trace).evidence(row, characters).lines

    def search_statistics(
        self,
        base: tuple[int, float],
        file: Path,
        *,
        tuning: bool,
        min_recall: float,
        vault: Path | None,
        folder: Root | None,
    ) -> "FindStatistics":
        """Return the statistics of finds, by which their thresholds are tuned."""
        from fumishirube_manual.adaptive import FindStatistics

        return FindStatistics(
            base, file, tuning=tuning, min_recall=min_recall, vault=vault, folder=folder
        )

    def resources(self, context: SurfaceContext) -> Resources:
        """Return the files of the manuals as resources."""
        from fumishirube_manual.resources import manual_resources

        return manual_resources(context)

    def prompts(self, context: SurfaceContext) -> Sequence[Prompt]:
        """Return the prompts, which describe ways to work with the extras; without them none."""
        from fumishirube_manual.prompts import manual_prompts

        return manual_prompts(context) if self.extras else ()
