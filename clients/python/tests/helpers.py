"""What several tests need: sounds, and waiting for events."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from patchbay import AudioFrame, AudioSource, LocalAudioTrack, Room, TrackPublishOptions, TrackSource
from patchbay.rtc.events import RoomEvent

# How long a test waits before it fails.
PATIENCE = 10.0

E = TypeVar("E", bound=RoomEvent)


def tone(seconds: float, rate: int = 48_000, channels: int = 1) -> AudioFrame:
    times = np.arange(int(seconds * rate)) / rate
    samples = (8_000 * np.sin(2 * np.pi * 400 * times)).astype(np.int16)
    return AudioFrame.from_samples(np.repeat(samples, channels), rate, channels)


def sweep(seconds: float) -> AudioFrame:
    """A sound that no two pieces of are alike, so that an alignment is unique."""
    times = np.arange(int(seconds * 48_000)) / 48_000
    samples = 6_000 * np.sin(2 * np.pi * (200 * times + 150 * times**2))
    return AudioFrame.from_samples(samples.astype(np.int16), 48_000)


async def publish(room: Room, *, ahead: bool = False, rate: int = 48_000, lead_ms: int = 30_000) -> AudioSource:
    source = AudioSource(rate, 1)
    options = TrackPublishOptions(
        source=TrackSource.SOURCE_ASSISTANT, mode="ahead" if ahead else "live", lead_ms=lead_ms
    )
    await room.local_participant.publish_track(LocalAudioTrack.create_audio_track("voice", source), options)
    return source


class Log:
    """The events of a room from now on, and waiting for one."""

    def __init__(self, room: Room) -> None:
        self.events: list[RoomEvent] = []
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._collect(room))

    async def _collect(self, room: Room) -> None:
        async for event in room.events:
            self.events.append(event)
            self._changed.set()
        self._changed.set()

    def named(self, name: str) -> list[RoomEvent]:
        return [event for event in self.events if event.name == name]

    async def wait(self, kind: type[E], condition: Callable[[E], bool] = lambda _: True) -> E:
        """The first event of a kind, now or later."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for event in self.events:
                    if isinstance(event, kind) and condition(event):
                        return event
                self._changed.clear()
                await self._changed.wait()


async def eventually(condition: Callable[[], object], timeout: float = PATIENCE) -> None:
    async with asyncio.timeout(timeout):
        while not condition():
            await asyncio.sleep(0.01)
