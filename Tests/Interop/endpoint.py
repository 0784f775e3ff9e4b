"""A webhook endpoint that records deliveries in order and sometimes rejects one.

Plain HTTP and the standard library only.
"""

import base64
import collections
import hashlib
import hmac
import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# One in this many deliveries is answered with 503 and must be retried.
REJECTED_ONE_IN = 40
# The events of one lifetime of a room, in order.
ROOM_EVENTS = ["room_started", "participant_joined", "participant_left", "room_finished"]


class Endpoint:
    """Accepts webhooks on a free port from construction on."""

    def __init__(self, secret, seed, host="127.0.0.1"):
        self.secret = secret
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        # Bodies by event id in order of first delivery, and the number of accepted deliveries.
        self.bodies = {}
        self.accepted = collections.Counter()
        self.failures = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                # The gateway was killed in the middle of its request.
                if len(body) < length:
                    return
                self.send_response(endpoint.accept(body, self.headers.get("Authorization", "")))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                # The gateway was killed before it received its response.
                pass

        self.server = Server((host, 0), Handler)
        self.url = f"http://{host}:{self.server.server_port}/webhooks"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def accept(self, body, signature):
        with self.lock:
            if not self.is_signed(body, signature):
                self.failures.append(f"not signed: {body[:200]}")
                return 401
            event = json.loads(body)
            before = self.bodies.setdefault(event["id"], body)
            if before != body:
                self.failures.append(f"{event['id']} changed from {before} to {body}")
            if self.random.randrange(REJECTED_ONE_IN) == 0:
                return 503
            self.accepted[event["id"]] += 1
            return 200

    def is_signed(self, body, token):
        """Verifies the signature as LiveKit's receivers do: a token with the body's hash as a claim."""
        head, _, signature = token.rpartition(".")
        expected = hmac.new(self.secret.encode(), head.encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(base64.urlsafe_b64encode(expected).rstrip(b"=").decode(), signature):
            return False
        claims = head.partition(".")[2]
        claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
        return claims["sha256"] == base64.b64encode(hashlib.sha256(body).digest()).decode()

    def rooms(self):
        """Returns the events by room, in order of first delivery."""
        with self.lock:
            rooms = collections.defaultdict(list)
            for body in self.bodies.values():
                event = json.loads(body)
                rooms[(event.get("room") or {}).get("name") or (event.get("session") or event.get("call"))["roomName"]].append(event)
            return rooms

    def check(self, rows):
        """Compares deliveries with the store: delivered rows were accepted, and each room's events arrived in order.

        `rows`: the store's rows, oldest first.
        """
        if self.failures:
            raise SystemExit(f"webhooks: {self.failures[:5]}")
        missing = [row["id"] for row in rows if row["status"] == "delivered" and self.accepted[row["id"]] == 0]
        unknown = set(self.bodies) - {row["id"] for row in rows}
        if missing or unknown:
            raise SystemExit(f"webhooks: {len(missing)} are missing, {missing[:5]}; {len(unknown)} are not in the store, {list(unknown)[:5]}")
        written = collections.defaultdict(list)
        for row in rows:
            written[row["room"]].append(row["id"])
        for room, events in self.rooms().items():
            if [event["id"] for event in events] != written[room][: len(events)]:
                raise SystemExit(f"webhooks of {room}: {[event['event'] for event in events]} differs from the stored order {written[room]}")
            orders = collections.defaultdict(list)
            for event in events:
                if event["event"] in ROOM_EVENTS:
                    orders[event["room"]["sid"]].append(ROOM_EVENTS.index(event["event"]))
            for sid, order in orders.items():
                if order != sorted(order):
                    raise SystemExit(f"webhooks of {room}, {sid}: {[event['event'] for event in events]}")
            names = [event["event"] for event in events if "session" in event]
            if names != sorted(set(names)):
                raise SystemExit(f"webhooks of the session of {room}: {names}")
