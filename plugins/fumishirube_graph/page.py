"""``ubp_get_page``: one document with its sections, links and staleness."""

from typing import Literal

from fumishirube import Answer, Call, LinkKind, Tool
from fumishirube.tools import OrAbsent
from fumishirube_graph.arguments import (
    DATA,
    FilePath,
    GraphRuntime,
    LinkedPage,
    NonNullParams,
    UntrustedAnswer,
)
from fumishirube_graph.records import Doc, DocType
from fumishirube_graph.resolution import Issue, LinkEdge
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_graph.staleness import Level


class PageParams(NonNullParams):
    """The page to read."""

    filepath: FilePath


class PageSection(Answer):
    """A section, as written."""

    heading: str | None
    content: str
    section_id: str
    level: int
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int


class LinkIssue(Answer):
    """A link with a problem."""

    target: str
    link_type: LinkKind
    line: int
    status: Literal["dangling", "ambiguous", "anchor_missing"]
    candidates: OrAbsent[tuple[str, ...]] = None


class PageAnswer(UntrustedAnswer):
    """A whole document."""

    doc_id: str
    filepath: str
    title: str
    doc_type: DocType
    content: str
    sections: tuple[PageSection, ...]
    outlinks: tuple[LinkedPage, ...]
    backlinks: tuple[LinkedPage, ...]
    staleness: Level
    stale_refs: tuple[str, ...]
    updated_at: str
    link_issues: tuple[LinkIssue, ...]


def page_tool(runtime: GraphRuntime) -> Tool[PageParams, PageAnswer]:
    """Return the tool."""

    def run(params: PageParams, _: Call) -> PageAnswer:
        snapshot = runtime.view()
        doc = runtime.page(snapshot, params.filepath, "filepath")
        stale = runtime.staleness(doc)
        out, back = snapshot.out[doc.path], snapshot.back.get(doc.path, [])
        return PageAnswer(
            **doc.named,
            doc_type=doc.record.doc_type,
            content=doc.record.content,
            sections=tuple(_sections(doc)),
            outlinks=tuple(_linked(snapshot, edge, edge.target) for edge in out),
            backlinks=tuple(_linked(snapshot, edge, edge.source) for edge in back),
            staleness=stale.level,
            stale_refs=tuple(ref.path for ref in stale.refs),
            updated_at=doc.updated_at,
            link_issues=tuple(_issue(issue) for issue in snapshot.issues[doc.path]),
            warnings=runtime.warned(snapshot, *runtime.docs.baselines.damage()),
        )

    return Tool(
        name="ubp_get_page",
        title="Read a document",
        summary=(
            "Read one document whole: its text and sections, the links out of it and back to it, "
            "links that lead nowhere, and whether the sources it describes have changed since. "
            f"Take filepath from ubp_search or ubp_list_pages. Costs the whole text. {DATA}"
        ),
        params=PageParams,
        answer=PageAnswer,
        run=run,
        examples=({"filepath": "design/search.md"},),
    )


def _sections(doc: Doc) -> list[PageSection]:
    return [
        PageSection(
            heading=part.heading,
            content=doc.text(part),
            section_id=section_id,
            level=part.level,
            heading_path=part.heading_path,
            line_start=part.line_start,
            line_end=part.line_end,
        )
        for part, section_id in zip(doc.record.parts, doc.section_ids, strict=True)
    ]


def _linked(snapshot: GraphSnapshot, edge: LinkEdge, path: str) -> LinkedPage:
    named = snapshot.docs[path].named
    return LinkedPage(**named, link_type=edge.kind, section_id=edge.section_id)


def _issue(issue: Issue) -> LinkIssue:
    return LinkIssue(
        target=issue.target,
        link_type=issue.kind,
        line=issue.line,
        status=issue.status,
        candidates=issue.candidates or None,
    )
