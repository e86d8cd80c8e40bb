"""The parts of the index ``tantivy``: its documents, files, writers, queries and corpus."""
