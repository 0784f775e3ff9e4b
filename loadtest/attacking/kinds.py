"""The kinds of bad input of docs/protocol/bad-input.md. The name of a function is that of its kind."""

import json
import os
import socket
import struct
import time
from typing import Callable

from soaking.gateway import encode, token

from .attackers import Attacker


def frame(first: int, payload: bytes, masked: bool = True, length: int | None = None) -> bytes:
    count = len(payload) if length is None else length
    bit = masked << 7
    head = bytes([count | bit]) if count < 126 else struct.pack(">BH", 126 | bit, count) if count < 65536 else struct.pack(">BQ", 127 | bit, count)
    # A mask of zeros.
    return bytes([first]) + head + (bytes(4) if masked else b"") + payload


def forged(head: dict | bytes, claims: dict, signature: str = "AAAA") -> str:
    encoded = encode(head if isinstance(head, bytes) else json.dumps(head).encode())
    return f"{encoded}.{encode(json.dumps(claims).encode())}.{signature}"


KINDS: dict[str, Callable[[Attacker], None]] = {}


def kind(function: Callable[[Attacker], None]) -> Callable[[Attacker], None]:
    KINDS[function.__name__.replace("_", "-")] = function
    return function


@kind
def silent(self: Attacker) -> None:
    self.hold(self.tcp())


@kind
def half_handshake(self: Attacker) -> None:
    connection = self.tcp()
    connection.sendall(bytes.fromhex("160301020001000001fc0303"))
    self.hold(connection)


@kind
def noise(self: Attacker) -> None:
    self.send_and_read(self.pick([self.tcp, self.tls])(), self.random.randbytes(2000))


@kind
def without_tls(self: Attacker) -> None:
    self.send_and_read(self.tcp(), f"GET / HTTP/1.1\r\nHost: {self.target.host}\r\n\r\n".encode())


@kind
def bad_records(self: Attacker) -> None:
    self.read_to_end(self.over_tcp(self.pick([
        b"\x17\x03\x03\x00\x40" + os.urandom(64), b"\x17\x03\x03\xff\xff" + os.urandom(1000), b"\x14\x03\x03\x00\x01\x01",
        b"\x15\x03\x03\x00\x02\x01\x5a" * 100, b"\x17\x03\x03\x00\x00" * 100, os.urandom(1000),
    ])))


@kind
def slow_head(self: Attacker) -> None:
    connection = self.tls()
    connection.sendall(b"GET /healthz HTTP/1.1\r\n")
    self.hold(connection, b"X-Field: more\r\n")


@kind
def huge_head(self: Attacker) -> None:
    self.send_and_read(self.tls(), b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-Field: " + b"x" * 1_000_000)


@kind
def bad_head(self: Attacker) -> None:
    host = "Host: h\r\n"
    self.send_and_read(self.tls(), self.pick([
        f"POST /healthz HTTP/1.1\r\n{host}Content-Length: +16\r\n\r\n", f"POST /healthz HTTP/1.1\r\n{host}Content-Length: 16, 17\r\n\r\n",
        f"POST /healthz HTTP/1.1\r\n{host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        f"POST /healthz HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", f"get /healthz HTTP/1.1\r\n{host}\r\n",
        "GET /healthz HTTP/1.1\nHost: h\n\n", f"GET /healthz HTTP/1.1\r\n{host} folded\r\n\r\n", f"GET /health\0z HTTP/1.1\r\n{host}\r\n",
        f"GET /v1/sessions/%00 HTTP/1.1\r\n{host}\r\n", f"GET /v1/sessions/%0a HTTP/1.1\r\n{host}\r\n", "GET /healthz HTTP/1.1\r\n\r\n",
        f"BREW /pot HTTP/1.1\r\n{host}\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]).encode())


@kind
def slow_body(self: Attacker) -> None:
    connection = self.tls()
    connection.sendall(b"POST /v1/sessions/start HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
    self.hold(connection, b" ")


@kind
def huge_body(self: Attacker) -> None:
    size = self.pick([1 << 20, (1 << 20) + 1, 1 << 33])
    head = f"POST /v1/sessions/start HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
    self.send_and_read(self.tls(), head.encode() + b" " * min(size, 1 << 20))


@kind
def pipelining(self: Attacker) -> None:
    one = b"GET /healthz HTTP/1.1\r\nHost: h\r\n"
    self.send_and_read(self.tls(), (one + b"\r\n") * 99 + one + b"Connection: close\r\n\r\n")


@kind
def bad_token(self: Attacker) -> None:
    now = int(time.time())
    claims = {"iss": self.target.key, "sub": "mallory", "exp": now + 600, "video": {"roomJoin": True, "room": "vault"}}
    hs256 = {"alg": "HS256", "typ": "JWT"}
    signed = lambda changes: token({**claims, **changes}, self.target.secret, self.target.key)
    self.upgrade(self.pick([
        forged({"alg": "none"}, claims, ""), forged({"alg": "RS256"}, claims), forged(hs256, claims), forged(b"{", claims),
        signed({"exp": now - 600}), signed({"nbf": now + 600}), signed({"exp": "tomorrow"}), "eyJ!.e30.AAAA", "...", "",
        token(claims, "guessed", self.target.key), forged(hs256, {**claims, "metadata": "x" * 13_000}),
    ])).close()


@kind
def bad_upgrade(self: Attacker) -> None:
    good = self.target.room_token("vault", "mallory")
    self.upgrade(good, **self.pick([
        {"version": "8"}, {"nonce": "short"}, {"nonce": ""}, {"more": "Host: other\r\n"}, {"more": "Content-Length: 5\r\n"},
        {"more": "Upgrade: h2c\r\n"}, {"more": "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"},
    ])).close()


@kind
def bad_websocket(self: Attacker) -> None:
    self.send_and_read(self.joined(), self.pick([
        frame(0x81, b"{}", masked=False), frame(0x85, b"?"), frame(0xC1, b"{}"), frame(0x80, b"{}"), frame(0x01, b"{") + frame(0x81, b"{}"),
        frame(0x09, b""), frame(0x89, b"x" * 126), frame(0x88, b"\3"), frame(0x88, b"\3\xed"), frame(0x88, b"\3\xe8\xff"), frame(0x81, b"\xff"),
        frame(0x82, b"", length=1 << 63), frame(0x82, b"", length=(1 << 63) - 1), frame(0x82, b"x" * 16_385), frame(0x81, b"x" * 65_537),
    ]))


@kind
def ping_flood(self: Attacker) -> None:
    connection = self.joined()
    for _ in range(100):
        connection.sendall(frame(0x89, b"ping") * 100)
    connection.close()


@kind
def endless_message(self: Attacker) -> None:
    connection = self.joined()
    connection.sendall(frame(0x01, b"{"))
    self.send_and_read(connection, frame(0x00, b" " * 1000) * 100)


@kind
def bad_messages(self: Attacker) -> None:
    self.send_and_read(self.joined(), self.pick([
        frame(0x81, b"{" * 100), frame(0x81, b"[" * 60_000), frame(0x82, b"\xff\xff"), frame(0x82, bytes(12)), frame(0x82, b"\x42\x33" + bytes(100)),
    ]) * 150)


@kind
def frame_flood(self: Attacker) -> None:
    connection = self.joined()
    # Of a track that is not published.
    for _ in range(20):
        connection.sendall(frame(0x82, b"\x41\0\0\1\0\1\0\0\0\0\0\0" + bytes(80)) * 100)
    connection.close()


@kind
def request_flood(self: Attacker) -> None:
    connection = self.joined()
    for _ in range(20):
        connection.sendall(frame(0x81, b'{"type":"data.send","id":1,"data":{"topic":"t","payload_base64":"AAEC"}}') * 100)
    connection.close()


@kind
def reading_nothing(self: Attacker) -> None:
    connection = self.joined()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(100):
        connection.sendall(frame(0x81, b'{"type":"ping","id":1}') * 10)
        if self.ended.wait(0.02):
            break
    connection.close()


@kind
def joins_and_resets(self: Attacker) -> None:
    connection = self.joined()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@kind
def connections(self: Attacker) -> None:
    held = []
    while len(held) < 200 and not self.ended.is_set():
        held.append(self.tcp())
    self.ended.wait(5)
    for connection in held:
        connection.close()


@kind
def handshake_storm(self: Attacker) -> None:
    held, hellos = [], [self.client_hello() for _ in range(4)]
    while len(held) < 30 and not self.ended.is_set():
        held.append(self.tcp())
    for index, connection in enumerate(held):
        connection.sendall(hellos[index % len(hellos)])
    self.ended.wait(1)
    for connection in held:
        connection.close()
