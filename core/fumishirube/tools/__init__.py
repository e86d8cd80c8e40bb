"""The parts of tools: answers, pages, resources and prompts."""

from fumishirube.corpus_kinds import EmbeddingCounts, SectionVectors
from fumishirube.errors import did_you_mean
from fumishirube.tools.argument_errors import FailsWith
from fumishirube.tools.calls import call_tool, compact, error_payload, unpack_arguments
from fumishirube.tools.definitions import (
    ANSWER_CHARS,
    OrAbsent,
    Progress,
    Question,
    Session,
    View,
    fitting,
    json_chars,
    narrowed_params,
)
from fumishirube.tools.pages import (
    PAGE_CHARS,
    Cursor,
    LineRange,
    MaxChars,
    NextChar,
    ScanCursor,
    TextPage,
    listed,
    paged,
)
from fumishirube.tools.resources import (
    Content,
    Prompt,
    PromptParameter,
    Resource,
    Resources,
    Template,
)

__all__ = [
    "ANSWER_CHARS",
    "PAGE_CHARS",
    "Content",
    "Cursor",
    "EmbeddingCounts",
    "FailsWith",
    "LineRange",
    "MaxChars",
    "NextChar",
    "OrAbsent",
    "Progress",
    "Prompt",
    "PromptParameter",
    "Question",
    "Resource",
    "Resources",
    "ScanCursor",
    "SectionVectors",
    "Session",
    "Template",
    "TextPage",
    "View",
    "call_tool",
    "compact",
    "did_you_mean",
    "error_payload",
    "fitting",
    "json_chars",
    "listed",
    "narrowed_params",
    "paged",
    "unpack_arguments",
]
