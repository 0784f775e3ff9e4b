"""Kills a gateway with SIGKILL repeatedly while apps start sessions, add turns and end them, and others talk in rooms and calls, and checks that
acknowledged data survives and that every end is announced.

    python3 Tests/Interop/kill_gateway.py --patchbay .build/release/patchbay --rounds 50 --ends

Requests that were not acknowledged are repeated with the same idempotency key after the restart. At the end every acknowledged session and
turn must exist exactly once, every acknowledged end must have been delivered as a webhook, each room's webhooks must have arrived in order,
every acknowledged call and every announced room must have ended by exactly one webhook, and `patchbay store verify` must succeed. Needs the
standard library only.
"""

import argparse
import base64
import collections
import http.client
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from endpoint import Endpoint

APPS = 6
COUPLES = 2
TURNS_EACH = 8
# Upper bounds in seconds, including retries of rejected webhooks.
WEBHOOK_TIMEOUT = 90
SUMMARY_TIMEOUT = 200
# A session whose room is gone ends two minutes after the gateway's start.
END_TIMEOUT = 240


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
        # An exception raised in the thread.
        self.failure = None

    def request(self, method, path, body=None, key=None):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if key:
            headers["Idempotency-Key"] = key
        try:
            if self.connection is None:
                self.connection = http.client.HTTPSConnection("127.0.0.1", self.gateway.port, context=self.gateway.tls, timeout=20)
            self.connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = self.connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as fault:
            self.connection = None
            raise ConnectionLost from fault
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {text.decode()}")
        return json.loads(text) if text else None, response.headers

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
        line = self.join(token)
        try:
            # A close with 1000, masked with zeros.
            line.sendall(bytes([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8]))
            line.close()
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
            return line
        except OSError as fault:
            raise ConnectionLost from fault

    def run(self):
        """Runs until the gateway is killed."""
        try:
            while True:
                if self.pending is None:
                    self.pending = next(self.script)
                self.pending = self.script.send(self.perform(*self.pending))
        except ConnectionLost:
            pass
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
        self.random = random.Random(number)
        # Acknowledged by the gateway.
        self.calls = []
        self.sessions = []
        self.lines = []
        self.failure = None

    def register(self):
        for app in (self.caller, self.callee):
            app.register()
        self.callee_id = self.callee.request("GET", "/v1/users/me")[0]["id"]

    def log_in(self):
        for app in (self.caller, self.callee):
            app.log_in()

    def run(self):
        """Runs until the gateway is killed."""
        try:
            while True:
                self.talk()
        except ConnectionLost:
            pass
        except (Exception, SystemExit) as fault:
            self.failure = fault
        finally:
            for line in self.lines:
                line.close()
            self.lines = []

    def talk(self):
        session = self.caller.request("POST", "/v1/sessions/start", {"context": "phone"})[0]
        self.sessions.append(session["session_id"])
        self.lines.append(self.caller.join(session["livekit_token"]))
        call = self.caller.request("POST", "/v1/calls", {"to": [self.callee_id]})[0]
        self.calls.append(call["call_id"])
        if self.random.randrange(3):
            answer = self.callee.request("POST", f"/v1/calls/{call['call_id']}/answer", {})[0]
            self.lines += [self.caller.join(call["livekit_token"]), self.callee.join(answer["livekit_token"])]
        # Usually longer than the round.
        time.sleep(self.random.uniform(0.05, 0.6))
        self.caller.request("POST", f"/v1/calls/{call['call_id']}/hangup", {})


class Gateway:
    def __init__(self, options, data, endpoint):
        self.options = options
        self.data = data
        self.environment = os.environ | {"PATCHBAY_WEBHOOK_URLS": endpoint.url}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.tls = ssl.create_default_context(cafile=options.ca)
        self.process = None

    def start(self):
        command = [self.options.patchbay, "serve", "--dev", "--port", str(self.port), "--data", self.data, "--log-level", "error"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.environment)
        line = self.process.stdout.readline()
        if "listening" not in line:
            raise SystemExit(f"the gateway did not start: {line}")

    def webhooks(self):
        """Returns all webhooks, oldest first."""
        command = [self.options.patchbay, "webhook", "list", "--json", "--limit", "100000", "--data", self.data]
        listed = subprocess.run(command, capture_output=True, text=True)
        if listed.returncode != 0:
            raise SystemExit(f"webhook list: {listed.stderr}")
        return json.loads(listed.stdout)[::-1]

    def stop(self, number):
        self.process.send_signal(number)
        self.process.stdout.close()
        return self.process.wait()


def await_webhooks(gateway, ended, with_summaries):
    """Waits until all stored webhooks have been delivered."""
    began = time.monotonic()
    while True:
        rows = gateway.webhooks()
        waiting = [row for row in rows if row["status"] != "delivered"]
        known = {name: {row["room"] for row in rows if row["event"] == name} for name in ("session_ended", "summary_ready")}
        rooms = {f"session-{session}" for session in ended}
        unreported = rooms - known["session_ended"]
        if unreported:
            raise SystemExit(f"{len(unreported)} acknowledged ends have no webhook: {list(unreported)[:5]}")
        unsummarized = rooms - known["summary_ready"] if with_summaries else set()
        started, finished = (collections.Counter(row["room"] for row in rows if row["event"] == f"room_{name}") for name in ("started", "finished"))
        if not waiting and not unsummarized and not started - finished:
            return
        timeout = SUMMARY_TIMEOUT if with_summaries else WEBHOOK_TIMEOUT
        if time.monotonic() - began > timeout:
            raise SystemExit(
                f"after {timeout} s {len(waiting)} webhooks are pending, {waiting[:3]}, {len(unsummarized)} sessions have no summary, "
                f"and {len(started - finished)} rooms are open")
        time.sleep(1)


CALL_ENDS = {f"call_{status}" for status in ("completed", "cancelled", "rejected", "busy", "timeout", "failed")}


def check_ends(rows, bodies, couples):
    """Checks that every announced room and every acknowledged call ended exactly once, in order.

    Webhooks that the gateway wrote while it stopped, such as a summary's, are delivered after its next start only.
    """
    rooms = collections.defaultdict(list)
    calls = collections.defaultdict(list)
    for row in rows:
        if row["id"] not in bodies:
            continue
        event = json.loads(bodies[row["id"]])
        if row["event"] in ("room_started", "room_finished"):
            rooms[event["room"]["sid"]].append(row["event"])
        elif row["event"].startswith("call_"):
            calls[event["call"]["id"]].append(row["event"])
    open_rooms = {sid: events for sid, events in rooms.items() if events != ["room_started", "room_finished"]}
    if open_rooms:
        raise SystemExit(f"{len(open_rooms)} of {len(rooms)} rooms did not end exactly once: {list(open_rooms.items())[:5]}")
    acknowledged = {call for couple in couples for call in couple.calls}
    silent = acknowledged - set(calls)
    if silent:
        raise SystemExit(f"{len(silent)} of {len(acknowledged)} acknowledged calls were never announced: {list(silent)[:5]}")
    for call, events in calls.items():
        ends = [event for event in events if event in CALL_ENDS]
        if len(ends) != 1 or events[0] != "call_started" or events[-1] != ends[0]:
            raise SystemExit(f"{call} did not end exactly once: {events}")
    outcomes = collections.Counter(events[-1] for events in calls.values())
    print(f"{len(rooms)} rooms and {len(calls)} calls ended exactly once: {dict(outcomes)}")


def check_session_ends(rows, sessions):
    ends = collections.Counter(row["room"] for row in rows if row["event"] == "session_ended")
    wrong = {session: ends[f"session-{session}"] for session in sessions if ends[f"session-{session}"] != 1}
    if wrong:
        raise SystemExit(f"{len(wrong)} of {len(sessions)} sessions did not end exactly once: {list(wrong.items())[:5]}")
    print(f"{len(sessions)} sessions ended exactly once")


def await_ends(gateway, sessions):
    began = time.monotonic()
    while True:
        ended = {row["room"] for row in gateway.webhooks() if row["event"] == "session_ended"}
        open_sessions = [session for session in sessions if f"session-{session}" not in ended]
        if not open_sessions:
            return
        if time.monotonic() - began > END_TIMEOUT:
            raise SystemExit(f"after {END_TIMEOUT} s {len(open_sessions)} sessions have not ended: {open_sessions[:5]}")
        time.sleep(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patchbay", default=".build/release/patchbay")
    parser.add_argument("--ca", default="certs/dev/ca.cert.pem")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--summaries", action="store_true", help="also wait for every session's summary, up to two minutes longer")
    parser.add_argument("--ends", action="store_true", help="also wait for every session's end, up to three minutes longer")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.randrange(1 << 32)
    print(f"{options.rounds} rounds, seed {seed}", flush=True)
    generator = random.Random(seed)

    with tempfile.TemporaryDirectory() as data:
        endpoint = Endpoint("secret", seed)
        gateway = Gateway(options, data, endpoint)
        apps = [App(number, gateway) for number in range(APPS)]
        couples = [Couple(number, gateway) for number in range(COUPLES)]
        gateway.start()
        for user in apps + couples:
            user.register()
        for number in range(options.rounds):
            known = {app: len(app.turns) for app in apps}
            threads = [threading.Thread(target=user.run) for user in apps + couples]
            for thread in threads:
                thread.start()
            time.sleep(generator.uniform(0.01, 0.5))
            gateway.stop(signal.SIGKILL)
            for thread in threads:
                thread.join()
            for fault in [user.failure for user in apps + couples if user.failure]:
                raise fault
            gateway.start()
            # Their tokens are valid for 15 minutes.
            if number % 20 == 19:
                for couple in couples:
                    couple.log_in()
            for app in apps:
                app.log_in()
                # The sessions of this round, and the one before.
                app.check(list(app.turns)[max(0, known[app] - 1) :])
        for app in apps:
            app.complete()
            app.check(app.turns)
            app.check_list()
        sessions = [session for couple in couples for session in couple.sessions] + [session for app in apps for session in app.turns]
        if options.ends:
            await_ends(gateway, sessions)
        await_webhooks(gateway, [session for app in apps for session in app.ended], options.summaries)
        if gateway.stop(signal.SIGTERM) != 0:
            raise SystemExit("the gateway did not exit cleanly")
        rows = gateway.webhooks()
        endpoint.check(rows)
        check_ends(rows, endpoint.bodies, couples)
        if options.ends:
            check_session_ends(rows, sessions)
        verified = subprocess.run([options.patchbay, "store", "verify", "--data", data], capture_output=True, text=True)
        sessions = sum(len(app.turns) for app in apps)
        turns = sum(len(texts) for app in apps for texts in app.turns.values())
        print(f"{options.rounds} kills, {sessions} sessions and {turns} turns acknowledged, each stored once; {verified.stdout.strip()}")
        events = ", ".join(f"{count} {name}" for name, count in collections.Counter(row["event"] for row in rows).most_common())
        print(f"{len(rows)} webhooks delivered, {sum(count > 1 for count in endpoint.accepted.values())} of them more than once: {events}")
        if verified.returncode != 0:
            raise SystemExit(f"store verify: {verified.stdout}{verified.stderr}")
        if turns < options.rounds:
            raise SystemExit("every kill came before the first write")


if __name__ == "__main__":
    main()
