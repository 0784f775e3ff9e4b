"""The page /sessions together with the playground: changes made elsewhere appear by themselves, and the login is shared."""

from accounts import CONVERSATION, User, log_in, logged_in, open_sessions, with_store
from devtools import Browser, Page
from harness import World, check, click, expect, expect_equal, expect_quiet_console, shows

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
