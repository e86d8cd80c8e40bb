"""The default tokenizer: character bigrams of Japanese, whole words of everything else."""

from __future__ import annotations

from typing import Literal

from fumishirube_stages.tokenizers.ngram import NGram


class Bigram(NGram):
    """N-grams of two characters: finds every Japanese word of two characters or more exactly."""

    n: Literal[2] = 2
