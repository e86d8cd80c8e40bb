"""Resources as an MCP server lists and reads them."""

from __future__ import annotations

from base64 import b64encode
from functools import partial

import mcp_types as types
from mcp.shared.exceptions import MCPError

from fumishirube.errors import NotFound, ToolError
from fumishirube.faces.mcp.requests import Context, Work
from fumishirube.faces.mcp.tools import TRUST, one_page
from fumishirube.host.calls import scrubbed
from fumishirube.host.catalog import Board
from fumishirube.model import Call
from fumishirube.tools.resources import Content, Resource, Resources, Template

PAGE = 500
"""Resources on a page."""


class Reads:
    """The resources of whatever menu hangs on the board."""

    def __init__(self, board: Board, work: Work) -> None:
        self._board = board
        self._work = work

    async def list(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List what there is, in the order of the URIs, page by page."""
        after = params.cursor if params is not None else None
        if after is not None and self._of(after) is None:
            raise MCPError(types.INVALID_PARAMS, "Invalid cursor: pass nextCursor as it came")
        return await self._work.asked(ctx, partial(self._page, after or ""))

    async def templates(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """List the forms of URIs."""
        one_page(params)
        found = [_template(one) for given in self._board.menu.resources for one in given.templates]
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read what a URI names."""
        return await self._work.asked(ctx, partial(self._read, str(params.uri)))

    def _of(self, uri: str) -> Resources | None:
        known = {given.scheme: given for given in self._board.menu.resources}
        return known.get(uri.partition(":")[0])

    def _page(self, after: str, _: Call) -> types.ListResourcesResult:
        found = [one for given in self._board.menu.resources for one in given.listed()]
        rest = sorted(one for one in found if one.uri > after)
        more = rest[PAGE - 1].uri if len(rest) > PAGE else None
        page = [_resource(one) for one in rest[:PAGE]]
        return types.ListResourcesResult(resources=page, next_cursor=more)

    def _read(self, uri: str, call: Call) -> types.ReadResourceResult:
        try:
            given = self._of(uri)
            if given is None:
                raise NotFound("there is no such resource; resources/list gives what there is")
            contents = [_content(one) for one in given.read(uri, call)]
        except ToolError as error:
            error.details.setdefault("uri", scrubbed(uri[:200]))
            raise
        return types.ReadResourceResult(contents=[*contents])


def _resource(one: Resource) -> types.Resource:
    return types.Resource(uri=one.uri, name=one.name, title=one.name, mime_type=one.mime)


def _template(one: Template) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=one.uri,
        name=one.name,
        title=one.title,
        description=one.summary,
        mime_type=one.mime,
    )


def _content(one: Content) -> types.TextResourceContents | types.BlobResourceContents:
    uri, mime, trust = one.uri, one.mime, {**TRUST}
    if isinstance(one.body, bytes):
        coded = b64encode(one.body).decode()
        return types.BlobResourceContents(uri=uri, mime_type=mime, blob=coded, _meta=trust)
    text = scrubbed(one.body)
    return types.TextResourceContents(uri=uri, mime_type=mime, text=text, _meta=trust)
