"""The playground as visitors see it: before, during and after a call, and in other languages."""

import signal

from accounts import User, with_store
from checks.pages.consent import QUESTION, consent
from checks.pages.playground import STORE, open_playground, start, token
from devtools import Browser, Page
from harness import World, check, click, expect, expect_equal, expect_quiet_console, fill, shows
from states import SIZES, inspect
from widget_page import Assistant

NOTE = "Assistant call may be recorded for your summaries."
ASSISTANTS = {"assistants": [
    {"id": "bank", "name": "Mira", "voice": "nova", "language": "de", "connected": True},
    {"id": "default", "name": "Robin", "voice": "alloy", "language": "en", "connected": False},
]}


async def log_in(page: Page, email: str = "ann@example.org", password: str = "correct horse battery"):
    await click(page, "start-view label", "Account")
    await fill(page, "start-view input[type=email]", email)
    await fill(page, "start-view input[type=password]", password)
    await click(page, "start-view button", "Log in")
    await shows(page, f"Logged in as {email}")


@check("playground: the assistant is chosen from a list, and the devices are tried before the call, without scrolling")
async def before(world: World):
    await with_store(world)
    User(world)
    world.files.answers["/v1/dev/assistants"] = (200, ASSISTANTS)
    async with Browser() as browser:
        page = await open_playground(browser, world)
        await page.until("document.querySelectorAll('start-view select')[0].options.length === 3")
        options = await page.run("const [select] = document.querySelectorAll('start-view select'); return [select.value, [...select.options].map(({ text }) => text)]")
        # The default assistant is not connected.
        expect_equal(options, ["bank", ["Mira (bank)", "Robin (default) (not connected)", "Another id…"]])
        await page.run("const [select] = document.querySelectorAll('start-view select'); select.value = '?'; select.dispatchEvent(new Event('change'))")
        await fill(page, "start-view input[type=text]", "nobody")
        await shows(page, "There is no assistant “nobody”.", "start-view")
        # Chromium's note about the 404.
        page.console.clear()
        await inspect(page, "playground-start-other-assistant", schemes=("light",))
        await page.run("const [select] = document.querySelectorAll('start-view select'); select.value = 'bank'; select.dispatchEvent(new Event('change'))")
        await click(page, "device-check button", "Test microphone")
        await shows(page, "Say something", "device-check")
        # Chromium's fake microphone beeps.
        await page.until("Number(document.querySelector('device-check [role=meter]').ariaValueNow) > 0")
        await inspect(page, "playground-start-devices")
        await click(page, "device-check button", "Stop the test")
        await page.until("!document.querySelector('device-check [role=meter]').checkVisibility()")
        await click(page, "device-check button", "Test sound")
        await shows(page, "three tones", "device-check")
        await page.until("![...document.querySelectorAll('device-check .hint')].some(({ textContent }) => textContent.includes('three tones'))")
        await log_in(page)
        for size, (width, height, is_mobile) in SIZES.items():
            await page.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_mobile)
            for mode in ("No login", "Account"):
                await click(page, "start-view label", mode)
                bottom = await page.run("scrollTo(0, 0); const [last] = [...document.querySelectorAll('start-view button')].filter((one) => one.textContent === 'Start call'); return last.getBoundingClientRect().bottom - innerHeight")
                expect(bottom <= 0, f"{size}, {mode}: “Start call” is {bottom} px below the edge")
        await page.send("Emulation.clearDeviceMetricsOverride")
        # A refused microphone is explained where the user has tested it.
        await page.run("navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError') }")
        await click(page, "device-check button", "Test microphone")
        await shows(page, "The microphone is blocked.", "device-check")
        expect_quiet_console(page)


@check("playground: the response times of the last turns, their trend, and a gateway that stalls")
async def during(world: World):
    async with Browser() as browser:
        page = await open_playground(browser, world)
        assistant = await Assistant.join(world, "play")
        await start(page, token("play"))
        await assistant.client.event("track.published")
        await shows(page, "How fast the assistant answers appears here", "turn-panel")
        expect_equal(await page.run("return [...document.querySelectorAll('network-panel dd')].filter((one) => one.checkVisibility() && ['', '–', '0'].includes(one.textContent)).length"), 0)
        for number, total in enumerate((800, 820, 790, 400, 410, 390), start=1):
            await assistant.tell(
                "turn.metrics", turn=number, end_of_turn_ms=250, recognition_ms=90, first_audio_ms=40, voice_to_voice_ms=total, interrupted=number == 6)
        await shows(page, "6, interrupted", "turn-panel")
        await shows(page, "lately 50 % faster", "turn-panel")
        # A stage that never occurred has no column.
        expect_equal(await page.run("return [...document.querySelectorAll('.turns thead th')].map(({ textContent }) => textContent)"), ["Turn", "End of turn", "Recognition", "First audio", "Total"])
        await page.run("document.querySelectorAll('.panel').forEach((one) => (one.open = true))")
        await inspect(page, "playground-call-turns", shown="turn-panel")
        words = await page.run("return [...document.querySelectorAll('voice-wave [role=meter]')].map(({ ariaValueText }) => ariaValueText)")
        expect(all(word in ("silent", "very quiet", "quiet", "good", "too loud") for word in words), words)
        await page.run(STORE + "store.dispatch('room.logged', { isLogged: true })")
        await shows(page, NOTE, "call-view")
        await inspect(page, "playground-call-logged")
        world.server.send_signal(signal.SIGSTOP)
        try:
            await shows(page, "The gateway does not answer", "problem-list")
            await inspect(page, "playground-call-stalled", schemes=("light",))
        finally:
            world.server.send_signal(signal.SIGCONT)
        await page.until("![...document.querySelectorAll('problem-list h2')].some(({ textContent }) => textContent === 'The gateway does not answer')")
        await click(page, "call-controls button", "Leave")
        await shows(page, "You left the call.")
        await shows(page, "This call belongs to no account", "after-call")
        await page.run("window.isSilent = true")
        await click(page, "problem-list button", "Call again")
        await shows(page, "The gateway does not answer yet", "problem-list")
        await click(page, "problem-list button", "Give up")
        await shows(page, "Call an assistant", "start-view")


@check("playground: the first call with an account asks for consent; afterwards its summary, the copy and the stored session are there")
async def after(world: World):
    await with_store(world)
    unasked = {"logging_enabled": False, "has_seen_onboarding": False}
    ann, bob = User(world, **unasked), User(world, "bob@example.org", **unasked)
    async with Browser() as browser:
        page = await open_playground(browser, world)
        await page.run("navigator.clipboard.writeText = async (text) => (window.copied = text)")
        await log_in(page)
        await click(page, "start-view button", "Start call")
        await shows(page, QUESTION, "consent-view")
        await inspect(page, "playground-consent")
        # Leave without an answer.
        await click(page, "consent-view button", "Back")
        await shows(page, "Call an assistant", "start-view")
        expect_equal((consent(ann), ann.ask("GET", "/v1/sessions")), ((False, False), []))
        await click(page, "start-view button", "Start call")
        await click(page, "consent-view button", "Allow logging & summaries")
        await shows(page, "Connected", "call-status")
        expect_equal(consent(ann), (True, True))
        await fill(page, "message-form input", "Please book a table for two at the harbour tomorrow at seven.")
        await click(page, "message-form button")
        await shows(page, "Please book a table", "transcript-view")
        await click(page, "call-controls button", "Leave")
        await page.until("document.querySelector('after-call h3') !== null", timeout=60)
        await inspect(page, "playground-after-call")
        await click(page, "after-call button", "Copy summary and transcript")
        await page.until("window.copied?.includes('You: Please book a table for two')")
        [session] = ann.ask("GET", "/v1/sessions")
        expect_equal(await page.run("return [...document.querySelectorAll('after-call a')].find((one) => one.checkVisibility()).getAttribute('href')"), f"/sessions#/sessions/{session['id']}")
        # The question is asked only once.
        await click(page, "problem-list button", "Call again")
        await shows(page, "Connected", "call-status")
        await click(page, "call-controls button", "Leave")
        await click(page, "problem-list button", "Back to start")
        await click(page, "start-view button", "Log out")
        await log_in(page, "bob@example.org")
        await click(page, "start-view button", "Start call")
        await click(page, "consent-view button", "Don’t allow")
        await shows(page, "Connected", "call-status")
        expect_equal(consent(bob), (True, False))
        await fill(page, "message-form input", "Nobody keeps this.")
        await click(page, "message-form button")
        await shows(page, "Nobody keeps this.", "transcript-view")
        await click(page, "call-controls button", "Leave")
        await shows(page, "This call was not logged", "after-call")
        [session] = bob.ask("GET", "/v1/sessions")
        expect_equal(bob.ask("GET", f"/v1/sessions/{session['id']}")["turns"], [])
        expect([line for line in page.console if line.startswith("exception")] == [], page.console)


@check("playground: it speaks German, French and Spanish where the browser does")
async def languages(world: World):
    async with Browser() as browser:
        for language, title, hold in (("de-AT", "Einen Assistenten anrufen", "Halten"), ("fr", "Appeler un assistant", "Attente"), ("es-MX", "Llamar a un asistente", "Espera")):
            page = await browser.open(world.page)
            await page.send("Emulation.setUserAgentOverride", userAgent="", acceptLanguage=language)
            page.loaded.clear()
            await page.send("Page.navigate", url=f"{world.files.origin}/")
            await page.loaded.wait()
            await shows(page, title)
            expect_equal(await page.run("return document.documentElement.lang"), language)
            await page.until("document.querySelector('start-view input:checked') !== null")
            await inspect(page, f"playground-start-{language}", schemes=("light",))
            await page.run(STORE + "store.dispatch('call.begin', { mode: 'token' }); store.dispatch('room.state', { value: 'connected' })")
            await shows(page, hold, "call-controls button")
            await inspect(page, f"playground-call-{language}", schemes=("light",))
            expect_quiet_console(page)
