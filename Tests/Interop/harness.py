"""Support for the checks: the gateway under test, tokens, assertions, and the table of checks."""

import asyncio
import datetime
import itertools
import json
import random
import secrets
import ssl
import time
import warnings
from dataclasses import dataclass

import aiohttp
import jwt
import yarl
from livekit import api

from patchbay_client import SUBPROTOCOL, Client, Frame, Rejected, RequestError

# The development secret is intentionally short for HS256.
warnings.filterwarnings("ignore", message=".*HMAC key is.*below")

@dataclass
class Check:
    title: str
    function: object
    # May fail on a busy machine; retried alone.
    timing_sensitive: bool
    # Seconds to wait before starting, so that latency is measured after the other checks have connected.
    delay: float


checks: list[Check] = []


def check(title: str, *, timing_sensitive: bool = False, delay: float = 0):
    """Registers a check: an async function that takes a `World` and raises an error on failure."""

    def add(function):
        checks.append(Check(title, function, timing_sensitive, delay))
        return function

    return add


def expect(condition, what) -> None:
    if not condition:
        raise AssertionError(str(what))


def expect_equal(found, expected, what: str = "") -> None:
    if found != expected:
        raise AssertionError(f"{what + ': ' if what else ''}{found!r} instead of {expected!r}")


class World:
    """The gateway under test, and a room for one check."""

    run = secrets.token_hex(4)
    rooms = itertools.count(1)

    def __init__(self, url: str, ca: str, key: str, secret: str, resume_seconds: float):
        self.url, self.key, self.secret = url.rstrip("/"), key, secret
        # How long the gateway retains a participant whose connection was lost.
        self.resume_seconds = resume_seconds
        self.tls = ssl.create_default_context(cafile=ca)
        self.clients: list[Client] = []
        self.room = f"interop-{self.run}-{next(self.rooms)}"

    def another(self) -> "World":
        other = World.__new__(World)
        other.url, other.key, other.secret, other.tls = self.url, self.key, self.secret, self.tls
        other.resume_seconds, other.clients = self.resume_seconds, []
        other.room = f"interop-{self.run}-{next(self.rooms)}"
        return other

    # Tokens.

    def access_token(self, identity: str = "", **grants) -> api.AccessToken:
        """A token from LiveKit's package, with a grant to join this room unless `grants` overrides it."""
        grants = {"room_join": True, "room": self.room} | grants
        return api.AccessToken(self.key, self.secret).with_identity(identity).with_grants(api.VideoGrants(**grants))

    def token(self, identity: str, *, kind: str | None = None, **grants) -> str:
        token = self.access_token(identity, **grants)
        if kind:
            token.with_kind(kind)
        return token.to_jwt()

    def claims(self, identity: str = "somebody", **changes) -> dict:
        """The claims of a valid token, to build tokens that LiveKit's package would not. None removes a claim."""
        now = int(time.time())
        claims = {
            "iss": self.key, "sub": identity, "nbf": now, "exp": now + 600, "video": {"roomJoin": True, "room": self.room},
        } | changes
        return {name: value for name, value in claims.items() if value is not None}

    def signed(self, claims: dict, secret: str | None = None, algorithm: str = "HS256") -> str:
        return jwt.encode(claims, secret if secret is not None else self.secret, algorithm=algorithm)

    def expiring(self, seconds: int, identity: str = "somebody") -> str:
        return self.access_token(identity).with_ttl(datetime.timedelta(seconds=seconds)).to_jwt()

    # Participants.

    async def connect(self, token: str | None, **options) -> Client:
        client = await Client.connect(self.url, token, tls=self.tls, **options)
        self.clients.append(client)
        return client

    async def join(self, identity: str, *, kind: str | None = None, query: dict | None = None, **grants) -> Client:
        return await self.connect(self.token(identity, kind=kind, **grants), query=query)

    async def join_all(self, *identities: str, kind: str | None = None) -> list[Client]:
        """Joins one after the other; each join is awaited by the earlier participants.

        Checks that count every frame use kind `agent`, whose frames may be delayed longer before they are dropped.
        """
        clients = []
        for identity in identities:
            client = await self.join(identity, kind=kind)
            for other in clients:
                await other.event("participant.joined", participant=identity)
            clients.append(client)
        return clients

    async def resume(self, lost: Client, *, token: str | None = None, last_seq: int | None = None, **options) -> Client:
        """Attempts to resume a lost connection."""
        identity, kind = (lost.hello["participant"][name] for name in ("identity", "kind"))
        resume = (token or lost.hello["resume_token"], lost.last_seq if last_seq is None else last_seq)
        return await self.connect(self.token(identity, kind=kind), resume=resume, **options)

    async def expect_disconnect(self, watcher: Client, identity: str, reason: str, alive_at: float) -> None:
        """Expects `reconnecting` when a connection is lost, and `participant.left` only after the resume window.

        The window is measured from `alive_at`, a time of the event loop before the loss, because the first event may arrive late.
        """
        await watcher.event("participant.updated", participant=identity, connection="reconnecting")
        await watcher.event("participant.left", participant=identity, reason=reason, timeout=self.resume_seconds + 15)
        kept = watcher.time_of("participant.left", participant=identity) - alive_at
        expect(kept >= self.resume_seconds, f"{identity} was removed after only {kept:.1f} s")

    async def rejection(self, token: str | None, source: str | None = None, **options) -> Rejected:
        """Expects the handshake to be rejected and returns the response.

        Failed attempts are counted by address, so each attempt uses its own source address.
        """
        try:
            client = await Client.connect(self.url, token, tls=self.tls, source=source or self.new_source(), **options)
        except Rejected as rejection:
            expect_equal(rejection.header, rejection.code, "X-Patchbay-Error")
            expect_equal(set(rejection.body), {"code", "message"}, "the body's fields")
            return rejection
        await client.leave()
        raise AssertionError("the connection was admitted")

    def new_source(self) -> str | None:
        """Returns an unused loopback address, if the gateway listens on loopback."""
        if "//127." not in self.url:
            return None
        return f"127.{random.randint(1, 254)}.{random.randint(1, 254)}.{random.randint(2, 254)}"

    async def expect_rejected(self, status: int, code: str, token: str | None, **options) -> None:
        rejection = await self.rejection(token, **options)
        expect_equal((rejection.status, rejection.code), (status, code))

    async def leave_all(self) -> None:
        await asyncio.gather(*(client.leave() for client in self.clients), return_exceptions=True)

    # HTTP.

    async def http(self, method: str, path: str, token: str | None = None, body=None) -> tuple[int, dict, bytes]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        address = yarl.URL(self.url.replace("ws", "http", 1) + path, encoded=True)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=self.tls), trust_env=False) as session:
            async with session.request(method, address, headers=headers, json=body) as response:
                return response.status, dict(response.headers), await response.read()

    async def http_json(self, method: str, path: str, token: str | None = None, body=None, status: int = 200) -> dict:
        found, headers, content = await self.http(method, path, token, body)
        expect_equal(found, status, f"{method} {path}: {content[:200]!r}; status")
        expect_equal(headers.get("Content-Type"), "application/json")
        return json.loads(content)

    def service_token(self, **grants) -> str:
        """A token as LiveKit's server SDKs use: grants without an identity."""
        return api.AccessToken(self.key, self.secret).with_grants(api.VideoGrants(**grants)).to_jwt()


async def expect_error(code, request) -> RequestError:
    """Expects a request to fail with this code."""
    try:
        reply = await request
    except RequestError as failure:
        expect_equal(failure.code, code, f"code ({failure.message})")
        expect(failure.message, "the error has no message")
        return failure
    raise AssertionError(f"succeeded ({reply}), expected error {code}")


def expect_frames(found: list[bytes], sent: list[Frame], what: str = "frames") -> None:
    """Expects identical frames in the same order."""

    def names(frames: list[bytes]) -> str:
        return " ".join(f"{frame.alias}/{frame.sequence}" for frame in map(Frame.parse, frames))

    expected = [frame.bytes for frame in sent]
    expect_equal(names(found), names(expected), what)
    expect(found == expected, f"{what}: bytes differ")


async def expect_no_event(client: Client, kind: str, /, seconds: float = 0.3, **fields) -> None:
    """Expects no such event within a short time."""
    await asyncio.sleep(seconds)
    expect(not client.has_event(kind, **fields), f"got {kind} {fields or ''}")


def speech(alias: int, count: int, first: int = 0, *, seed: int = 1, level: int = 20, voice: bool = True) -> list[Frame]:
    """Returns 20 ms frames that resemble Opus: a TOC byte (SILK or CELT wideband, 20 ms, mono) and 24 to 160 random bytes. The first
    starts a talkspurt."""
    generator = random.Random(f"{seed}/{alias}/{first}")

    def packet() -> bytes:
        return bytes([generator.choice([0x48, 0x78, 0xB8])]) + generator.randbytes(generator.randint(24, 160))

    return [
        Frame(alias, number, number * 960, packet(), flags=0x80 if number == first else 0, level=level, voice=voice)
        for number in range(first, first + count)
    ]


async def talk(client: Client, frames: list[Frame], pace: float = 0.02) -> None:
    """Sends frames in real time and waits until the gateway has processed them."""
    start = asyncio.get_running_loop().time()
    for index, frame in enumerate(frames):
        await client.send(frame)
        await asyncio.sleep(max(0, start + (index + 1) * pace - asyncio.get_running_loop().time()))
    await client.request("ping")


__all__ = [
    "SUBPROTOCOL", "Client", "Frame", "Rejected", "RequestError", "World", "api", "asyncio", "check", "checks", "expect",
    "expect_equal", "expect_error", "expect_frames", "expect_no_event", "json", "jwt", "speech", "talk",
]
