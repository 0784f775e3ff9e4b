"""A WebSocket client for JSON messages, of the standard library only."""

import base64
import json
import os
import socket
import ssl
import time
from urllib.parse import urlsplit

TIMEOUT = 15
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Channel:
    """A connection to a gateway: a participant's in a room, or an assistant's own channel."""

    def __init__(self, url: str, path: str, token: str, tls: ssl.SSLContext) -> None:
        self.what = f"{url}{path}"
        parts = urlsplit(url)
        plain = socket.create_connection((parts.hostname, parts.port), timeout=TIMEOUT)
        self.socket = tls.wrap_socket(plain, server_hostname=parts.hostname)
        self.stream = self.socket.makefile("rb")
        self.messages: list[dict] = []
        self.requests = 0
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((
            f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: patchbay.v1\r\nAuthorization: Bearer {token}\r\n\r\n").encode())
        status = self.stream.readline().decode().strip()
        length = 0
        while field := self.stream.readline().decode().strip():
            name, _, value = field.partition(":")
            if name.lower() == "content-length":
                length = int(value)
        if " 101 " not in status:
            raise SystemExit(f"{self.what}: {status} {self.stream.read(length).decode()}")

    def request(self, kind: str, **data) -> dict:
        """Returns the data of the reply."""
        self.requests += 1
        number = self.requests
        self.send(TEXT, json.dumps({"type": kind, "id": number, "data": data}).encode())
        reply = self.wait_for(lambda message: message.get("re") == number)
        if reply["type"] != "reply":
            raise SystemExit(f"{self.what}, {kind}: {reply}")
        return reply["data"]

    def event(self, kind: str) -> dict:
        """Returns the data of the next message of a kind."""
        return self.wait_for(lambda message: message["type"] == kind)["data"]

    def wait_for(self, is_wanted) -> dict:
        deadline = time.monotonic() + TIMEOUT
        while True:
            for message in self.messages:
                if is_wanted(message):
                    self.messages.remove(message)
                    return message
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.what}: no answer within {TIMEOUT} s; other messages: {self.messages}")
            # Pings come at least every five seconds.
            self.messages += [message for message in [self.receive()] if message]

    def receive(self) -> dict | None:
        """Returns the next message; nothing if it was a ping."""
        opcode, length = self.read(2)
        # The gateway neither fragments nor masks.
        if length == 126:
            length = int.from_bytes(self.read(2))
        elif length == 127:
            length = int.from_bytes(self.read(8))
        payload = self.read(length)
        opcode &= 0x0F
        if opcode == PING:
            self.send(PONG, payload)
        elif opcode == CLOSE:
            raise SystemExit(f"{self.what} was closed with {int.from_bytes(payload[:2])} {payload[2:].decode()}")
        return json.loads(payload) if opcode == TEXT else None

    def read(self, count: int) -> bytes:
        found = self.stream.read(count)
        if len(found) < count:
            raise SystemExit(f"{self.what} has ended")
        return found

    def send(self, opcode: int, payload: bytes) -> None:
        mask = os.urandom(4)
        length = bytes([0x80 | len(payload)]) if len(payload) < 126 else bytes([0xFE]) + len(payload).to_bytes(2)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def close(self) -> None:
        self.stream.close()
        self.socket.close()
