"""A gateway for the soak and the attacks: its configuration, process, memory, and the tokens that its issuers sign."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import signal
import ssl
import time
from pathlib import Path

KEY, SECRET = "soak", "a-secret-of-the-soak-only-and-long-enough"
USERS_ISSUER, USERS_SECRET = "https://login.soak.example", "another-secret-of-the-soak-only-long-enough"


def encode(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def token(claims: dict, secret: str = SECRET, issuer: str = KEY, lifetime: int = 6 * 3600) -> str:
    payload = {"iss": issuer, "nbf": int(time.time()) - 10, "exp": int(time.time()) + lifetime, **claims}
    head = ".".join(encode(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, payload))
    return f"{head}.{encode(hmac.digest(secret.encode(), head.encode(), 'sha256'))}"


def room_token(room: str, identity: str, kind: str = "standard") -> str:
    return token({"sub": identity, "kind": kind, "video": {"roomJoin": True, "room": room}})


def user_token(name: str) -> str:
    return token({"sub": name}, USERS_SECRET, USERS_ISSUER)


def is_signed(authorization: str, body: bytes) -> bool:
    """Whether a webhook's `Authorization` is a token of ours that names the body's digest."""
    head, _, signature = authorization.rpartition(".")
    if not hmac.compare_digest(encode(hmac.digest(SECRET.encode(), head.encode(), "sha256")), signature):
        return False
    payload = head.partition(".")[2]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims["sha256"] == base64.b64encode(hashlib.sha256(body).digest()).decode()


class Gateway:
    def __init__(self, program: Path, certificates: Path, directory: Path, webhook_url: str = "") -> None:
        self.program, self.directory = program, directory
        self.authority = certificates / "ca.cert.pem"
        self.data = directory / "data"
        self.tls = ssl.create_default_context(cafile=self.authority)
        self.configuration = directory / "patchbay.yaml"
        self.configuration.write_text(json.dumps({
            "host": "127.0.0.1", "port": 0, "cert": str(certificates / "server.cert.pem"), "key": str(certificates / "server.key.pem"),
            "data": str(self.data), "master_key_file": str(directory / "master.key"), "public_url": "wss://127.0.0.1",
            "keys": {KEY: SECRET}, "users": {"issuer": USERS_ISSUER, "algorithm": "HS256", "secret": USERS_SECRET},
            "room": {"departure_timeout": 2}, "log_format": "json", **({"webhook": {"urls": [webhook_url]}} if webhook_url else {}),
        }))

    async def start(self) -> None:
        self.log = open(self.directory / "gateway.log", "wb")
        self.process = await asyncio.create_subprocess_exec(
            self.program, "serve", "--config", self.configuration, stdout=asyncio.subprocess.PIPE, stderr=self.log)
        line = await self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the gateway did not start; see {self.log.name}")
        self.port = int(json.loads(line)["url"].rsplit(":", 1)[1])

    @property
    def resident(self) -> int:
        """Resident memory in bytes; 0 once the process has ended."""
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        except (FileNotFoundError, ProcessLookupError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGESIZE")

    async def stop(self) -> int:
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return await asyncio.wait_for(self.process.wait(), 60)
        except TimeoutError:
            self.process.kill()
            return await self.process.wait()


class Connection:
    """A connection that sends one HTTP request after the other."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, authorization: str = "", body: dict | None = None) -> tuple[int, bytes]:
        if self.writer is None or self.reader.at_eof():
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.gateway.port, ssl=self.gateway.tls)
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
        if authorization:
            lines.append(f"Authorization: Bearer {authorization}")
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        self.writer.write("\r\n".join(lines + ["", ""]).encode() + content)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:")), 0)
        return int(head.split()[1]), await self.reader.readexactly(length)
