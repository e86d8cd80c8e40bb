"""Concepts of a query: its words, without function words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from fumishirube.text.folding import fold, runs
from fumishirube.text.scripts import HAN, HANGUL

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
_QUESTION_WORDS = "何誰"
"""What a question asks for; its answer does not contain it."""
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
    return term in _ENGLISH or all("\u3041" <= character <= "\u309f" for character in term)


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
            run = _without_question_word(run)  # noqa: PLW2901 - the rest of the run
            if run and run not in _ENGLISH:
                inflected = len(run) == 1 and _ENDING.match(folded, place + 1) is not None
                yield _concept(re.compile(_KOREAN_PARTICLE).sub("", run))._replace(
                    stem=inflected and not folded.startswith("ども", place + 1)
                )
            continue
        core = run[1:] if inflected and _ENDING.match(run) else run
        inflected = False
        if core and not _only_functions(core):
            core = _LEADING.sub("", core)
            if len(core) > 1:
                yield _concept(core)


def _without_question_word(run: str) -> str:
    """Return a run without 何 or 誰 at its start, and without a single counter, such as in 何年."""
    rest = run.lstrip(_QUESTION_WORDS)
    return run if rest == run else rest if len(rest) > 1 else ""


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
