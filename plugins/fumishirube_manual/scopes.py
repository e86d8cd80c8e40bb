"""The scope of a search: one manual, several or all of them, and which of their files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue

from fumishirube import (
    Call,
    Document,
    InvalidParameter,
    InvalidPath,
    NotFound,
    SurfaceContext,
    ToolError,
    Trace,
)
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.disk import LITERAL, OTHERS, clean_name, clean_path, is_below
from fumishirube.tools import FailsWith, Question, Session, did_you_mean
from fumishirube_manual.arguments import MOST_LISTED, after_discovery, manual_by_id, must_discover
from fumishirube_manual.deliveries import delivered


def _distinct(value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    """Return the id of one manual, ``*`` for all, or the distinct ids of several."""
    if isinstance(value, tuple) and not value:
        raise InvalidParameter("manual_id must name a manual", parameter="manual_id")
    names = [value] if isinstance(value, str) else value
    ids = {name.strip() if _is_every(name) else clean_name(name, "manual_id") for name in names}
    if EVERY_MANUAL in ids:
        return EVERY_MANUAL
    return tuple(sorted(ids)) if len(ids) > 1 else ids.pop()


Scope = Annotated[
    Annotated[str, Field(min_length=1)] | tuple[Annotated[str, Field(min_length=1)], ...],
    AfterValidator(_distinct),
    Field(description="An id, several, or '*' for all."),
]
PathPrefix = Annotated[
    str | None, FailsWith(InvalidPath), Field(description="File, folder, a*b; !ab: not it.")
]


PREFIX_HELP = "only this folder or file: PATH in each manual, or ID/PATH; a*b; !PATH: all others"
"""The help of the command line about a path that :func:`narrowed` takes."""


@contextmanager
def prefix_as_typed() -> Iterator[None]:
    """Name in errors the option of the command line instead of the argument of the tools."""
    try:
        yield
    except ToolError as error:
        if error.details.get("parameter") == "path_prefix":
            error.args = (str(error).replace("path_prefix", "--prefix", 1),)
        raise


def after_discovery_or_everywhere(call: Call, arguments: object) -> None:
    """Refuse a session that has not called ``manual_ls``, unless the scope is all manuals."""
    named = arguments.get("manual_id") if isinstance(arguments, Mapping) else None
    names = named if isinstance(named, list) else [named]
    if not any(isinstance(name, str) and _is_every(name) for name in names):
        after_discovery(call, arguments)


def which_manual(
    context: SurfaceContext, arguments: Mapping[str, Any], session: Session | None
) -> Question | None:
    """Return the question which manual is meant, if a call names none and there are several.

    A session that must call ``manual_ls`` first is not asked.
    """
    named = arguments.get("manual_id") not in (None, "")
    if named or must_discover(session):
        return None
    manuals = context.manuals()[:MOST_LISTED]
    if len(manuals) < 2:  # noqa: PLR2004 - one is no choice
        return None
    return Question("manual_id", "Manual", "Which manual shall be searched?", manuals)


def scope_id(context: SurfaceContext, named: str | tuple[str, ...], extras: Collection[str]) -> str:
    """Return the id of a scope, after checking that each manual exists.

    Raises:
        NotFound: with the unknown id, and the existing ids.
        InvalidParameter: for the id of the root.
    """
    scope = named if isinstance(named, str) else "/".join(named)
    if scope == EVERY_MANUAL and "everywhere" in extras:
        return scope
    for manual_id in scope.split("/"):
        try:
            manual_by_id(context, manual_id)
        except NotFound as error:
            if manual_id == scope:
                raise
            candidates: Any = list(context.manuals()[:MOST_LISTED])
            raise NotFound(
                f"manual not found: {manual_id}", manual_id=manual_id, candidate_ids=candidates
            ) from error
    return scope


def manuals_in(context: SurfaceContext, scope: str) -> list[str]:
    """Return the ids of the manuals in a scope."""
    return [*context.manuals()] if scope == EVERY_MANUAL else scope.split("/")


def known_prefix(context: SurfaceContext, manual_ids: Sequence[str], prefix: str | None) -> str:
    """Return a path in its one spelling, perhaps with ``*`` at its end; empty for all files.

    Raises:
        NotFound: when no file is there; the error names the nearest one.
        InvalidPath: for an invalid path.
    """
    if not (known := _cleaned_prefix(prefix)):
        return ""
    return _existing(_paths(context, manual_ids), known)


def _paths(context: SurfaceContext, manual_ids: Sequence[str]) -> Sequence[str]:
    paths: list[str] = []
    for manual_id in manual_ids:
        # One of several that cannot be listed is reported by the search.
        with suppress(ToolError) if len(manual_ids) > 1 else nullcontext():
            paths += context.manual(manual_id).paths()
    return paths


def files_below(context: SurfaceContext, scope: str, prefix: str | None) -> frozenset[str] | None:
    """Return the files of a scope at or below a path, as :func:`known_prefix`; ``None`` for all."""
    if not (known := _cleaned_prefix(prefix)):
        return None
    files = [
        (manual_id, path)
        for manual_id in manuals_in(context, scope)
        for path in context.manual(manual_id).paths()
    ]
    known = _existing([path for _, path in files], known)
    below = [
        path if manual_id == scope else f"{manual_id}/{path}"
        for manual_id, path in files
        if is_below(path, known)
    ]
    return frozenset(below) if len(below) < len(files) else None


def _cleaned_prefix(prefix: str | None) -> str:
    path = (prefix or "").strip()
    if path in ("", EVERY_MANUAL):
        return ""
    # A name may begin with the mark, too.
    others = OTHERS * path.startswith(OTHERS)
    return others + clean_path(path.removeprefix(OTHERS).strip(), "path_prefix")


def _existing(paths: Sequence[str], prefix: str) -> str:
    """Return a path, or else what begins so, or what is so named in any folder, with ``*``.

    Raises:
        NotFound: when there is none; the error names the nearest one.
    """
    if prefix.startswith(OTHERS):
        if any(is_below(path, literal := f"{LITERAL}{prefix}") for path in paths):
            return literal
        others = OTHERS + _existing(paths, prefix.removeprefix(OTHERS))
        if any(is_below(path, others) for path in paths):
            return others
        raise NotFound("no other file is left", parameter="path_prefix", path=prefix)
    for known in (prefix, f"{prefix}*", f"*/{prefix}"):
        if any(is_below(path, known) for path in paths):
            return known
    hint = _nearest(paths, prefix) or "manual_ls and manual_toc list the files"
    message = f"no file is at or below path_prefix; {hint}"
    raise NotFound(message, parameter="path_prefix", path=prefix)


def _nearest(paths: Sequence[str], path: str) -> str:
    """Return a hint at the path whose first unknown name is the nearest; empty without one."""
    known = ""
    for name in path.split("/"):
        names = {each[len(known) :].partition("/")[0] for each in paths if each.startswith(known)}
        if name not in names:
            longer = sorted(each for each in names if each.casefold().startswith(name.casefold()))
            return did_you_mean(
                name, longer[:1] or names, "", cutoff=0 if longer else 0.6, shown=known.__add__
            )
        known += f"{name}/"
    return ""


def narrowed(
    context: SurfaceContext, scope: Sequence[str], prefix: str | None
) -> tuple[Sequence[str], str | None]:
    """Return the manuals and the path that a prefix means; both may be in it, as results print it.

    ``guide/start.md`` is in the manual ``guide`` if the scope, which is all manuals if empty, has
    one with such a file or folder; else it is below each manual. A manual of the scope may have a
    folder of its own name: there the path as it is comes first.
    """
    try:
        known = _cleaned_prefix(prefix)
    except InvalidPath:
        return scope, prefix
    if not known:
        return scope, prefix
    others = OTHERS * known.startswith(OTHERS)
    whole = known.removeprefix(others)
    manual_id, _, path = whole.partition("/")
    manuals = scope or [*context.manuals()]
    if manual_id not in manuals or (others and not path):
        return scope, prefix
    if scope or not _is_there(context, [manual_id], path):
        if _is_there(context, manuals, f"{LITERAL}{known}", whole):
            return scope, prefix
        try:
            files_below(context, manual_id, path)
        except (InvalidPath, NotFound):
            return scope, prefix
    return [manual_id], others + path or None


def _is_there(context: SurfaceContext, manual_ids: Sequence[str], *names: str) -> bool:
    """Tell whether one of the manuals has a file or folder of one of the names."""
    return any(is_below(path, name) for path in _paths(context, manual_ids) for name in names)


def excluded_sections(
    context: SurfaceContext, scope: str, trace_id: str | None, session: Session | None
) -> tuple[frozenset[tuple[str, int]], frozenset[tuple[str, int]]]:
    """Return the sections that a follow-up leaves out, and which of them were only read.

    The others were returned by an earlier search. What was read before that search is not left out.

    Raises:
        InvalidParameter: when the earlier search had another scope.
    """
    if trace_id is None:
        return frozenset(), frozenset()
    trace = context.trace(trace_id)
    if trace.manual_id != scope:
        raise InvalidParameter(
            f"only_unscanned_from_trace_id is of {_named(trace)}",
            parameter="only_unscanned_from_trace_id",
        )
    exclude = trace.seen | {
        (f"{manual_id}/{path}" if trace.manuals else path, line)
        for manual_id in trace.manuals or (scope,)
        for path, line in delivered(context, session, manual_id, trace.created)
    }
    return exclude, exclude - (trace.seen - trace.origin.query.read)


def document_of(context: SurfaceContext, trace: Trace, path: str) -> Document | None:
    """Read the file of a path in a search; ``None`` if it was deleted since, or cannot be read."""
    manual_id, inner = trace.file(path)
    try:
        return context.manual(manual_id).document(inner)
    except ToolError:
        return None


def named_again(trace: Trace) -> JsonValue:
    """Return the value of ``manual_id`` for another search of the same scope."""
    if not trace.manuals or trace.manual_id == EVERY_MANUAL:
        return trace.manual_id
    return [*trace.manual_id.split("/")]


def _named(trace: Trace) -> str:
    """Describe the scope of a search, for an error."""
    if not trace.manuals:
        return f"another manual: {trace.manual_id}"
    if trace.manual_id == EVERY_MANUAL:
        return 'all manuals: it wants manual_id "*" again'
    return f"several manuals: it wants these again: {', '.join(trace.manual_id.split('/'))}"


def _is_every(name: str) -> bool:
    return name.strip() == EVERY_MANUAL
