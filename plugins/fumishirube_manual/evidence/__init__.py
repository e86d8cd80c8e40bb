"""Evidence: the lines of a section that bear most on a question."""
