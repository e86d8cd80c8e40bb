"""BM25 over weighted fields, with a bonus for coverage and a penalty for length."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import (
    Bool,
    Clause,
    Corpus,
    Env,
    Hit,
    Holds,
    MatchCount,
    Part,
    Passage,
    Query,
    Ranking,
    ScoreCutoff,
    Stage,
    Term,
)
from fumishirube.text import ConceptShares, fold, is_part_of_terms, mentions, query_terms, rarity
from fumishirube_stages.scorers import Candidates
from fumishirube_stages.scorers.lexical_search.candidates import (
    NameBoosts,
    best_matches,
    complete_clause,
    matches_elsewhere,
    pooled_matches,
    quotations,
    quoted_sections,
    rare_clause,
    searched_terms,
)
from fumishirube_stages.scorers.lexical_search.query_analysis import (
    QueryAnalysis,
    TermWeights,
    WeightedTerm,
    coverage_bonus,
    coverage_power,
    evened,
    form_finders,
    run_together,
    term_weights,
    weighted_term,
    weighted_terms,
    with_whole_words,
)
from fumishirube_stages.scorers.lexical_search.search_scores import (
    NameWeights,
    SearchScores,
    excess_length,
    text_of_names,
)
from fumishirube_stages.text_hits import may_return

_LATE = 10
_FEW = 100
_REQUIRED_ONLY = 1.05
_DECIMALS = 9
"""The digits of a coverage that count: the shares of all concepts sum to 1 but for rounding."""

_FIELDS = ("title", "headings", "path", "body")
_ANCHOR = frozenset({"anchor"})
_UNMARKED: frozenset[str] = frozenset()


class Lexical(Stage):
    """Generates candidates from the index, and rescores them by their texts.

    The index is queried with the ``candidate_terms`` rarest terms of the query, and with others
    that are in at most ``common_share`` of the sections and in at most ``common_sections``: longer
    posting lists cost time and distinguish little. All terms count for rescoring.

    When the ``pool`` is full and one file has more than ``crowding`` candidates in it, up to
    ``elsewhere`` candidates from files with fewer are added.

    For candidates, the boosts of title, headings and path are multiplied by ``candidate_names``,
    and the weights of terms between concepts by ``between_candidates``: titles would outweigh
    sections with all of the query. Up to ``named_pool`` further candidates are the best ones by the
    concepts in these names; terms too common for the index query count in titles. So are up to
    ``complete_pool`` sections with all terms of the query's concepts, of two to eight concepts: the
    index estimates a section with all of them lower than one that has some of them often. So are
    the sections of words of ASCII letters that are in at most ``rare_pool`` sections. Runs with a
    pool of their own have no candidates by names.

    The score is Robertson and Zaragoza's BM25F (2009) with field boosts on term frequency, plus a
    bonus for covering the query's concepts, minus a penalty for very long sections, half of it at
    most. It is multiplied by (coverage / best coverage) to the power of ``coverage_power`` times
    the square of the best coverage; for a query of more than ``few_concepts`` concepts the power is
    divided by their number, and multiplied by ``few_concepts``; for one of no more, all
    Japanese nouns, it is ``few_power``. Terms between concepts, as を知 in 休暇を知る, add their
    score times the same quotient to the power of ``between_power`` times the square of the best
    coverage. The title of the page adds ``page_title_weight`` times the rarity of its terms, less
    where it has other words too. The words of the file's path that this title lacks add
    ``file_name_weight`` times their rarity; two or three neighbouring English words may be one
    there, as in ``GENERALMILLS_2020.pdf``. For a query of more than ``few_concepts`` concepts a
    section's own title with two of them or more adds ``section_title_weight`` times their rarity,
    less where it has other words too. Two neighbouring English words are scored as one, too, if the
    corpus has them only as one word, as in AbortSignal. An English word that the query has n times,
    in any form, counts n to the power of ``repeated_power`` times. Beside Japanese a word of
    another script counts ``word_weight`` times, if the tokenizer divides Japanese into pairs or the
    like: a Japanese word then counts once for each of them. In a query of up to ``few_concepts``
    concepts the terms of a Japanese one with n terms are multiplied by n to the power of minus
    ``even_power``, and all of these by what keeps their sum: each of a few words matters, long ones
    no more.

    The few sections that contain the whole text of a query of several terms are candidates too.
    ``quotation_weight`` times the rarity of the query's concepts, as it counts for the score, is
    added to their score, and as much as the title of a section may add.
    """

    generates: ClassVar[bool] = True

    coverage_weight: Annotated[float, Field(ge=0), Env("LEXICAL_COVERAGE_WEIGHT")] = 0.5
    sparse_coverage_weight: Annotated[float, Field(ge=0), Env("SPARSE_QUERY_COVERAGE_WEIGHT")] = (
        0.35
    )
    length_penalty_weight: Annotated[float, Field(ge=0), Env("LEXICAL_LENGTH_PENALTY_WEIGHT")] = 0.2
    title_boost: Annotated[float, Field(ge=0)] = 3.0
    path_boost: Annotated[float, Field(ge=0)] = 2.0
    headings_boost: Annotated[float, Field(ge=0)] = 1.5
    function_weight: Annotated[float, Field(ge=0, le=1)] = 0.2
    coverage_power: Annotated[float, Field(ge=0)] = 1.5
    few_power: Annotated[float, Field(ge=0)] = 2.0
    few_concepts: Annotated[int, Field(ge=1)] = 3
    between_power: Annotated[float, Field(ge=0)] = 2.0
    page_title_weight: Annotated[float, Field(ge=0)] = 1.25
    file_name_weight: Annotated[float, Field(ge=0)] = 1.0
    section_title_weight: Annotated[float, Field(ge=0)] = 1.0
    quotation_weight: Annotated[float, Field(ge=0)] = 1.0
    k1: Annotated[float, Field(ge=0)] = 1.2
    b: Annotated[float, Field(ge=0, le=1)] = 0.75
    repeated_power: Annotated[float, Field(ge=0, le=1)] = 0.5
    word_weight: Annotated[float, Field(gt=0)] = 4.0
    even_power: Annotated[float, Field(ge=0, le=1)] = 0.25
    candidate_terms: Annotated[int, Field(ge=1)] = 8
    candidate_names: Annotated[float, Field(ge=0)] = 0.25
    between_candidates: Annotated[float, Field(ge=0, le=1)] = 0.3
    common_share: Annotated[float, Field(ge=0, le=1)] = 0.1
    common_sections: Annotated[int, Field(ge=0)] = 5000
    pool: Annotated[int, Field(ge=1)] = 80
    named_pool: Annotated[int, Field(ge=0)] = 10
    complete_pool: Annotated[int, Field(ge=0)] = 10
    rare_pool: Annotated[int, Field(ge=0)] = 5
    crowding: Annotated[int, Field(ge=1)] = 20
    elsewhere: Annotated[int, Field(ge=0)] = 40
    sure: Annotated[int, Field(ge=0)] = 20
    promising: Annotated[float, Field(ge=0, le=1)] = 0.35
    scan_hard_cap: Annotated[int, Field(ge=1), Env("MANUAL_FIND_SCAN_HARD_CAP")] = 5000
    count_cap: Annotated[int, Field(ge=1)] = 10_000
    prescan: Annotated[bool, Env("MANUAL_FIND_FILE_PRESCAN_ENABLED")] = True

    def score(
        self, query: Query, corpus: Corpus, candidates: Candidates
    ) -> Iterable[Hit] | Ranking:
        """Generate candidates for the query, and rescore them."""
        analysis = self._analysis(query, corpus)
        extras = self._extras(query, analysis, corpus)
        if not analysis.terms and not extras:
            return ()
        limit = min(self.pool, self.scan_hard_cap) if self.prescan else self.scan_hard_cap
        limit = min(limit, query.pool or limit, _LATE if query.budget.spent else limit)
        cutoff = ScoreCutoff(self.sure, self.promising)
        clause = self._candidate_clause(query, analysis, extras, corpus)
        matches = best_matches(corpus, clause, limit, cutoff, query.exclude)
        if len(matches) >= limit and not query.budget.spent:
            further = matches_elsewhere(
                corpus,
                clause,
                matches,
                query.exclude,
                crowding=self.crowding,
                limit=self.elsewhere,
                share=self.promising,
            )
            matches = [*matches, *further]
        if not (query.must or query.budget.spent):
            named = (analysis.named_clause, self.named_pool)
            complete = (analysis.complete_clause, self.complete_pool)
            rare = (analysis.rare_clause, self.rare_pool)
            pools = (complete, rare) if query.pool else (named, complete, rare)
            room = self.scan_hard_cap - len(matches)
            matches = [*matches, *pooled_matches(corpus, query, pools, room)]
        passages = {match.passage.key: match.passage for match in matches}
        passages |= {p.key: p for p in analysis.quoted if may_return(p, query)}
        hits = self._scored([*passages.values()], query, analysis, extras)
        if query.must:
            return hits
        # A hit without any part of a concept matched only terms between two concepts.
        relevant = tuple(hit for hit in hits if hit.coverage)
        if not query.is_whole:
            return relevant
        anywhere = query.inside(analysis.anywhere)
        matched, at_least = corpus.count(anywhere, self.count_cap, searched=True)
        count = MatchCount(matched, at_least, limit == self.scan_hard_cap < matched)
        return Ranking(relevant, matched=count)

    def _scored(
        self,
        passages: Sequence[Passage],
        query: Query,
        analysis: QueryAnalysis,
        extras: tuple[WeightedTerm, ...],
    ) -> Sequence[Hit]:
        """Score passages, each once a search; then add the scores of a filter's own terms."""
        scores = query.state.shared(SearchScores, "lexical", self.fingerprint, query.text)
        self._add(scores, [p for p in passages if p.key not in scores.hits], analysis)
        hits = [scores.hits[passage.key] for passage in passages]
        for place, hit in enumerate(hits if extras else ()):
            fields = hit.passage.fields
            _, _, more, _ = self._term_score(fields, text_of_names(fields), extras, analysis)
            hits[place] = hit.scored(hit.score + more)
        return hits

    def _add(self, scores: SearchScores, new: Iterable[Passage], analysis: QueryAnalysis) -> None:
        """Score passages that are new in a search."""
        number = len(analysis.concepts.groups)
        section_title = self.section_title_weight * (number > self.few_concepts)
        weights = NameWeights(self.page_title_weight, self.file_name_weight, section_title)
        parts = [
            (hit, between, scores.names(hit.passage, analysis, weights, named))
            for hit, between, named in (self._score(passage, analysis) for passage in new)
        ]
        best = scores.best(hit.coverage for hit, *_ in parts)
        powers = (self.coverage_power, self.few_power)
        power = coverage_power(analysis.concepts.groups, *powers, self.few_concepts) * best**2
        # No title adds more than section_title times these values: a quotation remains before it.
        quotation = self.quotation_weight + section_title
        quotation *= sum(term.value for term in analysis.terms if term.share)
        for hit, between, names in parts:
            present = min(1.0, hit.coverage / best)
            score = hit.score * present**power + names
            score += between * present ** (self.between_power * best**2)
            score += quotation if hit.passage in analysis.quoted else 0.0
            scores.hits[hit.passage.key] = hit.scored(score)

    def _analysis(self, query: Query, corpus: Corpus) -> QueryAnalysis:
        """Analyse the query once a search."""
        memo = query.state.shared(dict[str, QueryAnalysis], "lexical", self.fingerprint)
        if query.text not in memo:
            memo[query.text] = self._analyse(query.text, corpus)
            quotations(query).extend(passage.key for passage in memo[query.text].quoted)
        return memo[query.text]

    def _extras(
        self, query: Query, analysis: QueryAnalysis, corpus: Corpus
    ) -> tuple[WeightedTerm, ...]:
        """Return the terms of a filter that the query lacks; they count only in filtered runs."""
        if not query.must:
            return ()
        folded = fold(query.text)
        present = {weighted_term.term for weighted_term in analysis.terms}
        terms = dict.fromkeys(
            term
            for required in query.must
            if not mentions(folded, fold(required))
            for term in query_terms(corpus, required)
            if term not in present
        )
        counts = corpus.frequencies(terms) if terms else {}
        size, finders = corpus.size, form_finders(corpus, terms)
        return tuple(
            weighted_term(term, _REQUIRED_ONLY * rarity(size, counts[term]), 0.0, finders.get(term))
            for term in terms
        )

    def _candidate_clause(
        self, query: Query, analysis: QueryAnalysis, extras: Iterable[WeightedTerm], corpus: Corpus
    ) -> Clause:
        """Return the clause for candidates, within the filter of this run."""
        if not query.must:
            return query.inside(analysis.clause)
        terms = [(extra.term, _REQUIRED_ONLY, extra.value) for extra in extras]
        parts = frozenset(term for term, _, _ in terms if is_part_of_terms(term, corpus))
        more = self._boosts.times(self.candidate_names).clauses(terms, parts)
        candidates = Bool(should=(analysis.clause, *more)) if more else analysis.clause
        return query.inside(Bool(must=(candidates, *map(Holds, query.must))))

    def _analyse(self, text: str, corpus: Corpus) -> QueryAnalysis:
        words = term_weights(text, corpus, self.function_weight, self.repeated_power)
        chosen, content = words.weights, words.content
        parts = frozenset(term for term in chosen if is_part_of_terms(term, corpus))
        counts = dict(corpus.frequencies(chosen))
        counts |= {part: corpus.count(Part(part)).number for part in words.named}
        idf = {term: rarity(corpus.size, count) for term, count in counts.items()}
        finders = form_finders(corpus, chosen)
        shares = ConceptShares.weighted(words.concepts, corpus, idf, words.joined, finders)
        groups, weighted = shares.groups, weighted_terms(text, words, idf, shares)
        balanced = with_whole_words(weighted, groups, corpus, self.word_weight)
        few = len(groups) <= self.few_concepts
        terms = tuple(evened(balanced, groups, self.even_power) if few else balanced)
        named = [concept.text for concept in words.concepts] if self.file_name_weight else ()
        together = run_together(named, corpus, chosen)
        clauses, named_clauses = self._clauses(words, idf, parts, corpus.size)
        paths = [Term(name.term, "path", self.path_boost) for name in together]
        clause = Bool(should=(*clauses, *paths))
        values = {term: weight * idf[term] for term, weight in chosen.items() if term in content}
        # Only these count as matches: terms that span two words of a query occur in any text.
        matching = [term for term in chosen if term in content or term in words.named]
        return QueryAnalysis(
            clause=clause,
            named_clause=Bool(should=(*named_clauses, *paths)),
            complete_clause=complete_clause(clause, [g.shares for g in groups], parts, counts),
            rare_clause=rare_clause(values, parts, counts, corpus.size, self.rare_pool),
            run_together=together,
            anywhere=Bool(
                should=tuple(
                    Part(term) if term in parts else Term(term)
                    for term in matching or self._content(chosen)
                )
            ),
            concepts=shares,
            terms=terms,
            coverage_bonus=coverage_bonus(
                groups, self.coverage_weight, self.sparse_coverage_weight
            ),
            average=corpus.average_length("body") or 1.0,
            quoted=quoted_sections(text, corpus) if self.quotation_weight else (),
        )

    def _clauses(
        self, words: TermWeights, idf: Mapping[str, float], parts: Container[str], size: int
    ) -> tuple[Sequence[Clause], Sequence[Clause]]:
        """Return the clauses of the terms that are searched, and of their names alone."""
        in_clause = {
            term: weight * (1.0 if term in words.content else self.between_candidates)
            for term, weight in words.weights.items()
        }
        candidates = {term: in_clause[term] for term in self._content(in_clause)}
        common = min(self.common_sections, max(_FEW, int(self.common_share * size)))
        searched = searched_terms(candidates, idf, self.candidate_terms, rarity(size, common))
        of_concepts = {
            term: weight
            for term, weight in words.weights.items()
            if self.named_pool and term in words.content
        }
        clauses = self._boosts.times(self.candidate_names).clauses(searched, parts)
        return clauses, self._boosts.name_clauses(of_concepts, searched, parts)

    def _content(self, weights: Mapping[str, float]) -> Sequence[str]:
        """Return the terms other than function words; all terms, when there are no others."""
        content = [term for term, weight in weights.items() if weight > self.function_weight]
        return content or [*weights]

    @property
    def _boosts(self) -> NameBoosts:
        return NameBoosts(self.title_boost, self.headings_boost, self.path_boost)

    def _score(
        self, passage: Passage, analysis: QueryAnalysis
    ) -> tuple[Hit, float, Sequence[WeightedTerm]]:
        """Return a hit by concepts, the score of the terms between them, and the terms in names."""
        fields, names = passage.fields, text_of_names(passage.fields)
        score, covered, between, named = self._term_score(fields, names, analysis.terms, analysis)
        groups = analysis.concepts.groups
        coverage = min(1.0, round(covered, _DECIMALS)) if groups else 1.0
        score += coverage * analysis.coverage_bonus
        score -= min(self.length_penalty_weight * excess_length(fields["body"]), score / 2)
        if not covered:
            return Hit(passage, score, coverage=coverage), between, named
        matched = analysis.concepts.matched(f"{names}\n{fields['body']}")
        labels = _ANCHOR if any(group.text in names for group in groups) else _UNMARKED
        return Hit(passage, score, labels, coverage, matched), between, named

    def _term_score(
        self,
        fields: Mapping[str, str],
        names: str,
        terms: Iterable[WeightedTerm],
        analysis: QueryAnalysis,
    ) -> tuple[float, float, float, Sequence[WeightedTerm]]:
        """Return the concepts' score and coverage, the other terms' score, and those in names."""
        title, headings, path, body = map(fields.__getitem__, _FIELDS)
        norm = self.k1 * (1 - self.b + self.b * len(body) / analysis.average)
        score = covered = between = 0.0
        whole, named = f"{names}\n{body}", list[WeightedTerm]()
        for weighted in terms:
            term, value, share, count, forms = weighted
            if not (number := count(whole, term) if forms else term in whole):
                continue  # most terms: one search is faster than a count in each field
            in_names = count(names, term) if forms else term in names
            frequency: float = number - in_names if forms else count(body, term)
            if in_names:
                named.append(weighted)
                frequency += self.title_boost * count(title, term)
                frequency += self.headings_boost * count(headings, term)
                frequency += self.path_boost * count(path, term)
            if not frequency:
                continue
            gain = value * frequency * (self.k1 + 1) / (frequency + norm)
            if share:
                covered += share
                score += gain
            else:
                between += gain
        return score, covered, between, named
