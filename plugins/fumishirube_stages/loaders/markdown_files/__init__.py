"""Markdown: which files, front matter, headings, links and documents."""
