"""Loaders: a manual folder -> documents made of sections."""

from fumishirube_stages.loaders.json import Json
from fumishirube_stages.loaders.markdown import Markdown
from fumishirube_stages.loaders.notebook import Notebook
from fumishirube_stages.loaders.text import Text
from fumishirube_stages.loaders.toc_text import TocText

__all__ = ["Json", "Markdown", "Notebook", "Text", "TocText"]
