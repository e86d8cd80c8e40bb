"""Fumishirube: search local manuals with few misses and few tokens; the API for plugins."""

import typing as _typing
from importlib import import_module as _import_module

from fumishirube.plugins.deprecation import resolve_former_name as _former

if _typing.TYPE_CHECKING:
    from fumishirube.budget import Budget as Budget
    from fumishirube.corpus import Bool as Bool
    from fumishirube.corpus import Clause as Clause
    from fumishirube.corpus import Corpus as Corpus
    from fumishirube.corpus import Count as Count
    from fumishirube.corpus import Everything as Everything
    from fumishirube.corpus import Holds as Holds
    from fumishirube.corpus import IndexMatch as IndexMatch
    from fumishirube.corpus import Pages as Pages
    from fumishirube.corpus import Part as Part
    from fumishirube.corpus import PassageText as PassageText
    from fumishirube.corpus import Phrase as Phrase
    from fumishirube.corpus import ScoreCutoff as ScoreCutoff
    from fumishirube.corpus import SequenceCorpus as SequenceCorpus
    from fumishirube.corpus import Term as Term
    from fumishirube.corpus import texts_of as texts_of
    from fumishirube.corpus_kinds import LinkedCorpus as LinkedCorpus
    from fumishirube.corpus_kinds import Neighbour as Neighbour
    from fumishirube.corpus_kinds import TextMatches as TextMatches
    from fumishirube.corpus_kinds import VectorCorpus as VectorCorpus
    from fumishirube.corpus_kinds import link_levels as link_levels
    from fumishirube.disk.roots import Root as Root
    from fumishirube.documents import Document as Document
    from fumishirube.documents import Heading as Heading
    from fumishirube.documents import Link as Link
    from fumishirube.documents import LinkKind as LinkKind
    from fumishirube.documents import LoaderRemark as LoaderRemark
    from fumishirube.documents import Section as Section
    from fumishirube.documents import Source as Source
    from fumishirube.documents import divide_at_headings as divide_at_headings
    from fumishirube.engine.rankings import fused_ranking as fused_ranking
    from fumishirube.engine.rankings import merge_rankings as merge_rankings
    from fumishirube.errors import AlreadyServed as AlreadyServed
    from fumishirube.errors import Cancelled as Cancelled
    from fumishirube.errors import ConfigError as ConfigError
    from fumishirube.errors import Conflict as Conflict
    from fumishirube.errors import Forbidden as Forbidden
    from fumishirube.errors import FumishirubeError as FumishirubeError
    from fumishirube.errors import IndexDamaged as IndexDamaged
    from fumishirube.errors import InternalError as InternalError
    from fumishirube.errors import InvalidParameter as InvalidParameter
    from fumishirube.errors import InvalidPath as InvalidPath
    from fumishirube.errors import InvalidScope as InvalidScope
    from fumishirube.errors import NeedsNarrowScope as NeedsNarrowScope
    from fumishirube.errors import NotFound as NotFound
    from fumishirube.errors import ToolError as ToolError
    from fumishirube.errors import Unreadable as Unreadable
    from fumishirube.model import Hit as Hit
    from fumishirube.model import LeftOut as LeftOut
    from fumishirube.model import MatchCount as MatchCount
    from fumishirube.model import Passage as Passage
    from fumishirube.model import Ranking as Ranking
    from fumishirube.model import Skipped as Skipped
    from fumishirube.model import TermFilter as TermFilter
    from fumishirube.model import TermReport as TermReport
    from fumishirube.model import TermUse as TermUse
    from fumishirube.plugins.commands import Command as Command
    from fumishirube.plugins.commands import CommandRegister as CommandRegister
    from fumishirube.plugins.hookspecs import hook as hook
    from fumishirube.plugins.installation import install_command as install_command
    from fumishirube.plugins.registry import DefaultRegister as DefaultRegister
    from fumishirube.plugins.registry import Register as Register
    from fumishirube.query import Outcome as Outcome
    from fumishirube.query import Query as Query
    from fumishirube.query import Run as Run
    from fumishirube.stages import Chapter as Chapter
    from fumishirube.stages import ClaimedFile as ClaimedFile
    from fumishirube.stages import ClassicKey as ClassicKey
    from fumishirube.stages import Contents as Contents
    from fumishirube.stages import ContentsLoader as ContentsLoader
    from fumishirube.stages import Embedder as Embedder
    from fumishirube.stages import Env as Env
    from fumishirube.stages import Fields as Fields
    from fumishirube.stages import Fuser as Fuser
    from fumishirube.stages import Index as Index
    from fumishirube.stages import IndexedFile as IndexedFile
    from fumishirube.stages import LinkLoader as LinkLoader
    from fumishirube.stages import Loader as Loader
    from fumishirube.stages import OpenIndex as OpenIndex
    from fumishirube.stages import Refiner as Refiner
    from fumishirube.stages import Scorer as Scorer
    from fumishirube.stages import Stage as Stage
    from fumishirube.stages import Tokenizer as Tokenizer
    from fumishirube.stages import Vectors as Vectors
    from fumishirube.surfaces import ClassicSettings as ClassicSettings
    from fumishirube.surfaces import Diagnostic as Diagnostic
    from fumishirube.surfaces import Manual as Manual
    from fumishirube.surfaces import Surface as Surface
    from fumishirube.surfaces import SurfaceContext as SurfaceContext
    from fumishirube.surfaces import SurfaceIndex as SurfaceIndex
    from fumishirube.tools.citations import Citation as Citation
    from fumishirube.tools.definitions import Answer as Answer
    from fumishirube.tools.definitions import Call as Call
    from fumishirube.tools.definitions import Params as Params
    from fumishirube.tools.definitions import Tool as Tool
    from fumishirube.traces.records import CoverageReport as CoverageReport
    from fumishirube.traces.records import SearchAssessment as SearchAssessment
    from fumishirube.traces.records import Span as Span
    from fumishirube.traces.records import Trace as Trace
    from fumishirube.traces.records import TraceRow as TraceRow

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
_MODULE_OF = dict(
    sorted((name, module) for module, names in _MODULES.items() for name in names.split())
)


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


__all__ = list(_MODULE_OF)
