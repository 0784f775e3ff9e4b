"""Which grant each method needs. A valid token without it is `unauthenticated`, as at LiveKit's server."""

from harness import *
from twirp import *


def methods(name: str) -> dict:
    """Each method with a request about the room `name`, as calls of LiveKit's client, by the grant it needs."""
    somebody = api.RoomParticipantIdentity(room=name, identity="nobody")
    return {
        "create": {
            "CreateRoom": lambda client: client.room.create_room(api.CreateRoomRequest(name=name)),
            "DeleteRoom": lambda client: client.room.delete_room(api.DeleteRoomRequest(room=name)),
        },
        "list": {"ListRooms": lambda client: client.room.list_rooms(api.ListRoomsRequest())},
        "admin": {
            "ListParticipants": lambda client: client.room.list_participants(room.ListParticipantsRequest(room=name)),
            "GetParticipant": lambda client: client.room.get_participant(somebody),
            "RemoveParticipant": lambda client: client.room.remove_participant(somebody),
            "MutePublishedTrack": lambda client: client.room.mute_published_track(
                api.MuteRoomTrackRequest(room=name, identity="nobody", track_sid="TR_AMnothing", muted=True)),
            "UpdateParticipant": lambda client: client.room.update_participant(
                room.UpdateParticipantRequest(room=name, identity="nobody", name="x")),
            "UpdateSubscriptions": lambda client: client.room.update_subscriptions(
                room.UpdateSubscriptionsRequest(room=name, identity="nobody", track_sids=["TR_AMnothing"], subscribe=True)),
            "SendData": lambda client: client.room.send_data(api.SendDataRequest(room=name, data=b"x")),
            "UpdateRoomMetadata": lambda client: client.room.update_room_metadata(
                api.UpdateRoomMetadataRequest(room=name, metadata="x")),
            "CreateDispatch": lambda client: client.agent_dispatch.create_dispatch(
                agent_dispatch.CreateAgentDispatchRequest(room=name, agent_name="nobody")),
            "DeleteDispatch": lambda client: client.agent_dispatch.delete_dispatch("JB_nothing", name),
            "ListDispatch": lambda client: client.agent_dispatch.list_dispatch(name),
        },
        "record": {
            "StartRoomCompositeEgress": lambda client: client.egress.start_room_composite_egress(
                egress.RoomCompositeEgressRequest(
                    room_name=name, audio_only=True, file_outputs=[egress.EncodedFileOutput(filepath="x.ogg")])),
            "StopEgress": lambda client: client.egress.stop_egress(egress.StopEgressRequest(egress_id="EG_nothing")),
            "ListEgress": lambda client: client.egress.list_egress(egress.ListEgressRequest(room_name=name)),
        },
    }


@check("every method of the server API needs its grant, for the room of the request")
async def grants(world: World):
    alice = await world.join("alice")
    tokens = {
        "create": world.service_token(room_create=True),
        "list": world.service_token(room_list=True),
        "admin": world.service_token(room_admin=True, room=world.room),
        "record": world.service_token(room_record=True),
    }
    insufficient = {
        "nothing": world.service_token(),
        "to join": world.token("somebody"),
        "admin of another room": world.service_token(room_admin=True, room="another room"),
        "admin of no room": world.service_token(room_admin=True),
    }
    async with ServerAPI.of(world) as server:
        for grant, calls in methods(world.room).items():
            others = insufficient | {f"only `{other}`": token for other, token in tokens.items() if other != grant}
            for method, call in calls.items():
                for what, token in others.items():
                    await expect_failure(
                        "unauthenticated", f"{method} with a grant of {what}", call(server.with_token(token)), message="permissions denied")
    expect(not alice.has_event("room.updated") and alice.close_code is None, "a request without a grant had an effect")


@check("the server API answers about an unknown room or participant at once")
async def unknown(world: World):
    await world.join("alice")
    missing = world.room + "-missing"
    async with ServerAPI.of(world) as server:
        for name, what in ((world.room, "an unknown participant"), (missing, "an unknown room")):
            for method, call in methods(name)["admin"].items():
                if method in ("ListParticipants", "ListDispatch", "CreateDispatch", "DeleteDispatch"):
                    continue
                if name == world.room and method in ("SendData", "UpdateRoomMetadata"):
                    continue
                began = asyncio.get_running_loop().time()
                await expect_failure("not_found", f"{method} about {what}", call(server.official))
                took = asyncio.get_running_loop().time() - began
                expect(took < 3, f"{method} about {what} took {took:.1f} s")
        await expect_failure("not_found", "DeleteRoom of an unknown room", methods(missing)["create"]["DeleteRoom"](server.official))
        found = await methods(missing)["admin"]["ListParticipants"](server.official)
        expect_equal(len(found.participants), 0, "ListParticipants of an unknown room: participants")
        await expect_failure("not_found", "DeleteDispatch of an unknown room", methods(missing)["admin"]["DeleteDispatch"](server.official))


@check("moving and forwarding participants is unimplemented")
async def moving(world: World):
    alice = await world.join("alice")
    async with ServerAPI.of(world) as server:
        token = api.AccessToken(world.key, world.secret).with_grants(
            api.VideoGrants(room_admin=True, room=world.room, destination_room="elsewhere")).to_jwt()
        for client in (server.official, server.with_token(token)):
            await expect_failure("unimplemented", "ForwardParticipant", client.room.forward_participant(
                room.ForwardParticipantRequest(room=world.room, identity="alice", destination_room="elsewhere")))
            await expect_failure("unimplemented", "MoveParticipant", client.room.move_participant(
                room.MoveParticipantRequest(room=world.room, identity="alice", destination_room="elsewhere")))
        reply = await server.json("RoomService/MoveParticipant", {"room": world.room, "identity": "alice"}, token)
        reply.expect_error("unimplemented")
    await alice.request("ping")
