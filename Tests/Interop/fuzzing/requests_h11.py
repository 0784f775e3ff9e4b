"""Compares how a gateway reads HTTP requests with how h11, a strict parser, reads the same bytes.

Sends valid and ambiguous requests and seeded mutations of them over raw sockets, to the port with TLS and to `plain_port`. The gateway may
refuse what h11 accepts, but it must never answer a request that h11 does not see, or see another one, and each connection ends in time.
Each case comes from an address of its own, so 127.0.0.0/8 must be in `trusted_proxies`.

    python Tests/Interop/fuzzing/requests_h11.py --url https://127.0.0.1:7880 --plain-url http://127.0.0.1:7890 --ca certs/dev/ca.cert.pem
"""

import argparse
import asyncio
import collections
import random
import re
import ssl
import sys
import urllib.parse
from dataclasses import dataclass

import h11

from request_cases import LONG, TOO_LONG, VALID, Mutator, ambiguous

# Follows each case on its connection.
AFTER = b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-Request-ID: after\r\nConnection: close\r\n\r\n"
# Ends the connection, and says that the gateway does not read the request.
REFUSALS = {400, 408, 411, 413, 426, 431, 501}
CONCURRENT = 24


# What h11 sees.


@dataclass
class Request:
    method: str
    target: bytes
    body_bytes: int
    id: str | None
    upgrades: bool
    is_last: bool


@dataclass
class Reading:
    requests: list[Request]
    # What follows them: nothing, a request that is not complete, or bytes that are no request.
    rest: str


def read_by_h11(stream: bytes) -> Reading:
    requests = []
    while True:
        # RFC 9112 section 2.2 permits blank lines before a request; h11 does not.
        stream = re.sub(rb"\A(\r\n){1,2}", b"", stream)
        if not stream:
            return Reading(requests, "nothing")
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
        connection.receive_data(stream)
        head, body_bytes = None, 0
        try:
            while type(event := connection.next_event()) is not h11.EndOfMessage:
                if event is h11.NEED_DATA:
                    return Reading(requests, "incomplete")
                if type(event) is h11.Request:
                    head = event
                elif type(event) is h11.Data:
                    body_bytes += len(event.data)
        except h11.RemoteProtocolError:
            return Reading(requests, "fault")
        ids = [value for name, value in head.headers if name == b"x-request-id"]
        is_plain = len(ids) == 1 and re.fullmatch(rb"[A-Za-z0-9_.:-]{1,128}", ids[0])
        options = {option.strip().lower() for name, value in head.headers if name == b"connection" for option in value.split(b",")}
        requests.append(Request(
            head.method.decode(), head.target, body_bytes, ids[0].decode() if is_plain else None,
            any(name == b"upgrade" for name, _ in head.headers), b"close" in options or head.http_version < b"1.1"))
        if requests[-1].is_last:
            return Reading(requests, "nothing")
        stream = connection.trailing_data[0]


# What the gateway answers.


@dataclass
class Answer:
    status: int
    id: str | None
    closes: bool


class Gateway:
    def __init__(self, url: str, ca: str | None, deadline: float):
        address = urllib.parse.urlsplit(url)
        self.name, self.host, self.port, self.deadline = address.scheme, address.hostname, address.port, deadline
        self.tls = None
        if address.scheme == "https":
            self.tls = ssl.create_default_context(cafile=ca)
            self.tls.check_hostname = False

    async def exchange(self, stream: bytes) -> tuple[bytes, bool]:
        """Sends the bytes, and returns what arrives until the gateway ends the connection, and whether it does in time."""
        received = bytearray()
        try:
            async with asyncio.timeout(self.deadline):
                reader, writer = await asyncio.open_connection(self.host, self.port, ssl=self.tls, local_addr=self.new_source())
                try:
                    writer.write(stream)
                    while piece := await reader.read(65_536):
                        received += piece
                except (ConnectionError, ssl.SSLError):
                    pass
                finally:
                    writer.transport.abort()
        except TimeoutError:
            return bytes(received), False
        return bytes(received), True

    def new_source(self) -> tuple[str, int] | None:
        """Limits count by address, so each connection to loopback has its own."""
        if not self.host.startswith("127."):
            return None
        return f"127.{random.randint(1, 254)}.{random.randint(1, 254)}.{random.randint(2, 254)}", 0

    def answers(self, received: bytes, methods: list[str]) -> list[Answer]:
        """
        methods: of the requests, because the response to HEAD has no body.
        """
        answers = []
        while received:
            head, separator, received = received.partition(b"\r\n\r\n")
            lines = head.split(b"\r\n")
            status = re.fullmatch(rb"HTTP/1\.[01] (\d{3})( .*)?", lines[0])
            if not separator or not status:
                raise Difference(f"not a response: {head[:200]!r}")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
            status = int(status[1])
            if status == 101:
                return answers + [Answer(101, None, True)]
            if 100 <= status < 200:
                continue
            closes = fields.get(b"connection", b"").lower() == b"close"
            # The method of a request that is refused may be unknown.
            is_head = methods[len(answers):len(answers) + 1] == ["HEAD"] and not (closes and status in REFUSALS)
            if not is_head:
                received = received[int(fields.get(b"content-length", b"0")):]
            answers.append(Answer(status, fields.get(b"x-request-id", b"").decode() or None, closes))
        return answers


class Difference(Exception):
    pass


class Comparison:
    def __init__(self, gateway: Gateway):
        self.gateway = gateway
        self.outcomes = collections.Counter()
        # The status of a request in its plainest form, by method, target and length of the body.
        self.statuses: dict[tuple, asyncio.Task] = {}

    async def check(self, case: bytes, must_pass: bool, may_end: bool) -> None:
        stream = case + AFTER
        reading = read_by_h11(stream)
        received, has_ended = await self.gateway.exchange(stream)
        answers = self.gateway.answers(received, [request.method for request in reading.requests])
        if not has_ended:
            raise Difference(f"the connection does not end; {answers}")
        for index, answer in enumerate(answers):
            if answer.status in REFUSALS and answer.closes:
                self.outcomes["refused"] += 1
                if index < len(answers) - 1:
                    raise Difference(f"an answer after a refusal: {answers}")
                if must_pass:
                    raise Difference(f"refused: {answers}")
                return
            if index >= len(reading.requests):
                raise Difference(f"more answers than requests: {answers}, {reading}")
            await self.compare(answer, reading.requests[index])
        missing = len(answers) < len(reading.requests) and not (answers and answers[-1].closes)
        if missing and not may_end:
            raise Difference(f"fewer answers than requests: {answers}, {reading}")
        if must_pass and not answers:
            raise Difference("not answered")
        self.outcomes["answered" if answers else "ended"] += 1

    async def compare(self, answer: Answer, request: Request) -> None:
        if request.id and answer.id and answer.id != request.id and answer.status != 101:
            raise Difference(f"the answer is to another request: {answer}, {request}")
        if request.upgrades or answer.status in (429, 503):
            return
        expected = await self.status(request)
        if answer.status != expected:
            raise Difference(f"{answer} instead of {expected} to {request}")

    async def status(self, request: Request) -> int:
        key = (request.method, request.target, request.body_bytes)
        if key not in self.statuses:
            self.statuses[key] = asyncio.create_task(self.plain_status(*key))
        return await self.statuses[key]

    async def plain_status(self, method: str, target: bytes, body_bytes: int) -> int:
        length = b"Content-Length: %d\r\n" % body_bytes if body_bytes else b""
        head = b"%s %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%s\r\n" % (method.encode(), target, length)
        received, _ = await self.gateway.exchange(head + b"x" * body_bytes)
        answers = self.gateway.answers(received, [method])
        return answers[0].status if answers else 0


async def compare(gateway: Gateway, cases: list[tuple[bytes, bool, bool]]) -> list[str]:
    comparison, failures = Comparison(gateway), []
    places = asyncio.Semaphore(CONCURRENT)

    async def run(case: bytes, must_pass: bool, may_end: bool) -> None:
        async with places:
            try:
                await comparison.check(case, must_pass, may_end)
            except (Difference, OSError) as difference:
                failures.append(f"{gateway.name}: {difference}\n    {case[:1_000]!r}")

    await asyncio.gather(*(run(*case) for case in cases))
    print(f"{gateway.name}: {len(cases)} cases, {dict(comparison.outcomes)}, {len(failures)} differences")
    return failures


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="the gateway's port with TLS, https://HOST:PORT")
    parser.add_argument("--plain-url", help="its plain_port, http://HOST:PORT; 127.0.0.0/8 must be trusted proxies")
    parser.add_argument("--ca", help="the certificate that the gateway's is checked with")
    parser.add_argument("--mutations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=None, help="of the mutations; printed if not given")
    parser.add_argument("--deadline", type=float, default=60, help="seconds until each connection must have ended")
    options = parser.parse_args()
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    print(f"seed {seed}")
    mutator = Mutator(seed, VALID + ambiguous())
    cases = [(case, True, False) for case in VALID + LONG] + [(case, False, True) for case in TOO_LONG]
    cases += [(case, False, False) for case in ambiguous() + [mutator.case() for _ in range(options.mutations)]]
    failures = []
    for url in filter(None, [options.url, options.plain_url]):
        failures += await compare(Gateway(url, options.ca, options.deadline), cases)
    for failure in failures[:20]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
