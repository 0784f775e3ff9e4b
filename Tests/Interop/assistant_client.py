"""A worker of an assistant on its channel, written from docs/protocol/assistants.md."""

import asyncio
import json

from websockets.asyncio.client import connect

from harness import World, api
from patchbay_client import SUBPROTOCOL


class AssistantProcess:
    """Registers as a worker and keeps what it is told."""

    def __init__(self, world: World, socket, assistant: str):
        self.world, self.socket, self.assistant = world, socket, assistant
        self.messages: list[dict] = []
        self.replies: dict[int, dict] = {}
        self.changed = asyncio.Condition()
        self.reader = asyncio.create_task(self._read())

    @classmethod
    async def register(cls, world: World, assistant: str, capacity: int = 10) -> "AssistantProcess":
        grants = api.VideoGrants(agent=True)
        token = api.AccessToken(world.key, world.secret).with_identity(f"assistant:{assistant}").with_grants(grants).to_jwt()
        socket = await connect(
            world.url + "/v1/events", ssl=world.tls, subprotocols=[SUBPROTOCOL], additional_headers={"Authorization": f"Bearer {token}"},
            proxy=None, ping_interval=5, compression=None)
        process = cls(world, socket, assistant)
        await process.message("hello")
        await process.request("worker.register", assistant_id=assistant, capacity=capacity)
        return process

    async def request(self, kind: str, **data) -> dict:
        number = len(self.replies) + 1
        await self.socket.send(json.dumps({"type": kind, "id": number, "data": data}))
        reply = await self._until(lambda: self.replies.get(number), f"the reply to {kind} {data}")
        if reply["type"] != "reply":
            raise AssertionError(f"{kind} {data}: {reply['data']} instead of a reply")
        return reply["data"]

    async def message(self, kind: str, job: str | None = None) -> dict:
        """Waits for a message, about this job if given, and returns its data. Each is returned once."""

        def find():
            for message in self.messages:
                data = message["data"]
                about = data["job"] if isinstance(data.get("job"), str) else data.get("job", {}).get("id")
                if message["type"] == kind and job in (None, about):
                    self.messages.remove(message)
                    return data
            return None

        return await self._until(find, f"{kind} {job or ''}")

    async def accept(self, job: str):
        """Accepts an offered job and joins its room."""
        await self.message("job.offered", job)
        accepted = await self.request("job.accept", job=job)
        return await self.world.connect(accepted["livekit_token"])

    async def close(self) -> None:
        await self.socket.close()
        await self.reader

    async def _until(self, find, what: str):
        async def wait():
            async with self.changed:
                while (found := find()) is None:
                    await self.changed.wait()
                return found

        try:
            return await asyncio.wait_for(wait(), 15)
        except TimeoutError:
            raise AssertionError(f"{self.assistant}'s worker timed out waiting for {what}; it has {self.messages}") from None

    async def _read(self) -> None:
        async for text in self.socket:
            message = json.loads(text)
            if "re" in message:
                self.replies[message["re"]] = message
            else:
                self.messages.append(message)
            async with self.changed:
                self.changed.notify_all()
