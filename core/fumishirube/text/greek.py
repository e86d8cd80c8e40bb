"""Greek letters and their names in Latin letters, as in formulas and units."""

from __future__ import annotations

import re
from functools import lru_cache

_NAMES = {
    "α": ("alpha",),
    "β": ("beta",),
    "γ": ("gamma",),
    "δ": ("delta",),
    "ε": ("epsilon",),
    "ζ": ("zeta",),
    "η": ("eta",),
    "θ": ("theta",),
    "ι": ("iota",),
    "κ": ("kappa",),
    "λ": ("lambda",),
    "μ": ("mu", "micro"),
    "ν": ("nu",),
    "ξ": ("xi",),
    "ο": ("omicron",),
    "π": ("pi",),
    "ρ": ("rho",),
    "σ": ("sigma",),
    "τ": ("tau",),
    "υ": ("upsilon",),
    "φ": ("phi",),
    "χ": ("chi",),
    "ψ": ("psi",),
    "ω": ("omega", "ohm"),
}
"""Folded letters; μ is also the prefix of units, and Ω the unit of resistance."""
_LETTERS = {name: letter for letter, names in _NAMES.items() for name in names}
_NAME = re.compile(rf"(?<![^\W_])({'|'.join(_LETTERS)})s?(?![^\W_])")
_LETTER = re.compile(r"(?<![0-9a-z\u0370-\u03ff])[α-ω](?![0-9a-z\u0370-\u03ff])")


def letter_named(word: str) -> str | None:
    """Return the folded Greek letter that a folded word is, or is the name of, if it is one."""
    return word if word in _NAMES else _LETTERS.get(word)


def letter_names(letter: str) -> tuple[str, ...]:
    """Return the names of a folded Greek letter; none of anything else."""
    return _NAMES.get(letter, ())


@lru_cache(maxsize=2048)
def greek_forms(folded_term: str) -> tuple[str, ...]:
    """Return a term with its Greek letters as names, or its names as letters, if it has any.

    Letters and names count as whole words; beside Japanese, letters do too.
    """
    letter = _LETTER.search(folded_term)
    if letter:
        before, after = folded_term[: letter.start()], folded_term[letter.end() :]
        return tuple(f"{before}{name}{after}" for name in _NAMES.get(letter.group(), ()))
    named = _NAME.sub(lambda match: _LETTERS[match.group(1)], folded_term)
    return () if named == folded_term else (named,)
