"""Evidence: the lines of a section that are most relevant to a query."""
