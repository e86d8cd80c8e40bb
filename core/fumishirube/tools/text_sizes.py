"""How many characters one page of a text has: by default, at least, at most."""

LEAST_CHARS = 256
MOST_CHARS = 50_000
PAGE_CHARS = 12_000
