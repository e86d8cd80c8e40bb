"""The default: character bigrams of Japanese, whole words of everything else."""

from __future__ import annotations

from typing import Literal

from fumishirube_stages.tokenizers.ngram import NGram


class Bigram(NGram):
    """Two-character grams: every Japanese word of two characters or more is found exactly."""

    n: Literal[2] = 2
