"""Kills a gateway with SIGKILL again and again while apps start sessions, add turns and end them, and looks for what it had acknowledged.

    python3 Tests/Interop/kill_gateway.py --patchbay .build/release/patchbay --rounds 200

What was not acknowledged is asked again under the same key after the restart. At the end every acknowledged session and turn is there
exactly once, and `patchbay store verify` finds nothing. Needs the standard library only.
"""

import argparse
import collections
import http.client
import json
import random
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

APPS = 6
TURNS_EACH = 8


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
            for turn in range(TURNS_EACH):
                text = f"word {key} {turn}"
                body = {"speaker": "user", "text": text, "timestamp": "2026-11-21T13:16:56Z"}
                yield ("POST", f"/v1/sessions/{session}/turn", body, f"{turn}")
                self.said[session].append(text)
            yield ("POST", "/v1/sessions/end", {"session_id": session}, None)
            self.ended.add(session)

    def go_on(self):
        """Until the gateway goes away."""
        try:
            while True:
                if self.wanted is None:
                    self.wanted = next(self.steps)
                self.wanted = self.steps.send(self.ask(*self.wanted)[0])
        except Lost:
            pass

    def finish(self):
        """Has what is still wanted acknowledged."""
        if self.wanted:
            self.wanted = self.steps.send(self.ask(*self.wanted)[0])

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
    def __init__(self, options, data):
        self.options = options
        self.data = data
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.tls = ssl.create_default_context(cafile=options.ca)
        self.process = None

    def start(self):
        command = [self.options.patchbay, "serve", "--dev", "--port", str(self.port), "--data", self.data, "--log-level", "error"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "listening" not in line:
            raise SystemExit(f"the gateway did not start: {line}")

    def end(self, number):
        self.process.send_signal(number)
        self.process.stdout.close()
        return self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patchbay", default=".build/release/patchbay")
    parser.add_argument("--ca", default="certs/dev/ca.cert.pem")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.randrange(1 << 32)
    print(f"{options.rounds} rounds, seed {seed}", flush=True)
    chance = random.Random(seed)

    with tempfile.TemporaryDirectory() as data:
        gateway = Gateway(options, data)
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
            gateway.start()
            for app in apps:
                app.log_in()
                # What this round touched, and the session before it.
                app.check(list(app.said)[max(0, known[app] - 1) :])
        for app in apps:
            app.finish()
            app.check(app.said)
            app.check_list()
        if gateway.end(signal.SIGTERM) != 0:
            raise SystemExit("the gateway did not end in good order")
        verified = subprocess.run([options.patchbay, "store", "verify", "--data", data], capture_output=True, text=True)
        sessions = sum(len(app.said) for app in apps)
        turns = sum(len(texts) for app in apps for texts in app.said.values())
        print(f"{options.rounds} kills, {sessions} sessions and {turns} turns acknowledged, each there once; {verified.stdout.strip()}")
        if verified.returncode != 0:
            raise SystemExit(f"store verify: {verified.stdout}{verified.stderr}")
        if turns < options.rounds:
            raise SystemExit("the kills came before anything was written")


if __name__ == "__main__":
    main()
