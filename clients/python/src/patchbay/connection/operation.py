"""A request that is on its way, whose result may be awaited or ignored."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")

# Tasks are referenced here until they end, since the event loop itself keeps weak references only.
_running: set[asyncio.Task[Any]] = set()


class Operation(Generic[T]):
    """Awaitable result of a request that has already been sent.

    LiveKit's SDK has methods that return nothing where this library returns an operation, so code that does not
    await them works unchanged. A failure that nobody awaits is not reported.
    """

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._task = asyncio.create_task(work)
        _running.add(self._task)
        self._task.add_done_callback(_forget)

    def __await__(self) -> Generator[Any, None, T]:
        return asyncio.shield(self._task).__await__()

    def done(self) -> bool:
        """Whether the result is there."""
        return self._task.done()

    def cancel(self) -> None:
        """Stops waiting for the result. The request itself cannot be taken back."""
        self._task.cancel()


def _forget(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled():
        task.exception()
