"""The table of checks, what they share, and assertions."""

import base64
import dataclasses
import hmac
import json
import ssl
import urllib.error
import urllib.request

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
    # In seconds: ten times what the longest check takes on an idle machine.
    time_limit: float = 480
    # A call of `options.minutes`, in addition to the limit.
    is_timed: bool = False


checks: list[Check] = []


@dataclasses.dataclass
class Options:
    """What the command line says about measurements."""

    minutes: int = 60


options = Options()


def check(title: str, alone: bool = False):
    """Registers a check: an async function that takes a `World` and raises on failure."""

    def add(function):
        checks.append(Check(title, function, False, alone))
        return function

    return add


def measurement(title: str, time_limit: float = 240, is_timed: bool = False):
    """Registers a measurement: the text that it returns is printed."""

    def add(function):
        checks.append(Check(title, function, True, time_limit=time_limit, is_timed=is_timed))
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


async def shows(page: Page, text: str, selector: str = "main", timeout: float = 40):
    await page.until(f"[...document.querySelectorAll({json.dumps(selector)})].some((one) => one.checkVisibility() && one.innerText.includes({json.dumps(text)}))", timeout)
