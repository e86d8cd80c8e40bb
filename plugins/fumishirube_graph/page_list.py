"""``ubp_list_pages``: all documents, sorted, page by page."""

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from fumishirube import Call, Tool
from fumishirube.tools import ANSWER_CHARS, OrAbsent, fitting
from fumishirube_graph.arguments import (
    DATA,
    Cursor,
    GraphRuntime,
    NamedPage,
    NonNullParams,
    NotNull,
    OptionalDocType,
    UntrustedAnswer,
)
from fumishirube_graph.errors import JsonRpcError
from fumishirube_graph.records import Doc, DocType
from fumishirube_graph.snapshot import GraphSnapshot

Sort = Literal["title", "updated_at", "filepath"]
Order = Literal["asc", "desc"]


class ListParams(NonNullParams):
    """Which documents, and in which order."""

    doc_type: OptionalDocType = None
    sort: Annotated[Sort | None, NotNull, Field(description="Default title.")] = None
    order: Annotated[Order | None, NotNull, Field(description="Default asc.")] = None
    cursor: Cursor = None


class ListedPage(NamedPage):
    """A summary of a document."""

    doc_type: DocType
    link_count: int
    updated_at: str


class ListAnswer(UntrustedAnswer):
    """A page of documents, and their total."""

    pages: tuple[ListedPage, ...]
    total: int
    next_cursor: OrAbsent[str] = None


def list_tool(runtime: GraphRuntime) -> Tool[ListParams, ListAnswer]:
    """Return the tool."""

    def run(params: ListParams, _: Call) -> ListAnswer:
        snapshot = runtime.view()
        sort, order = params.sort or "title", params.order or "asc"
        request = [params.doc_type, sort, order]
        docs = [d for d in snapshot.docs.values() if params.doc_type in (None, d.record.doc_type)]
        # In either direction, ties stay sorted by ascending path.
        docs.sort(key=lambda doc: _key(doc, sort), reverse=order == "desc")
        rest = docs
        if params.cursor is not None:
            last = decoded_cursor(params.cursor, request)
            rest = list(_after(docs, sort, order, str(last[0]), str(last[1])))
        page = (_listed(snapshot, doc) for doc in rest[: runtime.settings.page_size])
        shown = tuple(fitting(page, ANSWER_CHARS))
        next_cursor = None
        if len(rest) > len(shown):
            end = rest[len(shown) - 1]
            next_cursor = encoded_cursor(request, [_key(end, sort), end.path])
        return ListAnswer(
            pages=shown,
            total=len(docs),
            next_cursor=next_cursor,
            warnings=runtime.warned_of(snapshot),
        )

    return Tool(
        name="ubp_list_pages",
        title="List documents",
        summary=(
            "List the documents with their types, link counts and dates: all of them, or those of "
            "one doc_type, sorted by title, updated_at or filepath. Beyond a page, go on with "
            f"cursor = next_cursor. Next: ubp_get_page or ubp_get_context. {DATA}"
        ),
        params=ListParams,
        answer=ListAnswer,
        run=run,
        examples=({"doc_type": "design"}, {"sort": "updated_at", "order": "desc"}),
    )


def encoded_cursor(request: Any, last: Any) -> str:
    """Return a cursor: the arguments it was issued for, and the last delivered item."""
    text = json.dumps([request, last], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def decoded_cursor(cursor: str, request: Any) -> Any:
    """Return the last delivered item of a cursor.

    Raises:
        JsonRpcError: when the cursor was issued for other arguments.
    """
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        issued_for, last = json.loads(text)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        issued_for, last = None, None
    if issued_for != request or not isinstance(last, list) or len(last) != 2:  # noqa: PLR2004 - a pair
        raise foreign_cursor(cursor)
    return last


def foreign_cursor(cursor: str) -> JsonRpcError:
    """Return the error for a cursor that was issued for other arguments."""
    message = "cursor was not issued for these arguments; take next_cursor as it was answered"
    return JsonRpcError(message, parameter="cursor", reason="invalid_cursor", got=cursor[:80])


def _key(doc: Doc, sort: str) -> str:
    return {"title": doc.title, "updated_at": doc.updated_at}.get(sort, doc.path)


def _after(docs: list[Doc], sort: str, order: str, key: str, path: str) -> Iterator[Doc]:
    """Yield the documents after an item, even when that item is gone."""
    for doc in docs:
        mine = _key(doc, sort)
        beyond = mine > key if order == "asc" else mine < key
        if beyond or (mine == key and doc.path > path):
            yield doc


def _listed(snapshot: GraphSnapshot, doc: Doc) -> ListedPage:
    return ListedPage(
        **doc.named,
        doc_type=doc.record.doc_type,
        link_count=len(snapshot.out[doc.path]),
        updated_at=doc.updated_at,
    )
