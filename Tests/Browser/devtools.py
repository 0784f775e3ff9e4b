"""Drives headless Chromium over the DevTools protocol."""

import asyncio
import json
import shutil
from pathlib import Path

from browser_process import BrowserProcess, PageError

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--ignore-certificate-errors", "--remote-debugging-port=0", "--mute-audio",
]

KEY_CODES = {
    "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
}


class Browser(BrowserProcess):
    """A Chromium of its own, with a fresh profile. `microphone`: a WAV file that is played once as the microphone."""

    def __init__(
        self, *, microphone: Path | None = None, autoplay: bool = True, permission: bool = True, has_device: bool = True, repeat: bool = False,
    ):
        self.flags = list(FLAGS)
        if autoplay:
            self.flags.append("--autoplay-policy=no-user-gesture-required")
        if has_device:
            self.flags.append("--use-fake-device-for-media-stream")
        if permission:
            self.flags.append("--use-fake-ui-for-media-stream")
        if microphone:
            self.flags.append(f"--use-file-for-fake-audio-capture={microphone}{'' if repeat else '%noloop'}")

    ready_line = "DevTools listening on "
    close_method = "Browser.close"

    async def start(self):
        await self.launch(shutil.which("chromium") or "chromium", *self.flags, f"--user-data-dir={self.profile}", "about:blank")

    def result(self, message: dict) -> dict:
        if "error" in message:
            raise PageError(message["error"]["message"])
        return message["result"]

    def note(self, message: dict):
        if page := self.pages.get(message.get("sessionId")):
            page.note(message["method"], message["params"])

    async def send(self, method: str, session: str | None = None, **parameters) -> dict:
        return await self.request(method=method, params=parameters, **({"sessionId": session} if session else {}))

    async def open(self, url: str, before: str = "") -> "Page":
        """Opens a page and waits until it is loaded. `before` is a script that runs before the page's own."""
        target = (await self.send("Target.createTarget", url="about:blank"))["targetId"]
        session = (await self.send("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            await page.send(f"{domain}.enable")
        if before:
            await page.send("Page.addScriptToEvaluateOnNewDocument", source=before)
        await page.send("Page.navigate", url=url)
        await asyncio.wait_for(page.loaded.wait(), 30)
        return page


class Tab:
    """A page of a browser: subclasses implement `run`. `console` collects messages and errors."""

    def __init__(self):
        self.console: list[str] = []

    async def until(self, condition: str, timeout: float = 40):
        """Waits until an expression in the page is true, and returns its value."""
        deadline = asyncio.get_running_loop().time() + timeout
        while True:
            value = await self.run(f"return {condition}")
            if value:
                return value
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"timed out after {timeout} s waiting for {condition}\n  " + "\n  ".join(self.console[-10:]))
            await asyncio.sleep(0.1)


class Page(Tab):
    """One tab of Chromium. `worklets` has the sessions of worklets after `attach_to_worklets`."""

    def __init__(self, browser: Browser, session: str):
        super().__init__()
        self.browser, self.session = browser, session
        self.worklets: list[str] = []
        self.loaded = asyncio.Event()

    def note(self, method: str, parameters: dict):
        if method == "Page.loadEventFired":
            self.loaded.set()
        elif method == "Runtime.consoleAPICalled":
            values = [str(value.get("value", value.get("description"))) for value in parameters["args"]]
            self.console.append(f"{parameters['type']}: {' '.join(values)}")
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.console.append(f"exception: {details.get('exception', {}).get('description', details['text'])}")
        elif method == "Log.entryAdded":
            self.console.append(f"{parameters['entry']['level']}: {parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif method == "Target.attachedToTarget" and parameters["targetInfo"]["type"] == "worklet":
            self.worklets.append(parameters["sessionId"])

    async def send(self, method: str, **parameters) -> dict:
        return await self.browser.send(method, self.session, **parameters)

    async def attach_to_worklets(self):
        await self.send("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)

    async def collect_garbage(self):
        """In the page, and in the worklets to which DevTools are attached."""
        for session in (self.session, *self.worklets):
            await self.browser.send("HeapProfiler.collectGarbage", session)

    async def run(self, script: str, timeout: float = 60, **values):
        """Runs the body of an async function in the page and returns its result. `values` are its parameters."""
        call = f"(async ({', '.join(values)}) => {{ {script}\n}})({', '.join(json.dumps(value) for value in values.values())})"
        reply = await asyncio.wait_for(
            self.send("Runtime.evaluate", expression=call, awaitPromise=True, returnByValue=True, userGesture=False), timeout)
        if details := reply.get("exceptionDetails"):
            raise PageError(details.get("exception", {}).get("description", details["text"]))
        return reply["result"].get("value")

    async def click(self, x: int = 10, y: int = 10):
        """A real click, which counts as a user gesture."""
        for kind in ("mousePressed", "mouseReleased"):
            await self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def press(self, key: str, shift: bool = False):
        """A real key press: `Tab`, `Enter`, `ArrowDown`, …"""
        text = {"Enter": "\r", " ": " "}.get(key, "")
        event = {"key": key, "code": {" ": "Space"}.get(key, key), "windowsVirtualKeyCode": KEY_CODES[key], "modifiers": 8 if shift else 0}
        await self.send("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": text} if text else {}))
        await self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    async def reload(self):
        self.loaded.clear()
        await self.send("Page.reload")
        await asyncio.wait_for(self.loaded.wait(), 30)

    async def set_offline(self, offline: bool):
        await self.send("Network.emulateNetworkConditions", offline=offline, latency=0, downloadThroughput=-1, uploadThroughput=-1)
