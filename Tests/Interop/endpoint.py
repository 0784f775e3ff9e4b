"""An endpoint for webhooks that notes what it is told, in which order, and now and then does not take it.

Plain HTTP and the standard library only, so that nothing but the gateway can be at fault.
"""

import base64
import collections
import hashlib
import hmac
import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# One in so many is answered with 503, and has to come again.
REFUSED = 40
# What happens in one life of a room, in this order.
LIFE = ["room_started", "participant_joined", "participant_left", "room_finished"]


class Endpoint:
    """Takes webhooks from the moment it is made, on a port of its own."""

    def __init__(self, secret, seed):
        self.secret = secret
        self.chance = random.Random(seed)
        self.lock = threading.Lock()
        # By identifier: what was told, and how often that was taken. In the order in which it was told first.
        self.told = {}
        self.taken = collections.Counter()
        self.faults = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                # Whoever was killed in the middle of its request is not there for the answer.
                if len(body) < length:
                    return
                self.send_response(endpoint.take(body, self.headers.get("Authorization", "")))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                # A gateway that was killed before it had its answer.
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/webhooks"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, body, signature):
        with self.lock:
            if not self.is_signed(body, signature):
                self.faults.append(f"not signed: {body[:200]}")
                return 401
            told = json.loads(body)
            before = self.told.setdefault(told["id"], body)
            if before != body:
                self.faults.append(f"{told['id']} was {before} and is {body}")
            if self.chance.randrange(REFUSED) == 0:
                return 503
            self.taken[told["id"]] += 1
            return 200

    def is_signed(self, body, token):
        """As LiveKit's receivers look at it: a token whose claim is the body's hash."""
        head, _, signature = token.rpartition(".")
        expected = hmac.new(self.secret.encode(), head.encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(base64.urlsafe_b64encode(expected).rstrip(b"=").decode(), signature):
            return False
        claims = head.partition(".")[2]
        claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
        return claims["sha256"] == base64.b64encode(hashlib.sha256(body).digest()).decode()

    def rooms(self):
        """By room: what it was told of it, the first time that it was."""
        with self.lock:
            rooms = collections.defaultdict(list)
            for body in self.told.values():
                event = json.loads(body)
                rooms[(event.get("room") or {}).get("name") or event["session"]["roomName"]].append(event)
            return rooms

    def check(self, rows):
        """Holds what came to what the store has: what it takes for delivered was taken, and each room's came in order.

        `rows`: of the store, the oldest first.
        """
        if self.faults:
            raise SystemExit(f"webhooks: {self.faults[:5]}")
        missing = [row["id"] for row in rows if row["status"] == "delivered" and self.taken[row["id"]] == 0]
        strange = set(self.told) - {row["id"] for row in rows}
        if missing or strange:
            raise SystemExit(f"webhooks: {len(missing)} did not arrive, {missing[:5]}; {len(strange)} were never written, {list(strange)[:5]}")
        written = collections.defaultdict(list)
        for row in rows:
            written[row["room"]].append(row["id"])
        for room, events in self.rooms().items():
            if [event["id"] for event in events] != written[room][: len(events)]:
                raise SystemExit(f"webhooks of {room}: {[event['event'] for event in events]} is not the order of {written[room]}")
            lives = collections.defaultdict(list)
            for event in events:
                if event["event"] in LIFE:
                    lives[event["room"]["sid"]].append(LIFE.index(event["event"]))
            for sid, life in lives.items():
                if life != sorted(life):
                    raise SystemExit(f"webhooks of {room}, {sid}: {[event['event'] for event in events]}")
            names = [event["event"] for event in events if "session" in event]
            if names != sorted(set(names)):
                raise SystemExit(f"webhooks of the session of {room}: {names}")
