"""Several processes that serve at one address: ``serve --http --workers N``."""
