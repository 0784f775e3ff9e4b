"""Kills a gateway with SIGKILL while a room is open and a call rings, and checks that the next process announces their ends exactly once.

    python3 Tests/Interop/kill_open_calls.py --patchbay .build/release/patchbay

After the restart with the same data, the webhooks `room_finished` and `call_failed` must arrive, and a second kill and restart must not repeat
them. Needs the standard library only.
"""

import argparse
import base64
import json
import random
import signal
import socket
import tempfile
import time

from endpoint import Endpoint
from kill_gateway import App, Gateway

TIMEOUT = 30


class Channel:
    """A WebSocket on which the test only listens."""

    def __init__(self, gateway, path, token):
        nonce = base64.b64encode(random.randbytes(16)).decode()
        request = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{gateway.port}\r\nAuthorization: Bearer {token}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {nonce}\r\nSec-WebSocket-Protocol: patchbay.v1\r\n\r\n")
        plain = socket.create_connection(("127.0.0.1", gateway.port), timeout=TIMEOUT)
        self.socket = gateway.tls.wrap_socket(plain, server_hostname="127.0.0.1")
        self.socket.sendall(request.encode())
        self.received = b""
        self.wait_for(b'"hello"')

    def wait_for(self, text):
        while text not in self.received:
            piece = self.socket.recv(65536)
            if not piece:
                raise SystemExit(f"the connection ended before {text.decode()}: {self.received.decode(errors='replace')}")
            self.received += piece


def wait_until(what, condition):
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > TIMEOUT:
            raise SystemExit(f"no {what} within {TIMEOUT} s")
        time.sleep(0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patchbay", default=".build/release/patchbay")
    parser.add_argument("--ca", default="certs/dev/ca.cert.pem")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as data:
        endpoint = Endpoint("secret", 1)
        gateway = Gateway(options, data, endpoint)
        gateway.start()
        try:
            check(gateway, endpoint)
        finally:
            if gateway.process.poll() is None:
                gateway.stop(signal.SIGKILL)


def check(gateway, endpoint):
    caller, callee = App(1, gateway), App(2, gateway)
    for app in (caller, callee):
        app.register()
    user = callee.request("GET", "/v1/users/me")[0]["id"]
    session = caller.request("POST", "/v1/sessions/start", {"context": "phone"})[0]
    room = session["room_name"]
    channels = [Channel(gateway, "/v1/rtc", session["livekit_token"]), Channel(gateway, "/v1/events", callee.token)]
    call = caller.request("POST", "/v1/calls", {"to": [user]})[0]["call_id"]
    channels[1].wait_for(b"call.incoming")

    def events(name):
        return [event for event in map(json.loads, list(endpoint.bodies.values())) if event["event"] == name]

    def is_expected(event):
        return event["room"]["name"] == room if event["event"].startswith("room_") else call in json.dumps(event["call"])

    def stored(name):
        return [row for row in gateway.webhooks() if row["event"] == name]

    # What was announced must be known to the receivers before the kill; an end is announced only for what was.
    wait_until("room_started", lambda: any(map(is_expected, events("room_started"))))
    wait_until("call_ringing", lambda: any(map(is_expected, events("call_ringing"))))
    ends = {"room_finished": 1, "call_failed": 1}
    for name in ends:
        if events(name):
            raise SystemExit(f"{name} came before the kill")

    for attempt in ("first", "second"):
        gateway.stop(signal.SIGKILL)
        gateway.start()
        for name in ends:
            wait_until(f"{name} after the {attempt} kill", lambda name=name: any(map(is_expected, events(name))))
        wait_until("delivery of all webhooks", lambda: all(row["status"] == "delivered" for row in gateway.webhooks()))
        for name, count in ends.items():
            found = [event for event in events(name) if is_expected(event)]
            if len(found) != count or len(stored(name)) != count:
                raise SystemExit(f"after the {attempt} kill: {len(found)} {name} arrived and {len(stored(name))} are stored instead of {count}")
            if any(endpoint.accepted[event["id"]] != 1 for event in found):
                raise SystemExit(f"{name} was delivered more than once")
    if endpoint.failures:
        raise SystemExit(f"webhooks: {endpoint.failures[:5]}")
    if gateway.stop(signal.SIGTERM) != 0:
        raise SystemExit("the gateway did not exit cleanly")
    print("room_finished and call_failed arrived once each after a kill, and were not repeated after another")


if __name__ == "__main__":
    main()
