"""Invalid requests and misbehaving connections."""

import os
import socket
import struct
import time

from harness import *


class RawWebSocket:
    """A hand-written WebSocket client, to send what a library would not."""

    @classmethod
    async def connect(cls, world: World, identity: str, *, slow: bool = False) -> "RawWebSocket":
        """`slow`: with small receive buffers, so that the gateway notices a reader that pauses."""
        self = cls()
        host, port = world.url.removeprefix("wss://").rsplit(":", 1)
        host = host.strip("[]")
        plain = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if slow:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1_400)
        plain.setblocking(False)
        await asyncio.get_running_loop().sock_connect(plain, (host, int(port)))
        self.reader, self.writer = await asyncio.open_connection(
            sock=plain, ssl=world.tls, server_hostname=host, limit=4_096 if slow else 65_536)
        self.writer.write(
            (f"GET /v1/rtc HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n"
             f"Authorization: Bearer {world.token(identity)}\r\n\r\n").encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        expect(head.startswith(b"HTTP/1.1 101") and b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head, head)
        return self

    def send(self, opcode: int, payload: bytes, *, masked: bool = True, reserved: int = 0, final: bool = True) -> None:
        head = bytes([(0x80 if final else 0) | reserved | opcode])
        bit = 0x80 if masked else 0
        head += bytes([bit | len(payload)]) if len(payload) < 126 else bytes([bit | 126]) + struct.pack(">H", len(payload))
        mask = os.urandom(4) if masked else b""
        self.writer.write(head + mask + (bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload)) if masked else payload))

    async def receive(self) -> tuple[int, bytes]:
        """Returns the next frame's opcode and payload."""
        first, length = await self.reader.readexactly(2)
        if length == 126:
            (length,) = struct.unpack(">H", await self.reader.readexactly(2))
        return first & 0x0F, await self.reader.readexactly(length)

    async def close_code(self, seconds: float) -> int:
        """Reads until the gateway closes, without answering. Returns 1006 if there was no close frame."""

        async def read() -> int:
            while True:
                try:
                    opcode, payload = await self.receive()
                except (asyncio.IncompleteReadError, ConnectionError):
                    return 1006
                if opcode == 8:
                    return struct.unpack(">H", payload[:2])[0]

        try:
            return await asyncio.wait_for(read(), seconds)
        finally:
            self.writer.transport.abort()


@check("invalid requests are answered with a specific error and have no effect")
async def nonsense(world: World):
    alice = await world.join("alice")
    for text in (
        "", "no JSON", "[]", "7", "null", "{}", '{"type":7}', '{"type":"ping","id":-1}', '{"type":"ping","id":"1"}',
        '{"type":"ping","id":1.5}',
    ):
        count = len(alice.unmatched_errors)
        await alice.send_message(text)
        await alice.until(lambda: len(alice.unmatched_errors) > count or None, 20, f"an answer to {text}")
    expect_equal({error["code"] for error in alice.unmatched_errors}, {"malformed"})
    for text in ('{"id":1}', '{"id":2,"type":7}'):
        answer = alice.expect_answer(json.loads(text)["id"])
        await alice.send_message(text)
        await expect_error("malformed", answer)
    # Errors in parseable messages without an id are not reported.
    before = len(alice.unmatched_errors)
    unknown = {"type": "track.mute", "data": {"track": "x", "muted": True}}
    for silent in ({"type": "no.such"}, {"type": "track.mute"}, unknown, {"type": "ping"}):
        await alice.send_message(silent)
    expect_equal(await alice.request("ping", t=-9_007_199_254_740_993), {"t": -9_007_199_254_740_993})
    expect_equal(len(alice.unmatched_errors), before, "errors that nobody asked for")
    alice.next_id = 2**64 - 1
    expect_equal(await alice.request("ping"), {"t": 0})


@check("unknown request types are answered with unknown_type")
async def later_versions(world: World):
    alice = await world.join("alice")
    for kind in ("playout.pause", "call.ring", "call.answer", "recording.start", "hello", "ping "):
        await expect_error("unknown_type", alice.request(kind, track="x"))


@check("unknown fields are ignored, null counts as absent, data is optional where unused")
async def tolerance(world: World):
    alice, bob = await world.join_all("alice", "bob")
    answer = alice.expect_answer(900)
    fields = {"text": "x", "of_later": 1, "topic": None, "to": None}
    await alice.send_message({"type": "text.send", "id": 900, "of_later": {"a": [1]}, "data": fields})
    await answer
    expect_equal((await bob.event("text"))["topic"], "lk.chat")
    answer = alice.expect_answer(901)
    await alice.send_message('{"data":{"t":3},"id":901,"type":"ping"}')
    expect_equal(await answer, {"t": 3})
    for text in ('{"type":"track.publish","id":902}', '{"type":"call.hold","id":902,"data":{"held":"yes"}}'):
        answer = alice.expect_answer(902)
        await alice.send_message(text)
        await expect_error("invalid_argument", answer)


@check("binary over 16 KiB and text over 64 KiB close with 1009")
async def too_big(world: World):
    watcher = await world.join("watcher")
    client = await world.join("text")
    text = json.dumps({"type": "ping", "data": {"t": 1}, "filler": ""})
    await client.send_message(text.replace('""', '"' + "x" * (65_536 - len(text)) + '"'))
    await client.send(b"\0" * 16_384)
    await client.request("ping")
    await client.send_message("x" * 65_537)
    expect_equal(await client.closed(), 1009)
    await watcher.event("participant.left", participant="text", reason="STATE_MISMATCH")
    client = await world.join("binary")
    await client.send(b"\0" * 16_385)
    expect_equal(await client.closed(), 1009)
    await watcher.event("participant.left", participant="binary", reason="STATE_MISMATCH")


@check("a hundred malformed messages within a second close with 4106; ninety do not", timing_sensitive=True)
async def protocol_errors(world: World):
    watcher = await world.join("watcher")
    for what in (b"\x00", "no JSON"):
        client = await world.join("client")
        for _ in range(90):
            await client.socket.send(what)
        await client.request("ping")
        await asyncio.sleep(1.2)
        try:
            for _ in range(5_000):
                await client.socket.send(what)
        except Exception:
            pass
        expect_equal(await client.closed(), 4106)
        expect(client.has_event("bye", reason="STATE_MISMATCH", retryable=False), "no bye")
        await watcher.event("participant.left", participant="client", reason="STATE_MISMATCH")


@check("text that is not UTF-8 closes with 1007; an unmasked frame in any position or a reserved bit with 1002")
async def broken_websocket(world: World):
    watcher = await world.join("watcher")
    raw = await RawWebSocket.connect(world, "latin1")
    raw.send(1, b'{"type":"ping","data":{"t":"\xff"}}')
    expect_equal(await raw.close_code(20), 1007)
    await watcher.event("participant.left", participant="latin1", reason="STATE_MISMATCH")
    raw = await RawWebSocket.connect(world, "unmasked")
    raw.send(1, b'{"type":"ping"}', masked=False)
    expect_equal(await raw.close_code(20), 1002)
    await watcher.event("participant.left", participant="unmasked", reason="STATE_MISMATCH")
    raw = await RawWebSocket.connect(world, "unmasked-control")
    raw.send(9, b"ping", masked=False)
    expect_equal(await raw.close_code(20), 1002)
    raw = await RawWebSocket.connect(world, "unmasked-continuation")
    raw.send(1, b'{"type":', final=False)
    raw.send(0, b'"ping"}', masked=False)
    expect_equal(await raw.close_code(20), 1002)
    raw = await RawWebSocket.connect(world, "unmasked-split")
    raw.writer.write(b"\x82")
    await raw.writer.drain()
    await asyncio.sleep(0.1)
    raw.writer.write(b"\x03abc")
    expect_equal(await raw.close_code(20), 1002)
    raw = await RawWebSocket.connect(world, "reserved")
    raw.send(2, b"x" * 20, reserved=0x40)
    expect_equal(await raw.close_code(20), 1002)
    await watcher.event("participant.left", participant="reserved", reason="STATE_MISMATCH")
    expect(not watcher.has_event("participant.updated"), "a client that violated the protocol was kept as reconnecting")


@check("a client without a sign of life for 15 s is closed with 4003", timing_sensitive=True)
async def ping_timeout(world: World):
    watcher = await world.join("watcher")
    began = asyncio.get_running_loop().time()
    raw = await RawWebSocket.connect(world, "dead")
    expect_equal(await raw.close_code(30), 4003)
    took = asyncio.get_running_loop().time() - began
    expect(14 < took < 20, f"closed after {took:.1f} s")
    await world.expect_disconnect(watcher, "dead", "CONNECTION_TIMEOUT", alive_at=began + took - 0.3)


@check("a client that only answers WebSocket pings stays connected")
async def pongs_are_life(world: World):
    quiet = await world.connect(world.token("quiet"), pings=False)
    await asyncio.sleep(18)
    expect_equal(await quiet.request("ping", t=1), {"t": 1})


@check("a client that does not read control messages is closed as a slow consumer; others are unaffected")
async def slow_consumer(world: World):
    alice, bob, slow = await world.join_all("alice", "bob", "slow")
    slow.socket.transport.pause_reading()
    for index in range(120):
        await alice.request("data.send", topic=str(index), payload="x" * 60_000)
        if alice.has_event("participant.left"):
            break
    await alice.event("participant.left", participant="slow", reason="MEDIA_FAILURE", timeout=30)
    await bob.event("data", topic=str(index))
    slow.socket.transport.resume_reading()
    expect((await slow.closed()) in (4002, 1006), slow.close_code)


@check("requests beyond the rate limit are refused with limit_exceeded; the connection stays open")
async def request_rate(world: World):
    alice = await world.join("alice")
    numbers = range(10_000, 12_500)
    pending = [alice.expect_answer(number) for number in numbers]
    began = time.monotonic()
    for number in numbers:
        await alice.send_message({"type": "track.mute", "id": number, "data": {"track": "TR_none", "muted": True}})
    errors = [error for error in await asyncio.gather(*pending, return_exceptions=True)]
    codes = [error.code for error in errors]
    expect_equal(set(codes), {"not_found", "limit_exceeded"})
    allowed, elapsed = codes.count("not_found"), time.monotonic() - began
    expect(1_000 <= allowed <= 1_100 + 200 * elapsed, f"{allowed} of {len(numbers)} requests were allowed in {elapsed:.1f} s")
    expect(all(error.retryable for error in errors if error.code == "limit_exceeded"), "not retryable")
    expect_equal(await alice.request("ping", t=1), {"t": 1})


@check("a client on a slow line receives all 50 large transcript segments when it joins")
async def slow_join(world: World):
    agent = await world.join("agent", kind="agent")
    for index in range(50):
        await agent.request("transcript.segment", id=f"s{index}", role="assistant", text=f"{index:02}" * 4_000, final=True)
    slow = await RawWebSocket.connect(world, "slow", slow=True)
    segments = []
    async with asyncio.timeout(60):
        while len(segments) < 50:
            opcode, payload = await slow.receive()
            expect(opcode != 8, f"closed after {len(segments)} segments with {payload!r}")
            if opcode == 1 and (message := json.loads(payload))["type"] == "transcript.segment":
                segments.append(message["data"]["id"])
                await asyncio.sleep(0.05)
    expect_equal(segments, [f"s{index}" for index in range(50)])
    slow.writer.transport.abort()
