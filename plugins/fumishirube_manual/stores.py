"""A search of the tools and of the command line, with what its trace stores for each extra."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fumishirube import Budget, Corpus, Query, SurfaceContext, Trace
from fumishirube.tools import Progress
from fumishirube_manual.evidence.annotations import with_weights
from fumishirube_manual.evidence.names import with_absent_words, with_names
from fumishirube_manual.rows import with_exceptions
from fumishirube_manual.surface import Extra, ManualSurface
from fumishirube_manual.vocabulary import with_vocabulary


def stored_search(
    context: SurfaceContext,
    scope: str,
    query: Query,
    settings: ManualSurface,
    progress: Progress | None,
    *,
    claims: bool = False,
) -> Trace:
    """Search, and store what the signals and the extras need, and the graph of claims if wanted."""
    result, budget = context.find(scope, query, progress), query.budget
    stores = [lambda trace: with_exceptions(context, trace, result.rank)]
    extras = _stores(context, result.corpus, settings, budget)
    stores += [stored for extra, stored in extras.items() if extra in settings.extras]
    if claims:
        from fumishirube_manual.claims import with_claim_graph  # noqa: PLC0415 - few ask for it

        stores.append(lambda trace: with_claim_graph(context, trace, budget))
    trace = result.trace
    for stored in stores:
        trace = result.extended(trace, stored)
    return trace


def _stores(
    context: SurfaceContext, corpus: Corpus, settings: ManualSurface, budget: Budget
) -> Mapping[Extra, Callable[[Trace], Trace]]:
    """Return what stores the data of each extra in a trace, in order: names need the weights."""
    return {
        "lines": lambda trace: with_weights(context, trace, corpus),
        "names": lambda trace: with_names(context, trace, corpus),
        "answerable": lambda trace: with_absent_words(context, trace, corpus),
        "vocabulary": lambda trace: with_vocabulary(context, trace, corpus, settings),
        "refers_to": lambda trace: _with_pointers(context, trace),
        "addressed": lambda trace: _with_tags(context, trace, settings, budget),
    }


def _with_pointers(context: SurfaceContext, trace: Trace) -> Trace:
    from fumishirube_manual.pointers import with_pointers  # noqa: PLC0415 - few add this extra

    return with_pointers(context, trace)


def _with_tags(
    context: SurfaceContext, trace: Trace, settings: ManualSurface, budget: Budget
) -> Trace:
    from fumishirube_manual.addressed_passages import with_tags  # noqa: PLC0415 - as above

    return with_tags(context, trace, settings, budget)
