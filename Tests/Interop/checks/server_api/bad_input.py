"""Requests that are no requests: what the server API answers, always in Twirp's JSON."""

from harness import *
from twirp import *

LIST = "RoomService/ListRooms"


@check("a request without a valid token is unauthenticated, whatever else is wrong with it")
async def authentication(world: World):
    good = world.service_token(room_list=True)
    head, payload, signature = good.split(".")
    tokens = {
        "garbage": "x", "a wrong secret": world.signed(world.claims(), secret="not-" + world.secret),
        "an unknown key": world.signed(world.claims(iss="nobody")), "an expired token": world.expiring(-120),
        "another algorithm": world.signed(world.claims(), algorithm="HS512"), "another payload": f"{head}.{payload[:-4]}AAAA.{signature}",
    }
    async with ServerAPI.of(world, world.new_source()) as server:
        for headers in ({}, {"Authorization": ""}, {"Authorization": f"Basic {good}"}, {"Authorization": good}):
            reply = await server.send(LIST, b"{}", headers=headers)
            reply.expect_error("unauthenticated")
        for what, token in tokens.items():
            reply = await server.send(LIST, b"{}", token=token)
            reply.request += f" with {what}"
            reply.expect_error("unauthenticated")
            client = server.with_token(token)
            await expect_failure("unauthenticated", f"ListRooms with {what}", client.room.list_rooms(api.ListRoomsRequest()))
        (await server.send(LIST, b"{", token="x", content_type="application/json")).expect_error("unauthenticated")
        reply = await server.send(LIST, b"", token=good, content_type="application/protobuf")
        expect_equal((reply.status, reply.content_type), (200, "application/protobuf"), f"{reply.request} with a valid token")


@check("too many tokens that do not verify are refused in Twirp's format, and valid ones are not")
async def attempts(world: World):
    source = world.new_source()
    if source is None:
        return
    async with ServerAPI.of(world, source) as server:
        for number in range(20):
            reply = await server.send(LIST, b"{}", token="bad")
            reply.request += f", the attempt {number + 1} of 20"
            reply.expect_error("unauthenticated")
        (await server.send(LIST, b"{}", token="bad")).expect_error("resource_exhausted")
        failure = await expect_failure(
            "resource_exhausted", "ListRooms after 20 bad tokens", server.with_token("bad").room.list_rooms(api.ListRoomsRequest()))
        expect(failure.message, "no msg")
        (await server.send(LIST, b"{}", token=world.service_token(room_list=True))).answer()


@check("what is no method of the server API is a bad_route that names the request")
async def routes(world: World):
    token = world.service_token(room_list=True)
    content = b"{}"
    good = "/twirp/livekit.RoomService/ListRooms"
    async with ServerAPI.of(world) as server:
        for what, options in (
            ("another content type", {"content_type": "text/plain"}), ("no content type", {"content_type": None}),
            ("a form", {"content_type": "application/x-www-form-urlencoded"}), ("another case", {"path": good.replace("List", "list")}),
            ("an unknown method", {"path": "/twirp/livekit.RoomService/Dance"}), ("no method", {"path": "/twirp/livekit.RoomService/"}),
            ("an unknown service", {"path": "/twirp/livekit.NoService/ListRooms"}),
            ("another package", {"path": "/twirp/other.RoomService/ListRooms"}),
            ("no package", {"path": "/twirp/RoomService/ListRooms"}), ("a longer path", {"path": good + "/x"}),
            ("PUT", {"verb": "PUT"}), ("GET", {"verb": "GET"}), ("DELETE", {"verb": "DELETE"}),
        ):
            reply = await server.send(LIST, content, token=token, **options)
            reply.request += f" ({what})"
            error = reply.expect_error("bad_route")
            route = f"{options.get('verb', 'POST')} {options.get('path', good)}"
            expect_equal(error.get("meta", {}).get("twirp_invalid_route"), route, f"{reply.request}: meta.twirp_invalid_route")


@check("content types with parameters and a double slash are accepted")
async def tolerance(world: World):
    token = world.service_token(room_list=True)
    body = json.dumps({"names": [world.room]}).encode()
    message = api.ListRoomsRequest(names=[world.room]).SerializeToString()
    await world.join("alice")
    async with ServerAPI.of(world) as server:
        for content_type in ("application/json", "application/json;charset=UTF-8", "application/json; charset=utf-8", "Application/JSON"):
            found = (await server.send(LIST, body, token=token, content_type=content_type)).answer()
            expect_equal([one["name"] for one in found["rooms"]], [world.room], f"ListRooms with {content_type}")
        for options in (
            {"content_type": "application/protobuf;x=y"}, {"path": "//twirp/livekit.RoomService/ListRooms"},
            {"headers": {"X-Livekit-Request-Id": "0f5f6c1e", "X-Twirp-Timeout-Ms": "5000", "Accept": "application/json"}},
            {"headers": {"Origin": "https://example.org"}},
        ):
            reply = await server.send(LIST, message, token=token, **({"content_type": "application/protobuf"} | options))
            reply.request += f" with {options}"
            expect_equal((reply.status, reply.content_type), (200, "application/protobuf"), f"{reply.request}: {reply.body[:200]!r}")
            found = room.ListRoomsResponse.FromString(reply.body)
            expect_equal([one.name for one in found.rooms], [world.room], f"{reply.request}: rooms")


@check("bodies that cannot be read are malformed")
async def malformed(world: World):
    alice = await world.join("alice")
    method = "RoomService/UpdateParticipant"
    start = f'{{"room":{json.dumps(world.room)},"identity":"alice"'.encode()
    async with ServerAPI.of(world) as server:
        token = server.admin()
        for body in (
            b"", b"{", b"[]", b"null", b'"x"', b"7", start, start + b"}}", start + b',"name":7}', start + b',"name":["x"]}',
            start + b',"attributes":["a"]}', start + b',"attributes":{"a":1}}', start + b',"permission":"all"}',
            start + b',"permission":{"canPublish":"yes"}}',
            start + b',"name":"\xff"}', start + b',"name":"x",}', start + b",'name':'x'}", start + b',"name":"\\ud800"}', b"[" * 10_000,
        ):
            (await server.send(method, body, token=token)).expect_error("malformed")
        for where, body in (
            ("RoomService/CreateRoom", {"name": world.room, "emptyTimeout": -1}),
            ("RoomService/CreateRoom", {"name": world.room, "emptyTimeout": 2**32}),
            ("RoomService/CreateRoom", {"name": world.room, "emptyTimeout": 1.5}),
            ("RoomService/SendData", {"room": world.room, "data": "*"}),
        ):
            grants = {"room_create": True} if where.endswith("CreateRoom") else {"room_admin": True, "room": world.room}
            (await server.json(where, body, world.service_token(**grants))).expect_error("malformed")
        for body in (b"\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x05ab", b"\x0a\x01\xff", b"{}", bytes(range(256)), b"\x0f\x0f\x0f"):
            (await server.send(method, body, token=token, content_type="application/protobuf")).expect_error("malformed")
    await expect_no_event(alice, "participant.updated")


@check("unknown members and fields are ignored, and numbers may be texts")
async def unknown_fields(world: World):
    token = world.service_token(room_list=True)
    async with ServerAPI.of(world) as server:
        await world.join("alice")
        body = {"names": [world.room], "": 1, "x": {"y": [None, 1.5, "ä"]}, "rooms": "x"}
        found = (await server.json(LIST, body, token)).answer()
        expect_equal([one["name"] for one in found["rooms"]], [world.room], "ListRooms with unknown members")
        message = api.ListRoomsRequest(names=[world.room]).SerializeToString()
        # Field 1000 as a varint, 64 bits, bytes and 32 bits.
        unknown = b"\xc0\x3e\x01" + b"\xc1\x3e" + b"8" * 8 + b"\xc2\x3e\x03abc" + b"\xc5\x3e" + b"4" * 4
        reply = await server.send(LIST, unknown + message + unknown, token=token, content_type="application/protobuf")
        expect_equal(reply.status, 200, f"{reply.request}: {reply.body[:200]!r}; status")
        names = [one.name for one in room.ListRoomsResponse.FromString(reply.body).rooms]
        expect_equal(names, [world.room], "ListRooms with unknown fields")
        creator = world.service_token(room_create=True)
        other = world.room + "-texts"
        body = {"name": other, "emptyTimeout": "77", "departureTimeout": 5.0}
        made = (await server.json("RoomService/CreateRoom", body, creator)).answer()
        expect_equal((made["empty_timeout"], made["departure_timeout"]), (77, 5), "CreateRoom with numbers as texts")
        (await server.json("RoomService/DeleteRoom", {"room": other}, creator)).answer()
        # As in Go's JSON of Protocol Buffers, an unknown name of an enumeration is an unknown field.
        (await server.json("RoomService/SendData", {"room": world.room, "kind": "MAYBE"}, server.admin())).answer()
        removal = {"room": world.room, "identity": "nobody", "revokeTokenTs": -5}
        (await server.json("RoomService/RemoveParticipant", removal, server.admin())).expect_error("not_found")


@check("a body of 1 MiB is read, and one of 10 MB is refused in Twirp's format")
async def large_bodies(world: World):
    token = world.service_token(room_list=True)
    async with ServerAPI.of(world) as server:
        start = b'{"names":[' + json.dumps(world.room).encode() + b'],"padding":"'
        body = start + b"x" * (1_048_576 - len(start) - 2) + b'"}'
        reply = await server.send(LIST, body, token=token)
        expect_equal(reply.answer(), {"rooms": []}, f"ListRooms with a body of {len(body)} bytes")
        for content_type in ("application/json", "application/protobuf"):
            for length in (1_048_577, 10_000_000):
                reply = await server.send(LIST, b" " * length, token=token, content_type=content_type)
                reply.request += f", {length} bytes"
                # Twirp has no code of its own for 413.
                reply.expect_error("resource_exhausted", status=413)
