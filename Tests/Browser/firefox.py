"""Drives headless Firefox over WebDriver BiDi, as far as the checks need it."""

import asyncio
import json
import os
import shutil
from pathlib import Path

from browser_process import BrowserProcess, PageError
from devtools import Tab

PREFERENCES = {
    # A fake microphone that beeps without a permission prompt, and sound without a click.
    "media.navigator.streams.fake": True, "media.navigator.permission.disabled": True, "media.autoplay.default": 0, "media.autoplay.blocking_policy": 0,
    "browser.shell.checkDefaultBrowser": False, "browser.startup.page": 0, "browser.aboutwelcome.enabled": False, "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True, "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,", "extensions.update.enabled": False, "browser.safebrowsing.update.enabled": False,
}


class Firefox(BrowserProcess):
    """A Firefox process with a fresh profile. `preferences` are set in addition to those above."""

    def __init__(self, **preferences):
        self.preferences = PREFERENCES | {name.replace("__", "."): value for name, value in preferences.items()}

    ready_line = "WebDriver BiDi listening on "
    close_method = "browser.close"

    async def start(self):
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in self.preferences.items()]
        (Path(self.profile) / "user.js").write_text("".join(lines))
        await self.launch(
            shutil.which("firefox-esr") or "firefox", "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", self.profile, "about:blank",
            path="/session", environment=_environment(self.profile), seconds=120)
        await self.send("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})
        await self.send("session.subscribe", events=["log.entryAdded"])

    def result(self, message: dict) -> dict:
        if message["type"] == "error":
            raise PageError(f"{message['error']}: {message['message']}")
        return message["result"]

    def note(self, message: dict):
        parameters = message.get("params", {})
        if page := self.pages.get(parameters.get("source", {}).get("context")):
            page.console.append(f"{parameters['level']}: {parameters['text']}")

    async def send(self, method: str, **parameters) -> dict:
        return await self.request(method=method, params=parameters)

    async def open(self, url: str, before: str = "") -> "FirefoxPage":
        """Opens a page and waits until it is loaded. `before` is a script that runs before the page's own."""
        context = (await self.send("browsingContext.create", type="tab"))["context"]
        page = self.pages[context] = FirefoxPage(self, context)
        if before:
            await self.send("script.addPreloadScript", functionDeclaration=f"() => {{ {before} }}", contexts=[context])
        await asyncio.wait_for(self.send("browsingContext.navigate", context=context, url=url, wait="complete"), 60)
        return page


class FirefoxPage(Tab):
    """One tab. `console` collects messages and errors."""

    def __init__(self, browser: Firefox, context: str):
        super().__init__()
        self.browser, self.context = browser, context

    async def run(self, script: str, timeout: float = 60, **values):
        """Runs the body of an async function in the page and returns its result. `values` are its parameters."""
        call = f"(async ({', '.join(values)}) => {{ {script}\n}})({', '.join(json.dumps(value) for value in values.values())})"
        # Return JSON, because BiDi has its own notation for values.
        expression = f"{call}.then((value) => JSON.stringify(value ?? null))"
        reply = await asyncio.wait_for(
            self.browser.send("script.evaluate", expression=expression, target={"context": self.context}, awaitPromise=True), timeout)
        if reply["type"] == "exception":
            raise PageError(reply["exceptionDetails"]["text"])
        return json.loads(reply["result"]["value"])

    async def click(self, x: int = 10, y: int = 10):
        """Clicks as a user would, so that the click counts as a user gesture."""
        steps = [{"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        await self.browser.send("input.performActions", context=self.context, actions=[{"type": "pointer", "id": "mouse", "actions": steps}])


def _environment(home: str) -> dict[str, str]:
    """The environment of Firefox, which writes caches into the home folder and asks a desktop for settings if there is one."""
    return os.environ | {"HOME": home, "MOZ_HEADLESS": "1", "MOZ_CRASHREPORTER_DISABLE": "1", "NO_AT_BRIDGE": "1"}
