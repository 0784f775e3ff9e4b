"""The users of the tests that kill a gateway or its database: apps with sessions, and couples that call each other.

A request that was not acknowledged is repeated with the same idempotency key until it is: after a gateway's restart, or at once if the gateway
has answered that its database is away. Needs the standard library only.
"""

import base64
import collections
import contextlib
import http.client
import itertools
import json
import random
import socket
import time

TURNS_EACH = 8
# Rooms that a couple stays in at most.
LINES_MAX = 8
# Seconds. Requests are repeated sooner than `Retry-After` asks for, so that some arrive while the database starts.
REPEAT_PAUSE = (0.05, 0.4)
REPEAT_TIMEOUT = 60


class ConnectionLost(Exception):
    """The connection broke before the response."""


class App:
    """One user on one connection. `pending` is the current request, repeated after a restart until it is acknowledged."""

    def __init__(self, number, gateway):
        self.gateway = gateway
        self.account = {"email": f"user{number}@example.org", "password": "correct horse battery"}
        self.token = None
        self.connection = None
        self.script = self.make_script(number)
        self.pending = None
        # The acknowledged turns' texts by session, and the sessions whose end was acknowledged.
        self.turns = {}
        self.ended = set()
        # The number of acknowledged requests, and of those that were answered with 503.
        self.acknowledged = 0
        self.refused = 0
        # Joins by room while the gateway is not killed, so that each must be announced.
        self.joins = collections.Counter()
        # An exception raised in the thread.
        self.failure = None

    def request(self, method, path, body=None, key=None):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if key:
            headers["Idempotency-Key"] = key
        began = time.monotonic()
        while True:
            response, text = self.exchange(method, path, None if body is None else json.dumps(body), headers)
            if not self.is_outage(response) or time.monotonic() - began > REPEAT_TIMEOUT:
                break
            self.refused += 1
            time.sleep(random.uniform(*REPEAT_PAUSE))
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {text.decode()}")
        self.acknowledged += 1
        return json.loads(text) if text else None, response.headers

    def exchange(self, method, path, body, headers):
        try:
            if self.connection is None:
                self.connection = http.client.HTTPSConnection("127.0.0.1", self.gateway.port, context=self.gateway.tls, timeout=20)
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
            return response, response.read()
        except (OSError, http.client.HTTPException) as fault:
            self.connection = None
            raise ConnectionLost from fault

    def is_outage(self, response):
        """Whether the gateway has answered that its database is away, and this was to be expected."""
        return self.gateway.outlives_database and response.status == 503 and "Retry-After" in response.headers

    def register(self):
        self.token = self.request("POST", "/v1/auth/register", self.account)[0]["access_token"]
        self.request("PATCH", "/v1/users/me", {"settings": {"logging_enabled": True}})

    def log_in(self):
        self.connection = self.token = None
        self.token = self.request("POST", "/v1/auth/token", self.account)[0]["access_token"]

    def make_script(self, number):
        """Yields requests for an endless series of sessions, and records their acknowledgements."""
        for count in range(1 << 30):
            key = f"{number}-{count}"
            response = yield ("POST", "/v1/sessions/start", {"context": "phone"}, key)
            session = response["session_id"]
            if session in self.turns:
                raise SystemExit(f"two keys gave the session {session}")
            self.turns[session] = []
            if count % 2:
                yield ("VISIT", response["livekit_token"], None, None)
            for turn in range(TURNS_EACH):
                text = f"word {key} {turn}"
                body = {"speaker": "user", "text": text, "timestamp": "2026-11-21T13:16:56Z"}
                yield ("POST", f"/v1/sessions/{session}/turn", body, f"{turn}")
                self.turns[session].append(text)
            yield ("POST", "/v1/sessions/end", {"session_id": session}, None)
            self.ended.add(session)

    def perform(self, method, path, body, key):
        return self.visit(path) if method == "VISIT" else self.request(method, path, body, key)[0]

    def visit(self, token):
        """Joins the session's room and leaves after `hello`."""
        try:
            leave(self.join(token))
        except OSError as fault:
            raise ConnectionLost from fault

    def join(self, token):
        """Joins a room and returns the socket after `hello`."""
        nonce = base64.b64encode(random.randbytes(16)).decode()
        request = (
            f"GET /v1/rtc HTTP/1.1\r\nHost: 127.0.0.1:{self.gateway.port}\r\nAuthorization: Bearer {token}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {nonce}\r\nSec-WebSocket-Protocol: patchbay.v1\r\n\r\n")
        try:
            plain = socket.create_connection(("127.0.0.1", self.gateway.port), timeout=20)
            line = self.gateway.tls.wrap_socket(plain, server_hostname="127.0.0.1")
            line.sendall(request.encode())
            response = b""
            while b'"hello"' not in response:
                piece = line.recv(65536)
                if not piece:
                    raise ConnectionLost
                response += piece
                if b"\r\n\r\n" in response and not response.startswith(b"HTTP/1.1 101"):
                    raise SystemExit(f"a room does not open: {response.decode()}")
            if self.gateway.outlives_database:
                self.joins[room_of(token)] += 1
            return line
        except OSError as fault:
            raise ConnectionLost from fault

    def run(self):
        """Runs until the gateway is killed, or until the threads are to end."""
        try:
            while not self.gateway.is_ending.is_set():
                if self.pending is None:
                    self.pending = next(self.script)
                self.pending = self.script.send(self.perform(*self.pending))
        except ConnectionLost as fault:
            self.failure = fault if self.gateway.outlives_database else None
        except (Exception, SystemExit) as fault:
            self.failure = fault

    def complete(self):
        """Completes the current session."""
        ended = len(self.ended)
        while self.pending and len(self.ended) == ended:
            self.pending = self.script.send(self.perform(*self.pending))

    def check(self, sessions):
        for session in sessions:
            detail = self.request("GET", f"/v1/sessions/{session}")[0]
            counts = collections.Counter(turn["text"] for turn in detail["turns"])
            missing = [text for text in self.turns[session] if counts[text] == 0]
            duplicated = [text for text, count in counts.items() if count > 1]
            if missing or duplicated:
                raise SystemExit(f"session {session}: missing {missing}, duplicated {duplicated}")
            if session in self.ended and detail["session"]["ended_at"] is None:
                raise SystemExit(f"session {session} has no end although it was acknowledged")

    def check_list(self):
        found = []
        path = "/v1/sessions?limit=200"
        while path:
            page, headers = self.request("GET", path)
            found += [line["id"] for line in page]
            link = headers.get("Link")
            path = link[1 : link.index(">")] if link else None
        duplicated = [session for session, count in collections.Counter(found).items() if count > 1]
        missing = set(self.turns) - set(found)
        # One more may exist, whose acknowledgement was lost.
        if duplicated or missing or len(found) > len(self.turns) + 1:
            raise SystemExit(f"the list: missing {missing}, duplicated {duplicated}, {len(found)} of {len(self.turns)}")


class Couple:
    """Two users who start sessions and stay in their rooms, and call each other: calls that ring, and calls that are answered and joined."""

    def __init__(self, number, gateway):
        self.caller, self.callee = (App(f"{number}-{name}", gateway) for name in ("caller", "callee"))
        self.gateway = gateway
        self.random = random.Random(number)
        self.keys = (f"{number}-{count}" for count in itertools.count())
        # Acknowledged by the gateway.
        self.calls = []
        self.sessions = []
        self.lines = []
        self.failure = None

    @property
    def acknowledged(self):
        return self.caller.acknowledged + self.callee.acknowledged

    def register(self):
        for app in (self.caller, self.callee):
            app.register()
        self.callee_id = self.callee.request("GET", "/v1/users/me")[0]["id"]

    def log_in(self):
        for app in (self.caller, self.callee):
            app.log_in()

    def run(self):
        """Runs until the gateway is killed, or until the threads are to end."""
        try:
            while not self.gateway.is_ending.is_set():
                self.talk()
        except ConnectionLost as fault:
            self.failure = fault if self.gateway.outlives_database else None
        except (Exception, SystemExit) as fault:
            self.failure = fault
        finally:
            for line in self.lines:
                with contextlib.suppress(OSError):
                    leave(line)
            self.lines = []
            # Of a gateway that may have been killed.
            self.caller.connection = self.callee.connection = None

    def talk(self):
        while len(self.lines) > LINES_MAX:
            # The gateway has closed those of calls.
            with contextlib.suppress(OSError):
                leave(self.lines.pop(0))
        session = self.caller.request("POST", "/v1/sessions/start", {"context": "phone"}, next(self.keys))[0]
        self.sessions.append(session["session_id"])
        self.lines.append(self.caller.join(session["livekit_token"]))
        call = self.caller.request("POST", "/v1/calls", {"to": [self.callee_id]}, next(self.keys))[0]
        self.calls.append(call["call_id"])
        if self.random.randrange(3):
            answer = self.callee.request("POST", f"/v1/calls/{call['call_id']}/answer", {})[0]
            self.lines += [self.caller.join(call["livekit_token"]), self.callee.join(answer["livekit_token"])]
        # Usually longer than the round.
        time.sleep(self.random.uniform(0.05, 0.6))
        self.caller.request("POST", f"/v1/calls/{call['call_id']}/hangup", {})


def room_of(token):
    """Returns the name of the room that a token admits to."""
    claims = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["video"]["room"]


def leave(line):
    """Leaves the room at once, instead of when the connection could no longer be resumed."""
    # A close with 1000, masked with zeros.
    line.sendall(bytes([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8]))
    line.close()
