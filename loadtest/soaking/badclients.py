"""Clients that break the rules, one kind after the other. Whatever the gateway does with them, it must not affect the calls."""

import base64
import collections
import os
import random
import socket
import struct
import time

from .gateway import Gateway, room_token, token, user_token


class BadClients:
    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.count = 0
        self.kinds = [value for name, value in vars(type(self)).items() if name.startswith("do_")]
        self.done: collections.Counter[str] = collections.Counter()
        self.random = random.Random(1)

    def run_next(self) -> None:
        kind = self.kinds[self.count % len(self.kinds)]
        self.count += 1
        try:
            kind(self)
        except OSError:
            # The gateway closed the connection, as it should.
            pass
        self.done[kind.__name__.removeprefix("do_")] += 1

    def tcp(self) -> socket.socket:
        # Each from another address, so that limits by address do not protect the gateway from later ones.
        source = f"127.{1 + self.count // 60000 % 200}.{self.count // 240 % 250}.{10 + self.count % 240}"
        return socket.create_connection(("127.0.0.1", self.gateway.port), timeout=5, source_address=(source, 0))

    def tls(self) -> socket.socket:
        return self.gateway.tls.wrap_socket(self.tcp(), server_hostname="127.0.0.1")

    def upgrade(self, authorization: str, subprotocol: str = "patchbay.v1") -> socket.socket:
        connection = self.tls()
        nonce = base64.b64encode(os.urandom(16)).decode()
        connection.sendall((
            f"GET /v1/rtc HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {authorization}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {nonce}\r\n"
            f"Sec-WebSocket-Protocol: {subprotocol}\r\n\r\n").encode())
        connection.recv(4096)
        return connection

    def joined(self) -> socket.socket:
        return self.upgrade(room_token(f"bad-{self.count}", "mallory"))

    def frame(self, opcode: int, payload: bytes, masked: bool = True) -> bytes:
        length = bytes([len(payload) | masked << 7]) if len(payload) < 126 else struct.pack(">BH", 126 | masked << 7, len(payload))
        # A mask of zeros.
        return bytes([0x80 | opcode]) + length + (bytes(4) if masked else b"") + payload

    def read_to_end(self, connection: socket.socket) -> None:
        while connection.recv(65536):
            pass

    def do_wrong_secret(self) -> None:
        self.upgrade(token({"sub": "mallory", "video": {"roomJoin": True, "room": "vault"}}, secret="guessed"))

    def do_no_token(self) -> None:
        self.upgrade("")

    def do_other_subprotocol(self) -> None:
        self.upgrade(room_token("vault", "mallory"), subprotocol="chat")

    def do_no_tls(self) -> None:
        connection = self.tcp()
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        self.read_to_end(connection)

    def do_noise(self) -> None:
        connection = self.tcp()
        connection.sendall(self.random.randbytes(2000))
        self.read_to_end(connection)

    def do_noise_in_tls(self) -> None:
        connection = self.tls()
        connection.sendall(self.random.randbytes(2000))
        self.read_to_end(connection)

    def do_half_a_handshake(self) -> None:
        connection = self.tcp()
        connection.sendall(bytes.fromhex("160301020001000001fc0303"))
        time.sleep(1)

    def do_unmasked_frame(self) -> None:
        connection = self.joined()
        connection.sendall(self.frame(1, b"{}", masked=False))
        self.read_to_end(connection)

    def do_reserved_opcode(self) -> None:
        connection = self.joined()
        connection.sendall(self.frame(5, b"?"))
        self.read_to_end(connection)

    def do_malformed_frames(self) -> None:
        connection = self.joined()
        connection.sendall(self.frame(2, b"\xff\xff") * 150)
        self.read_to_end(connection)

    def do_malformed_text(self) -> None:
        connection = self.joined()
        connection.sendall(self.frame(1, b"{" * 100) * 150)
        self.read_to_end(connection)

    def do_reset(self) -> None:
        connection = self.joined()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    def do_bad_body(self) -> None:
        connection = self.tls()
        body = b'{"context":'
        connection.sendall(
            f"POST /v1/sessions/start HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {user_token('mallory')}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        self.read_to_end(connection)
