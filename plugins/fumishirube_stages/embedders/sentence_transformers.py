"""Vectors of a model run by sentence-transformers."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from fumishirube import ConfigError, Stage, Vectors, install_command

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_NAME = "sentence-transformers"

_log = logging.getLogger("fumishirube")


class SentenceTransformers(Stage):
    """Embeds with a ``model`` of sentence-transformers: its name on the hub, or a local folder.

    A model may bring code of its own, so that both need trust in a workspace that names them. The
    model must be on this machine, unless ``download`` is set. ``device`` is the library's name
    of a device, such as ``cpu``; by default the library chooses. A prefix is put before each text
    of its role; the default is the model's own. Vectors have unit length, and texts longer than the
    model's window are cut.
    """

    trusted_settings: ClassVar[tuple[str, ...]] = ("model", "download")

    model: Annotated[str, Field(min_length=1)] = "ibm-granite/granite-embedding-107m-multilingual"
    download: bool = False
    device: str | None = None
    batch_size: Annotated[int, Field(ge=1, le=4096)] = 32
    query_prefix: str | None = None
    passage_prefix: str | None = None

    @contextmanager
    def open(self) -> Iterator["RunningSentenceTransformers"]:
        """Yield the running form, which loads the model when it is first used.

        Raises:
            ConfigError: when the library is not installed.
        """
        if find_spec("sentence_transformers") is None:
            raise ConfigError(
                f"the embedder {_NAME!r} needs a library that is not installed; run "
                f"{install_command(_NAME)}, or choose another embedder"
            )
        running = RunningSentenceTransformers(self)
        try:
            yield running
        finally:
            running.close()

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Return a vector of unit length for each text."""
        with self.open() as running:
            return running.embed(texts, role)


class RunningSentenceTransformers:
    """The embedder with its model, loaded once; its tokenizer is not thread-safe, so calls wait."""

    def __init__(self, settings: SentenceTransformers) -> None:
        self._settings = settings
        self._model: SentenceTransformer | None = None
        self._failure: ConfigError | None = None
        self._lock = Lock()

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Return a vector of unit length for each text.

        Raises:
            ConfigError: when the model cannot be loaded.
        """
        if not texts:
            return []
        settings = self._settings
        with self._lock:
            model = self._loaded()
            is_query = role == "query"
            prefix = settings.query_prefix if is_query else settings.passage_prefix
            vectors = (model.encode_query if is_query else model.encode_document)(
                # No tokenizer takes lone surrogates.
                [text.encode("utf-8", "replace").decode() for text in texts],
                prompt=prefix,
                batch_size=settings.batch_size,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return [_of_unit_length(vector) for vector in vectors.tolist()]

    def close(self) -> None:
        """Release the model."""
        with self._lock:
            self._model = None

    def _loaded(self) -> "SentenceTransformer":
        """Return the model; a failed load is not tried again."""
        if self._failure is not None:
            raise self._failure
        if self._model is None:
            try:
                self._model = _load(self._settings)
            except Exception as error:
                self._failure = ConfigError(_remedy(self._settings))
                _log.warning("a model could not be loaded: %s", type(error).__name__)
                _log.debug("a model could not be loaded", exc_info=True)
                raise self._failure from error
        return self._model


def _load(settings: SentenceTransformers) -> "SentenceTransformer":
    """Load the model. Importing the library takes seconds.

    A model that may not be downloaded is located first: given a name, the library calls the hub.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - as said
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - the same

    model, here = settings.model, not settings.download
    if here and not Path(model).is_dir():
        model = snapshot_download(model, local_files_only=True)
    return SentenceTransformer(model, device=settings.device, local_files_only=here)


def _remedy(settings: SentenceTransformers) -> str:
    """Return the message for a model that cannot be loaded, without the path of a folder."""
    path = Path(settings.model)
    shown = path.name if path.is_absolute() else settings.model
    message = f"the embedder {_NAME!r} cannot load the model {shown!r}"
    if settings.download:
        return f"{message}; check its name, the device and the network, and restart"
    return (
        f"{message} from this machine; name a folder that holds one, or set download: true to let "
        "it be fetched, and restart"
    )


def _of_unit_length(vector: list[float]) -> list[float]:
    """Return a vector unchanged; a zero vector becomes the first axis."""
    return vector if any(vector) else [1.0, *[0.0] * (len(vector) - 1)]
