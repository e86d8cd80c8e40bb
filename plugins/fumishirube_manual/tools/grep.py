"""``manual_grep``: returns every line that contains a text, or matches a pattern."""

import hashlib
import re
from contextlib import suppress
from functools import partial
from typing import Annotated

from pydantic import Field

from fumishirube import Budget, Call, InvalidParameter, Params, SurfaceContext, Tool, ToolError
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.parsing import place_range
from fumishirube.text import Reading, UnreadFile, reading
from fumishirube.tools import MaxChars
from fumishirube_manual.arguments import note_discovery
from fumishirube_manual.evidence.markup import unescaped
from fumishirube_manual.grep.excluded_matches import ExcludingMatcher
from fumishirube_manual.grep.line_accounts import SearchAccount, SearchScope, files_without
from fumishirube_manual.grep.line_answers import (
    GrepAnswer,
    completed,
    grep_answer,
    grep_text,
    listed_chars,
    tally_answer,
)
from fumishirube_manual.grep.line_pages import LinePage
from fumishirube_manual.grep.matched_texts import MatchedTexts
from fumishirube_manual.grep.matching_lines import LineMatcher, TextMatcher
from fumishirube_manual.grep.pattern_lines import pattern_matcher
from fumishirube_manual.grep.pattern_literals import holds_capital, names_case
from fumishirube_manual.scopes import (
    PathPrefix,
    Scope,
    after_discovery_or_everywhere,
    known_prefix,
    manuals_in,
    scope_id,
    which_manual,
)
from fumishirube_manual.surface import ManualSurface

PAGE = 10_000
TIME_MS = 60_000
TEXTS, TEXT_CHARS = 8, 200

_CURSOR = re.compile(r"(\d{1,9})\.([0-9a-f]{8})")


class GrepParams(Params):
    """The texts or the pattern, and the scope."""

    any: Annotated[
        tuple[Annotated[str, Field(max_length=TEXT_CHARS)], ...] | None,
        Field(min_length=1, max_length=TEXTS, description="Texts."),
    ] = None
    regex: Annotated[
        str | None, Field(max_length=2_000, description="Instead; PATH, [A-Z]: that case.")
    ] = None
    without: Annotated[str | None, Field(max_length=2_000, description="Regex to leave out.")] = (
        None
    )
    manual_id: Scope
    path_prefix: PathPrefix = None
    context: Annotated[int | None, Field(ge=0, le=3, description="Least lines beside.")] = None
    exact: Annotated[bool | None, Field(description="Letter by letter.")] = None
    word: Annotated[bool | None, Field(description="Whole words.")] = None
    count_only: Annotated[bool | None, Field(description="Counts by file.")] = None
    matches_only: Annotated[
        bool | None, Field(description="Each different match once; if few, in its line.")
    ] = None
    cursor: Annotated[str | None, Field(description="next_cursor.")] = None
    max_chars: Annotated[MaxChars | None, Field(description="10000.")] = None

    @property
    def tallies(self) -> bool:
        """Whether each different match is listed once; counts by file come first."""
        return bool(self.matches_only) and not self.count_only

    @property
    def case_counts(self) -> bool:
        """Whether case makes a difference: if that is requested, or the pattern names a case."""
        if self.exact is None:
            return self.regex is not None and names_case(self.regex)
        return self.exact


def grep_tool(context: SurfaceContext, settings: ManualSurface) -> Tool[GrepParams, GrepAnswer]:
    """Return the tool."""
    place_of = partial(_place_of, context) if "documents" in settings.extras else None

    def run(params: GrepParams, call: Call) -> GrepAnswer:
        named = scope_id(context, params.manual_id, ("everywhere",))
        scope = SearchScope(tuple(manuals_in(context, named)), every=named == EVERY_MANUAL)
        budget = call.budget.part(TIME_MS)
        matcher = _matcher(context, params, budget)
        offset, fingerprint = _offset(params.cursor)
        chars = params.max_chars or PAGE
        tally = (
            MatchedTexts(matcher, exact=params.case_counts, context=params.context)
            if params.tallies
            else None
        )
        counting = bool(params.count_only) or params.tallies
        line_chars = 0 if counting else chars - listed_chars(chars)
        context_lines = 0 if params.tallies else params.context
        plain = "plain" in settings.extras
        page = LinePage(matcher, offset, line_chars, context_lines, plain=plain)
        account = SearchAccount()
        below = known_prefix(context, scope.ids, params.path_prefix)
        results = (matcher, page, account, tally)
        for manual_id in scope.ids:
            try:
                _search(context, manual_id, params, below, results, budget, call)
            except ToolError as error:
                if not scope.every:
                    raise
                account.unlisted[manual_id, error.code] += 1
        if params.context is None:
            page.show_records()
        page.show_sentences()
        now = _fingerprint(params, scope, page)
        if fingerprint not in ("", now):
            raise InvalidParameter(
                "the matching lines, or the arguments, have changed since the page that gave this "
                "cursor; ask again without it",
                parameter="cursor",
            )
        if scope.every:
            note_discovery(call.session)
        answer = grep_answer(
            params.any or (), chars, now, scope, page, account, place_of, counting=counting
        )
        cased = params.case_counts and params.exact is None
        left_out = _left_out(matcher)
        without = files_without(context, scope, below, page, account)
        answer = answer.model_copy(
            update={"left_out": left_out, "case_counts": cased or None, "files_without": without}
        )
        if tally is not None:
            answer = tally_answer(answer, chars, (offset, now), scope, tally)
        return completed(answer, offset)

    return Tool(
        name="manual_grep",
        title="Find every place",
        summary=(
            "Returns every line that holds one of some texts (any) or matches a regex, by file and "
            "section, equal lines once, with the exact total and what was not searched. "
            "Width, case, plurals, line ends, spaces before units do not count; numbers are whole. "
            "Costs up to max_chars."
        ),
        params=GrepParams,
        answer=GrepAnswer,
        run=run,
        question=partial(which_manual, context),
        before=after_discovery_or_everywhere,
        text=grep_text if "plain" in settings.extras else None,
        examples=(
            {"any": ["5 seconds", "timeout"], "manual_id": "handbook", "word": True},
            {"regex": "E-?[0-9]{3}", "manual_id": "*", "count_only": True},
        ),
    )


def _left_out(matcher: LineMatcher) -> int | None:
    return matcher.left_out if isinstance(matcher, ExcludingMatcher) else None


def _place_of(
    context: SurfaceContext, manual_id: str, path: str, first: int, last: int
) -> str | None:
    """Return the pages, slides or rows of some lines, if their document has any."""
    manual = context.manual(manual_id)
    with suppress(ToolError):
        place = place_range(manual.places(path), first, last)
        return str(place) if place else None
    return None


def _matcher(context: SurfaceContext, params: GrepParams, budget: Budget) -> LineMatcher:
    matcher, exact = _including(context, params, budget), params.exact
    if not params.without:
        return matcher
    # What is left out is not seen: the pattern "Cargo" leaves no "cargo" out.
    excluded = pattern_matcher(
        context, params.without, budget, exact=exact, heeds_case=holds_capital, parameter="without"
    )
    return ExcludingMatcher(matcher, excluded, matches=params.tallies)


def _including(context: SurfaceContext, params: GrepParams, budget: Budget) -> LineMatcher:
    word = bool(params.word)
    if params.any is None and params.regex == "":
        raise InvalidParameter("regex must not be empty", parameter="regex")
    # An empty pattern beside texts is none: some clients fill in every parameter.
    if (params.any is None) == (not params.regex):
        raise InvalidParameter("name either any or regex", parameter="any")
    if params.regex:
        return pattern_matcher(context, params.regex, budget, exact=params.exact, word=word)
    readings: list[Reading] = []
    for number, text in enumerate(params.any or ()):
        understood = reading(text, exact=bool(params.exact), word=word)
        if understood is None:
            raise InvalidParameter(
                "a text must be one line, and not blank; pass several lines as several texts",
                parameter=f"any[{number}]",
            )
        readings.append(understood)
    return TextMatcher(tuple(readings))


def _search(
    context: SurfaceContext,
    manual_id: str,
    params: GrepParams,
    below: str,
    results: tuple[LineMatcher, LinePage, SearchAccount, MatchedTexts | None],
    budget: Budget,
    call: Call,
) -> None:
    matcher, page, account, tally = results
    texts = context.texts(manual_id, matcher.readings, budget, call.progress, below)
    account.files += texts.files
    account.sections += texts.sections
    account.unlisted.update({(manual_id, why): count for why, count in texts.unlisted.items()})
    if texts.degraded:
        several = params.manual_id == EVERY_MANUAL or not isinstance(params.manual_id, str)
        account.degraded.append(f"{manual_id}: " * several + texts.degraded)
    for file in texts.texts:
        budget.check()
        if isinstance(file, UnreadFile):
            account.files -= 1
            account.unread.append((manual_id, file))
            continue
        reads = file.text if params.exact else unescaped(file.path, file.text)
        text = file._replace(text=reads)
        before, left_out = matcher.unfinished, _left_out(matcher)
        lines = matcher.lines(text)
        if not lines and left_out != _left_out(matcher):
            account.left_out.add((manual_id, text.path))
        page.add(manual_id, text, lines)
        if tally is not None and lines:
            tally.add(manual_id, text, lines)
        if matcher.unfinished > before:
            account.unread.append((manual_id, UnreadFile(text.path, "pattern_too_slow")))


def _offset(cursor: str | None) -> tuple[int, str]:
    """Return the start of the page, and the fingerprint of the lines when the cursor was issued."""
    if not cursor:  # some clients fill in every parameter
        return 0, ""
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise InvalidParameter(
            "cursor is not one of these; pass next_cursor as it was given", parameter="cursor"
        )
    return int(match[1]), match[2]


def _fingerprint(params: GrepParams, scope: SearchScope, page: LinePage) -> str:
    """Return a value that changes with the arguments and with every matching line."""
    arguments = params.model_dump(exclude={"cursor", "max_chars", "count_only"})
    question = repr((sorted(arguments.items()), scope.ids, page.fingerprint))
    return hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()[:8]
