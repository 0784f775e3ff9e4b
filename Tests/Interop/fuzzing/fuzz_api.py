"""Fuzzes every HTTP route of a running gateway with Schemathesis, from /openapi.json.

    .venv-interop/bin/python Tests/Interop/fuzzing/fuzz_api.py --url https://127.0.0.1:7880 --ca certs/dev/ca.cert.pem --examples 50

Fails on any 5xx and on any response that the document does not describe. It leaves data in the gateway's store: use a separate one.
"""

import argparse
import datetime
import itertools
import json
import pathlib
import socket
import ssl
import sys
import urllib.request
import uuid

import schemathesis
import urllib3.util.connection
from livekit import api
from schemathesis.cli import schemathesis as command


@schemathesis.hook
def filter_path_parameters(context, path_parameters):
    """Excludes line breaks in paths; they are answered with 400, which the gateway's own tests cover."""
    return not any(end in str(value).upper() for value in (path_parameters or {}).values() for end in ("\r", "\n", "%0D", "%0A"))


def use_many_source_addresses():
    """Gives each connection its own loopback address, because failed attempts are limited per address."""
    numbers = itertools.count(1)

    def connect(address, timeout=None, source_address=None, socket_options=None):
        number = next(numbers)
        source = f"127.{1 + number // 62500 % 250}.{number // 250 % 250}.{1 + number % 250}"
        return socket.create_connection(address, 30, (source, 0))

    urllib3.util.connection.create_connection = connect


def register(url, context):
    body = json.dumps({"email": f"{uuid.uuid4()}@example.org", "password": "correct horse battery"}).encode()
    ask = urllib.request.Request(f"{url}/v1/auth/register", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(ask, context=context) as answer:
        return json.load(answer)["access_token"]


def administer(key, secret):
    grants = api.VideoGrants(room="lobby", room_admin=True, room_list=True, room_create=True)
    return api.AccessToken(key, secret).with_identity("fuzz").with_grants(grants).with_ttl(datetime.timedelta(hours=1)).to_jwt()


def run(options, token, selection):
    arguments = [
        "--config-file", str(pathlib.Path(__file__).with_name("schemathesis.toml")), "run", f"{options.url}/openapi.json", "--tls-verify", options.ca, "--header", f"Authorization: Bearer {token}",
        "--header", "Connection: close", "--phases", "examples,coverage,fuzzing", "--max-examples", str(options.examples),
        "--seed", str(options.seed), "--checks", "all",
        # The first would send requests without the token; the others have tests of their own.
        "--exclude-checks", "ignored_auth,use_after_free,ensure_resource_availability,object_level_authorization",
        "--continue-on-failure", "--warnings", "off", "--generation-database", "none", *selection,
    ]
    try:
        command.main(arguments, standalone_mode=False)
    except SystemExit as end:
        return end.code or 0
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="https://127.0.0.1:7880")
    parser.add_argument("--ca", default="certs/dev/ca.cert.pem")
    parser.add_argument("--key", default="devkey")
    parser.add_argument("--secret", default="secret")
    parser.add_argument("--examples", type=int, default=50, help="examples per route")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    context = ssl.create_default_context(cafile=options.ca)
    use_many_source_addresses()
    user = ["--include-path-regex", "^/v1/(auth|users|sessions|calls)"]
    codes = [
        run(options, register(options.url, context), [*user, "--exclude-operation-id", "delete_v1_users_me"]),
        # /v1/rtc and /v1/events are WebSockets.
        run(options, administer(options.key, options.secret), ["--exclude-path-regex", "^/v1/(auth|users|sessions|calls|rtc|events)"]),
        run(options, register(options.url, context), ["--include-operation-id", "delete_v1_users_me"]),
    ]
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
