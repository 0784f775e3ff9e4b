"""A real gateway as a subprocess, for tests."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..api.access_token import AccessToken, VideoGrants
from ..errors import PatchbayError
from ..rtc.options import RoomOptions
from .certificates import development_certificates

BINARY_VARIABLE = "PATCHBAY_BINARY"
_HOW_TO_NAME_IT = (
    f"install Patchbay's gateway, which this package does not contain, or set {BINARY_VARIABLE} to its program "
    "(in the gateway's repository: `swift build --product patchbay` makes .build/debug/patchbay)"
)
_READY_SECONDS = 30.0
_STOP_SECONDS = 10.0
_LOG_LINES_MAX = 500


class GatewayError(PatchbayError):
    """The gateway under test did not start."""


def find_binary() -> Path:
    """The gateway's program: `PATCHBAY_BINARY`, a debug build of the repository, or `patchbay` on the path.

    Raises:
        GatewayError: there is none.
    """
    if named := os.environ.get(BINARY_VARIABLE):
        if not (os.path.isfile(named) and os.access(named, os.X_OK)):
            raise GatewayError(f"{BINARY_VARIABLE} is {named}, which is no program; {_HOW_TO_NAME_IT}")
        return Path(named)
    for folder in (Path.cwd(), *Path.cwd().parents):
        built = folder / ".build" / "debug" / "patchbay"
        if built.exists():
            return built
    if found := shutil.which("patchbay"):
        return Path(found)
    raise GatewayError(f"there is no program `patchbay` on the path; {_HOW_TO_NAME_IT}")


class Gateway:
    """A gateway on a free port of this machine, with the key `devkey`.

    Args:
        store: whether it has accounts, sessions and calls.
        settings: more settings of the YAML file, such as `{"resume_seconds": 2}`.
    """

    api_key, api_secret = "devkey", "secret"

    def __init__(self, *, store: bool = False, settings: dict[str, Any] | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="patchbay-test-"))
        self._store = store
        self._settings = settings or {}
        self._process: subprocess.Popen[str] | None = None
        self._port = 0
        self.log: list[str] = []
        self.url = ""
        certificates = development_certificates()
        self.ca_file = str(certificates.authority)
        self._certificate, self._key = certificates.server, certificates.key

    def start(self) -> None:
        """Starts the process and waits until it serves; after a stop, on the same port."""
        config = self._folder / "patchbay.yaml"
        # JSON is YAML.
        config.write_text(json.dumps(self._settings))
        command = [str(find_binary()), "serve", "--dev", "--config", str(config), "--port", str(self._port)]
        command += ["--cert", str(self._certificate), "--key", str(self._key), "--log-format", "json"]
        if self._store:
            command += ["--data", str(self._folder / "data")]
        try:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except OSError as error:
            raise GatewayError(f"{command[0]} cannot be run: {error}; {_HOW_TO_NAME_IT}") from error
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(self._process.stdout, lines), daemon=True).start()
        self.url = self._wait_until_ready(lines)
        self._port = int(self.url.rpartition(":")[2])

    def stop(self, *, kill: bool = False) -> None:
        """Stops the process; `kill` without a warning."""
        process, self._process, self.url = self._process, None, ""
        if process is None:
            return
        # The second signal ends a drain.
        for sent in (signal.SIGKILL,) if kill else (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            process.send_signal(sent)
            try:
                process.wait(_STOP_SECONDS if sent is signal.SIGKILL else 1.0)
                break
            except subprocess.TimeoutExpired:
                continue

    def drain(self) -> None:
        """Sends SIGTERM: no one is admitted any more, and rooms may end."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        """Stops the process and removes its files."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def http_url(self) -> str:
        """The base of the HTTP routes."""
        return self.url.replace("wss:", "https:", 1)

    def options(self, **changes: Any) -> RoomOptions:
        """Options that trust this gateway."""
        return RoomOptions(ca_file=self.ca_file, **changes)

    def token(self, identity: str, room: str, *, kind: str = "standard", ttl: int = 3_600, **grants: Any) -> str:
        """A token that admits to a room."""
        permitted = VideoGrants(room_join=True, room=room, can_update_own_metadata=True)
        token = AccessToken(self.api_key, self.api_secret).with_identity(identity).with_kind(kind)
        return token.with_grants(replace(permitted, **grants)).with_ttl(ttl).to_jwt()

    def _read(self, output: Iterable[str], lines: queue.SimpleQueue[str | None]) -> None:
        for line in output:
            self.log.append(line)
            del self.log[:-_LOG_LINES_MAX]
            if not self.url:
                lines.put(line)
        lines.put(None)

    def _wait_until_ready(self, lines: queue.SimpleQueue[str | None]) -> str:
        while True:
            try:
                line = lines.get(timeout=_READY_SECONDS)
            except queue.Empty:
                line = None
            if line is None:
                self.stop(kill=True)
                raise GatewayError(f"the gateway did not start: {''.join(self.log[-5:]).strip() or 'no output'}")
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if entry.get("message") == "ready":
                return str(entry["url"])
