"""A local page over past searches and new ones, for looking rather than reading."""
