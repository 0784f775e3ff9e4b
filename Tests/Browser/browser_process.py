"""A browser process with a fresh profile, driven by JSON messages over a WebSocket. `devtools` and `firefox` know the messages."""

import asyncio
import json
import shutil
import tempfile

from websockets.asyncio.client import connect


class PageError(Exception):
    """A script in the page threw."""


class BrowserProcess:
    """`async with` starts and ends the process. Subclasses implement `start`, `result` and `note`."""

    # The line on standard error that contains the address, and the command that closes the browser.
    ready_line = ""
    close_method = ""

    async def __aenter__(self):
        self.profile = tempfile.mkdtemp(prefix="patchbay-browser-")
        self.next_id = 0
        self.replies: dict[int, asyncio.Future] = {}
        self.pages: dict = {}
        await self.start()
        return self

    async def start(self):
        """Launches the browser with `self.profile`."""
        raise NotImplementedError

    def result(self, message: dict) -> dict:
        """Returns the result of a reply, or raises a `PageError`."""
        raise NotImplementedError

    def note(self, message: dict):
        """Notes an event."""
        raise NotImplementedError

    async def launch(self, *command: str, path: str = "", environment: dict[str, str] | None = None, seconds: float = 60):
        self.process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, env=environment)
        address = await asyncio.wait_for(self._address(), seconds)
        self.drain = asyncio.create_task(self._drain())
        self.socket = await connect(address + path, max_size=1 << 28, ping_interval=None, compression=None, proxy=None)
        self.reader = asyncio.create_task(self._read())

    async def __aexit__(self, *_):
        try:
            await asyncio.wait_for(self.request(method=self.close_method, params={}), 5)
            await asyncio.wait_for(self.process.wait(), 10)
        except Exception:
            if self.process.returncode is None:
                self.process.kill()
            await self.process.wait()
        self.reader.cancel()
        self.drain.cancel()
        await self.socket.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    async def request(self, **message) -> dict:
        """Sends a command and returns the result of its reply."""
        self.next_id += 1
        future = self.replies[self.next_id] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": self.next_id} | message))
        return self.result(await future)

    async def _address(self) -> str:
        async for line in self.process.stderr:
            if self.ready_line.encode() in line:
                return line.decode().split(self.ready_line)[1].strip()
        raise RuntimeError("the browser ended before it could be driven")

    async def _drain(self):
        async for _ in self.process.stderr:
            pass

    async def _read(self):
        async for text in self.socket:
            message = json.loads(text)
            if message.get("id") is None:
                self.note(message)
            elif (future := self.replies.pop(message["id"], None)) and not future.done():
                future.set_result(message)
