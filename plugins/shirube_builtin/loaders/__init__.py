"""Loaders: a manual folder -> documents made of sections. One file a loader."""

from shirube_builtin.loaders.json import Json
from shirube_builtin.loaders.markdown import Markdown
from shirube_builtin.loaders.toc_text import TocText

__all__ = ["Json", "Markdown", "TocText"]
