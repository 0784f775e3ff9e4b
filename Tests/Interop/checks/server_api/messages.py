"""SendData and PerformRpc: messages of a server to participants."""

import base64
import contextlib

from harness import *
from twirp import *


def payload(event: dict) -> bytes:
    return event["payload"].encode() if "payload" in event else base64.b64decode(event["payload_base64"], validate=True)


@check("SendData reaches all participants, or those with the given identities or sids")
async def data(world: World):
    alice, bob, carol = await world.join_all("alice", "bob", "carol")
    everything = bytes(range(256))
    async with ServerAPI.of(world) as server:

        async def send(topic: str, content: bytes, **fields) -> None:
            await server.official.room.send_data(api.SendDataRequest(room=world.room, topic=topic, data=content, **fields))

        async def received(client: Client, topic: str) -> tuple[str, bytes]:
            event = await client.event("data", topic=topic)
            return event["participant"], payload(event)

        for kind, content in ((api.DataPacket.Kind.RELIABLE, everything), (api.DataPacket.Kind.LOSSY, "ä\n".encode())):
            topic = f"to all, {kind}"
            await send(topic, content, kind=kind)
            for client in (alice, bob, carol):
                expect_equal(await received(client, topic), ("", content), f"SendData to all: sender and data at {topic}")
        await send("by identity", b"1", destination_identities=["bob", "bob", "nobody"])
        await send("by sid", b"2", destination_sids=[carol.hello["participant"]["sid"]])
        await server.official.room.send_data(api.SendDataRequest(room=world.room, data=b""))
        expect_equal(await received(bob, "by identity"), ("", b"1"), "SendData with destination_identities")
        expect_equal(await received(carol, "by sid"), ("", b"2"), "SendData with destination_sids")
        for client in (alice, bob, carol):
            expect_equal(await received(client, ""), ("", b""), "SendData without a topic and with empty data")
        # Nobody has this sid, so nobody is meant.
        with contextlib.suppress(api.TwirpError):
            await send("to a sid that nobody has", b"3", destination_sids=["PA_nothing"])
        await send("largest", b"x" * 64_000)
        for client in (alice, bob, carol):
            expect_equal(len((await received(client, "largest"))[1]), 64_000, "SendData of 64,000 bytes")
        for client, missed in ((alice, ("by identity", "by sid")), (bob, ("by sid",)), (carol, ("by identity",))):
            for topic in (*missed, "to a sid that nobody has"):
                expect(not client.has_event("data", topic=topic), f"SendData {topic} reached a participant that it does not name")


@check("SendData with a nonce of 16 bytes is delivered once; other lengths are refused")
async def nonces(world: World):
    alice = await world.join("alice")
    method = "RoomService/SendData"
    async with ServerAPI.of(world) as server:
        token = server.admin()

        def request(topic: str, nonce: bytes) -> api.SendDataRequest:
            return api.SendDataRequest(room=world.room, data=b"x", topic=topic, nonce=nonce)

        for length in (1, 15, 17, 32):
            message = request("refused", b"n" * length)
            reply = await server.send(method, message.SerializeToString(), token=token, content_type="application/protobuf")
            reply.expect_error("invalid_argument", message="nonce")
        for topic, nonce, count in (("without", b"", 2), ("repeated", b"a" * 16, 3), ("another", b"b" * 16, 1), ("again", b"a" * 16, 1)):
            for _ in range(count):
                await server.protobuf(method, request(topic, nonce), token)
        await server.protobuf(method, request("last", b""), token)
        await alice.event("data", topic="last")
        seen = [data["topic"] for kind, data in alice.events if kind == "data"]
        expect_equal(seen, ["without", "without", "repeated", "another", "last"], "topics of the delivered data")
        # In another room the nonce is new.
        other = await world.connect(world.token("carol", room=world.room + "-other"))
        there = api.SendDataRequest(room=world.room + "-other", data=b"x", topic="there", nonce=b"a" * 16)
        await server.protobuf(method, there, server.admin(world.room + "-other"))
        await other.event("data", topic="there")


@check("PerformRpc returns the callee's response")
async def procedures(world: World):
    alice = await world.join("alice")
    async with ServerAPI.of(world) as server:
        token = server.admin()

        def call(**fields) -> room.PerformRpcRequest:
            return room.PerformRpcRequest(room=world.room, destination_identity="alice", **fields)

        async def answer(method: str, **response) -> dict:
            event = await alice.event("rpc.request", method=method)
            await alice.request("rpc.response", request_id=event["request_id"], **response)
            return event

        answered, event = await asyncio.gather(
            server.protobuf("RoomService/PerformRpc", call(method="weather", payload="Bern ä", response_timeout_ms=5_000), token),
            answer("weather", payload="sunny ö"))
        expect_equal(answered.payload, "sunny ö", "PerformRpc: payload")
        expect_equal(
            (event["participant"], event["payload"], event["timeout_ms"]), ("", "Bern ä", 5_000),
            "rpc.request of a server: participant, payload and timeout_ms")
        answered, event = await asyncio.gather(
            server.json("RoomService/PerformRpc", {"room": world.room, "destinationIdentity": "alice", "method": "empty"}, token),
            answer("empty", payload=""))
        expect_equal((answered.answer(), event["timeout_ms"]), ({"payload": ""}, 10_000), "PerformRpc in JSON, with the default timeout")


@check("PerformRpc fails with the Twirp code of LiveKit's RPC error")
async def failing_procedures(world: World):
    alice = await world.join("alice")
    async with ServerAPI.of(world) as server:
        token = server.admin()

        async def failed(code: str, message: str = "", identity: str = "alice", **fields) -> dict:
            body = {"room": world.room, "destination_identity": identity, "method": "m"} | fields
            return (await server.json("RoomService/PerformRpc", body, token)).expect_error(code, message=message)

        async def answer(method: str, **response) -> None:
            event = await alice.event("rpc.request", method=method)
            await alice.request("rpc.response", request_id=event["request_id"], **response)

        await failed("invalid_argument", "destination identity is required", identity="")
        await failed("not_found", identity="nobody")
        await failed("invalid_argument", payload="x" * 15_361)
        await failed("canceled", method="late", response_timeout_ms=300)
        for rpc_code, code in ((1400, "invalid_argument"), (1500, "internal")):
            method = f"m{rpc_code}"
            await asyncio.gather(
                failed(code, "because", method=method), answer(method, error={"code": rpc_code, "message": "because"}))
        gone = asyncio.create_task(failed("unavailable", method="gone"))
        await alice.event("rpc.request", method="gone")
        await alice.leave()
        await gone
