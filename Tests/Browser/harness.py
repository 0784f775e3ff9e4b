"""The table of checks, what they share, and assertions."""

import asyncio
import base64
import dataclasses
import hmac
import json
import os
import ssl
import urllib.error
import urllib.request
from pathlib import Path

from devtools import Browser, Page
from world import REPOSITORY, World

DEMO = REPOSITORY / "demo"
SPEECH = DEMO / "ps-goforward.wav"
LONG_SPEECH = DEMO / "ps-librivox-0890.wav"
MARKUP = '<img src=x onerror="window.hacked = 1"><b>bold</b> & "quoted"'


@dataclasses.dataclass
class Check:
    title: str
    function: object
    is_measurement: bool
    # Not beside other checks: it judges audio that is played in real time.
    is_alone: bool = False


checks: list[Check] = []


def check(title: str, alone: bool = False):
    """Registers a check: an async function that takes a `World` and raises on failure."""

    def add(function):
        checks.append(Check(title, function, False, alone))
        return function

    return add


def measurement(title: str):
    """Registers a measurement: the text that it returns is printed."""

    def add(function):
        checks.append(Check(title, function, True))
        return function

    return add


def expect(condition, what):
    if not condition:
        raise AssertionError(str(what))


def expect_equal(found, expected, what: str = ""):
    if found != expected:
        raise AssertionError(f"{what + ': ' if what else ''}{found!r} instead of {expected!r}")


async def open_page(browser: Browser, world: World) -> Page:
    """An empty page with the library in `patchbay`, the analysis in `analysis`, and `connect()`, which logs events."""
    page = await browser.open(world.page)
    await page.run(
        """
        window.patchbay = await import('/web/patchbay.js')
        window.analysis = await import('/tests/analysis.js')
        window.happened = []
        window.join = async (url, token, options) => {
          const room = (window.room = new patchbay.Room(options))
          room.on('event', ({ type, data }) => happened.push({ name: type, data, at: performance.now() }))
          for (const name of ['state', 'audioBlocked', 'audioStarted', 'microphoneEnded', 'disconnected'])
            room.on(name, (value) => happened.push({ name, data: value, at: performance.now() }))
          await room.connect(url, token)
        }
        window.recordTap = (identity) => {
          const chunks = []
          const stop = room.tap(identity, (samples) => chunks.push(samples))
          return () => (stop(), analysis.concatenate(chunks))
        }
        """)
    return page


async def join_page(page: Page, world: World, room: str, identity: str = "page", *grants: str, **options):
    token = await world.token("--room", room, "--identity", identity, *grants)
    await page.run("await join(url, token, options)", url=world.gateway, token=token, options=options)


def mint(**claims) -> str:
    """A token of the development key with any claims."""

    def encode(part: bytes) -> str:
        return base64.urlsafe_b64encode(part).rstrip(b"=").decode()

    head = encode(b'{"alg":"HS256","typ":"JWT"}') + "." + encode(json.dumps({"iss": "devkey"} | claims).encode())
    return head + "." + encode(hmac.digest(b"secret", head.encode(), "sha256"))


def expect_quiet_console(page: Page):
    """No error in the console: a policy violation, an uncaught exception, a listener that failed."""
    faults = [line for line in page.console if line.startswith(("error", "exception")) and "favicon" not in line]
    expect(not faults, "the console shows\n  " + "\n  ".join(faults))


def fetch(world: World, method: str, path: str, body: dict | None = None, token: str | None = None) -> dict:
    """A request to the gateway's HTTP API. Raises `urllib.error.HTTPError` if it is refused."""
    fields = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(
        world.gateway.replace("wss", "https") + path, None if body is None else json.dumps(body).encode(), fields, method=method)
    with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=30) as response:
        content = response.read()
        return json.loads(content) if content else {}


async def fill(page: Page, selector: str, value: str):
    await page.run(
        "const input = document.querySelector(selector); input.value = value; input.dispatchEvent(new Event('input', { bubbles: true }))",
        selector=selector, value=value)


async def click(page: Page, selector: str, text: str = ""):
    found = await page.run(
        """
        const element = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility() && one.textContent.includes(text))
        element?.click()
        return element !== undefined
        """, selector=selector, text=text)
    expect(found, f"there is no {selector} {text}")


async def shows(page: Page, text: str, selector: str = "main", timeout: float = 20):
    await page.until(f"[...document.querySelectorAll({json.dumps(selector)})].some((one) => one.checkVisibility() && one.innerText.includes({json.dumps(text)}))", timeout)


SIZES = {"desktop": (1280, 800, False), "phone": (390, 844, True)}


async def capture(
    page: Page, name: str, sizes: tuple[str, ...] = ("desktop", "phone"), schemes: tuple[str, ...] = ("light", "dark"), shown: str = "header",
):
    """Screenshots of a state, `NAME-SIZE-SCHEME.png` in the folder that PATCHBAY_SCREENS names; nothing without it.

    `shown`: the element that the page is scrolled to.
    """
    folder = os.environ.get("PATCHBAY_SCREENS")
    if not folder:
        return
    for size in sizes:
        width, height, is_mobile = SIZES[size]
        await page.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_mobile)
        for scheme in schemes:
            await page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            await page.run("document.querySelector(shown)?.scrollIntoView({ block: 'center', behavior: 'instant' })", shown=shown)
            await asyncio.sleep(0.3)
            picture = await page.send("Page.captureScreenshot", format="png")
            (Path(folder) / f"{name}-{size}-{scheme}.png").write_bytes(base64.b64decode(picture["data"]))
    await page.send("Emulation.clearDeviceMetricsOverride")
    await page.send("Emulation.setEmulatedMedia", features=[])


ACCESSIBILITY = """
    // What a screen reader would have no name for, and text that is hard to read.
    const faults = []
    const isShown = (element) => element.checkVisibility({ checkOpacity: false, checkVisibilityCSS: true })
    const nameOf = (element) => (element.getAttribute('aria-label') ?? element.getAttribute('aria-labelledby') ?? '') + (element.labels?.[0]?.textContent ?? '')
      + (['INPUT', 'SELECT', 'TEXTAREA'].includes(element.tagName) ? '' : element.textContent)
    for (const element of document.querySelectorAll('button, a, input, select, textarea, summary, [role=img], [role=region], dialog'))
      if (isShown(element) && nameOf(element).trim() === '') faults.push('no name: ' + element.outerHTML.slice(0, 120))
    const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
    for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) faults.push('id twice: ' + id)
    const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true })
    const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data] }
    const luminance = (colour) => colour.slice(0, 3).map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
      .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0)
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement
      if (!walker.currentNode.data.trim() || !isShown(element) || element.closest('.visually-hidden, .skip-link, script, option, :disabled')) continue
      let behind = element
      while (behind && rgb(getComputedStyle(behind).backgroundColor)[3] < 255) behind = behind.parentElement
      const pair = [luminance(rgb(getComputedStyle(element).color)), luminance(rgb(behind ? getComputedStyle(behind).backgroundColor : 'white'))]
      const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)
      if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(1)}: ${walker.currentNode.data.trim().slice(0, 40)}`)
    }
    if (document.documentElement.scrollWidth > innerWidth) faults.push(`wider than the window: ${document.documentElement.scrollWidth} of ${innerWidth}`)
    return faults
"""


async def expect_accessible(page: Page):
    """Names of controls, unique ids, contrast of at least 4.5:1, and no sideways scrolling: light and dark, desktop and phone."""
    for size, (width, height, is_mobile) in SIZES.items():
        await page.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_mobile)
        for scheme in ("light", "dark"):
            await page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            faults = await page.run(ACCESSIBILITY)
            expect(not faults, f"{size} {scheme}:\n  " + "\n  ".join(faults))
    await page.send("Emulation.clearDeviceMetricsOverride")
    await page.send("Emulation.setEmulatedMedia", features=[])
