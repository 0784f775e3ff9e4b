"""The page /sessions together with the playground: changes made elsewhere appear by themselves, and the login is shared."""

import asyncio

from accounts import CONVERSATION, User, log_in, logged_in, open_sessions, with_store
from devtools import Browser, Page
from harness import World, check, click, expect, expect_equal, expect_quiet_console, shows
from phones import with_users
from states import inspect

ROWS = "[...document.querySelectorAll('.sessions li')]"


@check("sessions: a session and its summary on another device appear by themselves, also after a lost connection")
async def live(world: World):
    await with_store(world)
    ann, bob = User(world), User(world, "bob@example.org")
    async with Browser() as browser:
        page = await logged_in(browser, world)
        await shows(page, "No sessions yet")
        running = ann.talk(*CONVERSATION, ends=False)
        await page.until(f"{ROWS}.length === 1")
        await shows(page, "Running", ".sessions")
        # Sessions of other users cause no reload.
        bob.talk(*CONVERSATION)
        ann.ask("POST", "/v1/sessions/end", {"session_id": running})
        title = ann.summarized(running)["summary"]["title"]
        await shows(page, title, ".sessions")
        expect_equal(await page.run(f"return {ROWS}.length"), 1)
        # The gateway restarts; changes made in the meantime appear after the reconnect.
        await world.end(world.server)
        await world.start_gateway(0, *world.arguments)
        world.files.gateway = world.gateway
        ann.talk(("user", "Are you back?"))
        await page.until(f"{ROWS}.length === 2", timeout=60)
        await page.until("document.querySelector('main > problem-list').hidden")
        expect([line for line in page.console if line.startswith("exception")] == [], page.console)


@check("sessions: a call that rings is shown with the way to answer it, and a hidden page takes none")
async def calls(world: World):
    _, bob = await with_users(world, "ann", "bob")

    def call() -> dict:
        return bob.ask("POST", "/v1/calls", {"to": ["@ann"], "caller_name": "Bob"})["call"]

    async with Browser() as browser:
        page = await logged_in(browser, world)
        await page.until("performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v1/sessions?')).length >= 2")
        first = call()
        expect_equal(first["members"][1]["status"], "ringing")
        await shows(page, "Bob is calling you")
        await inspect(page, "sessions-call", schemes=("light",))
        bob.ask("POST", f"/v1/calls/{first['id']}/cancel")
        await page.until("document.querySelector('main > problem-list').hidden")
        # A hidden page is no device, so that phones are woken.
        hide = "Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden }); document.dispatchEvent(new Event('visibilitychange'))"
        await page.run(hide, isHidden=True)
        await asyncio.sleep(1)
        second = call()
        expect_equal(second["members"][1]["status"], "started")
        await page.run(hide, isHidden=False)
        await shows(page, "Bob is calling you")
        page.loaded.clear()
        await click(page, "problem-list button", "Open the page of calls")
        await asyncio.wait_for(page.loaded.wait(), 30)
        await shows(page, "Bob", "incoming-calls")


async def touch(page: Page, *moves: tuple[str, int]):
    for kind, y in moves:
        points = [] if kind == "touchEnd" else [{"x": 195, "y": y}]
        await page.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)


@check("sessions: the button, and pulling the list down, read it anew")
async def refreshing(world: World):
    await with_store(world)
    ann = User(world)
    async with Browser() as browser:
        page = await logged_in(browser, world)
        await shows(page, "No sessions yet")
        # The list was loaded when the page opened, and once more when its channel connected.
        await page.until("performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v1/sessions?')).length >= 2")
        await page.run("window.fetched = []; const original = fetch; window.fetch = (path, options) => (fetched.push(path), original(path, options))")
        count = "fetched.filter((path) => path.startsWith('/v1/sessions?')).length"
        await click(page, "session-list button", "Refresh")
        await page.until(f"{count} === 1")
        await page.until("[...document.querySelectorAll('[aria-live=polite] p')].some(({ textContent }) => textContent === 'The sessions are up to date')")
        await page.send("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        await page.send("Emulation.setTouchEmulationEnabled", enabled=True)
        await touch(page, ("touchStart", 200), ("touchMove", 220), ("touchMove", 230))
        await shows(page, "Pull to refresh", ".pull")
        # Not pulled far enough.
        await touch(page, ("touchEnd", 0))
        await page.until("document.querySelector('.pull').hidden")
        expect_equal(await page.run(f"return {count}"), 1)
        await touch(page, ("touchStart", 200), ("touchMove", 230), ("touchMove", 320))
        await shows(page, "Release to refresh", ".pull")
        await touch(page, ("touchEnd", 0))
        await page.until(f"{count} === 2")
        await page.until("document.querySelector('.pull').hidden")
        expect_equal(ann.ask("GET", "/v1/sessions"), [])
        expect_quiet_console(page)


@check("sessions and playground: the login goes along from one page to the other and back, and logging out holds for both")
async def one_product(world: World):
    await with_store(world)
    User(world)
    async with Browser() as browser:
        page = await open_sessions(browser, world)
        expect_equal(await page.run("return [...document.querySelectorAll('.pages a')].filter((one) => one.checkVisibility()).map(({ pathname }) => pathname)"), ["/", "/calls", "/dashboard"])
        await log_in(page)
        await shows(page, "No sessions yet")
        for _ in range(2):
            await follow(page, "session-list a", "Call an assistant")
            await shows(page, "Logged in as ann@example.org", "start-view")
            expect_equal(await page.run("return document.querySelector('start-view input:checked').value"), "account")
            await follow(page, ".pages a", "Sessions")
            await shows(page, "No sessions yet")
        # Go back: the browser may restore the earlier page, whose refresh token has been used.
        await page.run("history.back()")
        await shows(page, "Logged in as ann@example.org", "start-view")
        expect_equal(await page.run("return sessionStorage.length"), 0)
        await click(page, "start-view button", "Log out")
        await follow(page, ".pages a", "Sessions")
        await shows(page, "Log in to see your sessions")


async def follow(page: Page, selector: str, text: str):
    page.loaded.clear()
    await click(page, selector, text)
    await page.loaded.wait()
