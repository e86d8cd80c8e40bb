"""The contract tests that a plugin author inherits, and the corpora to write further tests with.

::

    from shirube.testing import FuserContract
    from shirube_borda import Borda


    class TestBorda(FuserContract):
        stage = Borda()

It needs pytest: ``pip install "shirube[testing]"``.
"""

from shirube.testing.contract import StageContract
from shirube.testing.corpora import MemoryCorpus, PlainTokenizer, passage, ranking
from shirube.testing.desks import MemoryDesk
from shirube.testing.embedders import EmbedderContract
from shirube.testing.fusers import FuserContract
from shirube.testing.indexes import IndexContract
from shirube.testing.loaders import LoaderContract
from shirube.testing.refiners import RefinerContract
from shirube.testing.scorers import ScorerContract
from shirube.testing.surfaces import SurfaceContract
from shirube.testing.tokenizers import TokenizerContract

__all__ = [
    "EmbedderContract",
    "FuserContract",
    "IndexContract",
    "LoaderContract",
    "MemoryCorpus",
    "MemoryDesk",
    "PlainTokenizer",
    "RefinerContract",
    "ScorerContract",
    "StageContract",
    "SurfaceContract",
    "TokenizerContract",
    "passage",
    "ranking",
]
