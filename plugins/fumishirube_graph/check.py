"""``fumishirube docs check``: lists dangling and ambiguous links, and missing headings."""

from fumishirube import Answer, Call, Tool
from fumishirube.tools import OrAbsent
from fumishirube_graph.arguments import CommandParams, GraphRuntime


class CheckedLink(Answer):
    """A link and its position."""

    filepath: str
    line: int
    target: str


class AmbiguousLink(CheckedLink):
    """A link that matches several pages."""

    candidates: tuple[str, ...]


class CheckAnswer(Answer):
    """The broken links; ``orphans`` are pages without links in or out."""

    dangling: tuple[CheckedLink, ...]
    ambiguous: tuple[AmbiguousLink, ...]
    broken_anchors: tuple[CheckedLink, ...]
    orphans: tuple[str, ...]
    warnings: OrAbsent[tuple[str, ...]] = None


def check_tool(runtime: GraphRuntime) -> Tool[CommandParams, CheckAnswer]:
    """Return the tool."""

    def run(params: CommandParams, _: Call) -> CheckAnswer:
        snapshot = runtime.view(refresh=params.refresh)
        rows = [(path, issue) for path, issues in snapshot.issues.items() for issue in issues]

        def links(status: str) -> tuple[CheckedLink, ...]:
            return tuple(
                CheckedLink(filepath=path, line=issue.line, target=issue.target)
                for path, issue in rows
                if issue.status == status
            )

        return CheckAnswer(
            dangling=links("dangling"),
            ambiguous=tuple(
                AmbiguousLink(
                    filepath=path, line=issue.line, target=issue.target, candidates=issue.candidates
                )
                for path, issue in rows
                if issue.status == "ambiguous"
            ),
            broken_anchors=links("anchor_missing"),
            orphans=tuple(
                p for p in snapshot.docs if not snapshot.out[p] and not snapshot.back.get(p)
            ),
            warnings=runtime.warned_of(snapshot),
        )

    return Tool(
        name="docs_check",
        title="Check the links",
        summary="List dangling and ambiguous links, broken anchors, and orphans.",
        params=CommandParams,
        answer=CheckAnswer,
        run=run,
    )
