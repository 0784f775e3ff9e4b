"""Cancellations, stalls, exceptions in callbacks, damaged messages, and leaks."""

import asyncio
import gc
import logging
import os
import time

import pytest

from patchbay import AudioStream, MarkStatus, NotConnectedError, RequestError, Room, RoomEndedError
from patchbay.connection.requests import Requests
from patchbay.errors import RequestTimeoutError, TooManyRequestsError
from patchbay.limits import REQUESTS_MAX
from patchbay.rtc import events
from patchbay.testing import BrokenNetwork, Caller, RoomUnderTest
from tests.helpers import Log, eventually, publish, tone


async def cancelled_after(turns: int, work: asyncio.Task[object]) -> None:
    """Cancels a task after some turns of the event loop, wherever it waits then."""
    for _ in range(turns):
        await asyncio.sleep(0)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


def others() -> set[asyncio.Task[object]]:
    return asyncio.all_tasks() - {asyncio.current_task()}


async def test_connecting_may_be_cancelled_at_every_step(room: RoomUnderTest) -> None:
    before = len(others())
    # Far more steps than a connection has turns on a machine that answers at once, and some with time between them.
    for turns in [*range(0, 60, 3), *range(60, 400, 40)]:
        joined = asyncio.ensure_future(Room.connect(room.url, room.token("alice"), room.options)._open())
        await cancelled_after(turns, joined)
        if not joined.cancelled() and joined.exception() is None:
            await joined.result().disconnect()
    for seconds in (0.001, 0.003, 0.01, 0.03):
        joined = asyncio.ensure_future(Room.connect(room.url, room.token("alice"), room.options)._open())
        await asyncio.sleep(seconds)
        await cancelled_after(0, joined)
        if not joined.cancelled() and joined.exception() is None:
            await joined.result().disconnect()
    await eventually(lambda: len(others()) <= before)
    async with Room.connect(room.url, room.token("alice"), room.options):
        pass


async def test_leaving_may_be_cancelled(room: RoomUnderTest) -> None:
    before = len(others())
    for turns in range(1, 9):
        joined = await Room.connect(room.url, room.token("alice"), room.options)
        await cancelled_after(turns, asyncio.ensure_future(joined.disconnect()))
        assert joined.connection_state == "disconnected"
    await eventually(lambda: len(others()) <= before)


async def test_requests_may_be_cancelled_and_leave_nothing_behind(room: RoomUnderTest) -> None:
    alice = await room.join("alice")
    session = alice.local_participant.session
    for turns in range(6):
        await cancelled_after(turns, asyncio.ensure_future(alice.local_participant.send_text("hello")))
    # A ping may be on its way.
    await eventually(lambda: len(session.requests) == 0)
    await alice.local_participant.send_text("hello")


async def test_a_cancelled_publish_leaves_no_track_behind(room: RoomUnderTest) -> None:
    alice, bob = await room.join("alice"), await room.join("bob")
    for turns in range(6):
        await cancelled_after(turns, asyncio.ensure_future(publish(alice)))
    for publication in list(alice.local_participant.track_publications):
        await alice.local_participant.unpublish_track(publication)
    await eventually(lambda: not bob.remote_participants["alice"].track_publications)
    await publish(alice)


async def test_audio_calls_may_be_cancelled_at_every_step(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    source = await publish(agent, ahead=True, lead_ms=400)
    for turns in range(12):
        await cancelled_after(turns, asyncio.ensure_future(source.capture_frame(tone(2.0))))
        await cancelled_after(turns, asyncio.ensure_future(source.wait_for_playout()))
        clear = source.clear_queue()
        await cancelled_after(turns, asyncio.ensure_future(_awaited(clear)))
    await source.clear_queue()
    await source.capture_frame(tone(0.2))
    await source.wait_for_playout()


async def _awaited(clear: object) -> None:
    await clear  # type: ignore[misc]


async def test_a_stream_may_be_cancelled_and_read_again(room: RoomUnderTest) -> None:
    alice, bob = await room.join("alice"), await room.join("bob")
    source = await publish(alice)
    await eventually(lambda: bob.remote_participants["alice"].track_publications)
    publication = next(iter(bob.remote_participants["alice"].track_publications.values()))
    stream = AudioStream(publication.track)
    for turns in range(5):
        await cancelled_after(turns, asyncio.ensure_future(_next(stream)))
    await source.capture_frame(tone(0.2))
    assert (await anext(stream)).frame.samples_per_channel == 960
    await stream.aclose()


async def _next(stream: AudioStream) -> object:
    return await anext(stream)


async def test_a_stalled_event_loop_keeps_its_connection(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    log = Log(agent)
    source = await publish(agent, ahead=True)
    await source.capture_frame(tone(1.0))
    await asyncio.sleep(0.1)
    # The whole program stands still, the caller included.
    time.sleep(2.0)  # noqa: ASYNC251
    assert await source.add_mark("end") in (MarkStatus.PLAYED, MarkStatus.TIMEOUT)
    await agent.local_participant.send_text("still here")
    await source.capture_frame(tone(0.3))
    await source.wait_for_playout()
    assert log.named("reconnecting") == []


async def test_callbacks_that_raise_harm_nobody(room: RoomUnderTest, caplog: pytest.LogCaptureFixture) -> None:
    alice = await room.join("alice")
    seen: list[str] = []

    @alice.on("participant_connected")
    def broken(participant: object) -> None:
        raise ValueError("a bug")

    alice.on("participant_connected", lambda participant: seen.append(participant.identity))
    with caplog.at_level(logging.ERROR, "patchbay"):
        await room.join("bob")
        await eventually(lambda: seen == ["bob"])
    assert "participant_connected" in caplog.text
    await alice.local_participant.send_text("still here")


async def test_wrong_callbacks_are_refused_with_a_remedy() -> None:
    room = Room()

    async def coroutine(participant: object) -> None: ...

    with pytest.raises(ValueError, match="start a task"):
        room.on("participant_connected", coroutine)
    with pytest.raises(ValueError, match="participant_connected"):
        room.on("participant_conected", print)
    with pytest.raises(RoomEndedError, match=r"room\.connect"):
        await room.local_participant.send_text("hello")


async def test_a_reader_that_never_reads_loses_the_oldest_frames_and_events(room: RoomUnderTest) -> None:
    alice, bob = await room.join("alice"), await room.join("bob")
    source = await publish(alice)
    await eventually(lambda: bob.remote_participants["alice"].track_publications)
    track = next(iter(bob.remote_participants["alice"].track_publications.values())).track
    stream = AudioStream(track, capacity=5)
    await source.capture_frame(tone(0.4))
    await source.wait_for_playout()
    await eventually(lambda: stream.dropped >= 10)
    iterator = bob.events
    for number in range(1_100):
        bob._emit(events.AgentWaiting("nobody", str(number)))
    assert iterator.dropped > 0
    await stream.aclose()


async def test_messages_of_another_version_are_ignored(room: RoomUnderTest) -> None:
    alice = await room.join("alice")
    log = Log(alice)
    session = alice.local_participant.session
    for message in (
        "not json",
        "[]",
        '{"type":"track.published","seq":90,"data":{}}',
        '{"type":"data","seq":91}',
        '{"type":"reply","re":"x","data":{}}',
        '{"type":"speakers.changed","seq":92,"data":{"speakers":[1]}}',
    ):
        session.handle_text(message)
    for binary in (b"", b"\x41", b"\x42\x01\x00", b"\x43" * 20, b"\x42\x02" + b"\x00\x0d" + b"\x41" * 13):
        session.handle_binary(binary)
    assert session.messages_unread > 5
    session.handle_text('{"type":"weather.changed","seq":93,"data":{"sky":"clear"}}')
    unknown = await log.wait(events.UnknownEvent)
    assert (unknown.type, unknown.data) == ("weather.changed", {"sky": "clear"})
    await alice.local_participant.send_text("still here")


async def test_requests_time_out_and_have_a_limit() -> None:
    sent: list[str] = []
    requests = Requests(sent.append, lambda: None, timeout=0.01)
    with pytest.raises(RequestTimeoutError, match=r"within 0\.01 s"):
        await requests.request("ping")
    assert len(requests) == 0
    waiting = [asyncio.ensure_future(requests.request("ping", timeout=60)) for _ in range(REQUESTS_MAX)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyRequestsError, match="wait for their replies"):
        await requests.request("ping")
    requests.fail_all(NotConnectedError())
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(result, RequestError) for result in results)


async def test_a_thousand_connects_leave_nothing_behind(room: RoomUnderTest) -> None:
    async def visit(number: int) -> None:
        async with Room.connect(room.url, room.token(f"guest-{number % 4}"), room.options) as joined:
            source = await publish(joined, ahead=bool(number % 2))
            await source.capture_frame(tone(0.02))
            assert joined.isconnected()

    async def visits(first: int, last: int) -> None:
        for number in range(first, last, 4):
            await asyncio.gather(*(visit(number + offset) for offset in range(4)))

    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    await visits(0, 100)
    gc.collect()
    tasks, files, objects, memory = len(others()), descriptors(), len(gc.get_objects()), resident()
    await visits(100, 1_100)
    await eventually(lambda: len(others()) <= tasks)
    await eventually(lambda: descriptors() <= files)
    gc.collect()
    # A room has hundreds of objects: one that stayed for each connection would be a thousand.
    assert len(gc.get_objects()) - objects < 500
    # The allocator keeps some of it.
    assert resident() - memory < 16 * 1_024 * 1_024


async def test_connects_that_fail_leave_nothing_behind(room: RoomUnderTest) -> None:
    before = len(others())
    files = len(os.listdir("/proc/self/fd"))
    async with BrokenNetwork(room.url) as network:
        network.refuse()
        for _ in range(50):
            with pytest.raises(Exception, match="no gateway answers"):
                await Room.connect(network.url, room.token("alice"), room.options)
    await eventually(lambda: len(others()) <= before and len(os.listdir("/proc/self/fd")) <= files)
