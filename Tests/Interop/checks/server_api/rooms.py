"""RoomService's methods about rooms, with the unmodified livekit-api."""

import time

from harness import *
from twirp import *


@check("livekit-api creates a room once: participants find its settings, and later ones are ignored")
async def creation(world: World):
    async with ServerAPI.of(world) as server:
        rooms = server.official.room
        settings = api.CreateRoomRequest(
            name=world.room, metadata="made by a backend", max_participants=2, empty_timeout=30, departure_timeout=7, node_id="ignored")
        made = await rooms.create_room(settings)
        expect_equal(
            (made.name, made.metadata, made.max_participants, made.empty_timeout, made.departure_timeout, made.num_participants),
            (world.room, "made by a backend", 2, 30, 7, 0), "CreateRoom: the room")
        expect(abs(made.creation_time - time.time()) < 10, f"CreateRoom: creation_time is {made.creation_time}")
        expect_equal(made.creation_time_ms // 1000, made.creation_time, "CreateRoom: creation_time_ms in seconds")
        alice = await world.join("alice")
        hello = alice.hello["room"]
        expect_equal(
            (hello["sid"], hello["metadata"], hello["max_participants"]), (made.sid, "made by a backend", 2), "the room in hello")
        for changed in (api.CreateRoomRequest(name=world.room), api.CreateRoomRequest(name=world.room, metadata="x", max_participants=9)):
            again = await rooms.create_room(changed)
            expect_equal(
                (again.sid, again.metadata, again.max_participants, again.creation_time),
                (made.sid, "made by a backend", 2, made.creation_time), f"CreateRoom {{{one_line(changed)}}} of an open room")
        await expect_no_event(alice, "room.updated")
        await world.join("bob")
        await world.expect_rejected(409, "room_full", world.token("carol"))
        (listed,) = (await rooms.list_rooms(api.ListRoomsRequest(names=[world.room]))).rooms
        expect_equal((listed.sid, listed.num_participants), (made.sid, 2), "ListRooms: sid and num_participants")


@check("concurrent CreateRooms make one room, which ends after its empty_timeout")
async def concurrent_creation(world: World):
    async with ServerAPI.of(world) as server:
        rooms = server.official.room
        made = await asyncio.gather(*(rooms.create_room(api.CreateRoomRequest(name=world.room, empty_timeout=1)) for _ in range(20)))
        expect_equal(len({one.sid for one in made}), 1, "CreateRoom, 20 at once: number of rooms")
        deadline = time.monotonic() + 10
        while (await rooms.list_rooms(api.ListRoomsRequest(names=[world.room]))).rooms:
            expect(time.monotonic() < deadline, "ListRooms: an empty room with an empty_timeout of 1 s is open after 10 s")
            await asyncio.sleep(0.2)


@check("CreateRoom checks its limits")
async def creation_limits(world: World):
    longest = (world.room + "-").ljust(256, "n")
    largest = "m" * 524_288
    async with ServerAPI.of(world) as server:
        rooms = server.official.room
        made = await rooms.create_room(api.CreateRoomRequest(name=longest, metadata=largest))
        expect_equal((made.name, len(made.metadata)), (longest, 524_288), "CreateRoom with the longest name and metadata")
        await rooms.delete_room(api.DeleteRoomRequest(room=longest))
        for what, request in (
            ("a name of 257 bytes", api.CreateRoomRequest(name=longest + "n")),
            ("a name of 129 characters and 258 bytes", api.CreateRoomRequest(name="ä" * 129)),
            ("no name", api.CreateRoomRequest()),
            ("metadata of 524,289 bytes", api.CreateRoomRequest(name=world.room, metadata=largest + "m")),
            ("an unknown preset", api.CreateRoomRequest(name=world.room, room_preset="nothing")),
            ("metadata of 524,289 bytes of an agent",
             api.CreateRoomRequest(name=world.room, agents=[api.RoomAgentDispatch(agent_name="default", metadata=largest + "m")])),
        ):
            await expect_failure("invalid_argument", f"CreateRoom with {what}", rooms.create_room(request))
        recorded = api.CreateRoomRequest(
            name=world.room, egress=api.RoomEgress(room=egress.RoomCompositeEgressRequest(audio_only=True)))
        await expect_failure("unimplemented", "CreateRoom with egress", rooms.create_room(recorded))
        expect_equal(list((await rooms.list_rooms(api.ListRoomsRequest(names=[world.room]))).rooms), [], "rooms after refused requests")


@check("ListRooms lists all rooms or those named, and leaves out unknown ones")
async def listing(world: World):
    alice = await world.join("alice")
    other = world.room + "-other"
    async with ServerAPI.of(world) as server:
        rooms = server.official.room
        await rooms.create_room(api.CreateRoomRequest(name=other))
        every = {one.name: one for one in (await rooms.list_rooms(api.ListRoomsRequest())).rooms}
        expect({world.room, other} <= every.keys(), f"ListRooms without names: {sorted(every)} without {world.room} or {other}")
        expect_equal(every[world.room].sid, alice.hello["room"]["sid"], "ListRooms: sid")
        for names, expected in (([world.room, "no such room"], [world.room]), ([other, world.room], [world.room, other]), (["none"], [])):
            found = sorted(one.name for one in (await rooms.list_rooms(api.ListRoomsRequest(names=names))).rooms)
            expect_equal(found, expected, f"ListRooms with names {names}")
        await rooms.delete_room(api.DeleteRoomRequest(room=other))


@check("ListRooms counts participants and publishers")
async def counting(world: World):
    alice, _ = await world.join_all("alice", "bob")
    await world.join("ghost", hidden=True)
    await alice.publish()
    async with ServerAPI.of(world) as server:
        (listed,) = (await server.official.room.list_rooms(api.ListRoomsRequest(names=[world.room]))).rooms
        # LiveKit's server does not count hidden ones; the gateway's own API does.
        expect(listed.num_participants in (2, 3), f"ListRooms: {listed.num_participants} participants instead of 2 or 3")
        expect_equal((listed.num_publishers, listed.active_recording), (1, False), "ListRooms: num_publishers, active_recording")


@check("DeleteRoom disconnects everybody, and a room of the same name is a new one")
async def deletion(world: World):
    alice, bob = await world.join_all("alice", "bob")
    async with ServerAPI.of(world) as server:
        rooms = server.official.room
        await rooms.delete_room(api.DeleteRoomRequest(room=world.room))
        for client in (alice, bob):
            expect_equal(await client.event("bye"), {"reason": "ROOM_DELETED", "retryable": False}, "DeleteRoom: bye")
            expect_equal(await client.closed(), 4102, "DeleteRoom: close code")
        expect_equal(list((await rooms.list_rooms(api.ListRoomsRequest(names=[world.room]))).rooms), [], "ListRooms after DeleteRoom")
        for name in (world.room, "no such room"):
            await expect_failure("not_found", f"DeleteRoom of {name}", rooms.delete_room(api.DeleteRoomRequest(room=name)))
        again = await world.join("alice")
        expect(again.hello["room"]["sid"] != alice.hello["room"]["sid"], "the room has the sid of the deleted one")


@check("UpdateRoomMetadata reaches all participants, and an empty text clears")
async def metadata(world: World):
    alice, ghost = await world.join("alice"), await world.join("ghost", hidden=True)
    largest = "m" * 524_288
    async with ServerAPI.of(world) as server:
        rooms = server.official.room
        for text in ("news", largest, ""):
            changed = await rooms.update_room_metadata(api.UpdateRoomMetadataRequest(room=world.room, metadata=text))
            expect_equal(
                (changed.sid, changed.name, changed.metadata), (alice.hello["room"]["sid"], world.room, text),
                f"UpdateRoomMetadata of {len(text)} bytes: the room")
            for client in (alice, ghost):
                expect_equal((await client.event("room.updated"))["room"]["metadata"], text, "UpdateRoomMetadata: room.updated")
        await expect_failure(
            "not_found", "UpdateRoomMetadata of an unknown room",
            rooms.update_room_metadata(api.UpdateRoomMetadataRequest(room=world.room + "?", metadata="x")))
        too_large = api.UpdateRoomMetadataRequest(room=world.room, metadata=largest + "m")
        await expect_failure("invalid_argument", "UpdateRoomMetadata of 524,289 bytes", rooms.update_room_metadata(too_large))
        ungranted = server.with_token(world.service_token(room_list=True)).room
        await expect_failure(
            "invalid_argument", "UpdateRoomMetadata of 524,289 bytes without a grant, which is checked later",
            ungranted.update_room_metadata(too_large))
        await asyncio.sleep(0.2)
        expect_equal(len([1 for kind, _ in alice.events if kind == "room.updated"]), 3, "room.updated events")
