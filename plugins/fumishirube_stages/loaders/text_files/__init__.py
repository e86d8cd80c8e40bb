"""Plain texts and their markup: headings, entries, anchors, tables."""
