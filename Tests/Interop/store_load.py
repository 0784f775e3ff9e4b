"""Lists, shows and deletes sessions of a full store from many connections, and looks at a call beside it.

    for product in patchbay patchbay-loadtest patchbay-fill-store; do swift build -c release --product $product; done
    python3 Tests/Interop/store_load.py --sessions 10000 --clients 50

Fills a store with patchbay-fill-store, starts a gateway on a free port, lets patchbay-loadtest measure two calls, and again while the
clients ask. Each client is a user of its own on one connection that stays, and asks at moments of its own, whatever became of the question
before: a time is counted from the moment at which the question was due, so that an answer that comes late is not measured once and hidden
from the next. What the disk takes to keep 64 KiB (`fdatasync`) is measured too: nothing is deleted faster than that. Needs the standard
library only.
"""

import argparse
import gc
import heapq
import json
import os
import random
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

PASSWORD = "correct horse battery"
# Of a shard, one address may have 64 questions open.
CLIENTS_MAX = 60
BLOCK = 64 << 10


class Question:
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


class Answer:
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
    """One connection that stays, and the story that is told over it: a generator that yields questions and is sent the answers."""

    def __init__(self, port, tls, story):
        plain = socket.create_connection(("127.0.0.1", port))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = tls.wrap_socket(plain, server_hostname="localhost")
        self.socket.setblocking(False)
        self.story = story
        self.question = None
        self.received = b""
        self.unsent = b""

    def send(self):
        while self.unsent:
            try:
                self.unsent = self.unsent[self.socket.send(self.unsent) :]
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                return

    def receive(self):
        """The answer, or None as long as it is not there as a whole."""
        while True:
            try:
                piece = self.socket.recv(BLOCK)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                break
            if not piece:
                raise SystemExit(f"the gateway closed the connection at {self.question.name}")
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
        return Answer(head, content)


class Times:
    """How long answers took, by kind of question, in seconds."""

    def __init__(self):
        self.taken = {}
        # From the moment at which a question could be sent to sending it: this program's own slowness.
        self.late = []

    def report(self):
        return {kind: percentiles(taken) for kind, taken in sorted(self.taken.items())}


def percentiles(taken):
    taken = sorted(taken)
    at = lambda share: round(taken[min(len(taken) - 1, int(len(taken) * share))] * 1e3, 2)
    return {"count": len(taken), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "max": at(1)} if taken else {"count": 0}


def tell(connections, times=None, goes_on=lambda: True):
    """Tells all stories side by side, until each has ended or it `goes_on` no more."""
    poll = select.epoll()
    by_number = {connection.socket.fileno(): connection for connection in connections}
    waiting, count = [], 0
    told = 0

    def advance(connection, answer):
        nonlocal count, told
        try:
            question = connection.story.send(answer)
        except StopIteration:
            told += 1
            return
        connection.question = question
        question.free = time.perf_counter()
        if question.due is None:
            ask(connection)
        else:
            count += 1
            heapq.heappush(waiting, (question.due, count, connection))

    def ask(connection):
        question = connection.question
        now = time.perf_counter()
        if times and question.due is not None:
            times.late.append(now - max(question.due, question.free))
        if question.due is None:
            question.due = now
        connection.unsent = question.bytes
        connection.send()

    for number, connection in by_number.items():
        poll.register(number, select.EPOLLIN)
        advance(connection, None)
    while told < len(connections) and goes_on():
        now = time.perf_counter()
        while waiting and waiting[0][0] <= now:
            ask(heapq.heappop(waiting)[2])
        pause = min(0.1, max(0, waiting[0][0] - time.perf_counter())) if waiting else 0.1
        for number, _ in poll.poll(pause):
            connection = by_number[number]
            if connection.unsent:
                connection.send()
            answer = connection.receive()
            if answer is None:
                continue
            question = connection.question
            if answer.status >= 300:
                raise SystemExit(f"{question.name}: {answer.status} {answer.content.decode()}")
            if times and question.kind:
                times.taken.setdefault(question.kind, []).append(time.perf_counter() - question.due)
            advance(connection, answer)
    for connection in connections:
        connection.socket.close()
    poll.close()


class User:
    def __init__(self, number):
        self.number = number
        self.account = {"email": f"user{number}@example.org", "password": PASSWORD}
        self.token = None
        self.sessions = []
        self.chance = random.Random(number)

    def come(self):
        self.token = (yield Question("POST", "/v1/auth/token", body=self.account)).json()["access_token"]

    def look(self):
        """At what there is of the user."""
        self.sessions = []
        path = "/v1/sessions?limit=200"
        while path:
            answer = yield Question("GET", path, self.token)
            self.sessions += [line["id"] for line in answer.json()]
            path = answer.next_page()

    def ask(self, kinds, every, begin):
        """Without end; `every` 0: as soon as the answer is there."""
        due = begin + every * self.chance.random()
        sessions = list(self.sessions)
        self.chance.shuffle(sessions)
        while True:
            moment = due if every else None
            kind = self.chance.choice(kinds)
            if kind == "list":
                yield Question("GET", "/v1/sessions", self.token, kind=kind, due=moment)
            elif not sessions:
                raise SystemExit("all sessions are deleted: take more of them, or a lower --rate")
            elif kind == "show":
                yield Question("GET", f"/v1/sessions/{self.chance.choice(sessions)}", self.token, kind=kind, due=moment)
            else:
                yield Question("DELETE", f"/v1/sessions/{sessions.pop()}", self.token, kind=kind, due=moment)
            due += every


class Gateway:
    def __init__(self, options, data):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.tls = ssl.create_default_context(cafile=options.ca)
        command = [options.patchbay, "serve", "--dev", "--port", str(self.port), "--data", data, "--log-level", "error"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "listening" not in line:
            raise SystemExit(f"the gateway did not start: {line}")

    def tell(self, stories, **options):
        tell([Connection(self.port, self.tls, story) for story in stories], **options)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.stdout.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def fill(options):
    if os.path.exists(os.path.join(options.data, "patchbay.sqlite")):
        return
    began = time.monotonic()
    command = [options.fill_store, options.data, "--users", str(options.clients), "--password", PASSWORD]
    subprocess.run(command + ["--sessions", str(options.sessions), "--turns", str(options.turns)], check=True)
    note(f"filled in {time.monotonic() - began:.0f} s")


def call(gateway, options):
    """Two calls on the gateway: patchbay-loadtest, which has begun."""
    command = [
        options.loadtest, "--dev", "--url", f"wss://127.0.0.1:{gateway.port}", "--calls", str(options.calls), "--seconds",
        str(options.seconds), "--warmup", "1", "--json",
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def heard(process):
    found = json.loads(process.communicate()[0])
    latency = found["latency"]
    return {name: round(latency[name], 3) for name in ("p50", "p90", "p99", "max")} | {"lost": found["frames"]["lost"]}


def disk(directory):
    """What keeping a block takes, in a file whose place on the disk is there already."""
    taken = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for pass_ in range(2):
            taken.clear()
            for index in range(200):
                os.pwrite(file.fileno(), os.urandom(BLOCK), index % 20 * BLOCK)
                began = time.perf_counter()
                os.fdatasync(file.fileno())
                taken.append(time.perf_counter() - began)
    return percentiles(taken)


def note(text):
    print(text, file=sys.stderr, flush=True)


def measure(gateway, users, options):
    findings = {"sessions": sum(len(user.sessions) for user in users), "turns": options.turns, "clients": options.clients}
    findings["disk_ms"] = disk(options.data)
    if options.calls:
        findings["call_alone_ms"] = heard(call(gateway, options))
    beside = call(gateway, options) if options.calls else None
    every = options.clients / options.rate if options.rate else 0
    begin = time.perf_counter() + 0.1
    times = Times()

    def goes_on():
        return time.perf_counter() < begin + options.seconds or (beside is not None and beside.poll() is None)

    gc.disable()
    gateway.tell([user.ask(options.kinds.split(","), every, begin) for user in users], times=times, goes_on=goes_on)
    seconds = time.perf_counter() - begin
    if beside:
        findings["call_beside_ms"] = heard(beside)
    findings["answers_ms"] = times.report()
    findings["answers_per_second"] = round(sum(map(len, times.taken.values())) / seconds)
    if times.late:
        findings["asked_late_ms"] = percentiles(times.late)
    return findings


def show(findings):
    def line(name, found):
        figures = ", ".join(f"{which} {found[which]:.2f}" for which in ("p50", "p90", "p99", "max") if which in found)
        counts = ", ".join(f"{found[which]} {which}" for which in ("lost",) if found.get(which)) or (
            f"{found['count']} times" if "count" in found else "")
        print(f"  {name:<15}{figures} ms{', ' + counts if counts else ''}")

    print(
        f"{findings['sessions']} sessions of {findings['turns']} turns, {findings['clients']} clients, "
        f"{findings['answers_per_second']} answers/s")
    for kind, found in findings["answers_ms"].items():
        line(kind, found)
    for name, key in [
        ("asked late", "asked_late_ms"), ("disk alone", "disk_ms"), ("call alone", "call_alone_ms"), ("call beside it", "call_beside_ms"),
    ]:
        if key in findings:
            line(name, findings[key])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patchbay", default=".build/release/patchbay")
    parser.add_argument("--loadtest", default=".build/release/patchbay-loadtest")
    parser.add_argument("--fill-store", default=".build/release/patchbay-fill-store")
    parser.add_argument("--ca", default="certs/dev/ca.cert.pem")
    parser.add_argument("--data", help="a directory that is kept, and filled only if it has no store yet; otherwise one that goes")
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=40, help="of each session")
    parser.add_argument("--clients", type=int, default=50, help="connections, each of a user of its own")
    parser.add_argument("--rate", type=float, default=900, help="questions a second, of all; 0: each client asks when it has its answer")
    parser.add_argument("--kinds", default="list,show,delete", help="what is asked, in equal shares")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--calls", type=int, default=2, help="beside it; 0 for none")
    parser.add_argument("--json", action="store_true", help="the findings as JSON on standard output")
    options = parser.parse_args()
    if not 1 <= options.clients <= CLIENTS_MAX:
        parser.error(f"--clients: 1 to {CLIENTS_MAX}, as many questions as one address may have open")

    with tempfile.TemporaryDirectory() as passing:
        options.data = options.data or passing
        fill(options)
        users = [User(number) for number in range(options.clients)]
        gateway = Gateway(options, options.data)
        try:
            gateway.tell([user.come() for user in users])
            gateway.tell([user.look() for user in users])
            findings = measure(gateway, users, options)
        finally:
            gateway.end()
    if options.json:
        print(json.dumps(findings, indent=2))
    else:
        show(findings)


if __name__ == "__main__":
    main()
