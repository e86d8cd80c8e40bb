"""The loaders of a pipeline, and which loaders would read the files that it does not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from fumishirube.disk.names import OFFICE_LOCKS
from fumishirube.disk.roots import Root
from fumishirube.engine.parsed_documents import ParsedDocuments, RememberingLoader
from fumishirube.host.surfaces import ConfiguredSurface, RunningStages
from fumishirube.model import UnreadFiles
from fumishirube.optional_attributes import PARSED_FINGERPRINT, READS_IF, REMEMBERED
from fumishirube.stages import Loader

_PACKAGED = frozenset(
    [".epub", ".htm", ".html", ".xhtml", ".pdf", ".docx", ".pptx", ".xls", ".xlsm", ".xlsx", ".ods"]
)
"""The suffixes that the package with document loaders reads; where missing, it cannot say so."""
_FORMATS = frozenset([".doc", ".odt", ".rtf", ".ppt", ".odp"])
"""The names of document formats."""
# A folder instead of a name: the name on the package index may belong to others.
_PACKAGE = (
    "the package fumishirube-documents: in the folder of Fumishirube's source, "
    "python -m pip install ./plugins/packages/fumishirube-documents"
)
_PLUGIN = "a loader plugin; 'fumishirube new-plugin NAME --kind loader' writes one"


def remembering_loaders(
    configured: ConfiguredSurface, running: RunningStages, state: Root
) -> list[Loader]:
    """Wrap slow loaders so that their parsed documents are cached."""
    documents, loaders = ParsedDocuments(state), list[Loader]()
    for chosen, begun in zip(configured.stages["loaders"], running.loaders, strict=True):
        loader, stage = begun.stage, chosen.stage
        if REMEMBERED.of(stage):
            reading = str(PARSED_FINGERPRINT.of(stage) or stage.fingerprint)
            loader = RememberingLoader(loader, reading, documents)
        loaders.append(loader)
    return loaders


def unread_files(paths: Iterable[str], configured: ConfiguredSurface) -> list[UnreadFiles]:
    """Count files by suffix, most first, and name the installed loaders that would read them.

    Lock files of office programs are no documents, and do not count.
    """
    names = [PurePosixPath(path) for path in paths]
    names = [name for name in names if not name.name.startswith(OFFICE_LOCKS)]
    # Since Python 3.14 the suffix of a name that ends with a dot is that dot.
    counts = Counter(name.suffix.lower().rstrip(".") for name in names)
    return [
        UnreadFiles(suffix, number, _reader(suffix, configured))
        for suffix, number in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def _reader(suffix: str, configured: ConfiguredSurface) -> str | None:
    """Name the loaders that would read a suffix, or what to install for it."""
    offers = [*configured.plugins.registry["loaders"]]
    used = {named.name for named in configured.stages["loaders"]}
    pipeline, ways = f"pipelines.{configured.pipeline_name}", []
    for offer in offers:  # with their default settings
        field = offer.stage.model_fields.get("suffixes")
        suffixes = field.default if field and isinstance(field.default, tuple) else ()
        if suffix and suffix in suffixes and offer.name not in used:
            ways.append(f"{offer.name}: add {{use: {offer.name}}} to {pipeline}.loaders")
    for offer in offers:  # on a condition, which they state themselves
        conditions: object = READS_IF.of(offer.stage)
        condition = conditions.get(suffix) if isinstance(conditions, Mapping) else None
        if isinstance(condition, str):
            ways.append(f"{offer.name}: {condition.replace('{loaders}', f'{pipeline}.loaders')}")
    if ways:
        return " or ".join(ways)
    if suffix in _PACKAGED:
        return _PACKAGE
    return _PLUGIN if suffix in _FORMATS else None
