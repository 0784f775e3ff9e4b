"""Assistants that are lost, return, are replaced or are busy: what the pages say, and how soon."""

import asyncio
import ssl
import time

from checks.pages.playground import open_playground, start, token
from checks.library.room import Client, join_agent
from devtools import Browser, Page
from harness import World, check, expect, expect_quiet_console, fetch, mint, shows
from states import inspect
from widget_page import START, open_widget

# Where each page says what, and in which words.
PLAYGROUND = {
    "listening": ("call-status", "Assistant: listening"), "reconnecting": ("call-status", "Assistant: reconnecting"),
    "gone": ("problem-list", "The assistant is gone"), "unstaffed": ("problem-list", "No assistant is connected"),
    "busy": ("problem-list", "All assistants are busy"),
}
WIDGET = {
    "listening": (".status-text", "Listening"), "reconnecting": (".status-text", "is reconnecting"), "gone": (".notice", "is gone"),
    "unstaffed": (".notice", "No assistant is available"), "busy": (".notice", "All assistants are busy"),
}
DASHBOARD = {
    "listening": (".people", "listening"), "reconnecting": (".person .pill", "Reconnecting"), "gone": (".person .pill", "Gone"),
}
# Of a lost connection, in milliseconds.
RECONNECTING_WITHIN = 2000
GONE_WITHIN = 5000


async def watch(page: Page, words: dict):
    """Notes in `seen` when a page first shows something, on the machine's clock, and what it shows now in `shown()`."""
    await page.run(
        """
        const root = window.shadow ?? document
        const isShown = ([selector, text]) => [...root.querySelectorAll(selector)].some((one) => one.checkVisibility() && one.innerText.includes(text))
        window.shown = () => Object.keys(words).filter((name) => isShown(words[name]))
        window.seen = {}
        const note = () => { for (const name of shown()) seen[name] ??= Date.now() }
        new MutationObserver(note).observe(root, { subtree: true, childList: true, characterData: true, attributes: true })
        """, words=words)


async def open_pages(browser: Browser, world: World, room: str, *, presentation: str = "widget") -> dict[str, Page]:
    """The playground and the widget in a call, and the dashboard with the room."""
    playground = await open_playground(browser, world)
    await watch(playground, PLAYGROUND)
    await start(playground, token(room))
    await shows(playground, "Connected", "call-status")
    guest = mint(sub="guest", exp=int(time.time()) + 600, video={"roomJoin": True, "room": room})
    widget = await open_widget(browser, world, room, token=guest, presentation=presentation)
    await watch(widget, WIDGET)
    await widget.run(START)
    await widget.until("widget.state === 'expanded'")
    dashboard = await browser.open(f"{world.files.origin}/dashboard#/rooms/{room}")
    await watch(dashboard, DASHBOARD)
    await shows(dashboard, "guest", ".people")
    return {"playground": playground, "widget": widget, "dashboard": dashboard}


async def all_show(pages: dict[str, Page], name: str, timeout: float = 20):
    for page in pages.values():
        await page.until(f"shown().includes({name!r})", timeout)


async def expect_present(pages: dict[str, Page]):
    """Nothing is said about an absence any more."""
    for name, page in pages.items():
        shown = await page.run("return shown()")
        expect(set(shown) <= {"listening"}, f"{name}: {shown}")
        expect_quiet_console(page)


async def dispatch(world: World, room: str):
    """Asks for the embedded assistant in a room, whether or not a worker is connected."""
    access = mint(sub="admin", exp=int(time.time()) + 600, video={"roomAdmin": True, "room": room})
    return await asyncio.to_thread(fetch, world, "POST", f"/v1/rooms/{room}/agents", {"assistant": "default"}, access)


def start_agent(world: World, *arguments: str):
    return world.start("agent", "start", "--dev", "--url", world.gateway, *arguments, wait_for="ready for")


@check("a killed assistant is reconnecting within 2 s and gone within 5 s on every page, until another one takes over", alone=True)
async def killed(world: World):
    agent = await start_agent(world)
    async with Browser() as browser:
        pages = await open_pages(browser, world, "killed")
        await dispatch(world, "killed")
        await all_show(pages, "listening", 90)
        for page in pages.values():
            await page.run("seen = {}")
        agent.kill()
        lost = time.time() * 1000
        await all_show(pages, "gone")
        seen = {name: await page.run("return seen") for name, page in pages.items()}
        took = {name: [round(times.get(state, lost + 60_000) - lost) for state in ("reconnecting", "gone")] for name, times in seen.items()}
        expect(all(reconnecting <= RECONNECTING_WITHIN and gone <= GONE_WITHIN for reconnecting, gone in took.values()), took)
        for page in pages.values():
            expect("listening" not in await page.run("return shown()"), "a dead assistant is listening")
        await start_agent(world)
        await all_show(pages, "listening", 90)
        await expect_present(pages)
        return ", ".join(f"{name}: reconnecting after {reconnecting} ms, gone after {gone} ms" for name, (reconnecting, gone) in took.items())


@check("an assistant that resumes is listening again, also after the pages have said that it is gone")
async def resumed(world: World):
    async with Browser() as browser:
        agent = await join_agent(world, "resumed", "assistant:shop")
        await agent.request("agent.state", state="listening")
        pages = await open_pages(browser, world, "resumed")
        access = await world.token("--room", "resumed", "--identity", "assistant:shop", "--kind", "agent")
        for until in ("reconnecting", "gone"):
            await all_show(pages, "listening")
            agent.abort()
            for name, page in pages.items():
                # A busy dashboard may ask too late to see it.
                if (name, until) != ("dashboard", "reconnecting"):
                    await page.until(f"seen.{until}")
            agent = await Client.connect(world.gateway, access, tls=ssl._create_unverified_context(), resume=(agent.hello["resume_token"], agent.last_seq))
            expect(agent.hello["resumed"], "the assistant joined anew")
        await all_show(pages, "listening")
        await expect_present(pages)
        await agent.leave()


@check("while no assistant is free, the playground, the widget and the talk view say so, until one comes", alone=True)
async def busy(world: World):
    ann = await world.join("first", "ann")
    await dispatch(world, "first")
    async with Browser() as browser:
        pages = await open_pages(browser, world, "second", presentation="talk")
        del pages["dashboard"]
        await dispatch(world, "second")
        await all_show(pages, "unstaffed")
        # The first room waits longer.
        await start_agent(world, "--capacity", "1")
        await all_show(pages, "busy", 60)
        # A tab in the background would take long.
        await pages["widget"].send("Page.bringToFront")
        await inspect(pages["widget"], "talk-busy")
        await world.end(ann)
        await all_show(pages, "listening", 90)
        await expect_present(pages)
