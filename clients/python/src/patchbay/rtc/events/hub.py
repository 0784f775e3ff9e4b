"""Delivers the events of a room to callbacks and to async iterators."""

from __future__ import annotations

import asyncio
import inspect
import logging
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from ...limits import EVENTS_MAX
from . import EVENT_NAMES
from .base import RoomEvent

logger = logging.getLogger("patchbay")

C = TypeVar("C", bound=Callable[..., Any])


class EventIterator:
    """Events from its creation on. A reader that falls behind loses the oldest."""

    def __init__(self) -> None:
        self._events: deque[RoomEvent] = deque()
        self._arrived = asyncio.Event()
        self._ended = False
        self.dropped = 0

    def put(self, event: RoomEvent) -> None:
        """Adds an event."""
        if len(self._events) >= EVENTS_MAX:
            self._events.popleft()
            self.dropped += 1
        self._events.append(event)
        self._arrived.set()

    def end(self) -> None:
        """No more events follow."""
        self._ended = True
        self._arrived.set()

    def __aiter__(self) -> AsyncIterator[RoomEvent]:
        return self

    async def __anext__(self) -> RoomEvent:
        while not self._events:
            if self._ended:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._events.popleft()


class EventHub:
    """The listeners of a room.

    Callbacks run on the event loop, one event after the other, and not before `start`: what happens while a room
    connects waits until its caller has registered callbacks. One that raises is logged; the others get the event.
    """

    def __init__(self) -> None:
        self._callbacks: dict[str, list[Callable[..., Any]]] = {}
        # Weak, so that an iterator ends with the loop that reads it.
        self._iterators: weakref.WeakSet[EventIterator] = weakref.WeakSet()
        self._waiting: deque[RoomEvent] = deque()
        self._started = False
        self._scheduled = False
        self._ended = False
        self.dropped = 0
        # Kept for whoever asks first, who misses nothing.
        self._first: EventIterator | None = EventIterator()
        self._iterators.add(self._first)

    def on(self, name: str, callback: C) -> C:
        """Adds a callback.

        Raises:
            ValueError: there is no such event, or the callback is a coroutine function.
        """
        if name not in EVENT_NAMES:
            raise ValueError(f"there is no event {name!r}; the events are {', '.join(sorted(EVENT_NAMES - {''}))}")
        if inspect.iscoroutinefunction(callback):
            raise ValueError(
                "a callback cannot be a coroutine function; start a task in it, or iterate over room.events"
            )
        self._callbacks.setdefault(name, []).append(callback)
        return callback

    def off(self, name: str, callback: Callable[..., Any]) -> None:
        """Removes a callback."""
        if callback in self._callbacks.get(name, []):
            self._callbacks[name].remove(callback)

    def iterator(self) -> EventIterator:
        """An iterator over events. The first one also has those since the room was created."""
        iterator, self._first = self._first, None
        if iterator is None:
            iterator = EventIterator()
            self._iterators.add(iterator)
            if self._ended:
                iterator.end()
        return iterator

    def emit(self, event: RoomEvent) -> None:
        """Delivers an event."""
        for iterator in self._iterators:
            iterator.put(event)
        if len(self._waiting) >= EVENTS_MAX:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(event)
        self._schedule()

    def start(self) -> None:
        """Callbacks may run from now on."""
        self._started = True
        self._schedule()

    def end(self) -> None:
        """No more events follow."""
        self._ended = True
        for iterator in list(self._iterators):
            iterator.end()

    def _schedule(self) -> None:
        if self._started and self._waiting and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._deliver)

    def _deliver(self) -> None:
        self._scheduled = False
        while self._waiting:
            event = self._waiting.popleft()
            for callback in list(self._callbacks.get(event.name, ())):
                try:
                    callback(*event.arguments)
                except Exception:
                    logger.exception("a callback of the event %s raised an exception", event.name)
