"""Attackers: clients that send one kind of bad input again and again."""

import base64
import collections
import contextlib
import os
import random
import socket
import ssl
import threading
from typing import Callable

from soaking.gateway import token


class Target:
    """The gateway as attackers see it."""

    def __init__(self, host: str, port: int, authority: str | None, secret: str, key: str) -> None:
        self.host, self.port, self.secret, self.key = host, port, secret, key
        self.tls = ssl.create_default_context(cafile=authority)
        if authority is None:
            self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE

    def room_token(self, room: str, identity: str) -> str:
        return token({"sub": identity, "video": {"roomJoin": True, "room": room}}, self.secret, self.key)


class Attacker(threading.Thread):
    """One client that attacks until `ended` is set."""

    def __init__(self, number: int, target: Target, kind: Callable[["Attacker"], None], pause: float) -> None:
        super().__init__(daemon=True)
        self.number, self.target, self.kind, self.pause = number, target, kind, pause
        self.random = random.Random(number)
        self.attempts = 0
        self.ended = threading.Event()
        # Problems of the attack itself, by their description.
        self.faults: collections.Counter[str] = collections.Counter()

    def run(self) -> None:
        while not self.ended.is_set():
            self.attempts += 1
            try:
                self.kind(self)
            except OSError:
                # The gateway ended the connection, as it should.
                pass
            except Exception as fault:
                self.faults[repr(fault)] += 1
            self.ended.wait(self.pause)

    def pick(self, choices: list):
        return choices[self.attempts % len(choices)]

    # ---- Connections

    def tcp(self) -> socket.socket:
        # Loopback has addresses enough for each attempt, so that limits by address do not protect the gateway.
        local = self.target.host.startswith("127.")
        source = (f"127.{100 + self.number % 100}.{self.attempts // 240 % 250}.{10 + self.attempts % 240}", 0) if local else None
        return socket.create_connection((self.target.host, self.target.port), timeout=5, source_address=source)

    def tls(self) -> ssl.SSLSocket:
        return self.target.tls.wrap_socket(self.tcp(), server_hostname=self.target.host)

    def upgrade(self, authorization: str, more: str = "", version: str = "13", nonce: str | None = None) -> ssl.SSLSocket:
        connection = self.tls()
        nonce = base64.b64encode(os.urandom(16)).decode() if nonce is None else nonce
        connection.sendall((
            f"GET /v1/rtc HTTP/1.1\r\nHost: {self.target.host}\r\nAuthorization: Bearer {authorization}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: {version}\r\nSec-WebSocket-Key: {nonce}\r\n"
            f"Sec-WebSocket-Protocol: patchbay.v1\r\n{more}\r\n").encode())
        connection.recv(4096)
        return connection

    def joined(self) -> ssl.SSLSocket:
        return self.upgrade(self.target.room_token(f"attack-{self.number}", f"mallory-{self.number}"))

    def client_hello(self) -> bytes:
        """The first bytes of a TLS handshake."""
        outgoing = ssl.MemoryBIO()
        with contextlib.suppress(ssl.SSLWantReadError):
            self.target.tls.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=self.target.host).do_handshake()
        return outgoing.read()

    def over_tcp(self, send: bytes) -> socket.socket:
        """Joins over TLS, then sends bytes below TLS."""
        raw = self.tcp()
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self.target.tls.wrap_bio(incoming, outgoing, server_hostname=self.target.host)
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                raw.sendall(outgoing.read())
                incoming.write(raw.recv(65536))
        pass_for = self.target.room_token(f"attack-{self.number}", f"mallory-{self.number}")
        tls.write((
            f"GET /v1/rtc HTTP/1.1\r\nHost: {self.target.host}\r\nAuthorization: Bearer {pass_for}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Protocol: patchbay.v1\r\n\r\n").encode())
        raw.sendall(outgoing.read())
        raw.recv(65536)
        raw.sendall(send)
        return raw

    def read_to_end(self, connection: socket.socket) -> None:
        while not self.ended.is_set() and connection.recv(65536):
            pass
        connection.close()

    def send_and_read(self, connection: socket.socket, *pieces: bytes) -> None:
        for piece in pieces:
            connection.sendall(piece)
        self.read_to_end(connection)

    def hold(self, connection: socket.socket, trickle: bytes = b"") -> None:
        """Keeps a connection until the gateway ends it, sending a little each second."""
        connection.settimeout(1)
        while not self.ended.is_set():
            try:
                if trickle:
                    connection.sendall(trickle)
                if not connection.recv(65536):
                    break
            except TimeoutError:
                continue
        connection.close()
