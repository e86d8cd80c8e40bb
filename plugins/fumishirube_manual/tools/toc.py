"""``manual_toc``: lists the files of a manual, and their headings."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

from fumishirube import (
    Answer,
    Call,
    Document,
    InvalidParameter,
    Manual,
    NeedsNarrowScope,
    NotFound,
    Section,
    SurfaceContext,
    Tool,
    Unreadable,
)
from fumishirube.disk import OTHERS, clean_path, is_below
from fumishirube.parsing import place_range
from fumishirube.tools import ANSWER_CHARS, OrAbsent, fitting
from fumishirube_manual.arguments import after_discovery, refuse_root
from fumishirube_manual.coverage import UnreadRow, unread_rows
from fumishirube_manual.surface import ManualSurface
from fumishirube_manual.tools.toc_arguments import (
    MOST_FILES,
    HeadingOffset,
    TocParams,
    offered_toc_arguments,
)

_FILES = 20
_MOST_FILES_WIDE = 50
_HEADINGS = 20


class TocHeading(Answer):
    """One heading, the first line of its section, and the page, slide or row of that line."""

    title: str
    line_start: int
    level: int
    place: OrAbsent[str] = None


class TocItem(Answer):
    """One file and its first headings; ``headings_total`` if there are more.

    ``next_cursor`` starts a page with the headings after them. ``title`` is the title of the whole
    page, if its front matter has one. ``remarks`` say what of the file is not read, and why.
    """

    path: str
    title: OrAbsent[str] = None
    headings: tuple[TocHeading, ...]
    headings_total: OrAbsent[int] = None
    next_cursor: OrAbsent[HeadingOffset] = None
    remarks: OrAbsent[tuple[str, ...]] = None


class TocApplied(Answer):
    """What was applied."""

    manual_id: str
    path_prefix: str
    depth: Literal["shallow", "deep"]
    max_files: int
    include_headings: bool
    max_headings_per_file: int
    offset: int


class NextOffset(Answer):
    """Where the next page starts."""

    offset: int


class TocAnswer(Answer):
    """One page of files; the first also counts the manual's ``unread_files``."""

    applied: TocApplied
    total_files: int
    next_cursor: NextOffset | None
    items: tuple[TocItem, ...]
    unread_files: OrAbsent[tuple[UnreadRow, ...]] = None


def toc_tool(context: SurfaceContext, settings: ManualSurface) -> Tool[TocParams, TocAnswer]:
    """Return the tool."""

    def run(params: TocParams, _call: Call) -> TocAnswer:
        refuse_root(context, params.manual_id)
        applied = _applied(params)
        manual = context.manual(params.manual_id)
        paths = _below(manual.paths(), applied.path_prefix, settings)
        if applied.path_prefix and not paths:
            with suppress(NotFound):  # a link, or what may not be opened, is refused
                manual.document(applied.path_prefix)
        if len(paths) > MOST_FILES:
            raise NeedsNarrowScope(
                f"{len(paths)} files match, at most {MOST_FILES} are listed: narrow it with "
                "path_prefix, or walk the folders with manual_ls, which has no limit",
                parameter="path_prefix",
                max=MOST_FILES,
            )
        InvalidParameter.unless_within("cursor", applied.offset, 0, len(paths))
        listed = paths[applied.offset : applied.offset + applied.max_files]
        first = params.cursor.heading if isinstance(params.cursor, HeadingOffset) else 1
        starts = [
            HeadingOffset(offset=offset, heading=1 if offset > applied.offset else first)
            for offset, _ in enumerate(listed, applied.offset)
        ]
        items = tuple(fitting(map(partial(_item, manual, applied, settings), listed, starts)))
        end = applied.offset + len(items)
        return TocAnswer(
            applied=applied,
            total_files=len(paths),
            next_cursor=NextOffset(offset=end) if end < len(paths) else None,
            items=items,
            unread_files=None if applied.offset else unread_rows(context, settings, manual.id),
        )

    return Tool(
        name="manual_toc",
        title="List files and headings",
        summary=(
            "Lists a manual's files; with depth='deep' and a path_prefix also their "
            "headings with line numbers. About 15 tokens a heading."
        ),
        params=offered_toc_arguments(settings),
        answer=TocAnswer,
        run=run,
        before=after_discovery,
        examples=(
            {"manual_id": "handbook"},
            {"manual_id": "handbook", "path_prefix": "leave.md", "depth": "deep"},
        ),
    )


def _applied(params: TocParams) -> TocApplied:
    blank = not (params.path_prefix or "").strip()
    deep = params.depth == "deep"
    if deep and blank:
        raise InvalidParameter(
            "path_prefix is required when depth is deep", parameter="path_prefix"
        )
    if (deep or blank) and (params.max_files or 0) > _MOST_FILES_WIDE:
        when = "when depth is deep" if deep else "without a path_prefix"
        raise InvalidParameter(
            f"max_files must be within 1..{_MOST_FILES_WIDE} {when}",
            parameter="max_files",
            min=1,
            max=_MOST_FILES_WIDE,
        )
    return TocApplied(
        manual_id=params.manual_id,
        path_prefix="" if blank else clean_path(params.path_prefix, "path_prefix"),
        depth="deep" if deep else "shallow",
        max_files=params.max_files or _FILES,
        include_headings=deep,
        max_headings_per_file=params.max_headings_per_file or _HEADINGS,
        offset=params.cursor.offset if params.cursor else 0,
    )


def _below(paths: Sequence[str], prefix: str, settings: ManualSurface) -> list[str]:
    """Return the file of a path, or the files below it; a partial name matches nothing.

    With the extra ``path_prefix`` and ``*`` in it or ``!`` before it, these are as
    :func:`fumishirube.disk.is_below` says, unless a file or folder is so named.
    """
    below = [p for p in paths if not prefix or p == prefix or p.startswith(f"{prefix}/")]
    pattern = "path_prefix" in settings.extras and ("*" in prefix or prefix.startswith(OTHERS))
    if below or not pattern:
        return below
    return [path for path in paths if is_below(path, prefix)]


def _item(
    manual: Manual, applied: TocApplied, settings: ManualSurface, path: str, start: HeadingOffset
) -> TocItem:
    if not applied.include_headings:
        return TocItem(path=path, headings=())
    remarked = "documents" in settings.extras and start.heading == 1
    try:
        document = manual.document(path)
    except Unreadable as error:
        return TocItem(path=path, headings=(), remarks=(str(error),) if remarked else None)
    remarks = tuple(remark.message for remark in document.remarks[: applied.max_headings_per_file])
    sections = _headings(document) if settings.extras else document.sections
    first = start.heading - 1
    listed = sections[first : first + applied.max_headings_per_file]
    shown = tuple(fitting((_heading(document, s, settings) for s in listed), ANSWER_CHARS))
    end = first + len(shown)
    more = end < len(sections) and "cursor" in settings.extras
    return TocItem(
        path=path,
        title=document.title or None if "titles" in settings.extras else None,
        headings=shown,
        headings_total=len(sections) if len(sections) > len(shown) else None,
        next_cursor=start.model_copy(update={"heading": end + 1}) if more else None,
        remarks=(remarks or None) if remarked else None,
    )


def _heading(document: Document, section: Section, settings: ManualSurface) -> TocHeading:
    places = document.places if "documents" in settings.extras else ()
    place = place_range(places, section.start_line, section.end_line)
    return TocHeading(
        title=section.title,
        line_start=section.start_line,
        level=section.level,
        place=None if place is None else str(place),
    )


def _headings(document: Document) -> Sequence[Section]:
    """Return the sections with a heading, without front matter above the first."""
    sections = document.sections
    bare = len(sections) > 1 and sections[0].start < document.content
    return sections[1:] if bare and not document.holds_text(sections[0]) else sections
