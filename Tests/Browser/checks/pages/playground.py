"""The playground: its states, all its problems, and everything by keyboard."""

import asyncio
import time

from accounts import PASSWORD, User, with_store
from devtools import Browser, Page
from harness import World, check, click, expect, expect_equal, expect_quiet_console, fill, mint, open_page, shows
from keyboard import Keyboard
from states import inspect, inspect_problems
from widget_page import Assistant, recorded_packets

STORE = "const { store } = await import('/web/playground/model/store.js'); "
# A word is being heard.
SPOKEN = "[...document.querySelectorAll('transcript-view mark')].some(({ textContent }) => textContent)"


async def open_playground(browser: Browser, world: World, before: str = "") -> Page:
    page = await browser.open(f"{world.files.origin}/", before)
    await page.until("document.querySelector('start-view input:checked') !== null")
    # The page's server has no sockets. `isSilent`: they do not open.
    await page.run(
        """
        const Original = WebSocket
        window.WebSocket = function (url, protocols) {
          if (window.isSilent) return Object.assign(new EventTarget(), { send() {}, close() {} })
          return new Original(url.replace(/^ws.*?:\\/\\/[^/]+/, gateway), protocols)
        }
        Object.assign(window.WebSocket, { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 })
        """, gateway=world.gateway)
    return page


def token(room: str, **claims) -> str:
    return mint(**({"sub": "page", "exp": int(time.time()) + 600, "video": {"roomJoin": True, "room": room}} | claims))


async def start(page: Page, with_token: str):
    await click(page, "start-view label", "Token")
    await fill(page, "start-view textarea", with_token)
    await click(page, "start-view button", "Start call")


@check("playground: the ways into a call, and what is said if one is refused")
async def ways_in(world: World):
    await with_store(world)
    User(world)
    async with Browser() as browser:
        page = await open_playground(browser, world)
        await inspect(page, "playground-start-development")
        await click(page, "start-view label", "Account")
        await inspect(page, "playground-start-account")
        for password in ("wrong password", PASSWORD):
            await fill(page, "start-view input[type=email]", "ann@example.org")
            await fill(page, "start-view input[type=password]", password)
            await click(page, "start-view button", "Log in")
            if password != PASSWORD:
                await shows(page, "Wrong e-mail address or password")
                await inspect(page, "playground-start-wrong-password")
        await shows(page, "Logged in as ann@example.org")
        await inspect(page, "playground-start-logged-in")
        await click(page, "start-view label", "Token")
        await inspect(page, "playground-start-token")
        expired = token("refused", exp=int(time.time()) - 600)
        for given, text, name in (("nonsense", "This is not a token", "start-refused"), (expired, "The token has expired", "token-expired")):
            await start(page, given)
            await shows(page, text)
            await inspect(page, f"playground-{name}")


@check("playground: a call from its start to its end, at any width, light and dark")
async def call(world: World):
    packets = await recorded_packets(world)
    async with Browser() as browser:
        page = await open_playground(browser, world)
        await page.run("window.isSilent = true")
        await start(page, token("play"))
        await shows(page, "Connecting", "header")
        await inspect(page, "playground-call-connecting")
        await click(page, "call-controls button", "Leave")
        await page.run("window.isSilent = false")
        assistant = await Assistant.join(world, "play")
        await start(page, token("play"))
        await assistant.client.event("track.published")
        await assistant.heard("Where is my order?")
        await assistant.state("speaking")
        await assistant.say("It will be with you on Friday, at about seven in the evening.", packets, seconds=30)
        await page.until(SPOKEN)
        await inspect(page, "playground-call-speaking")
        await page.run("for (const panel of document.querySelectorAll('.panel')) panel.open = true; document.querySelector('.log summary').click()")
        await page.until("document.querySelector('.log pre') !== null")
        await fill(page, "event-log input", "transcript -playout")
        await shows(page, " of ", "event-log .spread")
        await inspect(page, "playground-call-filter", shown="event-log")
        await click(page, "device-panel button", "Record")
        await shows(page, "Stop recording", "device-panel")
        await inspect(page, "playground-call-devices", shown="device-panel")
        await click(page, "device-panel button", "Stop")
        await shows(page, "Download WAV", "device-panel")
        await click(page, "call-controls button", "Interrupt")
        await page.until("[...document.querySelectorAll('transcript-view s')].some(({ textContent }) => textContent)")
        await inspect(page, "playground-call-interrupted")
        for button, text, name in (("Mute", "You, muted", "muted"), ("Hold", "On hold", "held")):
            await click(page, "call-controls button", button)
            await shows(page, text, "voice-wave, call-status")
            await inspect(page, f"playground-call-{name}")
        await page.run(STORE + "store.dispatch('room.recorded', { isActive: true })")
        await inspect(page, "playground-call-recorded")
        await click(page, "call-controls button", "Leave")
        await shows(page, "You left the call.")
        await inspect(page, "playground-ended")
        expect_quiet_console(page)


@check("playground: what can go wrong in a call, at any width, light and dark")
async def problems(world: World):
    async with Browser() as browser:
        page = await open_playground(browser, world)
        assistant = await Assistant.join(world, "play")
        await start(page, token("play"))
        await assistant.client.event("track.published")
        await inspect_problems(page, "playground")
        expect_quiet_console(page)


@check("playground: everything can be done with the keyboard")
async def by_keyboard(world: World):
    await with_store(world)
    User(world)
    packets = await recorded_packets(world)
    async with Browser() as browser:
        page = await open_playground(browser, world)
        keys = Keyboard(page)
        expect_equal((await keys.tour())[0], "Skip to content")
        await keys.go("No login")
        await keys.press("ArrowRight")
        await keys.expect_focus("Account")
        await keys.go("E-mail address")
        await keys.type("ann@example.org")
        await keys.go("Password")
        await keys.type("wrong password")
        await keys.press("Enter")
        await shows(page, "Wrong e-mail address or password")
        await keys.expect_focus("Password")
        await keys.type(PASSWORD)
        await keys.press("Enter")
        await keys.expect_focus("Start call")
        await keys.go("Voice", back=True)
        await keys.press("ArrowDown")
        expect(await page.run("return document.activeElement.selectedIndex") == 1, "the voice was not chosen")
        await keys.act("Log out", back=True)
        await keys.expect_focus("E-mail address")
        await keys.go("Account", back=True)
        await keys.press("ArrowRight")
        await keys.go("Access token")
        await keys.type(token("play"))
        assistant = await Assistant.join(world, "play")
        await keys.act("Start call")
        await assistant.client.event("track.published")
        await keys.expect_focus("Call")
        await assistant.say("It will be with you on Friday, at about seven in the evening.", packets, seconds=30)
        await page.until(SPOKEN)
        for panel in ("Response times", "Network", "Events", "Devices and recording"):
            await keys.act(panel)
            await keys.press("Enter")
        await page.run("document.querySelectorAll('.panel')[2].open = true")
        await keys.act("Devices and recording")
        # Rows stay under the focus, whatever arrives.
        await keys.go("Filter", back=True)
        await keys.go("Clear")
        await keys.press("Tab")
        row = await keys.focused()
        await shows(page, "Paused while an event has the focus", "event-log .spread")
        place = "return document.activeElement.getBoundingClientRect().top - document.querySelector('.log').getBoundingClientRect().top"
        top = await page.run(place)
        await assistant.state("thinking")
        await page.until(r"/, [1-9]\d* new/.test(document.querySelector('event-log .spread').textContent)")
        expect_equal([await keys.focused(), await page.run(place)], [row, top], "the focused row moved")
        await keys.go("Filter", back=True)
        await keys.type("agent.state")
        await shows(page, "agent.state", "event-log .log")
        await keys.type("track.published")
        await shows(page, " of ", "event-log .spread")
        await shows(page, " of ", "[aria-live=polite]")
        await keys.tour()
        # On a phone, the controls lie over the page.
        await page.send("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        await keys.tour()
        await page.send("Emulation.clearDeviceMetricsOverride")
        await keys.act("Mute", " ")
        await assistant.client.event("track.muted")
        await keys.press(" ")
        await assistant.client.event("track.unmuted")
        await keys.act("Hold", " ")
        await shows(page, "On hold", "call-status")
        await keys.press(" ")
        await shows(page, "Connected", "call-status")
        await keys.act("Interrupt", " ")
        await assistant.client.event("playout.cleared")
        await keys.go("Message to the assistant", back=True)
        await keys.type("Hello")
        await keys.press("Enter")
        expect_equal((await assistant.client.event("text"))["text"], "Hello")
        # The log may have forgotten the first segments.
        await assistant.heard("And what else?", id="u2")
        await keys.go("Filter")
        await keys.type("transcript.segment")
        await page.until("document.querySelector('.log-name')?.textContent === 'transcript.segment'")
        await keys.go(await page.run("return document.querySelector('.log summary').textContent"))
        await keys.press("Enter")
        await page.until("document.querySelector('.log pre') !== null")
        await keys.go("Data of transcript.segment")
        await keys.act("Clear", back=True)
        await shows(page, "0 events", "event-log .spread")
        await keys.act("Record on this device")
        await asyncio.sleep(0.5)
        await keys.press("Enter")
        await shows(page, "Download WAV", "device-panel")
        await keys.go("Download WAV")
        # A problem in a call: its button is reached, and the focus goes on after it has done its work.
        await page.run(STORE + "store.dispatch('problem.add', { key: 'microphone', code: 'ended' })")
        await keys.act("Try the microphone again", back=True)
        await page.until("document.querySelector('problem-list').hidden")
        await keys.expect_kept("Try the microphone again")
        await keys.act("Leave")
        await keys.expect_focus("Call again")
        await keys.act("Back to start")
        await keys.expect_focus("Call an assistant")
        expect([line for line in page.console if line.startswith("exception")] == [], page.console)


@check("a long transcript shows its latest lines, and earlier ones once the user scrolls to them")
async def long_transcript(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await page.run(
            """
            const { TranscriptRows } = await import('/web/shared/transcript-rows.js')
            window.list = document.createElement('ol')
            list.style = 'height: 300px; overflow-y: auto'
            document.body.append(list)
            const rows = new TranscriptRows(list)
            let lines = []
            window.add = (count) => {
              lines = [...lines, ...Array.from({ length: count }, (_, n) => ({ id: `${lines.length + n}`, kind: 'user', text: `${lines.length + n}` }))]
              rows.update(lines, () => ({ kind: 'user', speaker: 'You' }))
              rows.follow()
            }
            window.shown = () => [...list.children].map((row) => Number(row.lastChild.firstChild.textContent))
            window.scroll = (top) => new Promise((resolve) => { list.addEventListener('scroll', () => setTimeout(resolve), { once: true }); list.scrollTop = top })
            add(250)
            """)
        expect_equal(await page.run("return shown()"), list(range(200, 250)))
        # What was at the beginning stays where it is.
        place = "return list.querySelector('li:nth-child({})').getBoundingClientRect().top"
        expected = await page.run(f"{place.format(1)} + list.scrollTop - 30")
        await page.run("await scroll(30)")
        expect_equal(await page.run("return shown()"), list(range(150, 250)))
        found = await page.run(place.format(51))
        expect(abs(found - expected) <= 1, f"the transcript jumped: {found} instead of {expected}")
        await page.run("add(10)")
        expect_equal(await page.run("return shown()"), list(range(150, 260)), "while the user reads")
        await page.run("await scroll(0)")
        expect_equal(await page.run("return shown()"), list(range(100, 260)))
        await page.run("await scroll(list.scrollHeight); add(1)")
        expect_equal(await page.run("return shown()"), list(range(211, 261)), "at the end again")
