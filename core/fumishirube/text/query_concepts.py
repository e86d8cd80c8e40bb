"""Concepts of a query: its words, without function words; the share of them that a text has."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple, Protocol

from fumishirube.text.folding import HAN, HANGUL, fold, is_cjk, is_hiragana, occurs, runs
from fumishirube.text.word_forms import FormFinder, TermSource, query_terms

_FUNCTION_WORDS = (
    "について|においては|における|において|に対する|に対して|にとって|によって|による|に関する|に関して|"
    "として|ための|ために|ため|という|といった|とは|とき|ところ|こと|もの|ほう|など|まで|から|より|だけ|"
    "ばかり|くらい|ぐらい|ほど|しか|さえ|でも|では|には|にも|とも|への|での|からの|までの|のは|のか|のに|ので|"
    "でしょうか|でしょう|でしたか|でした|ですか|です|でき|ますか|ます|ました|ません|ましょう|ませんか|"
    "ください|だろう|である|であり|ではない|だった|だ|なのか|なの|なる|なり|なった|なって|ならない|なければ|なく|"
    "ない|なかった|な|する|した|して|しない|しなければ|すれば|し|される|された|されて|され|させる|させ|せる|"
    "れる|られる|できる|できない|できた|ある|あり|あった|いる|いた|いて|いない|おり|おける|ください|たい|たら|"
    "れば|どのような|どのように|どのくらい|どの|どう|どこ|どれ|どんな|どちら|なに|なん|なぜ|いつ|いくら|いくつ|"
    "よろしい|よろしく|んだ|んです|んで|けど|けれど|って|だれ|これ|それ|あれ|この|その|あの|ここ|そこ|こう|そう|もし|また|または|および|かつ|ただし|"
    "は|が|を|に|へ|と|も|の|で|や|か|ば|ね|よ|わ|ぞ|た|て|れ|ら|り|る|う|く|い|け|み|き|え|め"
)
_EACH_FUNCTION_WORD = frozenset(_FUNCTION_WORDS.split("|"))
_LONGEST_FUNCTION_WORD = max(map(len, _EACH_FUNCTION_WORD))
_LEADING = re.compile(f"^(?:{_FUNCTION_WORDS})+")
_ENGLISH = frozenset(
    """
    a an and any are as at be been being but by can could did do does for from had has have how i
    if in into is it its me my no not of on or our should so than that the their them then there
    these they this to was we were what when where which while who whom whose why will with would
    you your
    """.split()  # noqa: SIM905 - a list of a hundred quoted words is harder to read
)

_KANJI = f"[{HAN}]"
_COMPOUND = f"(?<!{_KANJI}){_KANJI}(?:[いきぎしちびみりえけげせっねべめれ]{_KANJI}(?!{_KANJI}))+"
"""Single kanji joined by the ending of a compound's first part, as in 読み込む and 引っ越し.

Compiled at its first use: that takes 3 ms."""
_ENDING = re.compile(
    "(?!から|まで|より|など|だけ|なら|なの|なが)[ぁ-ん](?<![はがをにへとものでやな])"
)
"""The endings of verbs and adjectives after a single kanji that are no particles."""
_RELATION = re.compile(
    "に(?:[関対](?:する|して|し)|応じ[てた]?|基づ(?:いて|いた|き|く)|従(?:って|い|う)|伴(?:って|い|う)"
    "|際(?:して|し)|於(?:いて|ける))|を通(?:じて|して)"
)
"""Particles that are written with a kanji; they carry no meaning of their own."""
_KOREAN_PARTICLE = (
    f"(?<=[{HANGUL}]{{2}})"
    "(?:에서는|에서|에게|으로|이란|부터|까지|은|는|이|가|을|를|의|에|로|와|과|도)$"
)
"""The commonest particles after a Korean word; one of two syllables is left whole. Compiled
at its first use."""
_REQUEST = re.compile(
    "(?:詳しく)?(?:(?:教え|見せ|聞かせ|書い|(?:説明|解説)し)て|(?:知り|聞き)たい)"
    "(?:ください|下さい|くれ|ほしい|欲しい|もらえ|です|ます|か|ん|の|い)*[。.?!]*$"
)
"""The ending of a question that requests an answer, such as 教えてください."""
_QUESTION_ENDING = re.compile(
    "(?:(?:場合|とき|際)の|の|どう|どのような|どのように|どんな|(?<=[るたい]))"
    "(?:違い|関係|理由|注意点)(?:し(?:ます|ています|ている)|が?あ(?:る|ります))?"
    "(?:について|とは|[はがをで])?(?:何|なん)?(?:です|でしょう)?か?[。.?!、]*$"
)
"""The ending of a question that names what is asked about things, such as の違いは."""
_QUESTION_WORD = re.compile("(?<![幾几如])[何誰]")
"""What a question asks for; its answer does not contain it. It is no part of 幾何 and 如何, nor of
几何, which is 幾何 in Chinese."""
_QUERIES_CACHED, _PARTS_CACHED = 32, 256
_SCRIPTS_OF_ONE_WORD = ("han", "katakana", "word", "joined")


class Concept(NamedTuple):
    """One concept of a query: its folded text, and whether it is a single character.

    ``stem`` means that it is the single character of a verb or adjective, such as 書 in 書いて.
    """

    text: str
    single: bool = False
    stem: bool = False


class Chunk(NamedTuple):
    """A part of a query between spaces, folded, with its concepts."""

    text: str
    concepts: tuple[Concept, ...]


@lru_cache(maxsize=_QUERIES_CACHED)
def chunks(text: str) -> tuple[Chunk, ...]:
    """Divide a query at its spaces, and each part into concepts.

    A run of kanji, of katakana, or a word is a concept, a Korean word without its particle too; a
    run of hiragana is one except for particles, endings and question words. If nothing else is
    left, the parts themselves are the concepts.
    """
    divided = [chunk for part in text.split() if (chunk := _chunk(part)).text]
    if any(chunk.concepts for chunk in divided):
        return tuple(divided)
    return tuple(Chunk(chunk.text, (_concept(chunk.text),)) for chunk in divided)


@lru_cache(maxsize=_PARTS_CACHED)
def _chunk(part: str) -> Chunk:
    """Divide a part between spaces; the wordings of a question have many parts in common."""
    folded = fold(part)
    return Chunk(folded, _concepts(folded))


@lru_cache(maxsize=_QUERIES_CACHED)
def concepts(text: str) -> tuple[Concept, ...]:
    """Return the concepts of a query, each once, in order."""
    every_concept = [concept for chunk in chunks(text) for concept in chunk.concepts]
    return tuple(dict.fromkeys(every_concept))


def is_function(term: str) -> bool:
    """Tell whether a term is a function word: hiragana, or a common English word."""
    return term in _ENGLISH or all(map(is_hiragana, term))


def rarity(size: int, count: int) -> float:
    """Return the inverse document frequency of a term in ``count`` of ``size`` sections."""
    return math.log(1 + (size - min(count, size) + 0.5) / (count + 0.5))


def _concepts(folded: str) -> tuple[Concept, ...]:
    """Return the concepts of a part of a query, in order; compound verbs first, whole."""
    result: list[Concept] = []
    end = 0
    for ending in (_REQUEST, _QUESTION_ENDING):
        folded = ending.sub("", folded) or folded
    folded = _RELATION.sub("の", folded)
    for match in () if folded.isascii() else re.compile(_COMPOUND).finditer(folded):
        result += _concepts_of_runs(folded[end : match.start()], inflected=bool(result))
        result.append(_concept(match.group()))
        end = match.end()
    return (*result, *_concepts_of_runs(folded[end:], inflected=bool(result)))


def _concepts_of_runs(folded: str, *, inflected: bool = False) -> Iterable[Concept]:
    """Yield the concepts of runs; the first kana after the kanji of a verb are its ending."""
    for script, run, place in runs(folded):
        if script in _SCRIPTS_OF_ONE_WORD:
            for word in _without_question_words(run):
                if word not in _ENGLISH:
                    inflected = len(word) == 1 and _ENDING.match(folded, place + 1) is not None
                    yield _concept(re.compile(_KOREAN_PARTICLE).sub("", word))._replace(
                        stem=inflected and not folded.startswith("ども", place + 1)
                    )
            continue
        core = run[1:] if inflected and _ENDING.match(run) else run
        inflected = False
        if core and not _only_functions(core):
            core = _LEADING.sub("", core)
            if len(core) > 1:
                yield _concept(core)


def _without_question_words(run: str) -> Sequence[str]:
    """Return the words of a run around 何 and 誰, without single counters, such as in 西暦何年."""
    words = _QUESTION_WORD.split(run)
    return words if len(words) == 1 else [word for word in words if len(word) > 1]


def _only_functions(run: str) -> bool:
    """Tell whether a run can be divided into function words; in steps linear in its length."""
    reached = {0}
    for start in range(len(run)):
        if start in reached:
            ends = range(start + 1, min(start + _LONGEST_FUNCTION_WORD, len(run)) + 1)
            reached.update(end for end in ends if run[start:end] in _EACH_FUNCTION_WORD)
    return len(run) in reached


def _concept(text: str) -> Concept:
    return Concept(text, single=len(text) == 1 and not text.isascii())


# --- shares -----------------------------------------------------------------------------------

_PARTED = 64
"""The characters of a concept whose parts, a quadratic number, count."""
_BETWEEN = "\u3005"
"""A character that may precede or follow a word in Japanese text."""
_DECIMALS = 9
"""The digits of a coverage that count: the shares of all concepts sum to 1 but for rounding."""


class CountedTerms(TermSource, Protocol):
    """What has terms and their numbers of sections, such as a corpus."""

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many sections have each term."""
        ...


class WeightedConcept(NamedTuple):
    """A concept, the share of each of its terms, and its rarity."""

    text: str
    shares: Mapping[str, float]
    weight: float


class ConceptShares(NamedTuple):
    """The concepts of a query in a corpus, and the share of all that each of their terms is.

    ``finders`` has those terms that do not occur in texts themselves.
    """

    groups: tuple[WeightedConcept, ...]
    shares: Mapping[str, float] = MappingProxyType({})
    finders: Mapping[str, FormFinder] = MappingProxyType({})

    @classmethod
    def weighted(
        cls,
        query_concepts: Iterable[Concept],
        corpus: TermSource,
        idf: Mapping[str, float],
        joined: Mapping[str, Sequence[str]],
        finders: Mapping[str, FormFinder],
    ) -> ConceptShares:
        """Return concepts by the rarity of their terms; ``joined`` terms share as their words do.

        Terms without a rarity have no share.
        """
        groups = tuple(weighted_concept(each, corpus, idf) for each in query_concepts)
        return cls(groups, coverage_shares(groups, joined), finders)

    def coverage(self, text: str) -> float:
        """Return the share of the concepts that occur in a folded text, 0 to 1."""
        if not self.groups:
            return 1.0
        present = (share for term, share in self.shares.items() if self._occurs(term, text))
        return min(1.0, round(sum(present), _DECIMALS))

    def matched(self, text: str) -> tuple[str, ...]:
        """Return the concepts in their form in a text, or their longest parts that occur in it."""
        whole: dict[str, None] = {}
        for group in self.groups:
            if occurs(text, group.text):
                whole[group.text] = None
            elif len(group.shares) == 1 and (find := self.finders.get(*group.shares)):
                whole |= dict.fromkeys(find(text)[:1])
        return tuple(whole) or tuple(_parts(self.groups, text))

    def _occurs(self, term: str, text: str) -> bool:
        if finder := self.finders.get(term):
            return bool(finder(text))
        return occurs(text, term) if term.isascii() else term in text


def weighted_concept(
    concept: Concept, corpus: TermSource, idf: Mapping[str, float]
) -> WeightedConcept:
    """Return a concept with its terms, weighted by rarity.

    A term that is the whole concept, as of E104, has all of it: the others are parts of it.
    """
    terms = tuple(dict.fromkeys(query_terms(corpus, concept.text))) or (concept.text,)
    total = sum(idf.get(term, 0.0) for term in terms)
    shares = {term: idf.get(term, 0.0) / (total or 1.0) for term in terms}
    if concept.text in shares:
        shares[concept.text] = 1.0
    return WeightedConcept(concept.text, shares, total / len(terms))


def coverage_shares(
    groups: Iterable[WeightedConcept], joined: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Mapping[str, float]:
    """Return each term's share of the coverage: of its concepts, weighted by their rarity.

    A joined term has the shares of its words.
    """
    groups = tuple(groups)
    total = sum(group.weight for group in groups) or 1.0
    shares: dict[str, float] = {}
    for group in groups:
        for term, share in group.shares.items():
            shares[term] = shares.get(term, 0.0) + group.weight * share / total
    for term, parts in joined.items():
        shares[term] = shares.get(term, 0.0) + sum(shares.get(part, 0.0) for part in parts)
    return shares


def is_part_of_terms(text: str, corpus: TermSource) -> bool:
    """Return whether an index may contain a text only as a part of longer terms.

    This is so for a single Japanese character, and for anything shorter than the tokenizer's terms.
    """
    if len(text) == 1 or text.isascii() or not all(map(is_cjk, text)):
        return len(text) == 1 and not text.isascii()
    embedded = corpus.terms(f"{_BETWEEN}{text}{_BETWEEN}")
    return text not in embedded and [*corpus.terms(text)] == [text]


def joined_terms(
    text: str, corpus: CountedTerms, holds: Callable[[str], bool]
) -> Mapping[str, Sequence[str]]:
    """Return the terms of neighbouring English words that the corpus has only as one word.

    Each has the terms of both words: ``abort signal`` may be written ``AbortSignal``. ``holds``
    tells whether the corpus has two words beside each other.
    """
    pairs = [
        (query_terms(corpus, first.text + second.text), first.text, second.text)
        for first, second in pairwise(chunks(text))
        if _is_word(*first) and _is_word(*second)
    ]
    single = {terms[0]: pair for terms, *pair in pairs if len(terms) == 1}
    counts = corpus.frequencies(single) if single else {}
    return {
        term: [part for word in single[term] for part in query_terms(corpus, word)]
        for term, count in counts.items()
        if count and not holds(" ".join(single[term]))
    }


def _is_word(text: str, its_concepts: Sequence[Concept]) -> bool:
    """Tell whether a part of a query is one English word other than a function word."""
    return text.isascii() and text.isalpha() and bool(its_concepts)


def _parts(groups: Iterable[WeightedConcept], text: str) -> Iterable[str]:
    """Yield the longest part of each concept that occurs in a text, from two characters."""
    for group in groups:
        searched = group.text[:_PARTED]
        parts = (
            searched[start : start + length]
            for length in range(len(searched) - 1, 1, -1)
            for start in range(len(searched) - length + 1)
        )
        longest = next((part for part in parts if occurs(text, part)), None)
        if longest:
            yield longest
