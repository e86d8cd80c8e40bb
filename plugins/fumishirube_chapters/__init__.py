"""The surface ``chapters``: the tools over chapters with a table of contents."""

from fumishirube import Register, Surface, hook
from fumishirube_chapters.surface import ChaptersSurface


@hook
def register_surfaces(register: Register[Surface]) -> None:
    """Register the surface ``chapters``."""
    register("chapters", ChaptersSurface)
