"""A process that writes pages of an index on demand: ``stalling_writer.py FOLDER SETTINGS``.

It becomes the writer, says ``holding``, and then commits a page for each name it reads, saying
``committed`` or ``refused``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fumishirube_opensearch import OpenSearch

from fumishirube import Budget, Fields, Forbidden, IndexedFile, Root
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.testing.corpora import PlainTokenizer, passage


def main(folder: str, settings: str) -> None:
    stage = OpenSearch(**json.loads(settings))
    index = stage.open(Root(Path(folder)), Fields(FIELDS, PlainTokenizer()))
    with index.writing(Budget()) as mine:
        _say("holding" if mine else "busy")
        for line in sys.stdin:
            name = line.strip()
            page = passage(f"{name}.md", 1, name, f"text of {name}")
            try:
                index.sync((), [(IndexedFile(page.path, name, None, 1), [page])])
            except Forbidden as error:
                _say(f"refused: {error}")
            else:
                _say("committed")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
