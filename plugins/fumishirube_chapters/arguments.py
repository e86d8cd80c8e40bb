"""Arguments and parts of answers that several tools of the chapters share."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic_core import PydanticKnownError

from fumishirube import Answer, Params

ManualName = Annotated[str, Field(description="Name of a manual, from list_manuals.")]
SectionId = Annotated[str, Field(description="Id of a chapter, from get_toc or list_sections.")]
OptionalSection = Annotated[
    str | None, Field(description="Only this chapter; all of them when it is not given.")
]


def _not_empty(value: str) -> str:
    if not value:
        raise PydanticKnownError("missing")
    return value


EMPTY_IS_MISSING = AfterValidator(_not_empty)
"""An empty text is refused as if it were not there."""


class ManualNameParams(Params):
    """The manual; an argument accepts null only where its type does."""

    null_is_absent: ClassVar[bool] = False

    manual_name: ManualName


class SparseAnswer(Answer):
    """An answer that omits keys that were not set, instead of returning null."""

    @model_serializer(mode="wrap")
    def _sparse(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if key in self.model_fields_set}


class Unsearched(Answer):
    """A chapter in scope that was not searched, and the reason."""

    section_id: str
    reason: Literal["missing", "refused", "unreadable", "too_large", "deadline"]
