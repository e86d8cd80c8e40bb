"""JSON: the sections of a file, and the chapters that a table of contents lists."""
