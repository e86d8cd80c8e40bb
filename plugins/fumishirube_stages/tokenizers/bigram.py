"""The default tokenizer: character bigrams of Japanese and the like, whole words of the rest."""

from typing import Literal

from fumishirube_stages.tokenizers.ngram import NGram


class Bigram(NGram):
    """N-grams of two characters: finds every Japanese word of two characters or more exactly.

    So it does with Chinese, Korean, Thai and other scripts without spaces.
    """

    n: Literal[2] = 2
