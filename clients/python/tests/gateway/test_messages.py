"""Messages between participants, and what they show of each other."""

import asyncio

import pytest

from patchbay import (
    NotConnectedError,
    RequestRefusedError,
    RoomEndedError,
    RpcError,
    RpcInvocationData,
    TranscriptSegment,
)
from patchbay.errors import RequestTooLargeError
from patchbay.rtc import events
from patchbay.testing import RoomUnderTest
from tests.helpers import Log, eventually, publish, tone


async def test_participants_see_each_other_come_and_go(room: RoomUnderTest) -> None:
    alice = await room.join("alice")
    log = Log(alice)
    bob = await room.join("bob")
    joined = await log.wait(events.ParticipantConnected)
    assert joined.participant.identity == "bob"
    assert list(bob.remote_participants) == ["alice"]
    await bob.disconnect()
    left = await log.wait(events.ParticipantDisconnected)
    assert left.participant.disconnect_reason == "CLIENT_INITIATED"
    assert alice.remote_participants == {}


async def test_data_reaches_the_named_participants_as_bytes_and_as_text(room: RoomUnderTest) -> None:
    alice, bob, carol = [await room.join(name) for name in ("alice", "bob", "carol")]
    log, other = Log(bob), Log(carol)
    await alice.local_participant.publish_data(b"\x00\x01\xff", topic="image", destination_identities=["bob"])
    await alice.local_participant.publish_data("12,7", topic="cursor")
    image = await log.wait(events.DataReceived)
    assert (image.packet.data, image.packet.topic) == (b"\x00\x01\xff", "image")
    assert image.packet.participant is bob.remote_participants["alice"]
    cursor = await other.wait(events.DataReceived)
    assert (cursor.packet.data, cursor.packet.text) == (b"12,7", "12,7")
    assert len(other.named("data_received")) == 1


async def test_text_and_dtmf_reach_the_others(room: RoomUnderTest) -> None:
    alice, bob = [await room.join(name) for name in ("alice", "bob")]
    log = Log(bob)
    text_id = await alice.local_participant.send_text("hello", topic="lk.chat")
    message = (await log.wait(events.TextReceived)).message
    assert (message.id, message.text, message.participant_identity) == (text_id, "hello", "alice")
    await alice.local_participant.publish_dtmf(digit="1#")
    await eventually(lambda: len(log.named("sip_dtmf_received")) == 2)
    keys = [event.dtmf for event in log.events if isinstance(event, events.SipDtmfReceived)]
    assert [(key.digit, key.code) for key in keys] == [("1", 1), ("#", 11)]


async def test_a_procedure_answers_and_its_errors_reach_the_caller(room: RoomUnderTest) -> None:
    alice, bob = [await room.join(name) for name in ("alice", "bob")]

    @bob.local_participant.register_rpc_method("greet")
    async def greet(call: RpcInvocationData) -> str:
        return f"hello {call.caller_identity}, {call.payload}"

    def refuse(call: RpcInvocationData) -> str:
        raise RpcError(42, "not today")

    def fail(call: RpcInvocationData) -> str:
        raise ValueError("a secret")

    bob.local_participant.register_rpc_method("refuse", refuse)
    bob.local_participant.register_rpc_method("fail", fail)
    bob.local_participant.register_rpc_method("boast", lambda call: "x" * 20_000)

    async def call(method: str, to: str = "bob", timeout: float = 5.0) -> str:
        return await alice.local_participant.perform_rpc(
            destination_identity=to, method=method, payload="again", response_timeout=timeout
        )

    assert await call("greet") == "hello alice, again"
    for method, code in (("refuse", 42), ("fail", 1500), ("unknown", 1400), ("boast", 1504)):
        with pytest.raises(RpcError) as failure:
            await call(method)
        assert failure.value.code == code
        assert "secret" not in str(failure.value)
    with pytest.raises(RpcError) as missing:
        await call("greet", to="nobody")
    assert missing.value.code == RpcError.ErrorCode.RECIPIENT_NOT_FOUND


async def test_a_procedure_that_takes_too_long_is_cancelled_at_its_timeout(room: RoomUnderTest) -> None:
    alice, bob = [await room.join(name) for name in ("alice", "bob")]
    cancelled = asyncio.Event()

    async def dawdle(call: RpcInvocationData) -> str:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()
        return ""

    bob.local_participant.register_rpc_method("dawdle", dawdle)
    with pytest.raises(RpcError) as late:
        await alice.local_participant.perform_rpc(destination_identity="bob", method="dawdle", response_timeout=0.2)
    assert late.value.code == RpcError.ErrorCode.RESPONSE_TIMEOUT
    await asyncio.wait_for(cancelled.wait(), 5)


async def test_name_metadata_and_attributes_change_for_everyone(room: RoomUnderTest) -> None:
    alice, bob = [await room.join(name) for name in ("alice", "bob")]
    log = Log(bob)
    await alice.local_participant.set_name("Alice")
    await alice.local_participant.set_metadata("{}")
    await alice.local_participant.set_attributes({"lang": "de", "draft": "1"})
    changed = await log.wait(events.ParticipantAttributesChanged)
    assert changed.changed_attributes == {"lang": "de", "draft": "1"}
    await alice.local_participant.set_attributes({"draft": ""})
    await log.wait(events.ParticipantAttributesChanged, lambda event: "draft" in event.changed_attributes)
    seen = bob.remote_participants["alice"]
    await eventually(lambda: seen.attributes == {"lang": "de"})
    assert (seen.name, seen.metadata) == ("Alice", "{}")
    assert alice.local_participant.attributes == {"lang": "de"}


async def test_revisions_replace_a_segment_of_the_transcript(room: RoomUnderTest) -> None:
    alice, bob = [await room.join(name) for name in ("alice", "bob")]
    log = Log(bob)
    for text, final in (("Guten", False), ("Guten Tag", True)):
        await alice.local_participant.publish_transcription(
            TranscriptSegment("seg-1", text, role="user", final=final, language="de")
        )
    received = await log.wait(events.TranscriptionReceived, lambda event: event.segments[0].final)
    assert (received.segments[0].text, received.segments[0].rev) == ("Guten Tag", 1)
    assert received.participant is bob.remote_participants["alice"]
    assert [segment.text for segment in bob.transcript] == ["Guten Tag"]
    late = await room.join("carol")
    await eventually(lambda: [segment.text for segment in late.transcript] == ["Guten Tag"])


async def test_an_agent_announces_its_state(room: RoomUnderTest) -> None:
    agent, user = await room.join("helper", kind="agent"), await room.join("alice")
    log = Log(user)
    await agent.local_participant.set_agent_state("thinking")
    assert (await log.wait(events.AgentStateChanged)).state == "thinking"
    assert user.remote_participants["helper"].agent_state == "thinking"
    with pytest.raises(RequestRefusedError) as refused:
        await user.local_participant.set_agent_state("thinking")
    assert refused.value.code == "not_allowed"


async def test_hold_and_mute_are_seen_by_everyone(room: RoomUnderTest) -> None:
    alice, bob = [await room.join(name) for name in ("alice", "bob")]
    await publish(alice)
    log = Log(bob)
    await alice.local_participant.set_hold(True)
    assert (await log.wait(events.HoldChanged)).held
    assert bob.remote_participants["alice"].held
    await alice.local_participant.set_hold(False)
    await eventually(lambda: not bob.remote_participants["alice"].held)
    publication = next(iter(alice.local_participant.track_publications.values()))
    await publication.track.mute()
    assert (await log.wait(events.TrackMuted)).publication.sid == publication.sid
    await eventually(lambda: publication.muted)
    await publication.track.unmute()
    await log.wait(events.TrackUnmuted)


async def test_a_participant_subscribes_to_tracks_by_itself_if_it_wants_to(room: RoomUnderTest) -> None:
    alice = await room.join("alice")
    source = await publish(alice)
    bob = await room.join("bob", options=room.gateway.options(auto_subscribe=False))
    publication = next(iter(bob.remote_participants["alice"].track_publications.values()))
    assert not publication.subscribed
    await source.capture_frame(tone(0.2))
    log = Log(bob)
    await publication.set_subscribed(True)
    await log.wait(events.TrackSubscribed)
    await source.capture_frame(tone(0.2))
    await eventually(lambda: publication.track.frames.statistics.received > 0)
    await publication.set_subscribed(False)
    await log.wait(events.TrackUnsubscribed)


async def test_requests_that_cannot_be_sent_fail_with_a_sentence(room: RoomUnderTest) -> None:
    alice = await room.join("alice", can_publish_data=False)
    with pytest.raises(RequestRefusedError) as refused:
        await alice.local_participant.publish_data("x")
    assert refused.value.code == "not_allowed"
    with pytest.raises(RequestTooLargeError, match="send less"):
        await alice.local_participant.send_text("x" * 70_000)
    with pytest.raises(RequestRefusedError, match="surrogate"):
        await alice.local_participant.send_text("\ud800")
    await alice.disconnect()
    with pytest.raises(RoomEndedError, match="connect again"):
        await alice.local_participant.send_text("hello")
    assert not isinstance(RoomEndedError(), NotConnectedError)
