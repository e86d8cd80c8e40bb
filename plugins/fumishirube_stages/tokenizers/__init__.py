"""Tokenizers: text to terms."""
