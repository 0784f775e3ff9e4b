"""Receives a given number of webhooks with LiveKit's webhook receiver.

    python Tests/Interop/webhook_receiver.py --key devkey --secret secret --count 7

Prints the port, then a line of JSON for each webhook. Webhooks that the receiver rejects are answered with 401 and printed as errors.
"""

import argparse
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

from google.protobuf.json_format import MessageToDict
from livekit.api import TokenVerifier, WebhookReceiver


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--key", required=True)
    parser.add_argument("--secret", required=True)
    parser.add_argument("--count", type=int, required=True)
    arguments = parser.parse_args()
    receiver = WebhookReceiver(TokenVerifier(arguments.key, arguments.secret))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            try:
                told = MessageToDict(receiver.receive(body, self.headers["Authorization"]))
            except Exception as error:  # noqa: BLE001: printed for the test
                told = {"error": repr(error)}
            self.send_response(401 if "error" in told else 200)
            self.end_headers()
            print(json.dumps(told), flush=True)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    for _ in range(arguments.count):
        server.handle_request()


if __name__ == "__main__":
    main()
