"""A page with the widget, and an assistant written in Python on the other side."""

import asyncio
import json
import time
import wave
from pathlib import Path

from checks.library.room import join_agent
from devtools import Browser, Page
from harness import DEMO, World, mint
from patchbay_client import Client, Frame

WIDGET = {
    "id": "shop", "name": "Robin", "voice": "nova", "language": "en", "quick_commands": ["Where is my order?", "What is new?", "Opening hours"],
    "onboarding": [], "widget": {"start_text": "Talk to Robin", "thinking_text": "Looking it up…", "visualizer_color": "verdant"},
}


# A click on the button that starts a conversation.
START = "part('.launcher').click()"


def definition(onboarding: tuple = (), **widget) -> dict:
    return WIDGET | {"onboarding": list(onboarding), "widget": WIDGET["widget"] | widget}


async def open_widget(
    browser: Browser, world: World, room: str = "widget", *, described: tuple[int, dict] | None = None, token: str | None = None,
    is_loaded: bool = True, **attributes,
) -> Page:
    """A page with one widget in `widget`, whose shadow root is `shadow`; `part(selector)` finds visible elements in it.

    - described: what the gateway answers about the assistant `shop`.
    - token: of the page's token provider; by default a good one for the room.
    """
    world.files.answers["/v1/assistants/shop"] = described or (200, definition())
    page = await browser.open(world.page)
    token = token or mint(sub="page", exp=int(time.time()) + 600, video={"roomJoin": True, "room": room})
    attributes = {"assistant-id": "shop"} | {name.replace("_", "-"): value for name, value in attributes.items()}
    await page.run(
        """
        await import('/web/patchbay-assistant.js')
        window.requested = performance.getEntriesByType('resource').length
        const widget = (window.widget = document.createElement('patchbay-assistant'))
        for (const [name, value] of Object.entries(attributes)) widget.setAttribute(name, value)
        window.asked = []
        window.states = []
        widget.tokenProvider = async (wish) => (asked.push(wish), { url, token })
        widget.addEventListener('patchbay-state', ({ detail }) => states.push(detail.state))
        document.body.append(widget)
        window.shadow = widget.shadowRoot
        window.part = (selector) => [...shadow.querySelectorAll(selector)].find((element) => element.checkVisibility())
        window.text = (selector) => part(selector)?.textContent
        """, attributes=attributes, url=world.gateway, token=token)
    if is_loaded:
        await page.until("widget.state !== 'idle' && widget.state !== 'loading'")
    return page


class Assistant:
    """The assistant of a room: says, shows and asks what a check tells it to."""

    def __init__(self, client: Client):
        self.client = client
        self.sent = 0

    @classmethod
    async def join(cls, world: World, room: str = "widget") -> "Assistant":
        assistant = cls(await join_agent(world, room, "assistant:shop"))
        assistant.track = await assistant.client.publish(name="voice", source="assistant", mode="ahead")
        return assistant

    async def state(self, state: str):
        await self.client.request("agent.state", state=state)

    async def say(self, text: str, packets: list[bytes], *, id: str = "a", seconds: float | None = None):
        """Speaks recorded packets as a text, whose words are spread evenly."""
        count = round(seconds * 50) if seconds else len(packets)
        start, words = 960 * self.sent, text.split()
        step = 960 * count // len(words)
        stamps = [{"text": word, "start_ts": start + step * n, "end_ts": start + step * (n + 1)} for n, word in enumerate(words)]
        await self.client.request(
            "transcript.segment", id=id, role="assistant", text=text, final=True, track=self.track["sid"], start_ts=start,
            end_ts=start + 960 * count, words=stamps)
        frames = [
            Frame(self.track["alias"], self.sent + n, start + 960 * n, packets[n % len(packets)], flags=0x80 if n == 0 else 0) for n in range(count)
        ]
        await self.client.send_bundled(frames)
        self.sent += count

    async def heard(self, text: str, *, id: str = "u", final: bool = True):
        """Reports what the user said."""
        await self.client.request("transcript.segment", id=id, role="user", text=text, final=final, participant="page")

    async def tell(self, type: str, /, **data):
        await self.client.request("data.send", topic="patchbay.assistant", payload=json.dumps({"type": type, "data": data}))

    async def message(self, kind: str, timeout: float = 10) -> dict:
        """Waits for a message of the user's client."""
        async with asyncio.timeout(timeout):
            while True:
                event = await self.client.event("data", topic="patchbay.assistant", timeout=timeout)
                message = json.loads(event["payload"])
                if message["type"] == kind:
                    return message["data"]


def silence(path: Path) -> Path:
    """A second without sound for a microphone. Chromium's own one beeps, and each beep moves the shapes."""
    with wave.open(str(path), "wb") as target:
        target.setparams((1, 2, 48000, 0, "NONE", ""))
        target.writeframes(bytes(2 * 48000))
    return path


async def recorded_packets(world: World, recording: Path = DEMO / "ps-librivox-0890.wav", count: int = 250) -> list[bytes]:
    """The first Opus packets of a recording; by default five seconds of somebody who speaks."""
    listener = await join_agent(world, "recording", "listener")
    speaker = await world.join("recording", "speaker", "--play", str(recording))
    frames = await listener.receive_frames(count, timeout=30)
    await world.end(speaker)
    return [Frame.parse(frame).payload for frame in frames[:count]]


def faults(page: Page) -> list[str]:
    """Errors of scripts and policies; refused requests are part of some checks."""
    return [line for line in page.console if line.startswith(("error", "exception")) and "Failed to load resource" not in line]


async def begin(page: Page, world: World, room: str = "widget") -> Assistant:
    """Starts a conversation with a click on the button, and lets the assistant join."""
    assistant = await Assistant.join(world, room)
    await page.run(START)
    await page.until("widget.state === 'expanded'")
    await assistant.state("listening")
    await page.until("/Listening/.test(text('.status-text'))")
    return assistant


async def emulate(page: Page, *, theme: str = "light", motion: str = "no-preference"):
    features = [{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": motion}]
    await page.send("Emulation.setEmulatedMedia", features=features)
