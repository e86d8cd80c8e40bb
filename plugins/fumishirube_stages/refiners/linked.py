"""Raises pages to which other hits link in words of the query."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple
from urllib.parse import unquote

from pydantic import Field

from fumishirube import Corpus, Hit, Query, Ranking, Stage
from fumishirube.text import concepts, fold, query_terms, rarity

# Possessive quantifiers: without backtracking the time stays linear.
_LINK = re.compile(r"\[([^\[\]]{1,200}+)\]\(<?([^\s()#?<>]{1,500}+)[^()]{0,500}+\)")
_INDEXES = ("index", "readme")
_BELOW = 0.999
"""The most that the score of a linked hit may be, as part of that of the hit that links to it."""


class Linked(Stage):
    """Raises the best hit of a page to which hits of other pages link in words of the query.

    A link counts the rarity of the query's terms in its text, as part of that of all of them, times
    the square of the share of the query's terms among those of the text. The best hit of the page
    gains ``weight`` times the highest score times the sum of its links, one for each page that has
    some. It does not pass the best of the hits that link to it: these have the words too.

    Links are Markdown's, in the first ``depth`` hits, to pages that have hits. They name a file
    with or without its suffix, or a folder with an ``index`` or ``readme``: from their own folder,
    or after ``/`` by the end of its path, where no other page has that end.
    """

    weight: Annotated[float, Field(ge=0)] = 1.0
    depth: Annotated[int, Field(ge=1)] = 20

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the same hits, ordered by their new scores."""
        links = _links(ranking.hits, self.depth)
        gains = _gains(links, query, corpus)
        factor = self.weight * ranking.hits[0].score if gains else 0.0
        limits: dict[str, float] = {}
        for link in links:
            # Hits come best first, here and below.
            limits.setdefault(link.target, _BELOW * link.source.score)
        raised = {}
        for place, hit in enumerate(ranking.hits):
            gain = factor * gains.pop(hit.passage.path, 0.0)
            score = min(hit.score + gain, limits[hit.passage.path]) if gain else hit.score
            if score > hit.score:
                raised[place] = hit.scored(score)
        if not raised:
            return ranking
        hits = (raised.get(place, hit) for place, hit in enumerate(ranking.hits))
        return ranking._replace(hits=tuple(sorted(hits, key=Hit.sort_key)))


class _HitLink(NamedTuple):
    """A link in a hit, with its folded text and the path of the page to which it leads."""

    source: Hit
    text: str
    target: str


def _links(hits: Sequence[Hit], depth: int) -> Sequence[_HitLink]:
    """Return the links in the first hits to other pages with hits."""
    linking = [hit for hit in hits[:depth] if "](" in hit.passage.fields["body"]]
    if not linking:
        return ()
    pages: dict[str, str] = {}
    for path in dict.fromkeys(hit.passage.path for hit in hits):
        pages.setdefault(_name(fold(path)), path)
    ends: dict[str, list[str]] = {}
    for name in pages:
        ends.setdefault(name.rpartition("/")[2], []).append(name)
    links = []
    targets: dict[str, str | None] = {}
    for hit in linking:
        folder = posixpath.dirname(fold(hit.passage.path))
        for text, written in _LINK.findall(hit.passage.fields["body"]):
            place = posixpath.join(folder, written)
            if place not in targets:
                targets[place] = next((pages[n] for n in _names(place, ends) if n in pages), None)
            target = targets[place]
            if target is not None and target != hit.passage.path:
                links.append(_HitLink(hit, text, target))
    return links


def _names(place: str, ends: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the names that a page may have to which a link leads: from the root, or ``/`` on."""
    place = fold(unquote(place)) if "%" in place else place
    path = posixpath.normpath(place).lstrip("/")
    for name in (_without_index(path), _name(path)):
        if not place.startswith("/"):
            yield name
            continue
        alike = [n for n in ends.get(name.rpartition("/")[2], ()) if _same_end(n, name)]
        if len(alike) == 1:
            yield alike[0]


def _same_end(path: str, other: str) -> bool:
    """Return whether one of two paths is the end of the other, in whole parts."""
    return f"/{path}".endswith(f"/{other}") or f"/{other}".endswith(f"/{path}")


def _name(path: str) -> str:
    """Return what a link may call a page: its path without its suffix, or the page's folder."""
    return _without_index(posixpath.splitext(path)[0])


def _without_index(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return folder if folder and name in _INDEXES else path


def _gains(links: Sequence[_HitLink], query: Query, corpus: Corpus) -> dict[str, float]:
    """Return what links say about pages, by path; at most 1 for each page that links to one."""
    weights = _weights({link.text for link in links}, query, corpus) if links else {}
    said: dict[tuple[str, str], float] = {}
    for link in links:
        if weight := weights.get(link.text):
            between = link.target, link.source.passage.path
            said[between] = max(weight, said.get(between, 0.0))
    gains: dict[str, float] = {}
    for (target, _), weight in said.items():
        gains[target] = gains.get(target, 0.0) + weight
    return gains


def _weights(texts: Iterable[str], query: Query, corpus: Corpus) -> Mapping[str, float]:
    """Return what texts of links say of the query, from 0 to 1; those that say nothing lack."""
    wanted = _terms(query.text, corpus)
    size, counts = corpus.size, corpus.frequencies(wanted)
    rarities = {term: rarity(size, counts[term]) for term in wanted}
    total = sum(rarities.values())
    weights = {}
    for text in texts:
        terms = _terms(text, corpus)
        shared = [term for term in wanted if term in terms]
        if shared:
            share = sum(rarities[term] for term in shared) / total
            weights[text] = share * (len(shared) / len(terms)) ** 2
    return weights


def _terms(text: str, corpus: Corpus) -> Mapping[str, None]:
    """Return the terms of a text's concepts, in their order."""
    return dict.fromkeys(
        term for concept in concepts(text) for term in query_terms(corpus, concept.text)
    )
