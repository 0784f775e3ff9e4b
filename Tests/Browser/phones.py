"""Users who call each other on the page /calls. Each has a browser with a microphone that plays speech."""

import asyncio
import contextlib

from accounts import User, log_in, with_store
from devtools import Browser, Page
from harness import SPEECH, World, click, expect, fill, shows

PHONE = "const { phone } = await import('/web/calls/model/phone.js'); const { store } = await import('/web/calls/model/store.js'); "


async def with_users(world: World, *names: str, **calls) -> list[User]:
    """Starts a gateway with accounts that have these handles and that everyone may call. `calls` has its settings."""
    await with_store(world, **({"calls": calls} if calls else {}))
    return [User(world, f"{name}@example.org", handle=name, reachable_by="anyone") for name in names]


class Phone:
    """The page of a logged-in user."""

    def __init__(self, page: Page):
        self.page = page

    async def call(self, address: str):
        await fill(self.page, ".dial input", address)
        await click(self.page, ".dial button")

    async def press(self, text: str, selector: str = "main button"):
        await self.page.until(f"[...document.querySelectorAll('{selector}')].some((one) => one.checkVisibility() && !one.disabled && one.textContent.includes('{text}'))")
        await click(self.page, selector, text)

    async def shows(self, text: str, selector: str = "main", timeout: float = 40):
        await shows(self.page, text, selector, timeout)

    async def has_joined(self):
        """Waits until the room of the shown call is joined. A call that ends earlier refuses the page's WebSocket, which browsers log as an error."""
        await self.page.until(f"(async () => {{ {PHONE} const {{ shown, audio }} = store.state; return audio[shown]?.room === 'connected' }})()")

    async def is_in_call(self):
        """Waits until the shown call is connected and its microphone is on."""
        await self.page.until(f"(async () => {{ {PHONE} const {{ shown, audio }} = store.state; return audio[shown]?.room === 'connected' && audio[shown].microphone === 'on' }})()")
        await self.shows("Connected", "call-screen")

    async def hears(self, is_heard: bool = True):
        """Waits until the page plays speech for a moment, or is silent for a second."""
        await self.page.run(
            PHONE + """
            window.heard = []
            window.stopHearing?.()
            window.stopHearing = phone.audioOf(store.state.shown).tap((samples) => {
              heard.push(Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length))
              if (heard.length > 50) heard.shift()
            })
            """)
        loud = "heard.filter((level) => level > 0.005).length"
        await self.page.until(f"{loud} > 10" if is_heard else f"heard.length >= 50 && {loud} === 0", timeout=60)
        await self.page.run("stopHearing()")

    async def expect_quiet(self):
        faults = [line for line in self.page.console if line.startswith(("exception", "error")) and "favicon" not in line]
        expect(not faults, faults)


async def navigate(page: Page, world: World, path: str):
    """Loads another page, or the same one again."""
    page.loaded.clear()
    await page.send("Page.navigate", url=world.files.origin + path)
    await asyncio.wait_for(page.loaded.wait(), 30)


async def open_calls(browser: Browser, world: World, email: str, address: str = "") -> Phone:
    page = await browser.open(f"{world.files.origin}/calls{address}")
    await page.until("document.querySelector('login-view .card')?.checkVisibility()")
    await log_in(page, email)
    await page.until("document.querySelector('account-menu .pill').textContent === 'Reachable'")
    return Phone(page)


@contextlib.asynccontextmanager
async def phones(world: World, *names: str):
    """A browser with a phone for each user."""
    async with contextlib.AsyncExitStack() as stack:
        browsers = [await stack.enter_async_context(Browser(microphone=SPEECH, repeat=True)) for _ in names]
        yield [await open_calls(browser, world, f"{name}@example.org") for browser, name in zip(browsers, names)]
