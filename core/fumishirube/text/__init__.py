"""Texts: encodings, folding, forms, concepts, references."""

from fumishirube.text.controls import printable, printable_json, unseen_character, without_unseen
from fumishirube.text.encoding import (
    DecodedText,
    decode,
    decode_lossy,
    decode_with_encoding,
    unify_line_ends,
)
from fumishirube.text.file_texts import FileText, ManualTexts, UnreadFile
from fumishirube.text.folding import (
    FOLDING,
    Lines,
    estimate_tokens,
    fold,
    is_cjk,
    is_unspaced,
    is_worded,
    nfc,
    occurrences,
    occurs,
    runs,
    words,
)
from fumishirube.text.greek import letter_named, letter_names
from fumishirube.text.pattern_literals import holds_newline, required_literals
from fumishirube.text.projections import (
    LOOSE,
    NORMAL,
    OffsetMap,
    Projection,
    TextForm,
    TextRange,
    TextRanges,
    form_of,
    places_of,
    project,
)
from fumishirube.text.query_concepts import Concept, chunks, concepts, is_function, rarity
from fumishirube.text.readings import Reading, reading, reading_form, wraps
from fumishirube.text.references import References
from fumishirube.text.synonyms import Synonyms, replace_synonyms, synonyms_in
from fumishirube.text.word_forms import (
    FormFinder,
    form_finder,
    mentions,
    query_terms,
    term_forms,
)

__all__ = [
    "FOLDING",
    "LOOSE",
    "NORMAL",
    "Concept",
    "DecodedText",
    "FileText",
    "FormFinder",
    "Lines",
    "ManualTexts",
    "OffsetMap",
    "Projection",
    "Reading",
    "References",
    "Synonyms",
    "TextForm",
    "TextRange",
    "TextRanges",
    "UnreadFile",
    "chunks",
    "concepts",
    "decode",
    "decode_lossy",
    "decode_with_encoding",
    "estimate_tokens",
    "fold",
    "form_finder",
    "form_of",
    "holds_newline",
    "is_cjk",
    "is_function",
    "is_unspaced",
    "is_worded",
    "letter_named",
    "letter_names",
    "mentions",
    "nfc",
    "occurrences",
    "occurs",
    "places_of",
    "printable",
    "printable_json",
    "project",
    "query_terms",
    "rarity",
    "reading",
    "reading_form",
    "replace_synonyms",
    "required_literals",
    "runs",
    "synonyms_in",
    "term_forms",
    "unify_line_ends",
    "unseen_character",
    "without_unseen",
    "words",
    "wraps",
]
