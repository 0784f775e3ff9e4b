"""RoomService's methods about participants, with the unmodified livekit-api and real participants that see the effects."""

import time

from harness import *
from twirp import *

Info = models.ParticipantInfo


def of(world: World, identity: str) -> api.RoomParticipantIdentity:
    return api.RoomParticipantIdentity(room=world.room, identity=identity)


@check("ListParticipants and GetParticipant describe participants as hello does, hidden ones too")
async def description(world: World):
    token = world.access_token("alice", can_update_own_metadata=True, can_publish_sources=["microphone"])
    alice = await world.connect(token.with_name("Alice Ä").with_metadata("m").with_attributes({"k": "v"}).to_jwt())
    await world.join("helper", kind="agent")
    await world.join("ghost", hidden=True)
    track = await alice.publish(name="mic")
    async with ServerAPI.of(world) as server:
        rooms = server.official.room
        found = (await rooms.list_participants(room.ListParticipantsRequest(room=world.room))).participants
        expect_equal(sorted(one.identity for one in found), ["alice", "ghost", "helper"], "ListParticipants: identities")
        me = await rooms.get_participant(of(world, "alice"))
        (listed,) = [one for one in found if one.identity == "alice"]
        expect_equal(listed, me, "ListParticipants: alice, and GetParticipant's answer")
        hello = alice.hello["participant"]
        expect_equal(
            (me.sid, me.identity, me.name, me.metadata, dict(me.attributes), me.state, me.kind, me.is_publisher),
            (hello["sid"], "alice", "Alice Ä", "m", {"k": "v"}, Info.ACTIVE, Info.STANDARD, True), "GetParticipant: alice")
        expect_equal(me.joined_at, hello["joined_at"], "GetParticipant: joined_at")
        expect_equal(me.joined_at_ms // 1000, me.joined_at, "GetParticipant: joined_at_ms in seconds")
        expect(abs(me.joined_at - time.time()) < 30, f"GetParticipant: joined_at is {me.joined_at}")
        permission = me.permission
        expect_equal(
            (permission.can_subscribe, permission.can_publish, permission.can_publish_data, permission.can_update_metadata,
             permission.hidden, list(permission.can_publish_sources)),
            (True, True, True, True, False, [models.TrackSource.MICROPHONE]), "GetParticipant: permission")
        (info,) = me.tracks
        expect_equal(
            (info.sid, info.name, info.type, info.source, info.muted), (track["sid"], "mic", models.AUDIO, models.MICROPHONE, False),
            "GetParticipant: the track")
        expect_equal(info.mime_type.lower(), "audio/opus", "GetParticipant: mime_type")
        ghost, helper = await rooms.get_participant(of(world, "ghost")), await rooms.get_participant(of(world, "helper"))
        expect_equal((ghost.permission.hidden, ghost.is_publisher, len(ghost.tracks)), (True, False, 0), "GetParticipant: ghost")
        expect_equal(helper.kind, Info.AGENT, "GetParticipant: kind of an agent")


@check("RemoveParticipant disconnects a participant, which may join again")
async def removal(world: World):
    alice, bob = await world.join_all("alice", "bob")
    async with ServerAPI.of(world) as server:
        rooms = server.official.room
        await rooms.remove_participant(of(world, "bob"))
        expect_equal(await bob.event("bye"), {"reason": "PARTICIPANT_REMOVED", "retryable": False}, "RemoveParticipant: bye")
        expect_equal(await bob.closed(), 4103, "RemoveParticipant: close code")
        await alice.event("participant.left", participant="bob", reason="PARTICIPANT_REMOVED")
        await expect_failure("not_found", "RemoveParticipant of one that has left", rooms.remove_participant(of(world, "bob")))
        # revoke_token_ts is a feature of LiveKit Cloud; the open-source server ignores it.
        await world.join("bob")
        await alice.event("participant.joined", participant="bob")
        await rooms.remove_participant(api.RoomParticipantIdentity(room=world.room, identity="bob", revoke_token_ts=1))
        await alice.event("participant.left", participant="bob")
        await world.join("bob")


@check("MutePublishedTrack mutes, and does not unmute")
async def muting(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish()
    await bob.event("track.published")

    def mute(muted: bool, sid: str = track["sid"], identity: str = "alice") -> api.MuteRoomTrackRequest:
        return api.MuteRoomTrackRequest(room=world.room, identity=identity, track_sid=sid, muted=muted)

    async with ServerAPI.of(world) as server:
        rooms = server.official.room
        for _ in range(2):
            answer = await rooms.mute_published_track(mute(True))
            expect_equal((answer.track.sid, answer.track.muted), (track["sid"], True), "MutePublishedTrack: the track")
        for client in (alice, bob):
            await client.event("track.muted", participant="alice", track=track["sid"])
        await talk(alice, speech(track["alias"], 5))
        expect_equal(len(bob.frames), 0, "frames of a track that the server muted")
        await expect_failure(
            "failed_precondition", "MutePublishedTrack with muted: false", rooms.mute_published_track(mute(False)),
            message="remote unmute not enabled")
        me = await rooms.get_participant(of(world, "alice"))
        expect_equal(me.tracks[0].muted, True, "GetParticipant after a refused unmute: muted")
        await expect_no_event(alice, "track.unmuted")
        answer = await rooms.mute_published_track(mute(True, "TR_AMnothing"))
        expect_equal(answer.HasField("track"), False, "MutePublishedTrack of an unknown track: whether there is a track")
        other = await bob.publish()
        answer = await rooms.mute_published_track(mute(True, other["sid"]))
        expect_equal(answer.HasField("track"), False, "MutePublishedTrack of another participant's track: whether there is a track")
        # The publisher may unmute itself.
        await alice.request("track.mute", track=track["sid"], muted=False)
        await bob.event("track.unmuted", track=track["sid"])
        expect(not bob.has_event("track.muted", track=other["sid"]), "the track of another participant was muted")


@check("UpdateParticipant changes name, metadata and attributes: empty ones stay, and an empty attribute is deleted")
async def profile(world: World):
    alice = await world.connect(
        world.access_token("alice").with_name("Alice").with_metadata("m").with_attributes({"a": "1", "b": "2"}).to_jwt())
    bob = await world.join("bob")
    async with ServerAPI.of(world) as server:
        rooms = server.official.room

        async def update(**fields) -> Info:
            answer = await rooms.update_participant(room.UpdateParticipantRequest(room=world.room, identity="alice", **fields))
            for client in (alice, bob):
                event = await client.event("participant.updated", participant="alice")
                expect_equal(
                    (event["name"], event["metadata"], event["attributes"]), (answer.name, answer.metadata, dict(answer.attributes)),
                    f"UpdateParticipant {fields}: participant.updated, and the answer")
            return answer

        answer = await update(name="Alicia")
        expect_equal(
            (answer.sid, answer.name, answer.metadata, dict(answer.attributes)),
            (alice.hello["participant"]["sid"], "Alicia", "m", {"a": "1", "b": "2"}), "UpdateParticipant of the name")
        answer = await update(metadata="M", attributes={"a": "", "c": "3", "b": "B"})
        expect_equal(
            (answer.name, answer.metadata, dict(answer.attributes)), ("Alicia", "M", {"b": "B", "c": "3"}),
            "UpdateParticipant of metadata and attributes")
        same = await rooms.update_participant(room.UpdateParticipantRequest(room=world.room, identity="alice", name="", metadata=""))
        expect_equal((same.name, same.metadata), ("Alicia", "M"), "UpdateParticipant with empty values")
        me = await rooms.get_participant(of(world, "alice"))
        expect_equal((me.name, me.metadata, dict(me.attributes)), ("Alicia", "M", {"b": "B", "c": "3"}), "GetParticipant afterwards")
        # The permission that was not in the request is unchanged.
        expect_equal((me.permission.can_publish, me.permission.can_update_metadata), (True, False), "GetParticipant: permission")


@check("UpdateParticipant replaces the permission as a whole")
async def permission(world: World):
    alice, bob = await world.join_all("alice", "bob")
    track = await alice.publish()
    await bob.event("track.published")
    async with ServerAPI.of(world) as server:
        rooms = server.official.room

        async def permit(**fields) -> models.ParticipantPermission:
            request = room.UpdateParticipantRequest(
                room=world.room, identity="alice", permission=models.ParticipantPermission(**fields))
            answer = await rooms.update_participant(request)
            event = await alice.event("participant.updated", participant="alice")
            for name in ("can_subscribe", "can_publish", "can_publish_data", "can_update_metadata", "hidden"):
                expected = fields.get(name, False)
                expect_equal(
                    (getattr(answer.permission, name), event["permission"][name]), (expected, expected),
                    f"UpdateParticipant with permission {fields}: {name} in the answer and in participant.updated")
            return answer.permission

        await permit(can_subscribe=True)
        await bob.event("track.unpublished", track=track["sid"])
        await expect_error("not_allowed", alice.publish())
        await expect_error("not_allowed", alice.request("data.send", payload="x"))
        await expect_error("not_allowed", alice.request("participant.update", name="x"))
        granted = await permit(
            can_publish=True, can_publish_data=True, can_update_metadata=True, can_publish_sources=[models.TrackSource.MICROPHONE])
        expect_equal(list(granted.can_publish_sources), [models.TrackSource.MICROPHONE], "UpdateParticipant: can_publish_sources")
        await alice.publish()
        await alice.request("data.send", payload="x")
        await alice.request("participant.update", name="x")
        await alice.event("participant.updated", name="x")
        # A source that the gateway does not have permits nothing.
        for source in (models.TrackSource.CAMERA, models.TrackSource.UNKNOWN):
            await permit(can_publish=True, can_publish_sources=[source])
            await expect_error("not_allowed", alice.publish())
        # Without can_subscribe nothing is heard.
        spoken = await bob.publish()
        await expect_error("not_allowed", alice.request("track.subscribe", track=spoken["sid"], subscribed=True))
        await talk(bob, speech(spoken["alias"], 5))
        expect_equal(len(alice.frames), 0, "frames at a participant that may no longer subscribe")


@check("a permission that UpdateParticipant has changed is in refreshed tokens, and survives a resume")
async def lasting_permission(world: World):
    alice, bob = await world.join_all("alice", "bob")
    async with ServerAPI.of(world) as server:
        rooms = server.official.room
        permission = models.ParticipantPermission(can_subscribe=True)
        await rooms.update_participant(room.UpdateParticipantRequest(room=world.room, identity="alice", permission=permission))
        token = (await alice.request("token.refresh"))["token"]
        grants = api.TokenVerifier(world.key, world.secret).verify(token).video
        found = (grants.can_publish, grants.can_publish_data, grants.can_subscribe)
        expect_equal(found, (False, False, True), "token.refresh: can_publish, can_publish_data and can_subscribe")
        alice.abort()
        await bob.event("participant.updated", participant="alice", connection="reconnecting")
        # The token of the resume is the first one, which permits everything.
        resumed = await world.resume(alice)
        expect_equal(resumed.hello["participant"]["permission"]["can_publish"], False, "can_publish in hello after a resume")
        await expect_error("not_allowed", resumed.publish())
        me = await rooms.get_participant(of(world, "alice"))
        expect_equal((me.permission.can_publish, me.permission.can_subscribe), (False, True), "GetParticipant after a resume: permission")


@check("UpdateParticipant checks limits before the grant, then the grant, then whether there is such a participant")
async def profile_limits(world: World):
    alice = await world.join("alice")
    async with ServerAPI.of(world) as server:
        granted, ungranted = server.official.room, server.with_token(world.service_token(room_list=True)).room
        for what, fields in (
            ("a name of 257 bytes", {"name": "n" * 257}), ("metadata of 524,289 bytes", {"metadata": "m" * 524_289}),
            ("attributes of 65,537 bytes", {"attributes": {"a": "x" * 65_536}}),
        ):
            for identity in ("alice", "nobody"):
                request = room.UpdateParticipantRequest(room=world.room, identity=identity, **fields)
                for client in (granted, ungranted):
                    await expect_failure("invalid_argument", f"UpdateParticipant with {what}", client.update_participant(request))
        request = room.UpdateParticipantRequest(room=world.room, identity="nobody", name="x")
        await expect_failure("unauthenticated", "UpdateParticipant without a grant", ungranted.update_participant(request))
        await expect_failure("not_found", "UpdateParticipant of nobody", granted.update_participant(request))
        largest = {"name": "n" * 256, "attributes": {"a": "x" * 65_535}}
        answer = await granted.update_participant(room.UpdateParticipantRequest(room=world.room, identity="alice", **largest))
        expect_equal(
            (answer.name, dict(answer.attributes)), (largest["name"], largest["attributes"]), "UpdateParticipant with the largest values")
    expect_equal(len([1 for kind, _ in alice.events if kind == "participant.updated"]), 1, "participant.updated")


@check("UpdateSubscriptions takes tracks by sid and by participant")
async def subscriptions(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track, other = await alice.publish(), await alice.publish()
    await bob.event("track.published")
    await bob.event("track.published")
    sids = [models.ParticipantTracks(participant_sid=alice.hello["participant"]["sid"], track_sids=[other["sid"]])]
    async with ServerAPI.of(world) as server:

        async def subscribe(subscribed: bool, identity: str = "bob", **tracks) -> None:
            await server.official.room.update_subscriptions(
                room.UpdateSubscriptionsRequest(room=world.room, identity=identity, subscribe=subscribed, **tracks))

        async def heard(first: int) -> tuple[int, int]:
            bob.frames.clear()
            for one in (track, other):
                await talk(alice, speech(one["alias"], 3, first=first), pace=0.005)
            await bob.request("ping")
            await asyncio.sleep(0.2)
            return len(bob.received_frames(track["alias"])), len(bob.received_frames(other["alias"]))

        expect_equal(await heard(0), (3, 3), "frames of both tracks, subscribed to both")
        await subscribe(False, track_sids=[track["sid"]], participant_tracks=sids)
        expect_equal(await heard(10), (0, 0), "frames after UpdateSubscriptions with subscribe: false of both")
        await subscribe(True, track_sids=[track["sid"]])
        expect_equal(await heard(20), (3, 0), "frames after UpdateSubscriptions with subscribe: true and track_sids")
        await subscribe(True, participant_tracks=sids)
        expect_equal(await heard(30), (3, 3), "frames after UpdateSubscriptions with subscribe: true and participant_tracks")
        await subscribe(False)
        expect_equal(await heard(40), (3, 3), "frames after UpdateSubscriptions of no track")
