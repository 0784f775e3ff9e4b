"""Kills a gateway with SIGKILL again and again while apps start sessions, add turns and end them, and looks for what it had acknowledged.

    python3 Tests/Interop/kill_gateway.py --patchbay .build/release/patchbay --rounds 200

What was not acknowledged is asked again under the same key after the restart. At the end every acknowledged session and turn is there
exactly once, an endpoint was told of every acknowledged end, each room's webhooks came in the order in which they were written, and `patchbay
store verify` finds nothing. Needs the standard library only.
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
TURNS_EACH = 8
# A killed gateway leaves webhooks behind that nobody else sends for 30 s; then some are refused, and wait again. Its summaries it leaves for 120 s.
WEBHOOK_PATIENCE = 90
SUMMARY_PATIENCE = 200


class Lost(Exception):
    """The gateway went away before it answered."""


class App:
    """One user on one connection. What it is about to do outlives the gateway: `wanted` is done again until it is acknowledged."""

    def __init__(self, number, gateway):
        self.gateway = gateway
        self.account = {"email": f"user{number}@example.org", "password": "correct horse battery"}
        self.token = None
        self.connection = None
        self.steps = self.story(number)
        self.wanted = None
        # By session: the acknowledged turns' texts, and whether its end was acknowledged.
        self.said = {}
        self.ended = set()
        # A thread keeps to itself what ends it.
        self.fault = None

    def ask(self, method, path, body=None, key=None):
        fields = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        if key:
            fields["Idempotency-Key"] = key
        try:
            if self.connection is None:
                self.connection = http.client.HTTPSConnection("127.0.0.1", self.gateway.port, context=self.gateway.tls, timeout=20)
            self.connection.request(method, path, None if body is None else json.dumps(body), fields)
            answer = self.connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as fault:
            self.connection = None
            raise Lost from fault
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {text.decode()}")
        return json.loads(text) if text else None, answer.headers

    def register(self):
        self.token = self.ask("POST", "/v1/auth/register", self.account)[0]["access_token"]
        self.ask("PATCH", "/v1/users/me", {"settings": {"logging_enabled": True}})

    def log_in(self):
        self.connection = self.token = None
        self.token = self.ask("POST", "/v1/auth/token", self.account)[0]["access_token"]

    def story(self, number):
        """Sessions without end. Each step is a question, and what its acknowledgement means."""
        for count in range(1 << 30):
            key = f"{number}-{count}"
            answer = yield ("POST", "/v1/sessions/start", {"context": "phone"}, key)
            session = answer["session_id"]
            if session in self.said:
                raise SystemExit(f"two keys gave the session {session}")
            self.said[session] = []
            if count % 2:
                yield ("VISIT", answer["livekit_token"], None, None)
            for turn in range(TURNS_EACH):
                text = f"word {key} {turn}"
                body = {"speaker": "user", "text": text, "timestamp": "2026-11-21T13:16:56Z"}
                yield ("POST", f"/v1/sessions/{session}/turn", body, f"{turn}")
                self.said[session].append(text)
            yield ("POST", "/v1/sessions/end", {"session_id": session}, None)
            self.ended.add(session)

    def do(self, method, path, body, key):
        return self.visit(path) if method == "VISIT" else self.ask(method, path, body, key)[0]

    def visit(self, token):
        """Comes into the session's room, and goes as soon as it was greeted."""
        nonce = base64.b64encode(random.randbytes(16)).decode()
        request = (
            f"GET /v1/rtc HTTP/1.1\r\nHost: 127.0.0.1:{self.gateway.port}\r\nAuthorization: Bearer {token}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {nonce}\r\nSec-WebSocket-Protocol: patchbay.v1\r\n\r\n")
        try:
            with socket.create_connection(("127.0.0.1", self.gateway.port), timeout=20) as plain:
                with self.gateway.tls.wrap_socket(plain, server_hostname="127.0.0.1") as line:
                    line.sendall(request.encode())
                    answer = b""
                    while b'"hello"' not in answer:
                        piece = line.recv(65536)
                        if not piece:
                            raise Lost
                        answer += piece
                        if b"\r\n\r\n" in answer and not answer.startswith(b"HTTP/1.1 101"):
                            raise SystemExit(f"a session's room does not open: {answer.decode()}")
                    # A close with 1000, masked with zeros.
                    line.sendall(bytes([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8]))
        except OSError as fault:
            raise Lost from fault

    def go_on(self):
        """Until the gateway goes away."""
        try:
            while True:
                if self.wanted is None:
                    self.wanted = next(self.steps)
                self.wanted = self.steps.send(self.do(*self.wanted))
        except Lost:
            pass
        except (Exception, SystemExit) as fault:
            self.fault = fault

    def finish(self):
        """Has what is still wanted acknowledged."""
        if self.wanted:
            self.wanted = self.steps.send(self.do(*self.wanted))

    def check(self, sessions):
        for session in sessions:
            detail = self.ask("GET", f"/v1/sessions/{session}")[0]
            counts = collections.Counter(turn["text"] for turn in detail["turns"])
            missing = [text for text in self.said[session] if counts[text] == 0]
            doubled = [text for text, count in counts.items() if count > 1]
            if missing or doubled:
                raise SystemExit(f"session {session}: missing {missing}, doubled {doubled}")
            if session in self.ended and detail["session"]["ended_at"] is None:
                raise SystemExit(f"session {session} had ended and goes on")

    def check_list(self):
        found = []
        path = "/v1/sessions?limit=200"
        while path:
            page, fields = self.ask("GET", path)
            found += [line["id"] for line in page]
            link = fields.get("Link")
            path = link[1 : link.index(">")] if link else None
        doubled = [session for session, count in collections.Counter(found).items() if count > 1]
        missing = set(self.said) - set(found)
        # One more may be there: begun, and its acknowledgement lost.
        if doubled or missing or len(found) > len(self.said) + 1:
            raise SystemExit(f"the list: missing {missing}, doubled {doubled}, {len(found)} of {len(self.said)}")


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
        """All that were ever told, the oldest first."""
        command = [self.options.patchbay, "webhook", "list", "--json", "--limit", "100000", "--data", self.data]
        listed = subprocess.run(command, capture_output=True, text=True)
        if listed.returncode != 0:
            raise SystemExit(f"webhook list: {listed.stderr}")
        return json.loads(listed.stdout)[::-1]

    def end(self, number):
        self.process.send_signal(number)
        self.process.stdout.close()
        return self.process.wait()


def await_webhooks(gateway, ended, with_summaries):
    """Waits until all have arrived that were written."""
    began = time.monotonic()
    while True:
        rows = gateway.webhooks()
        waiting = [row for row in rows if row["status"] != "delivered"]
        known = {name: {row["room"] for row in rows if row["event"] == name} for name in ("session_ended", "summary_ready")}
        rooms = {f"session-{session}" for session in ended}
        unheard = rooms - known["session_ended"]
        if unheard:
            raise SystemExit(f"{len(unheard)} ends were acknowledged and nobody is told: {list(unheard)[:5]}")
        unsummed = rooms - known["summary_ready"] if with_summaries else set()
        if not waiting and not unsummed:
            return
        patience = SUMMARY_PATIENCE if with_summaries else WEBHOOK_PATIENCE
        if time.monotonic() - began > patience:
            raise SystemExit(f"after {patience} s {len(waiting)} webhooks wait, {waiting[:3]}, and {len(unsummed)} sessions have no summary")
        time.sleep(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patchbay", default=".build/release/patchbay")
    parser.add_argument("--ca", default="certs/dev/ca.cert.pem")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--summaries", action="store_true", help="wait for every session's summary too, two minutes longer")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.randrange(1 << 32)
    print(f"{options.rounds} rounds, seed {seed}", flush=True)
    chance = random.Random(seed)

    with tempfile.TemporaryDirectory() as data:
        endpoint = Endpoint("secret", seed)
        gateway = Gateway(options, data, endpoint)
        apps = [App(number, gateway) for number in range(APPS)]
        gateway.start()
        for app in apps:
            app.register()
        for number in range(options.rounds):
            known = {app: len(app.said) for app in apps}
            threads = [threading.Thread(target=app.go_on) for app in apps]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.01, 0.5))
            gateway.end(signal.SIGKILL)
            for thread in threads:
                thread.join()
            for fault in [app.fault for app in apps if app.fault]:
                raise fault
            gateway.start()
            for app in apps:
                app.log_in()
                # What this round touched, and the session before it.
                app.check(list(app.said)[max(0, known[app] - 1) :])
        for app in apps:
            app.finish()
            app.check(app.said)
            app.check_list()
        await_webhooks(gateway, [session for app in apps for session in app.ended], options.summaries)
        if gateway.end(signal.SIGTERM) != 0:
            raise SystemExit("the gateway did not end in good order")
        rows = gateway.webhooks()
        endpoint.check(rows)
        verified = subprocess.run([options.patchbay, "store", "verify", "--data", data], capture_output=True, text=True)
        sessions = sum(len(app.said) for app in apps)
        turns = sum(len(texts) for app in apps for texts in app.said.values())
        print(f"{options.rounds} kills, {sessions} sessions and {turns} turns acknowledged, each there once; {verified.stdout.strip()}")
        events = ", ".join(f"{count} {name}" for name, count in collections.Counter(row["event"] for row in rows).most_common())
        print(f"{len(rows)} webhooks arrived, {sum(count > 1 for count in endpoint.taken.values())} of them more than once: {events}")
        if verified.returncode != 0:
            raise SystemExit(f"store verify: {verified.stdout}{verified.stderr}")
        if turns < options.rounds:
            raise SystemExit("the kills came before anything was written")


if __name__ == "__main__":
    main()
