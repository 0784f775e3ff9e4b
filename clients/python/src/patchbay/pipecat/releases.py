"""Releases held frames one after the other, and owns the tasks of a voice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from loguru import logger
from pipecat.frames.frames import Frame

from ..heard import Held

Release = Callable[[Held[Frame]], Awaitable[None]]


class Releases:
    """Passes frames on in order, in a task of its own.

    Args:
        release: passes a frame on. If it raises, the frame is lost, and those after it are released.
        due: returns the frames that are due; called after each `changed`.
    """

    def __init__(self, release: Release, due: Callable[[], list[Held[Frame]]]) -> None:
        self._release = release
        self._due = due
        self._changed = asyncio.Event()
        self._order = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self.spawn(self._run())

    def changed(self) -> None:
        """Frames may be due."""
        self._changed.set()

    async def release(self, items: list[Held[Frame]]) -> None:
        """Releases frames after those that are being released now."""
        async with self._order:
            await self._release_each(items)

    async def settle(self) -> None:
        """Waits until everything that was due has been released."""
        await self.release(self._due())

    def spawn(self, work: Awaitable[None]) -> asyncio.Task[None]:
        """Runs a task that ends with the voice at the latest."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Ends all tasks. Frames that wait are not released."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            async with self._order:
                await self._release_each(self._due())

    async def _release_each(self, items: list[Held[Frame]]) -> None:
        for item in items:
            try:
                await self._release(item)
            except Exception:
                logger.exception(f"{item.frame} was not released")
