"""Lists, shows and deletes sessions of a full store over many connections, and measures their latency and that of a concurrent call.

    for product in patchbay patchbay-loadtest patchbay-fill-store; do swift build -c release --product $product; done
    python3 Tests/Interop/store_load.py --sessions 10000 --clients 50
    python3 Tests/Interop/store_load.py --sessions 10000 --clients 50 --postgres

Fills a store with patchbay-fill-store, in a file or in a PostgreSQL server of its own with the default settings, starts a gateway on a free port, and measures two calls with patchbay-loadtest, first alone and then
during the requests. Each client is a separate user on a persistent connection with its own schedule. Latency counts from the time a request was
due, which avoids coordinated omission. The disk's `fdatasync` of 64 KiB is measured too, as a lower bound for deletions. Needs the
standard library only.
"""

import argparse
import contextlib
import gc
import heapq
import json
import os
import random
import select
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

from postgres import PostgresServer

PASSWORD = "correct horse battery"
# A shard accepts 64 concurrent requests per address.
CLIENTS_MAX = 60
LOG_INS_MAX = 8
BLOCK = 64 << 10
CALLS = [("call alone", "call_alone_ms"), ("call during", "call_beside_ms")]


class Request:
    def __init__(self, method, path, token=None, body=None, kind=None, due=None):
        self.kind, self.due = kind, due
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
        content = b""
        if token:
            lines.append(f"Authorization: Bearer {token}")
        if body is not None:
            content = json.dumps(body).encode()
            lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        self.name = f"{method} {path}"
        self.bytes = "\r\n".join(lines).encode() + b"\r\n\r\n" + content


class Response:
    def __init__(self, head, content):
        self.status = int(head[9:12])
        self.head, self.content = head, content

    def json(self):
        return json.loads(self.content)

    def next_page(self):
        for line in self.head.split(b"\r\n"):
            if line.lower().startswith(b"link:"):
                return line[line.index(b"<") + 1 : line.index(b">")].decode()
        return None


class Connection:
    """A persistent connection with its script: a generator that yields requests and receives responses."""

    def __init__(self, port, tls, script):
        plain = socket.create_connection(("127.0.0.1", port))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = tls.wrap_socket(plain, server_hostname="localhost")
        self.socket.setblocking(False)
        self.script = script
        self.request = None
        self.received = b""
        self.unsent = b""

    def send(self):
        while self.unsent:
            try:
                self.unsent = self.unsent[self.socket.send(self.unsent) :]
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                return

    def receive(self):
        """Returns the response, or None while it is incomplete."""
        while True:
            try:
                piece = self.socket.recv(BLOCK)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                break
            if not piece:
                raise SystemExit(f"the gateway closed the connection at {self.request.name}")
            self.received += piece
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = self.received[:end]
        fields = head.lower()
        at = fields.find(b"content-length:")
        length = int(fields[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        whole = end + 4 + length
        if len(self.received) < whole:
            return None
        content, self.received = self.received[end + 4 : whole], self.received[whole:]
        return Response(head, content)


class Times:
    """Response times in seconds, by kind of request."""

    def __init__(self):
        self.durations = {}
        # Delay between when a request could be sent and when it was: this program's own overhead.
        self.late = []

    def report(self):
        return {kind: percentiles(durations) for kind, durations in sorted(self.durations.items())}


def percentiles(durations):
    durations = sorted(durations)
    at = lambda share: round(durations[min(len(durations) - 1, int(len(durations) * share))] * 1e3, 2)
    return {"count": len(durations), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "max": at(1)} if durations else {"count": 0}


def run(connections, times=None, should_continue=lambda: True):
    """Runs all scripts concurrently until each has ended or `should_continue` returns false."""
    poll = select.epoll()
    by_descriptor = {connection.socket.fileno(): connection for connection in connections}
    waiting, count = [], 0
    finished = 0

    def advance(connection, response):
        nonlocal count, finished
        try:
            request = connection.script.send(response)
        except StopIteration:
            finished += 1
            return
        connection.request = request
        request.free = time.perf_counter()
        if request.due is None:
            send(connection)
        else:
            count += 1
            heapq.heappush(waiting, (request.due, count, connection))

    def send(connection):
        request = connection.request
        now = time.perf_counter()
        if times and request.due is not None:
            times.late.append(now - max(request.due, request.free))
        if request.due is None:
            request.due = now
        connection.unsent = request.bytes
        connection.send()

    for number, connection in by_descriptor.items():
        poll.register(number, select.EPOLLIN)
        advance(connection, None)
    while finished < len(connections) and should_continue():
        now = time.perf_counter()
        while waiting and waiting[0][0] <= now:
            send(heapq.heappop(waiting)[2])
        pause = min(0.1, max(0, waiting[0][0] - time.perf_counter())) if waiting else 0.1
        for number, _ in poll.poll(pause):
            connection = by_descriptor[number]
            if connection.unsent:
                connection.send()
            response = connection.receive()
            if response is None:
                continue
            request = connection.request
            if response.status >= 300:
                raise SystemExit(f"{request.name}: {response.status} {response.content.decode()}")
            if times and request.kind:
                times.durations.setdefault(request.kind, []).append(time.perf_counter() - request.due)
            advance(connection, response)
    for connection in connections:
        connection.socket.close()
    poll.close()


class User:
    def __init__(self, number):
        self.number = number
        self.account = {"email": f"user{number}@example.org", "password": PASSWORD}
        self.token = None
        self.sessions = []
        self.generator = random.Random(number)

    def log_in(self):
        self.token = (yield Request("POST", "/v1/auth/token", body=self.account)).json()["access_token"]

    def load_sessions(self):
        """Lists the user's sessions."""
        self.sessions = []
        path = "/v1/sessions?limit=200"
        while path:
            response = yield Request("GET", path, self.token)
            self.sessions += [line["id"] for line in response.json()]
            path = response.next_page()

    def requests(self, kinds, every, begin):
        """Yields requests endlessly; `every` 0 sends the next one after each response."""
        due = begin + every * self.generator.random()
        sessions = list(self.sessions)
        self.generator.shuffle(sessions)
        while True:
            moment = due if every else None
            kind = self.generator.choice(kinds)
            if kind == "list":
                yield Request("GET", "/v1/sessions", self.token, kind=kind, due=moment)
            elif not sessions:
                raise SystemExit("all sessions are deleted: use more --sessions or a lower --rate")
            elif kind == "show":
                yield Request("GET", f"/v1/sessions/{self.generator.choice(sessions)}", self.token, kind=kind, due=moment)
            else:
                yield Request("DELETE", f"/v1/sessions/{sessions.pop()}", self.token, kind=kind, due=moment)
            due += every


class Gateway:
    def __init__(self, options, data, database=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.tls = ssl.create_default_context(cafile=options.ca)
        command = [options.patchbay, "serve", "--dev", "--port", str(self.port), "--data", data, "--log-level", "error"]
        command += ["--database", database] if database else []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "listening" not in line:
            raise SystemExit(f"the gateway did not start: {line}")

    def run(self, scripts, **options):
        run([Connection(self.port, self.tls, script) for script in scripts], **options)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.stdout.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def fill(options, database):
    if database is None and os.path.exists(os.path.join(options.data, "patchbay.sqlite")):
        return
    began = time.monotonic()
    # 430,000 commits are not to wait for the disk one by one.
    unsynced = f"{database}&options=-csynchronous_commit%3Doff"
    target = ["--database", unsynced, "--master-key", os.path.join(options.data, "master.key")] if database else [options.data]
    command = [options.fill_store, *target, "--users", str(options.clients), "--password", PASSWORD]
    subprocess.run(command + ["--sessions", str(options.sessions), "--turns", str(options.turns)], check=True)
    log(f"filled in {time.monotonic() - began:.0f} s")


def start_calls(gateway, options):
    """Starts patchbay-loadtest with two calls on the gateway."""
    command = [
        options.loadtest, "--dev", "--url", f"wss://127.0.0.1:{gateway.port}", "--calls", str(options.calls), "--seconds",
        str(options.seconds), "--warmup", "1", "--json",
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def latency_of(process):
    values = json.loads(process.communicate()[0])
    latency = values["latency"]
    return {name: round(latency[name], 3) for name in ("p50", "p90", "p99", "max")} | {"lost": values["frames"]["lost"]}


def measure_disk(directory):
    """Measures `fdatasync` of one block in a preallocated file."""
    durations = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for pass_ in range(2):
            durations.clear()
            for index in range(200):
                os.pwrite(file.fileno(), os.urandom(BLOCK), index % 20 * BLOCK)
                began = time.perf_counter()
                os.fdatasync(file.fileno())
                durations.append(time.perf_counter() - began)
    return percentiles(durations)


def log(text):
    print(text, file=sys.stderr, flush=True)


def measure(gateway, users, options):
    results = {"sessions": sum(len(user.sessions) for user in users), "turns": options.turns, "clients": options.clients}
    results["disk_ms"] = measure_disk(options.data)
    if options.calls:
        results["call_alone_ms"] = latency_of(start_calls(gateway, options))
    calls = start_calls(gateway, options) if options.calls else None
    every = options.clients / options.rate if options.rate else 0
    begin = time.perf_counter() + 0.1
    times = Times()

    def should_continue():
        return time.perf_counter() < begin + options.seconds or (calls is not None and calls.poll() is None)

    gc.disable()
    gateway.run([user.requests(options.kinds.split(","), every, begin) for user in users], times=times, should_continue=should_continue)
    seconds = time.perf_counter() - begin
    if calls:
        results["call_beside_ms"] = latency_of(calls)
    results["answers_ms"] = times.report()
    results["answers_per_second"] = round(sum(map(len, times.durations.values())) / seconds)
    if times.late:
        results["asked_late_ms"] = percentiles(times.late)
    return results


def show(results):
    def line(name, values):
        figures = ", ".join(f"{which} {values[which]:.2f}" for which in ("p50", "p90", "p99", "max") if which in values)
        counts = ", ".join(f"{values[which]} {which}" for which in ("lost",) if values.get(which)) or (
            f"{values['count']} times" if "count" in values else "")
        print(f"  {name:<15}{figures} ms{', ' + counts if counts else ''}")

    print(
        f"{results['sessions']} sessions of {results['turns']} turns, {results['clients']} clients, "
        f"{results['answers_per_second']} responses/s")
    for kind, values in results["answers_ms"].items():
        line(kind, values)
    for name, key in [("sent late", "asked_late_ms"), ("disk", "disk_ms"), *CALLS]:
        if key in results:
            line(name, results[key])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patchbay", default=".build/release/patchbay")
    parser.add_argument("--loadtest", default=".build/release/patchbay-loadtest")
    parser.add_argument("--fill-store", default=".build/release/patchbay-fill-store")
    parser.add_argument("--ca", default="certs/dev/ca.cert.pem")
    parser.add_argument("--data", help="a directory to keep, filled only if it has no store yet (default: a temporary directory)")
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=40, help="turns per session")
    parser.add_argument("--clients", type=int, default=50, help="connections, each with its own user")
    parser.add_argument("--rate", type=float, default=900, help="total requests per second; 0: each client sends the next request after its response")
    parser.add_argument("--kinds", default="list,show,delete", help="kinds of requests, in equal shares")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--calls", type=int, default=2, help="concurrent calls; 0 for none")
    parser.add_argument("--runs", type=int, default=1, help="measurements of the same store, which lose the sessions deleted before")
    parser.add_argument("--postgres", action="store_true", help="the store is in a PostgreSQL server of its own")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    options = parser.parse_args()
    if not 1 <= options.clients <= CLIENTS_MAX:
        parser.error(f"--clients: must be 1 to {CLIENTS_MAX}, the concurrent requests per address")

    with contextlib.ExitStack() as resources:
        options.data = options.data or resources.enter_context(tempfile.TemporaryDirectory())
        server = resources.enter_context(PostgresServer()) if options.postgres else None
        database = server and server.make_database()
        fill(options, database)
        if server:
            # The server itself would do it within a minute or two.
            server.run("VACUUM ANALYZE", database)
            server.run("CHECKPOINT")
        results = [run_once(options, database) for _ in range(options.runs)]
    if options.json:
        return print(json.dumps(results if options.runs > 1 else results[0], indent=2))
    for result in results:
        show(result)
    if options.runs > 1:
        show_medians(results)


def run_once(options, database):
    users = [User(number) for number in range(options.clients)]
    gateway = Gateway(options, options.data, database)
    try:
        # The gateway limits concurrent log-ins from one address, for each may be a guess.
        for first in range(0, len(users), LOG_INS_MAX):
            gateway.run([user.log_in() for user in users[first : first + LOG_INS_MAX]])
        gateway.run([user.load_sessions() for user in users])
        return measure(gateway, users, options)
    finally:
        gateway.stop()


def show_medians(results):
    kinds = {kind: [result["answers_ms"][kind]["p99"] for result in results] for kind in results[0]["answers_ms"]}
    calls = {name: [result[key]["p99"] for result in results] for name, key in CALLS if key in results[0]}
    print("medians of p99: " + ", ".join(f"{name} {statistics.median(values):.2f} ms" for name, values in (kinds | calls).items()))


if __name__ == "__main__":
    main()
