"""Contract tests for plugin authors to inherit, and corpora for further tests.

::

    from fumishirube.testing import FuserContract
    from fumishirube_borda import Borda


    class TestBorda(FuserContract):
        stage = Borda()

It needs pytest, which the extra ``testing`` installs.
"""

from fumishirube.testing.contexts import MemoryContext
from fumishirube.testing.contract import StageContract
from fumishirube.testing.corpora import MemoryCorpus, PlainTokenizer, passage, ranking
from fumishirube.testing.corpus_contract import CorpusContract
from fumishirube.testing.embedders import EmbedderContract
from fumishirube.testing.fusers import FuserContract
from fumishirube.testing.indexes import IndexContract
from fumishirube.testing.loaders import LoaderContract
from fumishirube.testing.refiners import RefinerContract
from fumishirube.testing.scorers import ScorerContract
from fumishirube.testing.surfaces import SurfaceContract
from fumishirube.testing.tokenizers import TokenizerContract

__all__ = [
    "CorpusContract",
    "EmbedderContract",
    "FuserContract",
    "IndexContract",
    "LoaderContract",
    "MemoryContext",
    "MemoryCorpus",
    "PlainTokenizer",
    "RefinerContract",
    "ScorerContract",
    "StageContract",
    "SurfaceContract",
    "TokenizerContract",
    "passage",
    "ranking",
]
