"""Concepts of the query that are close together."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import Corpus, Env, Hit, Query, Stage
from fumishirube.text import concepts, term_forms
from fumishirube_stages.scorers import Candidates
from fumishirube_stages.scorers.phrase import inside_word

_PLACES = 32


class Proximity(Stage):
    """Adds a bonus when two different concepts of the query start close to each other.

    The bonus is ``near`` up to ``near_characters``, ``far`` up to ``far_characters``, and nothing
    beyond. A word counts in singular and plural, and not inside another word. Only the first
    ``depth`` candidates are scored.
    """

    generates: ClassVar[bool] = False

    near: Annotated[float, Field(ge=0), Env("LEXICAL_PROXIMITY_BONUS_NEAR")] = 1.0
    far: Annotated[float, Field(ge=0), Env("LEXICAL_PROXIMITY_BONUS_FAR")] = 0.5
    near_characters: Annotated[int, Field(ge=1)] = 40
    far_characters: Annotated[int, Field(ge=1)] = 80
    depth: Annotated[int, Field(ge=1)] = 20

    def score(self, query: Query, corpus: Corpus, candidates: Candidates) -> Iterable[Hit]:
        """Score the candidates in which two concepts are close together."""
        texts = [concept.text for concept in concepts(query.text)]
        if len(texts) < 2:  # noqa: PLR2004 - nearness needs two
            return
        # A form that two words have in common, such as policy and policies, is of the first alone.
        forms = {form: text for text in reversed(texts) for form in term_forms(text)}
        gaps = query.state.shared(dict[tuple[str, int], int | None], "proximity", query.text)
        for key, passage in [*candidates.items()][: self.depth]:
            if key not in gaps:
                gaps[key] = _gap(passage.fields["body"], forms)
            bonus = self._bonus(gaps[key])
            if bonus:
                yield Hit(passage, bonus, frozenset({"proximity"}))

    def _bonus(self, gap: int | None) -> float:
        if gap is None or gap > self.far_characters:
            return 0.0
        return self.near if gap <= self.near_characters else self.far


def _gap(text: str, forms: Mapping[str, str]) -> int | None:
    """Return the least distance between the starts of two concepts, which are given by form."""
    places: list[tuple[int, str]] = []
    for form, concept in forms.items():
        if form not in text:
            continue  # nearly all of them
        places += ((place, concept) for place in islice(_places(text, form), _PLACES))
    places.sort()
    gaps = [
        later - earlier for (earlier, left), (later, right) in pairwise(places) if left != right
    ]
    return min(gaps, default=None)


def _places(text: str, form: str) -> Iterator[int]:
    """Yield where a form of a concept starts, except inside longer words."""
    place = text.find(form)
    while place >= 0:
        end = place + len(form)
        begun = inside_word(text[max(0, place - 1) : place], form[0])
        if not begun and not inside_word(form[-1], text[end : end + 1]):
            yield place
        place = text.find(form, place + 1)
