"""Kills a gateway with SIGKILL repeatedly while apps start sessions, add turns and end them, and others talk in rooms and calls, and checks that
acknowledged data survives and that every end is announced.

    python3 Tests/Interop/kill_gateway.py --patchbay .build/release/patchbay --rounds 50 --ends
    python3 Tests/Interop/kill_gateway.py --patchbay .build/release/patchbay --postgres --rounds 30 --kill-server 10 --ends

Requests that were not acknowledged are repeated with the same idempotency key after the restart. At the end every acknowledged session and
turn must exist exactly once, every acknowledged end must have been delivered as a webhook, each room's webhooks must have arrived in order,
every acknowledged call and every announced room must have ended by exactly one webhook, and `patchbay store verify` must succeed.

With `--postgres` the store is in PostgreSQL. `--kill-server` then kills the database's server in further rounds, while the gateway goes on:
requests that it answers with 503 are repeated, no connection may break, every user must be served again soon after the server's restart, no
webhook may be stored twice, and every join must have been announced. Needs the standard library only.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

from endpoint import Endpoint
from kill_checks import await_ends, await_webhooks, check_ends, check_joins, check_outbox, check_session_ends
from kill_users import App, Couple
from postgres import PostgresServer

APPS = 6
COUPLES = 2
# Upper bound in seconds: the gateway's longest pause between attempts to connect is 5 s.
RECOVERY_TIMEOUT = 20


class Gateway:
    """The gateway and its store.

    Parameters:
        database: the URI of the store's database; None for a store in a file.
    """

    def __init__(self, options, data, endpoint, database=None):
        self.options = options
        self.store = ["--data", data] + (["--database", database] if database else [])
        self.environment = os.environ | {"PATCHBAY_WEBHOOK_URLS": endpoint.url}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.tls = ssl.create_default_context(cafile=options.ca)
        self.process = None
        # Whether its database may be away; then the gateway itself is not killed.
        self.outlives_database = False
        # Set when the users' threads are to end.
        self.is_ending = threading.Event()

    def start(self):
        command = [self.options.patchbay, "serve", "--dev", "--port", str(self.port), *self.store, "--log-level", "error"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.environment)
        line = self.process.stdout.readline()
        if "listening" not in line:
            raise SystemExit(f"the gateway did not start: {line}")

    def webhooks(self):
        """Returns all webhooks, oldest first."""
        command = [self.options.patchbay, "webhook", "list", "--json", "--limit", "100000", *self.store]
        listed = subprocess.run(command, capture_output=True, text=True)
        if listed.returncode != 0:
            raise SystemExit(f"webhook list: {listed.stderr}")
        return json.loads(listed.stdout)[::-1]

    def verify(self):
        """Returns the result of `patchbay store verify` for people."""
        verified = subprocess.run([self.options.patchbay, "store", "verify", *self.store], capture_output=True, text=True)
        if verified.returncode != 0:
            raise SystemExit(f"store verify: {verified.stdout}{verified.stderr}")
        return verified.stdout.strip()

    def stop(self, number):
        self.process.send_signal(number)
        self.process.stdout.close()
        return self.process.wait()


@contextlib.contextmanager
def load(users):
    """Runs all users beside the body, which must make them end."""
    threads = [threading.Thread(target=user.run) for user in users]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        users[0].gateway.is_ending.set()
        for thread in threads:
            thread.join()
        users[0].gateway.is_ending.clear()
    check_failures(users)


def check_failures(users):
    for fault in [user.failure for user in users if user.failure]:
        raise fault


def kill_gateways(gateway, apps, couples, rounds, generator):
    for number in range(rounds):
        known = {app: len(app.turns) for app in apps}
        with load(apps + couples):
            time.sleep(generator.uniform(0.01, 0.5))
            gateway.stop(signal.SIGKILL)
        gateway.start()
        # Their tokens are valid for 15 minutes.
        if number % 20 == 19:
            for couple in couples:
                couple.log_in()
        for app in apps:
            app.log_in()
            # The sessions of this round, and the one before.
            app.check(list(app.turns)[max(0, known[app] - 1) :])


def kill_servers(gateway, server, users, rounds, generator):
    """Kills the database's server under load, and checks that the gateway goes on."""
    gateway.outlives_database = True
    with load(users):
        for _ in range(rounds):
            time.sleep(generator.uniform(0.1, 0.8))
            server.kill()
            time.sleep(generator.uniform(0.2, 1))
            server.start()
            await_progress(users)
    if gateway.process.poll() is not None:
        raise SystemExit("the gateway did not survive its database")


def await_progress(users):
    """Waits until each user has had a request acknowledged."""
    before = [user.acknowledged for user in users]
    began = time.monotonic()
    while any(user.acknowledged == count for user, count in zip(users, before)):
        check_failures(users)
        if time.monotonic() - began > RECOVERY_TIMEOUT:
            raise SystemExit(f"{RECOVERY_TIMEOUT} s after the database's restart some users are not served")
        time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patchbay", default=".build/release/patchbay")
    parser.add_argument("--ca", default="certs/dev/ca.cert.pem")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--summaries", action="store_true", help="also wait for every session's summary, up to two minutes longer")
    parser.add_argument("--ends", action="store_true", help="also wait for every session's end, up to three minutes longer")
    parser.add_argument("--postgres", action="store_true", help="the store is in a PostgreSQL server of its own")
    parser.add_argument("--kill-server", type=int, default=0, metavar="ROUNDS", help="rounds in which the PostgreSQL server is killed")
    options = parser.parse_args()
    if options.kill_server and not options.postgres:
        parser.error("--kill-server needs --postgres")
    seed = options.seed if options.seed is not None else random.randrange(1 << 32)
    print(f"{options.rounds} rounds, seed {seed}", flush=True)

    with contextlib.ExitStack() as resources:
        data = resources.enter_context(tempfile.TemporaryDirectory())
        # The machine goes on when a process is killed: its page cache is as good as the disk.
        server = resources.enter_context(PostgresServer(["fsync=off"])) if options.postgres else None
        endpoint = Endpoint("secret", seed)
        gateway = Gateway(options, data, endpoint, server and server.make_database())
        resources.callback(lambda: gateway.process and gateway.process.poll() is None and gateway.stop(signal.SIGKILL))
        run(gateway, server, endpoint, options, random.Random(seed))


def run(gateway, server, endpoint, options, generator):
    apps = [App(number, gateway) for number in range(APPS)]
    couples = [Couple(number, gateway) for number in range(COUPLES)]
    gateway.start()
    for user in apps + couples:
        user.register()
    kill_gateways(gateway, apps, couples, options.rounds, generator)
    if options.kill_server:
        kill_servers(gateway, server, apps + couples, options.kill_server, generator)
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
    check_outbox(rows)
    check_ends(rows, endpoint.bodies, couples)
    if options.ends:
        check_session_ends(rows, sessions)
    everyone = apps + [app for couple in couples for app in (couple.caller, couple.callee)]
    if options.kill_server:
        check_joins(rows, sum((app.joins for app in everyone), collections.Counter()))
    verified = gateway.verify()
    sessions = sum(len(app.turns) for app in apps)
    turns = sum(len(texts) for app in apps for texts in app.turns.values())
    print(f"{options.rounds} kills, {sessions} sessions and {turns} turns acknowledged, each stored once; {verified}")
    if options.kill_server:
        refused = sum(app.refused for app in everyone)
        print(f"{options.kill_server} deaths of the server, {refused} requests answered with 503 and repeated")
        if refused == 0:
            raise SystemExit("no request met a death of the server")
    events = ", ".join(f"{count} {name}" for name, count in collections.Counter(row["event"] for row in rows).most_common())
    print(f"{len(rows)} webhooks delivered, {sum(count > 1 for count in endpoint.accepted.values())} of them more than once: {events}")
    if turns < options.rounds:
        raise SystemExit("every kill came before the first write")


if __name__ == "__main__":
    main()
