"""The HTTP API, against a gateway with a store."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from patchbay import Room, TranscriptSegment
from patchbay.api import (
    AccessToken,
    APIError,
    AssistantDefinition,
    Contact,
    PatchbayAPI,
    RoomAgentDispatch,
    RoomConfiguration,
    TokenError,
    Tokens,
    TokenVerifier,
    Tool,
    User,
    VideoGrants,
    WebhookEvent,
    WebhookReceiver,
)
from patchbay.testing import Gateway, RoomUnderTest
from tests.helpers import eventually, publish

_numbers = itertools.count(1)


def api_of(gateway: Gateway) -> PatchbayAPI:
    return PatchbayAPI(gateway.http_url, gateway.api_key, gateway.api_secret, ca_file=gateway.ca_file)


@pytest_asyncio.fixture
async def api(gateway: Gateway) -> AsyncIterator[PatchbayAPI]:
    async with api_of(gateway) as api:
        yield api


async def register(api: PatchbayAPI) -> User:
    return await api.accounts.register(f"user{next(_numbers)}@example.org", "correct horse battery")


async def test_administrators_see_and_change_rooms(room: RoomUnderTest, api: PatchbayAPI) -> None:
    alice = await room.join("alice")
    await publish(alice)
    assert room.name in [summary.name for summary in await api.room.list_rooms()]
    detail = await api.room.get_room(room.name)
    assert [participant.identity for participant in detail.participants] == ["alice"]
    track = detail.participants[0].tracks[0]
    await api.room.mute_published_track(room.name, track.sid, True)
    await eventually(lambda: next(iter(alice.local_participant.track_publications.values())).muted)
    await api.room.update_room_metadata(room.name, "new")
    await eventually(lambda: alice.metadata == "new")
    assert "participant.joined" in [entry["type"] for entry in (await api.room.room_log(room.name)).events]
    await api.room.delete_room(room.name)
    await alice.wait_disconnected()
    with pytest.raises(APIError) as gone:
        await api.room.get_room(room.name)
    assert (gone.value.status, gone.value.code, gone.value.retryable) == (404, "room_not_found", False)
    assert gone.value.request_id


async def test_users_register_log_in_and_change_settings(gateway: Gateway, api: PatchbayAPI) -> None:
    email = f"ann{next(_numbers)}@example.org"
    user = await api.accounts.register(email, "correct horse battery")
    with pytest.raises(APIError) as taken:
        await api.accounts.register(email, "correct horse battery")
    assert taken.value.code == "email_taken"
    profile = await user.update_settings(logging_enabled=True, retention_days=30)
    assert (profile.email, profile.settings.logging_enabled, profile.settings.retention_days) == (email, True, 30)
    await user.set_contacts([Contact("bob@example.org", "Bob")])
    assert [contact.name for contact in await user.contacts()] == ["Bob"]
    again = await api.accounts.log_in(email, "correct horse battery")
    assert (await again.profile()).id == profile.id
    with pytest.raises(APIError) as wrong:
        await api.accounts.log_in(email, "wrong horse battery")
    assert wrong.value.code == "invalid_credentials"
    await again.change_password("correct horse battery", "another horse battery")
    assert (await again.profile()).id == profile.id
    await again.delete()


async def test_an_expired_access_token_is_renewed_once_for_all_that_wait(api: PatchbayAPI) -> None:
    tokens = (await register(api)).tokens
    user = api.user(Tokens("expired", tokens.refresh_token, 0))
    first, second = await asyncio.gather(user.access_token(), user.access_token())
    assert first == second != "expired"
    assert user.tokens.refresh_token != tokens.refresh_token
    later = await api.accounts.resume(user.tokens.refresh_token)
    await later.log_out()
    with pytest.raises(APIError) as over:
        await api.user(Tokens("expired", later.tokens.refresh_token, 0)).profile()
    assert over.value.status == 401


async def test_a_session_keeps_its_turns_and_its_summary(gateway: Gateway, api: PatchbayAPI) -> None:
    user = await register(api)
    await user.update_settings(logging_enabled=True)
    key = f"key-{next(_numbers)}"
    access = await user.sessions.start("phone", language="en", idempotency_key=key)
    assert (await user.sessions.start("phone", language="en", idempotency_key=key)).session_id == access.session_id
    async with Room.connect(access.url, access.token, gateway.options()) as room:
        assert room.session_id == access.session_id
        await room.local_participant.publish_transcription(
            TranscriptSegment("s1", "Please book a table.", role="user", final=True)
        )
        at = datetime.now(UTC) + timedelta(seconds=1)
        receipt = await user.sessions.add_turn(access.session_id, "assistant", "It is booked.", timestamp=at)
        assert receipt.stored
    ended = await user.sessions.end(access.session_id)
    assert ended.ended_at is not None
    detail = await user.sessions.get(access.session_id)
    assert [turn.text for turn in detail.turns] == ["Please book a table.", "It is booked."]
    async with asyncio.timeout(10):
        while (detail := await user.sessions.get(access.session_id)).summary is None:
            await asyncio.sleep(0.1)
    assert detail.summary.title
    assert b"Please book a table." in await user.sessions.export(access.session_id, "txt")
    assert [line.id async for line in user.sessions.list_sessions()] == [access.session_id]
    await user.sessions.delete(access.session_id)
    with pytest.raises(APIError):
        await user.sessions.get(access.session_id)


async def test_long_lists_are_read_page_by_page(api: PatchbayAPI) -> None:
    user = await register(api)
    started = {(await user.sessions.start("web")).session_id for _ in range(5)}
    assert {line.id async for line in user.sessions.list_sessions(limit=2)} == started
    await user.sessions.delete_all()
    assert [line async for line in user.sessions.list_sessions()] == []


async def test_a_user_calls_another_one(gateway: Gateway, api: PatchbayAPI) -> None:
    ann, bob = await register(api), await register(api)
    bob_id = (await bob.profile()).id
    access = await ann.calls.start([bob_id], caller_name="Ann")
    assert [call.id for call in await bob.calls.current()] == [access.call.id]
    answered = await bob.calls.answer(access.call.id)
    assert answered.call.status == "answered"
    assert answered.livekit_token
    assert access.livekit_url
    async with Room.connect(access.livekit_url, access.livekit_token or "", gateway.options()):
        held = await bob.calls.hold(access.call.id)
        assert next(member for member in held.members if member.party == bob_id).held
        await bob.calls.hold(access.call.id, False)
        await bob.calls.hang_up(access.call.id)
    assert (await ann.calls.get(access.call.id)).status == "completed"
    async with asyncio.timeout(10):
        while [call.id async for call in ann.calls.history()] != [access.call.id]:
            await asyncio.sleep(0.1)


async def test_a_called_user_declines(api: PatchbayAPI) -> None:
    ann, bob, carol = [await register(api) for _ in range(3)]
    call = (await ann.calls.start([(await bob.profile()).id])).call
    await ann.calls.invite(call.id, [(await carol.profile()).id])
    await bob.calls.reject(call.id, reason="later")
    assert (await carol.calls.reject(call.id)).status == "rejected"
    with pytest.raises(APIError) as late:
        await bob.calls.answer(call.id)
    assert late.value.status in (404, 409)


async def test_an_assistant_calls_its_tool(api: PatchbayAPI) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nEmma")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/find"
    await api.assistants.put(AssistantDefinition("library", tools=[Tool("find_book", url)]))
    result = await api.assistants.call_tool("library", "find_book", {"title": "Emma"})
    assert (result.status, result.body) == (200, "Emma")
    server.close()
    with pytest.raises(APIError) as unreachable:
        await api.assistants.call_tool("library", "find_book", {})
    assert (unreachable.value.code, unreachable.value.retryable) == ("tool_failed", True)
    await api.assistants.delete("library")


async def test_assistants_are_defined_and_sent_to_rooms(room: RoomUnderTest, api: PatchbayAPI) -> None:
    stored = await api.assistants.put(AssistantDefinition("shop", name="Robin", greetings=["Hello."], voice="alloy"))
    assert stored.name == "Robin"
    assert "shop" in [listed.assistant.id for listed in await api.assistants.list_assistants()]
    assert (await api.assistants.get("shop")).name == "Robin"
    assert "alloy" in [voice.id for voice in await api.assistants.voices()]
    job = await api.agent_dispatch.create_dispatch(room.name, "shop", "{}")
    assert (job.status, job.assistant, job.metadata) == ("pending", "shop", "{}")
    assert [listed.id for listed in await api.agent_dispatch.list_dispatch(room.name)] == [job.id]
    assert (await api.agent_dispatch.delete_dispatch(job.id, room.name)).status == "cancelled"
    with pytest.raises(APIError) as unknown:
        await api.agent_dispatch.create_dispatch(room.name, "nobody")
    assert unknown.value.code == "assistant_not_found"
    with pytest.raises(APIError) as invalid:
        await api.assistants.put(AssistantDefinition("shop", voice="tenor"))
    assert invalid.value.status == 400
    await api.assistants.delete("shop")


async def test_a_token_configures_the_room_that_it_opens(gateway: Gateway, room: RoomUnderTest) -> None:
    config = RoomConfiguration(metadata="from the token", max_participants=2, agents=[RoomAgentDispatch("default")])
    token = (
        AccessToken(gateway.api_key, gateway.api_secret)
        .with_identity("alice")
        .with_name("Alice")
        .with_attributes({"lang": "de"})
        .with_grants(VideoGrants(room_join=True, room=room.name))
        .with_room_config(config)
    )
    async with Room.connect(gateway.url, token.to_jwt(), gateway.options()) as joined:
        assert joined.metadata == "from the token"
        assert joined.local_participant.name == "Alice"
        assert joined.local_participant.attributes == {"lang": "de"}


async def test_clips_are_spoken_once(api: PatchbayAPI) -> None:
    user = await register(api)
    grown: list[int] = []
    clip = await user.speech.generate("Hello Ann.", progress=grown.append)
    assert clip.status == "ready"
    assert clip.duration_ms
    assert grown[-1] == 100
    assert (await user.speech.audio(clip.id))[:4] == b"OggS"
    assert (await user.speech.create("Hello Ann.")).id == clip.id
    assert [listed.id for listed in await user.speech.list_clips()] == [clip.id]
    found = await user.speech.find("Hello Ann.")
    assert found is not None
    assert found.id == clip.id
    assert await user.speech.find("Nobody has said this.") is None
    assert clip.voice in [voice.id for voice in (await user.speech.providers())[0].voices]
    await user.speech.delete(clip.id)


async def test_webhooks_are_verified_and_forgeries_are_not(gateway: Gateway) -> None:
    received: list[WebhookEvent] = []
    receiver = WebhookReceiver(TokenVerifier(gateway.api_key, gateway.api_secret))
    forged: list[tuple[bytes, str]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        fields = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head.split("\r\n"))
        }
        body = await reader.readexactly(int(fields["content-length"]))
        received.append(receiver.receive(body, fields["authorization"]))
        forged.append((body.replace(b"room", b"moor", 1), fields["authorization"]))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hooks"
    sender = Gateway(store=True, settings={"webhook": {"urls": [url], "api_key": "devkey"}})
    await asyncio.to_thread(sender.start)
    try:
        async with Room.connect(sender.url, sender.token("alice", "hooked"), sender.options()):
            await eventually(lambda: "participant_joined" in [event.event for event in received])
        assert received[0].event == "room_started"
        assert received[0].room_name == "hooked"
        assert len({event.id for event in received}) == len(received)
        with pytest.raises(TokenError, match="before it is parsed"):
            receiver.receive(*forged[0])
    finally:
        await asyncio.to_thread(sender.close)
        server.close()


async def test_a_gateway_that_cannot_be_reached_is_a_typed_error() -> None:
    async with PatchbayAPI("https://127.0.0.1:1", "key", "secret") as api:
        with pytest.raises(APIError, match="cannot be reached") as failure:
            await api.room.list_rooms()
        assert failure.value.retryable
