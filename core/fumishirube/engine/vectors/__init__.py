"""Vectors of sections: embedded, stored, compared, and kept in step with the index."""
