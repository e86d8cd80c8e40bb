"""Which requests are read at all: their heads are bounded, and their length has one meaning."""

from __future__ import annotations

import re
from typing import Any

import h11

_END = re.compile(rb"\n\r?\n")
_LENGTHS = frozenset({b"content-length", b"transfer-encoding"})


class RequestParser(h11.Connection):
    """What h11 does for a server, and refuses heads that are too long or say two lengths."""

    def __init__(self, longest_head: int) -> None:
        super().__init__(h11.SERVER, longest_head)
        self._longest_head = longest_head

    def next_event(self) -> Any:
        """Return the next event.

        Raises:
            h11.RemoteProtocolError: when what arrived is no request that may be read.
        """
        if self.their_state is h11.IDLE:
            # h11 bounds only heads that are incomplete; one that arrives at once may be longer.
            unread = self.trailing_data[0]
            if len(unread) > self._longest_head:
                end = _END.search(unread)
                if end is None or end.end() > self._longest_head:
                    self._refuse("the head of the request is too long")
        event = super().next_event()
        if isinstance(event, h11.Request) and {name for name, _ in event.headers} >= _LENGTHS:
            # Who stands between may have believed the other length, and what follows be smuggled.
            self._refuse("Content-Length and Transfer-Encoding may not be together")
        return event

    def _refuse(self, message: str) -> None:
        self._process_error(self.their_role)
        raise h11.RemoteProtocolError(message)
