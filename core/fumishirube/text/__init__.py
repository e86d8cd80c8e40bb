"""Text: encodings, folding, forms in which it is searched, concepts, headings, references."""
