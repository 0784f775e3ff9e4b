"""Streams, events and procedures on an event loop, without sockets."""

import asyncio
import gc
import sys
from typing import Any

import pytest

from patchbay import AudioFrame, AudioSource, AudioStream, OpusStream, Room, RpcInvocationData
from patchbay.audio.codec.opus import OpusDecoder
from patchbay.audio.inbox import TrackFrames
from patchbay.audio.stream import AudioFrameEvent
from patchbay.errors import OpusError, TrackEndedError
from patchbay.limits import EVENTS_MAX, RPC_HANDLERS_MAX
from patchbay.protocol.frames import Frame
from patchbay.rtc import events
from patchbay.rtc.events.hub import EventHub
from patchbay.rtc.rpc import RpcMethods

SILENCE = bytes.fromhex("f8fffe")


class FakeTrack:
    """A remote track whose frames the test makes."""

    def __init__(self, mode: str = "live") -> None:
        self.mode = mode
        self.frames = TrackFrames()
        self.reports: list[tuple[int, int | None]] = []

    def report_playout(self, epoch: int, played_ts: int | None, buffered_ms: float) -> None:
        self.reports.append((epoch, played_ts))

    def send(self, number: int, *, epoch: int = 0) -> None:
        now = asyncio.get_running_loop().time()
        self.frames.receive(Frame(1, number, number * 960, SILENCE, epoch=epoch), now)


async def test_silence_fills_pauses_for_consumers_that_need_sound() -> None:
    track = FakeTrack()
    stream = AudioStream(track, sample_rate=16_000, fill_silence=True)
    filled = [await anext(stream) for _ in range(3)]
    assert [event.timestamp for event in filled] == [None] * 3
    assert {event.frame.samples_per_channel for event in filled} == {320}
    track.send(7)
    assert (await anext(stream)).timestamp == 7 * 960
    await stream.aclose()


async def test_a_closed_stream_ends_its_reader() -> None:
    for stream in (AudioStream(FakeTrack()), OpusStream(FakeTrack())):
        reading = asyncio.create_task(_count(stream))
        await asyncio.sleep(0)
        await stream.aclose()
        assert await asyncio.wait_for(reading, 5) == 0


async def _count(stream: AudioStream | OpusStream) -> int:
    return len([item async for item in stream])


async def test_an_ended_track_is_played_to_its_end_and_reported() -> None:
    track = FakeTrack("ahead")
    for number in range(5):
        track.send(number)
    stream = AudioStream(track)
    track.frames.end()
    heard: list[AudioFrameEvent] = [event async for event in stream]
    assert [event.timestamp for event in heard] == [number * 960 for number in range(5)]
    assert track.reports[0] == (0, 0)
    assert track.reports[-1][1] == 5 * 960


async def test_a_clear_discards_what_was_not_played() -> None:
    track = FakeTrack("ahead")
    stream = AudioStream(track)
    for number in range(50):
        track.send(number)
    assert (await anext(stream)).timestamp == 0
    track.frames.clear(1)
    track.send(60, epoch=1)
    assert (await anext(stream)).timestamp == 60 * 960
    assert track.reports[-1][0] == 1
    await stream.aclose()


async def test_a_source_without_a_track_waits_when_it_is_full_and_ends_with_it() -> None:
    source = AudioSource(48_000, 1, queue_size_ms=100)
    capturing = asyncio.create_task(source.capture_frame(AudioFrame.create(48_000, 1, 48_000)))
    await asyncio.sleep(0.05)
    assert not capturing.done()
    await source.aclose()
    with pytest.raises(TrackEndedError):
        await capturing


async def test_events_wait_for_callbacks_until_the_room_is_connected() -> None:
    hub, seen = EventHub(), list[str]()
    hub.emit(events.AgentWaiting("a", "busy"))
    hub.on("agent_waiting", lambda identity, reason: seen.append(identity))
    await asyncio.sleep(0)
    assert seen == []
    hub.start()
    hub.emit(events.AgentWaiting("b", "busy"))
    await asyncio.sleep(0)
    assert seen == ["a", "b"]
    hub.end()
    assert [event.arguments for event in [event async for event in hub.iterator()]] == [("a", "busy"), ("b", "busy")]
    assert [event async for event in hub.iterator()] == []


async def test_events_that_nobody_reads_are_bounded() -> None:
    hub = EventHub()
    for number in range(EVENTS_MAX + 3):
        hub.emit(events.AgentWaiting(str(number), "busy"))
    hub.end()
    iterator = hub.iterator()
    first = await anext(iterator)
    assert first.arguments == ("3", "busy")
    assert (iterator.dropped, hub.dropped) == (3, 3)


async def test_an_iterator_that_nobody_reads_any_more_is_forgotten() -> None:
    hub = EventHub()
    first = hub.iterator()
    for _ in range(10):
        hub.iterator()
    gc.collect()
    assert list(hub._iterators) == [first]


async def test_callbacks_may_be_removed() -> None:
    room, seen = Room(), list[str]()

    @room.on("agent_waiting")
    def waiting(identity: str, reason: str) -> None:
        seen.append(identity)

    room._hub.start()
    room._emit(events.AgentWaiting("a", "busy"))
    await asyncio.sleep(0)
    room.off("agent_waiting", waiting)
    room._emit(events.AgentWaiting("b", "busy"))
    await asyncio.sleep(0)
    assert seen == ["a"]


def call(number: int, method: str = "wait") -> dict[str, Any]:
    return {"request_id": f"RPC_{number}", "participant": "bob", "method": method, "payload": "", "timeout_ms": 10_000}


async def test_procedure_calls_have_a_limit_and_end_with_the_room() -> None:
    methods, answers = RpcMethods(), list[dict[str, Any]]()
    methods.connected, methods.respond = (lambda: True), answers.append
    cancelled: list[str] = []

    async def wait(data: RpcInvocationData) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(data.request_id)
            raise
        return ""

    methods.register("wait", wait)
    for number in range(RPC_HANDLERS_MAX + 1):
        methods.handle(call(number))
    assert [answer["request_id"] for answer in answers] == [f"RPC_{RPC_HANDLERS_MAX}"]
    assert "too many calls" in answers[0]["error"]["message"]
    await asyncio.sleep(0)
    methods.cancel_all()
    await asyncio.sleep(0.01)
    assert len(cancelled) == RPC_HANDLERS_MAX
    methods.unregister("wait")
    methods.handle(call(999))
    assert answers[-1]["error"]["code"] == 1400


async def test_answers_wait_for_a_resume_and_not_for_a_new_session() -> None:
    methods, answers = RpcMethods(), list[dict[str, Any]]()
    methods.respond = answers.append
    methods.register("greet", lambda data: "hello")
    for resumed in (True, False):
        methods.connected = lambda: False
        methods.handle(call(int(resumed), "greet"))
        await asyncio.sleep(0.01)
        methods.connected = lambda: True
        methods.restore(resumed=resumed)
    assert answers == [{"request_id": "RPC_1", "payload": "hello"}]


def test_without_libopus_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opuslib_next", None)
    with pytest.raises(OpusError, match="apt install libopus0"):
        OpusDecoder(48_000, 1)
