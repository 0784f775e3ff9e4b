"""Lost connections: resumes, fresh joins, refusals, and what requests and speech do meanwhile."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from patchbay import (
    ConnectError,
    DisconnectReason,
    MarkStatus,
    NotConnectedError,
    Room,
    RoomEndedError,
    RoomOptions,
    RpcInvocationData,
    TrackEndedError,
)
from patchbay.errors import ConnectFailure
from patchbay.rtc import events
from patchbay.testing import BrokenNetwork, Caller, Gateway, RoomUnderTest
from tests.helpers import Log, eventually, publish, tone


@pytest_asyncio.fixture
async def network(gateway: Gateway) -> AsyncIterator[BrokenNetwork]:
    async with BrokenNetwork(gateway.url) as network:
        yield network


async def test_a_lost_connection_is_resumed_and_nothing_is_missed(room: RoomUnderTest, network: BrokenNetwork) -> None:
    bob = await room.join("bob")
    async with Room.connect(network.url, room.token("alice"), room.options) as alice:
        log = Log(alice)
        sid = alice.local_participant.sid
        network.refuse()
        network.cut()
        await log.wait(events.Reconnecting)
        assert alice.connection_state == "reconnecting"
        assert alice.isconnected()
        with pytest.raises(NotConnectedError, match="after the reconnect"):
            await alice.local_participant.send_text("lost")
        await bob.local_participant.send_text("while you were away")
        network.refuse(False)
        assert (await log.wait(events.Reconnected)).resumed
        message = await log.wait(events.TextReceived)
        assert message.message.text == "while you were away"
        assert alice.local_participant.sid == sid
        assert len(log.named("text_received")) == 1
        await alice.local_participant.send_text("back")


async def test_a_pending_request_fails_with_a_typed_error_when_the_connection_is_lost(
    room: RoomUnderTest, network: BrokenNetwork
) -> None:
    bob = await room.join("bob")
    called = asyncio.Event()

    async def wait(call: RpcInvocationData) -> str:
        called.set()
        await asyncio.sleep(30)
        return ""

    bob.local_participant.register_rpc_method("wait", wait)
    async with Room.connect(network.url, room.token("alice"), room.options) as alice:
        call = asyncio.create_task(alice.local_participant.perform_rpc(destination_identity="bob", method="wait"))
        await called.wait()
        network.cut()
        with pytest.raises(NotConnectedError):
            await call


async def test_an_answer_that_could_not_be_sent_is_sent_after_the_resume(
    room: RoomUnderTest, network: BrokenNetwork
) -> None:
    bob = await room.join("bob")
    async with Room.connect(network.url, room.token("alice"), room.options) as alice:
        log = Log(alice)

        async def slow(call: RpcInvocationData) -> str:
            network.refuse()
            network.cut()
            await log.wait(events.Reconnecting)
            asyncio.get_running_loop().call_later(0.2, network.refuse, False)
            return "late"

        alice.local_participant.register_rpc_method("slow", slow)
        answer = await bob.local_participant.perform_rpc(destination_identity="alice", method="slow")
        assert answer == "late"


async def test_published_speech_continues_after_a_resume(
    room: RoomUnderTest, network: BrokenNetwork, caller: Caller
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent:
        log = Log(agent)
        source = await publish(agent, ahead=True, lead_ms=600)
        speaking = asyncio.create_task(source.capture_frame(tone(3.0)))
        await caller.wait_for_sound(0.3)
        network.cut()
        await log.wait(events.Reconnected)
        await speaking
        await source.wait_for_playout()
        # What was on its way when the connection broke may be lost.
        assert caller.heard.of("helper").sound_seconds > 2.5
        assert [event.name for event in log.events].count("local_track_published") == 1
        assert log.named("local_track_republished") == []


async def test_a_clear_during_a_resume_still_tells_what_was_heard(
    room: RoomUnderTest, network: BrokenNetwork, caller: Caller
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent:
        source = await publish(agent, ahead=True)
        await source.capture_frame(tone(5.0))
        await caller.wait_for_sound(0.5)
        # The request reaches nobody, or its reply does not come back.
        network.stall()
        clearing = source.clear_queue()
        await asyncio.sleep(0.05)
        network.cut()
        network.flow()
        played = await clearing
        assert 400 <= played.played_ms < 5_000
        await source.capture_frame(tone(0.3))
        await source.wait_for_playout()


async def test_an_answered_clear_whose_reply_is_lost_is_not_repeated(
    room: RoomUnderTest, network: BrokenNetwork, caller: Caller
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent:
        log = Log(agent)
        source = await publish(agent, ahead=True)
        await source.capture_frame(tone(5.0))
        await caller.wait_for_sound(0.3)
        network.hold_replies()
        clearing = source.clear_queue()
        await asyncio.sleep(0.3)
        network.cut()
        network.flow()
        played = await clearing
        assert played.played_ms >= 200
        await log.wait(events.Reconnected)
        assert len(log.named("playout_cleared")) == 1


async def test_a_join_that_comes_too_late_to_resume_publishes_the_track_again(
    room: RoomUnderTest, network: BrokenNetwork, caller: Caller
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent:
        log = Log(agent)
        await agent.local_participant.set_agent_state("listening")
        source = await publish(agent, ahead=True)
        await source.capture_frame(tone(5.0))
        mark = source.add_mark("end")
        await caller.wait_for_sound(0.2)
        publication = next(iter(agent.local_participant.track_publications.values()))
        before = publication.sid
        network.refuse()
        network.cut()
        await eventually(lambda: "helper" not in caller.room.remote_participants)
        network.refuse(False)
        assert not (await log.wait(events.Reconnected)).resumed
        # Waits until the gateway knows the track.
        clear = source.clear_queue()
        republished = await log.wait(events.LocalTrackRepublished)
        assert (republished.previous_sid, republished.publication) == (before, publication)
        assert publication.sid != before
        assert await mark is MarkStatus.DROPPED
        heard = caller.heard.sound_seconds
        await clear
        await source.capture_frame(tone(0.4))
        await source.wait_for_playout()
        assert caller.heard.sound_seconds - heard > 0.3
        await eventually(lambda: caller.room.remote_participants["helper"].agent_state == "listening")


async def test_a_gateway_that_is_killed_and_started_again_is_joined_again() -> None:
    gateway = Gateway()
    gateway.start()
    try:
        async with Room.connect(gateway.url, gateway.token("alice", "lobby"), gateway.options()) as alice:
            log = Log(alice)
            await publish(alice)
            await asyncio.to_thread(gateway.stop, kill=True)
            await log.wait(events.Reconnecting)
            await asyncio.to_thread(gateway.start)
            assert not (await log.wait(events.Reconnected)).resumed
            await log.wait(events.LocalTrackRepublished)
    finally:
        gateway.close()


async def test_without_reconnecting_the_room_ends_with_the_connection(
    room: RoomUnderTest, network: BrokenNetwork
) -> None:
    options = room.gateway.options(reconnect=False)
    async with Room.connect(network.url, room.token("alice"), options) as alice:
        log = Log(alice)
        source = await publish(alice)
        network.cut()
        ended = await log.wait(events.Disconnected)
        assert ended.reason is DisconnectReason.SIGNAL_CLOSE
        await alice.wait_disconnected()
        with pytest.raises(RoomEndedError):
            await alice.local_participant.send_text("hello")
        with pytest.raises(TrackEndedError):
            await source.capture_frame(tone(0.1))


async def test_a_removed_participant_does_not_come_back(room: RoomUnderTest) -> None:
    from patchbay.api import PatchbayAPI

    alice = await room.join("alice")
    log = Log(alice)
    gateway = room.gateway
    async with PatchbayAPI(gateway.http_url, gateway.api_key, gateway.api_secret, ca_file=gateway.ca_file) as api:
        await api.room.remove_participant(room.name, "alice")
    ended = await log.wait(events.Disconnected)
    assert (ended.reason, ended.disconnection.code) == (DisconnectReason.PARTICIPANT_REMOVED, 4103)
    assert log.named("reconnecting") == []


async def test_refusals_say_what_to_do(room: RoomUnderTest) -> None:
    expired = room.gateway.token("alice", room.name, ttl=-600)
    forged = room.token("alice")[:-4] + "AAAA"
    for token, code, advice in ((expired, "token_expired", "get a new one"), (forged, "bad_signature", "secret")):
        with pytest.raises(ConnectError, match=advice) as refused:
            await Room.connect(room.url, token, room.options)
        assert (refused.value.kind, refused.value.status, refused.value.code) == (ConnectFailure.REFUSED, 401, code)
        assert not refused.value.retryable
    with pytest.raises(ConnectError, match="SSL_CERT_FILE") as untrusted:
        await Room.connect(room.url, room.token("alice"))
    assert untrusted.value.kind is ConnectFailure.UNTRUSTED
    with pytest.raises(ConnectError, match="wss://"):
        await Room.connect("ws://127.0.0.1", room.token("alice"))
    with pytest.raises(ConnectError, match="get a new one"):
        await Room.connect(room.url, "", room.options)
    with pytest.raises(ConnectError, match="cannot be read"):
        await Room.connect(room.url, room.token("alice"), RoomOptions(ca_file="no-such-file.pem"))


async def test_a_gateway_that_does_not_answer_fails_at_the_timeout(room: RoomUnderTest, network: BrokenNetwork) -> None:
    network.stall()
    with pytest.raises(ConnectError, match="firewall") as late:
        await Room.connect(network.url, room.token("alice"), room.gateway.options(connect_timeout=0.3))
    assert late.value.kind is ConnectFailure.TIMEOUT
    network.refuse()
    network.flow()
    with pytest.raises(ConnectError) as broken:
        await Room.connect(network.url, room.token("alice"), room.options)
    assert broken.value.kind is ConnectFailure.UNREACHABLE
    with pytest.raises(ConnectError, match="refused"):
        await Room.connect("wss://127.0.0.1:1", room.token("alice"), room.options)
