"""Fumishirube: search local manuals with few misses and few tokens; the API for plugins."""

import typing as _typing
from importlib import import_module as _import_module

from fumishirube.plugins.deprecation import resolve_former_name as _former

if _typing.TYPE_CHECKING:
    from fumishirube.budget import Budget
    from fumishirube.corpus import (
        Bool,
        Clause,
        Corpus,
        Count,
        Everything,
        Holds,
        IndexMatch,
        Pages,
        Part,
        PassageText,
        Phrase,
        ScoreCutoff,
        SequenceCorpus,
        Term,
        texts_of,
    )
    from fumishirube.corpus_kinds import (
        LinkedCorpus,
        Neighbour,
        TextMatches,
        VectorCorpus,
        link_levels,
    )
    from fumishirube.disk.roots import Root
    from fumishirube.documents import (
        Document,
        Heading,
        Link,
        LinkKind,
        LoaderRemark,
        Section,
        Source,
        divide_at_headings,
    )
    from fumishirube.engine.rankings import fused_ranking, merge_rankings
    from fumishirube.errors import (
        AlreadyServed,
        Cancelled,
        ConfigError,
        Conflict,
        Forbidden,
        FumishirubeError,
        IndexDamaged,
        InternalError,
        InvalidParameter,
        InvalidPath,
        InvalidScope,
        NeedsNarrowScope,
        NotFound,
        ToolError,
        Unreadable,
    )
    from fumishirube.model import (
        Hit,
        LeftOut,
        MatchCount,
        Passage,
        Ranking,
        Skipped,
        TermFilter,
        TermReport,
        TermUse,
    )
    from fumishirube.plugins.commands import Command, CommandRegister
    from fumishirube.plugins.hookspecs import hook
    from fumishirube.plugins.installation import install_command
    from fumishirube.plugins.registry import DefaultRegister, Register
    from fumishirube.query import Outcome, Query, Run
    from fumishirube.stages import (
        Chapter,
        ClaimedFile,
        ClassicKey,
        Contents,
        ContentsLoader,
        Embedder,
        Env,
        Fields,
        Fuser,
        Index,
        IndexedFile,
        LinkLoader,
        Loader,
        OpenIndex,
        Refiner,
        Scorer,
        Stage,
        Tokenizer,
        Vectors,
    )
    from fumishirube.surfaces import (
        ClassicSettings,
        Diagnostic,
        Manual,
        Surface,
        SurfaceContext,
        SurfaceIndex,
    )
    from fumishirube.tools.citations import Citation
    from fumishirube.tools.definitions import Answer, Call, Params, Tool
    from fumishirube.traces.records import CoverageReport, SearchAssessment, Span, Trace, TraceRow

__version__ = "0.1.0"

_MODULES = {
    "budget": "Budget",
    "corpus": (
        "Bool Clause Corpus Count Everything Holds IndexMatch Pages Part PassageText "
        "Phrase ScoreCutoff SequenceCorpus Term texts_of"
    ),
    "corpus_kinds": "LinkedCorpus Neighbour TextMatches VectorCorpus link_levels",
    "disk.roots": "Root",
    "documents": "Document Heading Link LinkKind LoaderRemark Section Source divide_at_headings",
    "engine.rankings": "fused_ranking merge_rankings",
    "errors": (
        "AlreadyServed Cancelled ConfigError Conflict Forbidden FumishirubeError "
        "IndexDamaged InternalError InvalidParameter InvalidPath InvalidScope "
        "NeedsNarrowScope NotFound ToolError Unreadable"
    ),
    "model": "Hit LeftOut MatchCount Passage Ranking Skipped TermFilter TermReport TermUse",
    "plugins.commands": "Command CommandRegister",
    "plugins.hookspecs": "hook",
    "plugins.installation": "install_command",
    "plugins.registry": "DefaultRegister Register",
    "query": "Outcome Query Run",
    "stages": (
        "Chapter ClaimedFile ClassicKey Contents ContentsLoader Embedder Env Fields Fuser "
        "Index IndexedFile LinkLoader Loader OpenIndex Refiner Scorer Stage Tokenizer "
        "Vectors"
    ),
    "surfaces": "ClassicSettings Diagnostic Manual Surface SurfaceContext SurfaceIndex",
    "tools.citations": "Citation",
    "tools.definitions": "Answer Call Params Tool",
    "traces.records": "CoverageReport SearchAssessment Span Trace TraceRow",
}
"""The public names of each module, which is imported when one of them is used."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not _typing.TYPE_CHECKING:  # a type checker would accept every name

    def __getattr__(name: str) -> object:
        module = _MODULE_OF.get(name)
        if module is None:
            return _former(name)
        public = getattr(_import_module(f"{__name__}.{module}"), name)
        globals()[name] = public
        return public


__all__ = [
    "AlreadyServed",
    "Answer",
    "Bool",
    "Budget",
    "Call",
    "Cancelled",
    "Chapter",
    "Citation",
    "ClaimedFile",
    "ClassicKey",
    "ClassicSettings",
    "Clause",
    "Command",
    "CommandRegister",
    "ConfigError",
    "Conflict",
    "Contents",
    "ContentsLoader",
    "Corpus",
    "Count",
    "CoverageReport",
    "DefaultRegister",
    "Diagnostic",
    "Document",
    "Embedder",
    "Env",
    "Everything",
    "Fields",
    "Forbidden",
    "FumishirubeError",
    "Fuser",
    "Heading",
    "Hit",
    "Holds",
    "Index",
    "IndexDamaged",
    "IndexMatch",
    "IndexedFile",
    "InternalError",
    "InvalidParameter",
    "InvalidPath",
    "InvalidScope",
    "LeftOut",
    "Link",
    "LinkKind",
    "LinkLoader",
    "LinkedCorpus",
    "Loader",
    "LoaderRemark",
    "Manual",
    "MatchCount",
    "NeedsNarrowScope",
    "Neighbour",
    "NotFound",
    "OpenIndex",
    "Outcome",
    "Pages",
    "Params",
    "Part",
    "Passage",
    "PassageText",
    "Phrase",
    "Query",
    "Ranking",
    "Refiner",
    "Register",
    "Root",
    "Run",
    "ScoreCutoff",
    "Scorer",
    "SearchAssessment",
    "Section",
    "SequenceCorpus",
    "Skipped",
    "Source",
    "Span",
    "Stage",
    "Surface",
    "SurfaceContext",
    "SurfaceIndex",
    "Term",
    "TermFilter",
    "TermReport",
    "TermUse",
    "TextMatches",
    "Tokenizer",
    "Tool",
    "ToolError",
    "Trace",
    "TraceRow",
    "Unreadable",
    "VectorCorpus",
    "Vectors",
    "divide_at_headings",
    "fused_ranking",
    "hook",
    "install_command",
    "link_levels",
    "merge_rankings",
    "texts_of",
]
