"""The people who may use a server: their tokens, rights and limits."""
