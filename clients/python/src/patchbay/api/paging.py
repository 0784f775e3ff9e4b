"""Lists that come in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

from .http import HTTPClient, TokenSource, next_cursor
from .records import decode_list

T = TypeVar("T")


async def pages(http: HTTPClient, token: TokenSource, path: str, kind: type[T], limit: int = 100) -> AsyncIterator[T]:
    """All entries of a list, page by page as they are read."""
    cursor: str | None = None
    while True:
        query = {"limit": limit, "cursor": cursor}
        response = await http.send("GET", path, token=await token(), query=query)
        for entry in decode_list(kind, response.json()):
            yield entry
        cursor = next_cursor(response)
        if cursor is None:
            return
