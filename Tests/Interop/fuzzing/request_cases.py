"""HTTP requests as bytes: valid ones, ones that two servers could read differently (RFC 9112 section 11.2), and mutations of both."""

import random
import re

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
# Looks like a request, and is the body of one.
INNER = b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-Request-ID: inner\r\nA: b\r\n\r\n"
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(INNER), INNER)
HOST = b"Host: h"
UPGRADE = [HOST, b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: " + KEY]


def request(line: bytes, *fields: bytes, body: bytes = b"", id: bytes = b"case") -> bytes:
    return b"\r\n".join([line, *fields, b"X-Request-ID: " + id, b"", b""]) + body


def length(body: bytes) -> bytes:
    return b"Content-Length: %d" % len(body)


VALID = [
    request(b"GET /healthz HTTP/1.1", HOST),
    request(b"HEAD /healthz HTTP/1.1", HOST),
    request(b"GET /nowhere?a=%20b&c HTTP/1.1", HOST, b"Accept: */*", b"User-Agent: test", b"Cookie: a=b; c=d"),
    request(b"GET /v1/rooms HTTP/1.1", b"host:\th:7880 ", b"X-Forwarded-For: 192.0.2.1, 192.0.2.2", b"Origin: https://a.example"),
    request(b"OPTIONS /healthz HTTP/1.1", HOST, b"Access-Control-Request-Method: GET"),
    request(b"DELETE /nowhere HTTP/1.1", HOST),
    request(b"POST /nowhere HTTP/1.1", HOST, length(INNER), body=INNER),
    request(b"PUT /healthz HTTP/1.1", length(INNER), HOST, body=INNER),
    request(b"GET /healthz HTTP/1.1", HOST, length(INNER), body=INNER),
    request(b"PATCH /nowhere HTTP/1.1", HOST, b"Content-Length: 0"),
    request(b"POST /nowhere HTTP/1.1", HOST),
    request(b"GET /healthz HTTP/1.1", HOST, b"Connection: close"),
    request(b"GET /healthz HTTP/1.0"),
    b"\r\n" + request(b"GET /healthz HTTP/1.1", HOST),
    request(b"GET /healthz HTTP/1.1", HOST, id=b"first") + request(b"GET /nowhere HTTP/1.1", HOST, id=b"second"),
    request(b"POST /nowhere HTTP/1.1", HOST, length(INNER), body=INNER, id=b"first")
    + request(b"HEAD /nowhere HTTP/1.1", HOST, id=b"second"),
]

# Valid ones that are as long as they may be.
LONG = [
    request(b"GET /healthz HTTP/1.1", HOST, b"X: " + b"x" * 15_000),
    request(b"GET /healthz HTTP/1.1", HOST, *(b"X-%d: %s" % (number, b"x" * 150) for number in range(90))),
]

# These end the connection, without an answer.
TOO_LONG = [
    request(b"GET /healthz HTTP/1.1", HOST, b"X: " + b"x" * 17_000),
    request(b"GET /" + b"x" * 17_000 + b" HTTP/1.1", HOST),
    request(b"GET /healthz HTTP/1.1", HOST, *(b"X-%d: a" % number for number in range(2_000))),
]

# Proper beginnings of names that libwebsockets knows. Its parser overlooks the field that follows one.
BEGINNINGS = [
    b"X", b"A", b"G", b"H", b"If", b"Te", b"Pos", b"Hos", b"Accep", b"Origi", b"Upgrad", b"X-Auth", b"Content", b"Connectio",
    b"X-Forwarded", b"Sec-WebSocket", b"Content-Lengt", b"Transfer-Encodin", b"Sec-WebSocket-Ke",
]
DANGEROUS = [
    length(INNER), b"Content-Length: 0", b"Transfer-Encoding: chunked", b"Origin: https://a.example", b"X-Forwarded-For: 192.0.2.1",
    b"Connection: close", b"Sec-WebSocket-Key: " + KEY, b"Sec-WebSocket-Protocol: patchbay.v1",
]
CODINGS = [
    b"Transfer-Encoding" + rest for rest in [
        b"", b":", b": chunked", b":chunked", b": \tchunked\t", b" : chunked", b": Chunked", b": xchunked", b": identity", b": ,chunked",
        b": chunked, identity", b": gzip, chunked", b": \x0bchunked", b":\r\n chunked", b": \"chunked\"", b": chunked;a=b", b": chunked\0",
        b": chunked\r\nTransfer-Encoding: chunked", b": chunked\r\nTransfer-Encoding: x",
    ]
] + [
    b"transfer-encoding: chunked", b"Transfer_Encoding: chunked", b" Transfer-Encoding: chunked", b"X: a\nTransfer-Encoding: chunked",
    b"X: a\rTransfer-Encoding: chunked",
]
LENGTHS = [
    b"Content-Length: " + re.sub("%[dx]", lambda match: match[0] % len(INNER), form).encode() for form in [
        "%d", "+%d", "-%d", "0%d", "1%d", "%d ", "%d 0", "%d\0", "\0%d", "\x0b%d", "%d, %d", "%d,%d", "%d;", "%d.0", "%d_", "%de0", "0x%x",
        "", " ", "\r\n %d", "%d\r\nContent-Length: %d", "%d\r\nContent-Length: 0", "0\r\nContent-Length: %d", "000000000000000000000%d",
        "4294967296", "9223372036854775808", "18446744073709551616", "99999999999999999999",
    ]
]
LINES = [
    b"GET  /healthz HTTP/1.1", b" GET /healthz HTTP/1.1", b"GET\t/healthz\tHTTP/1.1", b"GET /healthz HTTP/1.1 ", b"GET /healthz",
    b"GET /healthz HTTP/2.0", b"GET /healthz HTTP/1.10", b"GET /healthz http/1.1", b"get /healthz HTTP/1.1", b"G\0ET /healthz HTTP/1.1",
    b"GET /healthz\r HTTP/1.1", b"PRI * HTTP/2.0", b"CONNECT h:443 HTTP/1.1", b"TRACE /healthz HTTP/1.1",
] + [
    b"GET " + target + b" HTTP/1.1" for target in [
        b"/healthz#a", b"http://h/healthz", b"h:443", b"*", b"healthz", b"/healthz%", b"/healthz%00", b"/%0d%0aX:y", b"/healthz?%zz",
        b"/../healthz", b"/a/%2e%2e/healthz", b"//healthz", b"/%68ealthz", b"/healthz\x7f", b"/h\xc3\xa4",
    ]
]
HOSTS = [
    b"Host:", b"Host: a\r\nHost: a", b"Host: a b", b"Host: a,b", b"Host: a/b", b"Host: a@b", b"Host: a\r\n b", b"Host", b": a", b"Host : a",
    b"Host\t: a", b"\tHost: a", b"X: a",
]
UPGRADES = [
    UPGRADE, UPGRADE[:-1], UPGRADE[1:], [*UPGRADE, length(INNER)], [*UPGRADE, b"Transfer-Encoding: chunked"],
    [HOST, b"Connection: Upgrade", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk"],
    [*UPGRADE, b"X: a", b"Sec-WebSocket-Protocol: patchbay.v1"],
    [*UPGRADE, b"Sec-WebSocket-Protocol: patchbay.v1", b"Authorization: Bearer a.b.c"],
]


def ambiguous() -> list[bytes]:
    line, cases = b"GET /healthz HTTP/1.1", []
    for name in BEGINNINGS:
        for field in DANGEROUS:
            body = CHUNKED if field.startswith(b"Transfer") else INNER if field == length(INNER) else b""
            cases += [
                request(line, HOST, name + b": a", field, body=body),
                request(line, name + b": a", field, HOST, body=body),
                request(line, HOST, name + b":a", name + b": b", field, body=body),
                b"\r\n".join([line, HOST, b"X-Request-ID: case", field, name + b": a", b"", b""]) + body,
            ]
        cases.append(request(line, name + b": a", HOST))
    for coding in CODINGS:
        cases += [
            request(line, HOST, coding, body=CHUNKED),
            request(line, HOST, coding, length(INNER), body=INNER),
            request(line, HOST, length(CHUNKED), coding, body=CHUNKED),
            request(b"POST /nowhere HTTP/1.0", HOST, coding, body=CHUNKED),
        ]
    for field in LENGTHS:
        cases += [request(line, HOST, field, body=INNER), request(b"POST /nowhere HTTP/1.1", field, HOST, body=INNER)]
    cases += [request(first, HOST) for first in LINES]
    cases += [request(line, host) for host in HOSTS]
    cases += [request(b"GET /v1/rtc HTTP/1.1", *fields) for fields in UPGRADES]
    for ending in [b"\n\n", b"\r\n\n", b"\n\r\n", b"\r\r\n\r\n", b"\r\n \r\n\r\n"]:
        cases.append(b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-Request-ID: case" + ending)
    return cases + [start + VALID[0] for start in [b"\n", b"\r", b"\0", b"\r\n\r\n\r\n\r\n", b"\x16\x03\x01"]]


class Mutator:
    """Cases with one to three changes, which depend on the seed only."""

    PIECES = [
        b"\r", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b"\0", b"\x0b", b"\x7f", b"\x80", b"\xff", b":", b",", b";", b"+", b"-", b"0",
        b"1", b"=", b"?", b"#", b"\"", b"/", b"..", b"%", b"%0a",
    ]

    def __init__(self, seed: int, cases: list[bytes]):
        self.random, self.cases = random.Random(seed), cases
        self.changes = [
            self.insert, self.delete, self.replace, self.swap_case, self.splice, self.add_line, self.double_line, self.drop_line,
            self.move_line,
        ]
        self.lines = DANGEROUS + CODINGS + LENGTHS + UPGRADE + [name + b": a" for name in BEGINNINGS]

    def case(self) -> bytes:
        case = self.random.choice(self.cases)
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            case = self.random.choice(self.changes)(case)
        return case

    def insert(self, case: bytes) -> bytes:
        at = self.position(case)
        return case[:at] + self.random.choice(self.PIECES) + case[at:]

    def delete(self, case: bytes) -> bytes:
        at = self.position(case)
        return case[:at] + case[at + self.random.choice([1, 1, 2, 5]):]

    def replace(self, case: bytes) -> bytes:
        at = self.position(case)
        return case[:at] + self.random.choice(self.PIECES) + case[at + 1:]

    def swap_case(self, case: bytes) -> bytes:
        at = self.position(case)
        return case[:at] + case[at:at + 20].swapcase() + case[at + 20:]

    def splice(self, case: bytes) -> bytes:
        other = self.random.choice(self.cases)
        return case[:self.position(case)] + other[self.position(other):]

    def add_line(self, case: bytes) -> bytes:
        return self.on_lines(case, lambda lines, at: lines.insert(at, self.random.choice(self.lines)))

    def double_line(self, case: bytes) -> bytes:
        return self.on_lines(case, lambda lines, at: lines.insert(self.random.randint(1, len(lines)), lines[at]))

    def drop_line(self, case: bytes) -> bytes:
        return self.on_lines(case, lambda lines, at: lines.pop(at))

    def move_line(self, case: bytes) -> bytes:
        return self.on_lines(case, lambda lines, at: lines.insert(self.random.randint(0, len(lines)), lines.pop(at)))

    def on_lines(self, case: bytes, change) -> bytes:
        head, separator, body = case.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        change(lines, self.random.randrange(len(lines)))
        return b"\r\n".join(lines) + separator + body

    def position(self, case: bytes) -> int:
        return self.random.randrange(len(case) or 1)
