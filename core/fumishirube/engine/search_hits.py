"""The hits of a search: allowed, added up over scorers, limited, accounted for, and read again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fumishirube.corpus import Corpus
from fumishirube.corpus_kinds import rehearse
from fumishirube.model import Hit, LeftOut, Passage, Ranking
from fumishirube.query import Query
from fumishirube.traces.records import SectionKey, Span


def allowed_hits(hits: Sequence[Hit], query: Query) -> Sequence[Hit]:
    """Return the hits that a query allows: in its files, and not excluded."""
    within, exclude = query.within, query.exclude
    if within is not None:
        hits = [hit for hit in hits if hit.passage.path in within]
    return [hit for hit in hits if hit.passage.key not in exclude] if exclude else hits


def merge_hits(
    name: str,
    scored: Iterable[Hit],
    candidates: dict[SectionKey, Passage],
    hits: dict[SectionKey, Hit],
    *,
    generates: bool,
) -> None:
    """Add the hits of a scorer to those of others, and to the candidates if it generates them."""
    for hit in scored:
        key = hit.passage.key
        before = hits.get(key)
        if before is None:
            if not generates and key not in candidates:
                continue
            candidates[key] = hit.passage
            passage, score, labels, coverage, matched, _, places = hit
            hits[key] = Hit(passage, score, labels, coverage, matched, {name: score}, places)
        else:
            hits[key] = Hit(
                before.passage,
                before.score + hit.score,
                before.labels | hit.labels if hit.labels else before.labels,
                max(before.coverage, hit.coverage),
                (*before.matched, *(m for m in hit.matched if m not in before.matched))
                if hit.matched
                else before.matched,
                {**before.signals, name: before.signals.get(name, 0.0) + hit.score},
                (*before.places, *hit.places) if hit.places else before.places,
            )


def existing_hits(ranking: Ranking, corpus: Corpus) -> tuple[Ranking, str]:
    """Drop hits that are no sections of a corpus; say so, and name the scorers of these hits."""
    keys = {hit.passage.key for hit in ranking.hits}
    for path in {path for path, _ in keys}:
        keys.difference_update(passage.key for passage in corpus.page(path))
    if not keys:
        return ranking, ""
    invented = [hit for hit in ranking.hits if hit.passage.key in keys]
    scorers = ", ".join(sorted({name for hit in invented for name in hit.signals}))
    hits = tuple(hit for hit in ranking.hits if hit.passage.key not in keys)
    by = f" of {scorers}" if scorers else ""
    dropped = f"{len(keys)} hits{by} are no sections of the manual, and were dropped"
    return ranking._replace(hits=hits), dropped


def limited(ranking: Ranking, query: Query) -> Ranking:
    """Return at most as many hits as the query allows; list the others as left out."""
    if query.limit is None or len(ranking.hits) <= query.limit:
        return ranking
    beyond = [LeftOut(*hit.passage.key, "candidate_cap") for hit in ranking.hits[query.limit :]]
    return ranking._replace(hits=ranking.hits[: query.limit], left_out=(*ranking.left_out, *beyond))


def completed(ranking: Ranking, candidates: Iterable[SectionKey]) -> Ranking:
    """List candidates that a stage dropped without a reason as left out."""
    named = {hit.passage.key for hit in ranking.hits}
    named.update((out.path, out.start_line or 0) for out in ranking.left_out)
    lost = [LeftOut(*key, "not_returned") for key in candidates if key not in named]
    return ranking._replace(left_out=(*ranking.left_out, *lost)) if lost else ranking


def restore_ranking(search: Span, corpus: Corpus) -> Ranking:
    """Return the ranking of a search, with its passages read from the index."""
    paths = {row.path for row in search.rows}

    def sections(corpus: Corpus) -> dict[SectionKey, Passage]:
        return {passage.key: passage for path in paths for passage in corpus.page(path)}

    rehearse(corpus, sections)
    passages = sections(corpus)
    hits = (
        Hit(passages[key], row.score, row.labels, row.coverage, row.matched, row.signals)
        for row in search.rows
        if (key := (row.path, row.start_line)) in passages
    )
    return Ranking(tuple(hits), search.left_out, search.diagnostics)
