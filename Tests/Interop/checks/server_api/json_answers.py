"""JSON, as LiveKit's server SDKs for Node.js and others send it: the answers are those in protobuf, in Twirp's JSON."""

import base64

from harness import *
from assistant_client import AssistantProcess
from twirp import *


@check("every method of RoomService answers in JSON as in protobuf")
async def parity(world: World):
    name = world.room
    alice = await world.connect(
        world.access_token("alice", can_publish_sources=["microphone"]).with_name("Ä\"\\\n\u2028🙂").with_metadata("{}").with_attributes(
            {"a": "1", "": "x"}).to_jwt())
    bob = await world.join("bob", kind="agent")
    track = await alice.publish(name="mic", channels=2, dtx=True)
    await bob.publish(source="assistant", mode="ahead")
    await bob.event("track.published")
    somebody = {"room": name, "identity": "alice"}
    async with ServerAPI.of(world) as server:
        creator, lister, admin = world.service_token(room_create=True), world.service_token(room_list=True), server.admin()
        sid = alice.hello["participant"]["sid"]
        for method, request, token in (
            ("CreateRoom", api.CreateRoomRequest(name=name, metadata="ignored", max_participants=3, departure_timeout=9), creator),
            ("ListRooms", api.ListRoomsRequest(names=[name]), lister),
            ("ListRooms", api.ListRoomsRequest(names=["no such room"]), lister),
            ("UpdateRoomMetadata", api.UpdateRoomMetadataRequest(room=name, metadata="Ä\"\\\u0001🙂"), admin),
            ("ListParticipants", room.ListParticipantsRequest(room=name), admin),
            ("GetParticipant", api.RoomParticipantIdentity(**somebody), admin),
            ("GetParticipant", api.RoomParticipantIdentity(room=name, identity="bob"), admin),
            ("MutePublishedTrack", api.MuteRoomTrackRequest(**somebody, track_sid=track["sid"], muted=True), admin),
            ("MutePublishedTrack", api.MuteRoomTrackRequest(**somebody, track_sid="TR_AMnothing", muted=True), admin),
            ("UpdateParticipant", room.UpdateParticipantRequest(**somebody, name="A", metadata="m", attributes={"a": "", "b": "2"}), admin),
            ("UpdateParticipant", room.UpdateParticipantRequest(
                **somebody, permission=models.ParticipantPermission(can_subscribe=True, can_publish=True, can_publish_sources=[2])), admin),
            ("UpdateSubscriptions", room.UpdateSubscriptionsRequest(
                room=name, identity="bob", track_sids=[track["sid"]], subscribe=True,
                participant_tracks=[models.ParticipantTracks(participant_sid=sid, track_sids=[track["sid"]])]), admin),
            ("SendData", api.SendDataRequest(
                room=name, data=bytes(range(256)), kind=api.DataPacket.Kind.LOSSY, destination_identities=["bob"], topic="t"), admin),
        ):
            await server.same_answer(f"RoomService/{method}", request, token, ignoring=("version",))
        for _ in range(3):
            event = await bob.event("data", topic="t")
            expect_equal(base64.b64decode(event["payload_base64"]), bytes(range(256)), "SendData in protobuf and JSON: data")
        # What can be done only once.
        for method, body, token in (
            ("RemoveParticipant", {"room": name, "identity": "bob", "revokeTokenTs": "1"}, admin), ("DeleteRoom", {"room": name}, creator),
        ):
            expect_equal((await server.json(f"RoomService/{method}", body, token)).answer(), {}, f"{method} in JSON")
        expect_equal((await alice.closed(), await bob.closed()), (4102, 4103), "close codes of alice and bob")


@check("AgentDispatchService and Egress answer in JSON as in protobuf")
async def dispatch_parity(world: World):
    name = world.room.replace("interop", "helper")
    worker = await AssistantProcess.register(world, name)
    alice = await world.join("alice")
    async with ServerAPI.of(world) as server:
        admin, recorder = server.admin(), world.service_token(room_record=True)
        creation = agent_dispatch.CreateAgentDispatchRequest(room=world.room, agent_name=name, metadata="m", attributes={"a": "1"})
        made = await server.protobuf("AgentDispatchService/CreateDispatch", creation, admin)
        agent_client = await worker.accept(made.id)
        await alice.event("agent.joined")
        # Once the worker has reported, the job does not change any more.
        await worker.request("worker.status", load=0.1, jobs=1)
        await server.same_answer("AgentDispatchService/CreateDispatch", creation, admin)
        for fields in ({}, {"dispatch_id": made.id}, {"dispatch_id": "JB_nothing"}):
            request = agent_dispatch.ListAgentDispatchRequest(room=world.room, **fields)
            await server.same_answer("AgentDispatchService/ListDispatch", request, admin)
        await server.same_answer("Egress/ListEgress", egress.ListEgressRequest(room_name=world.room), recorder)
        body = {"dispatchId": made.id, "room": world.room}
        deleted = (await server.json("AgentDispatchService/DeleteDispatch", body, admin)).answer()
        expect_equal((deleted["id"], deleted["agent_name"]), (made.id, name), "DeleteDispatch in JSON: id and agent_name")
        await agent_client.closed()
    await worker.close()


@check("the JSON bodies of LiveKit's documentation are understood, in camelCase and in snake_case")
async def documented_bodies(world: World):
    alice, _ = await world.join_all("alice", "bob")
    track = await alice.publish()
    text = base64.b64encode(b"hello").decode()
    async with ServerAPI.of(world) as server:
        creator, admin = world.service_token(room_create=True), server.admin()

        async def ask(method: str, body: dict, token: str) -> dict:
            return (await server.json(f"RoomService/{method}", body, token)).answer()

        other = world.room + "-made"
        for body in (
            {"name": other, "empty_timeout": 300, "max_participants": 20}, {"name": other, "emptyTimeout": 300, "maxParticipants": 20},
        ):
            made = await ask("CreateRoom", body, creator)
            expect_equal((made["empty_timeout"], made["max_participants"]), (300, 20), f"CreateRoom {body}")
            created = made["creation_time"]
            expect(isinstance(created, str) and created.isdigit(), f"CreateRoom: creation_time {created!r}")
            await ask("DeleteRoom", {"room": other}, creator)
        for name in ("track_sid", "trackSid"):
            body = {"room": world.room, "identity": "alice", name: track["sid"], "muted": True}
            muted = (await ask("MutePublishedTrack", body, admin))["track"]
            expect_equal((muted["sid"], muted["source"]), (track["sid"], "MICROPHONE"), f"MutePublishedTrack {body}")
        for index, body in enumerate((
            {"data": text, "kind": "RELIABLE", "destination_identities": ["alice"]},
            {"data": text, "kind": 1, "destinationIdentities": ["alice"]},
            {"data": text.rstrip("="), "destinationSids": []}, {"data": text, "destinationSids": None, "nonce": ""},
        )):
            await ask("SendData", {"room": world.room, "topic": f"t{index}"} | body, admin)
            event = await alice.event("data", topic=f"t{index}")
            expect_equal(event.get("payload", event.get("payload_base64")) in ("hello", text), True, f"SendData {body}: data {event}")
        for body in (
            {"permission": {"canSubscribe": True, "canPublish": True, "canPublishData": True}},
            {"permission": {"can_subscribe": True, "can_publish": True, "can_publish_data": True}},
        ):
            info = await ask("UpdateParticipant", {"room": world.room, "identity": "alice"} | body, admin)
            enumerations = (info["state"], info["kind"], info["disconnect_reason"])
            expect_equal(enumerations, ("ACTIVE", "STANDARD", "UNKNOWN_REASON"), f"UpdateParticipant {body}")
            expect_equal(
                [info["permission"][key] for key in ("can_subscribe", "can_publish", "can_publish_data", "can_update_metadata", "hidden")],
                [True, True, True, False, False], f"UpdateParticipant {body}: permission")
        body = {"room": world.room, "identity": "bob", "trackSids": [track["sid"]], "subscribe": False, "unknown": [{"a": 1}], "Room": 7}
        (await server.json("RoomService/UpdateSubscriptions", body, admin)).answer()
