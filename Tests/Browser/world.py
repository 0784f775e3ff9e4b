"""A gateway of its own, participants from the command line, and a server that has Web/ as it is now, in front of the gateway's API."""

import asyncio
import contextlib
import functools
import http.client
import http.server
import json
import os
import re
import select
import shutil
import signal
import socket
import ssl
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self' wss: ws: {gateway}; "
    "media-src 'self' blob:; worker-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)


class World:
    """`async with World(command) as world`: `world.gateway` is wss://…, `world.page` an empty page that may import /web/patchbay.js."""

    def __init__(self, command: Path):
        self.command = command
        self.processes: list[asyncio.subprocess.Process] = []

    async def __aenter__(self) -> "World":
        self.folder = Path(tempfile.mkdtemp(prefix="patchbay-world-"))
        await self.start_gateway()
        self.files = _FileServer(self.gateway, self.folder)
        served = await asyncio.to_thread(self._is_served)
        self.page = f"{self.files.origin}/blank"
        self.gateway_serves_pages = served
        return self

    async def __aexit__(self, *_):
        # The first signal begins a drain, the second one ends it: nobody waits for the participants that are left.
        for process in self.processes:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.2)
        for process in reversed(self.processes):
            await self.end(process)
        self.files.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def start_gateway(self, port: int = 0, *arguments: str, has_data: bool = True):
        """With a data folder, as users have it, unless a check is about a gateway without."""
        data = ("--data", str(self.path("data"))) if has_data else ()
        self.server = await self.start("serve", "--dev", "--port", str(port), "--shards", "1", *data, *arguments, wait_for="listening on ")
        self.gateway = self.server.ready_line.split("listening on ")[1].strip()

    async def restart_gateway(self, *arguments: str, has_data: bool = True):
        """On another port, which the server's pages do not notice."""
        await self.end(self.server)
        await self.start_gateway(0, *arguments, has_data=has_data)
        self.files.gateway = self.gateway

    def _is_served(self) -> bool:
        try:
            context = ssl._create_unverified_context()
            urllib.request.urlopen(self.gateway.replace("wss", "https") + "/web/patchbay.js", context=context, timeout=10)
            return True
        except urllib.error.URLError:
            return False

    async def start(self, *arguments: str, wait_for: str | None = None, timeout: float = 60):
        """Starts a command; with `wait_for`, waits `timeout` seconds for a line that contains it. Lines are collected in `process.lines`."""
        process = await asyncio.create_subprocess_exec(
            str(self.command), *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, limit=1 << 22)
        self.processes.append(process)
        process.lines = []
        ready = asyncio.get_running_loop().create_future()

        async def read():
            async for line in process.stdout:
                text = line.decode(errors="replace").rstrip()
                process.lines.append(text)
                if wait_for and wait_for in text and not ready.done():
                    process.ready_line = text
                    ready.set_result(None)
            if not ready.done():
                ready.set_exception(RuntimeError(f"{' '.join(arguments)} ended:\n" + "\n".join(process.lines[-10:])))
                ready.exception()

        process.reader = asyncio.create_task(read())
        if wait_for:
            await asyncio.wait_for(ready, timeout)
        return process

    async def end(self, process, with_signal=signal.SIGTERM, timeout: float = 10):
        if process.returncode is None:
            process.send_signal(with_signal)
            try:
                await asyncio.wait_for(process.wait(), timeout)
            except TimeoutError:
                process.kill()
                await process.wait()
        await process.reader

    async def join(self, room: str, identity: str, *arguments: str):
        """A participant of the command line, in the room when this returns."""
        return await self.start(
            "join", "--dev", "--url", self.gateway, "--room", room, "--identity", identity, "--events", *arguments, wait_for='"hello"')

    async def token(self, *arguments: str) -> str:
        process = await self.start("token", *arguments)
        await process.wait()
        await process.reader
        self.processes.remove(process)
        return process.lines[-1]

    def path(self, name: str) -> Path:
        return self.folder / name

    def url(self, path: Path) -> str:
        """Where the page can load a file of the world's folder."""
        return f"{self.files.origin}/files/{path.name}"


class _FileServer:
    """Serves Web/ at /web/ and the pages' addresses, an empty page at /blank, the world's folder at /files/, with the gateway's policy.

    Passes requests to /v1/ and /metrics on to `gateway`, and WebSockets, so that pages call its API at their own origin.
    """

    def __init__(self, gateway: str, folder: Path):
        self.gateway = gateway
        # Paths that are answered with 404 instead, as a gateway does that has not published them.
        self.hidden: set[str] = set()
        policy = CONTENT_SECURITY_POLICY.format(gateway=gateway.replace("wss", "https"))
        # Paths that are answered here instead: the status and the JSON of the body. `after=N` stands for any number.
        self.answers: dict[str, tuple[int, dict]] = {}
        # The paths below /v1/ that were asked for with GET.
        self.asked: list[str] = []
        handler = functools.partial(_Handler, self, policy, folder)
        self.server = _Server(("127.0.0.1", 0), handler)
        self.origin = f"http://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def shutdown(self):
        self.server.shutdown()
        self.server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        # A page that is closed drops its connections.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    is_forwarded = False

    def __init__(self, files: _FileServer, policy: str, folder: Path, *arguments):
        self.files, self.policy, self.folder = files, policy, folder
        super().__init__(*arguments)

    def do_GET(self):
        # The handler serves several requests of a connection.
        self.is_forwarded = False
        if self.path == "/blank":
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            body = b"<!doctype html><html lang=en><meta name=viewport content='width=device-width'><title>Test</title>"
            body += b"<main><h1>Test</h1><button id=button>Start</button></main>"
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        elif self.path == "/v1/rtc/validate":
            self.validate()
        elif self.headers.get("Upgrade", "").lower() == "websocket":
            self.tunnel()
        elif self.path.startswith(("/v1/", "/metrics")):
            self.files.asked.append(self.path)
            if answer := self.files.answers.get(re.sub(r"\bafter=\d+", "after=N", self.path)):
                self.answer(*answer)
            else:
                self.forward()
        else:
            super().do_GET()

    def do_POST(self):
        self.forward()

    do_PUT = do_PATCH = do_DELETE = do_POST

    def forward(self):
        """Passes the request on to the gateway. Where there is none, the connection ends as it would without one."""
        self.is_forwarded = True
        if self.path.partition("?")[0] in self.files.hidden:
            return self.send_error(404)
        address = self.files.gateway.removeprefix("wss://")
        connection = http.client.HTTPSConnection(address, context=ssl._create_unverified_context(), timeout=60)
        # The gateway's own pages have its origin.
        fields = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "origin", "referer", "connection", "accept-encoding")}
        if "Origin" in self.headers:
            fields["Origin"] = f"https://{address}"
        try:
            connection.request(self.command, self.path, self.rfile.read(int(self.headers.get("Content-Length", 0))) or None, fields)
            answer = connection.getresponse()
            body = answer.read()
        except OSError:
            self.close_connection = True
            return
        finally:
            connection.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "content-length", "transfer-encoding", "date", "strict-transport-security"):
                self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def tunnel(self):
        """Forwards a WebSocket to the gateway until one side closes it."""
        self.close_connection = True
        address = self.files.gateway.removeprefix("wss://")
        host, _, port = address.rpartition(":")
        fields = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "origin")}
        head = [f"GET {self.path} HTTP/1.1", f"Host: {address}", f"Origin: https://{address}", *(f"{name}: {value}" for name, value in fields.items())]
        try:
            with ssl._create_unverified_context().wrap_socket(socket.create_connection((host, int(port)), timeout=10)) as gateway:
                gateway.sendall("\r\n".join([*head, "", ""]).encode())
                while gateway.fileno() >= 0:
                    ready = [gateway] if gateway.pending() else select.select([self.connection, gateway], [], [])[0]
                    for source, target in ((self.connection, gateway), (gateway, self.connection)):
                        if source not in ready:
                            continue
                        # A TLS record need not contain data.
                        source.settimeout(0)
                        try:
                            data = source.recv(1 << 16)
                        except ssl.SSLWantReadError:
                            continue
                        if not data:
                            return
                        target.settimeout(10)
                        target.sendall(data)
        except OSError:
            return

    def validate(self):
        """Answers as a gateway does; what it answers is the token. Other tokens are for the gateway."""
        status, _, code = self.headers.get("Authorization", "").removeprefix("Bearer ").partition(".")
        if not status.isdecimal():
            return self.forward()
        self.answer(int(status), {"code": code, "message": "a sentence"} if code else {})

    def answer(self, status: int, content: dict):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        # The page may be gone.
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)

    def translate_path(self, path: str) -> str:
        path = path.partition("?")[0]
        if name := {"/": "playground", "/sessions": "sessions", "/calls": "calls", "/dashboard": "dashboard"}.get(path):
            path = f"/web/{name}/index.html"
        for prefix, folder in (("/web/", REPOSITORY / "Web"), ("/tests/", REPOSITORY / "Tests/Browser/pages"), ("/files/", self.folder)):
            if path.startswith(prefix):
                return str(folder / os.path.normpath(path.removeprefix(prefix)).lstrip("./"))
        return str(self.folder / "missing")

    def end_headers(self):
        if not self.is_forwarded:
            self.send_header("Content-Security-Policy", self.policy)
            self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_):
        pass
