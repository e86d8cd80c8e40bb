"""The verbs of the command line over manuals."""
