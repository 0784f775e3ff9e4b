"""Connections that end in any way leave nothing behind: no file descriptor, task, thread or memory.

PATCHBAY_LEAK_CONNECTS sets the number of connections (100), and `pytest -s` prints the figures.
"""

import asyncio
import contextlib
import gc
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from patchbay import AudioStream, ConnectError, LocalAudioTrack, NotConnectedError, RemoteAudioTrack, Room
from patchbay.audio.source import AudioSource
from patchbay.rtc.events import RoomEvent
from patchbay.testing import BrokenNetwork, RoomUnderTest
from tests.helpers import PATIENCE, eventually, publish, tone

CONNECTS = int(os.environ.get("PATCHBAY_LEAK_CONNECTS", "100"))
# Caches fill and the allocator takes its arenas during the first connections.
WARM_UP = max(35, CONNECTS // 10)
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Usage:
    descriptors: int
    tasks: int
    threads: int
    objects: int
    resident_bytes: int

    @classmethod
    def now(cls) -> "Usage":
        gc.collect()
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES
        descriptors = len(os.listdir("/proc/self/fd"))
        # Rooms, sessions, tracks, streams, …
        ours = sum(str(type(thing).__module__).startswith("patchbay.") for thing in gc.get_objects())
        return cls(descriptors, len(asyncio.all_tasks()), threading.active_count(), ours, resident)


class Ways:
    """The ways in which a connection ends."""

    def __init__(self, room: RoomUnderTest, network: BrokenNetwork, callee: str) -> None:
        self.room, self.network, self.callee = room, network, callee
        self.count = 0

    def token(self, **grants: Any) -> str:
        self.count += 1
        return self.room.token(f"guest-{self.count}", **grants)

    def open(self) -> Awaitable[Room]:
        return Room.connect(self.room.url, self.token(), self.room.options)

    async def says_and_hears_something_and_leaves(self) -> None:
        async with Room.connect(self.room.url, self.token(), self.room.options) as guest:
            listened: list[asyncio.Task[None]] = []
            heard = asyncio.Event()

            async def listen(track: RemoteAudioTrack) -> None:
                async for _ in AudioStream(track):
                    heard.set()

            def subscribed(track: RemoteAudioTrack, *_: object) -> None:
                listened.append(asyncio.create_task(listen(track)))

            guest.on("track_subscribed", subscribed)
            source = AudioSource(48_000, 1, queue_size_ms=0)
            await guest.local_participant.publish_track(LocalAudioTrack.create_audio_track("voice", source))
            await source.capture_frame(tone(0.04))
            await asyncio.wait_for(heard.wait(), PATIENCE)
        await asyncio.wait_for(asyncio.gather(*listened), PATIENCE)

    async def is_cancelled_while_it_connects(self) -> None:
        connecting = asyncio.ensure_future(self.open())
        # Before, during and after the handshake.
        await asyncio.sleep(0.002 * (self.count % 12))
        await cancelled(connecting)
        if not connecting.cancelled():
            await connecting.result().disconnect()

    async def is_cancelled_while_it_waits_for_a_reply_and_leaves(self) -> None:
        guest = await self.open()
        call = asyncio.ensure_future(guest.request("rpc.request", {"to": self.callee, "method": "wait"}))
        await asyncio.sleep(0.005)
        await cancelled(call)
        leaving = asyncio.ensure_future(guest.disconnect())
        await asyncio.sleep(0)
        await cancelled(leaving)
        await guest.disconnect()

    async def is_cancelled_while_it_speaks_ahead(self) -> None:
        async with Room.connect(self.room.url, self.token(), self.room.options) as guest:
            source = await publish(guest, ahead=True)
            speaking = asyncio.ensure_future(source.capture_frame(tone(0.5)))
            heard = asyncio.ensure_future(source.wait_for_playout())
            await asyncio.sleep(0.01)
            await cancelled(speaking)
            await cancelled(heard)

    async def loses_its_connection_and_may_not_resume(self) -> None:
        options = self.room.gateway.options(reconnect=False)
        guest = await Room.connect(self.network.url, self.token(), options)
        waiting = asyncio.ensure_future(guest.request("rpc.request", {"to": self.callee, "method": "wait"}))
        await asyncio.sleep(0.005)
        self.network.cut()
        await asyncio.wait_for(guest.wait_disconnected(), PATIENCE)
        with pytest.raises(NotConnectedError):
            await waiting

    async def gives_up_while_it_reconnects(self) -> None:
        guest = await Room.connect(self.network.url, self.token(), self.room.options)
        self.network.refuse()
        self.network.cut()
        await eventually(lambda: guest.connection_state == "reconnecting")
        await guest.disconnect()
        self.network.refuse(False)

    async def is_refused(self) -> None:
        with pytest.raises(ConnectError):
            await Room.connect(self.room.url, self.token(room_join=False), self.room.options)


async def cancelled(task: "asyncio.Future[Any]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_connections_that_end_in_any_way_leave_nothing_behind(room: RoomUnderTest) -> None:
    async with BrokenNetwork(room.url) as network:
        host = await room.join("host")

        async def wait(call: object) -> str:
            await asyncio.sleep(0.1)
            return ""

        host.local_participant.register_rpc_method("wait", wait)
        source = await publish(host)
        # Unread events would wait for whoever asks for them, up to a limit.
        busy = [asyncio.create_task(speak(source)), asyncio.create_task(drain(host.events))]
        ways = Ways(room, network, "host")
        endings: list[Callable[[], Awaitable[None]]] = [
            ways.says_and_hears_something_and_leaves,
            ways.is_cancelled_while_it_connects,
            ways.is_cancelled_while_it_waits_for_a_reply_and_leaves,
            ways.is_cancelled_while_it_speaks_ahead,
            ways.loses_its_connection_and_may_not_resume,
            ways.gives_up_while_it_reconnects,
            ways.is_refused,
        ]
        for index in range(WARM_UP):
            await endings[index % len(endings)]()
        before = await settled(host)
        for index in range(CONNECTS):
            await endings[index % len(endings)]()
        after = await settled(host, before)
        for task in busy:
            task.cancel()
    print(f"\n{CONNECTS} connects\nbefore {before}\nafter  {after}")
    assert after.descriptors == before.descriptors
    assert after.tasks == before.tasks
    assert after.threads == before.threads
    assert after.objects <= before.objects + 25
    assert after.resident_bytes - before.resident_bytes < 8_000_000 + 5_000 * CONNECTS


async def drain(events: AsyncIterator[RoomEvent]) -> None:
    async for _ in events:
        pass


async def speak(source: AudioSource) -> None:
    while True:
        await source.capture_frame(tone(0.2))


async def settled(host: Room, goal: Usage | None = None) -> Usage:
    """The usage when the gateway has forgotten the guests whose connections were lost, and sockets are closed.

    Waits for the descriptors and tasks of `goal`, otherwise until they no longer change.
    """
    await eventually(lambda: not host.remote_participants)
    usage = Usage.now()
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.1)
        usage, earlier = Usage.now(), usage
        expected = goal or earlier
        if (usage.descriptors, usage.tasks) == (expected.descriptors, expected.tasks):
            break
    return usage
