"""The library, the playground and the widget in Firefox. Skipped, with a note, where Firefox is only a snap, as on Ubuntu."""

import shutil

from checks.pages.playground import open_playground
from firefox import Firefox
from harness import SPEECH, World, check, click, expect, expect_equal, fill, join_page, open_page, shows
from widget_page import START, Assistant, open_widget

NO_ENCODER = "delete window.AudioEncoder"


def firefox_check(title: str):
    """A check that needs Firefox."""

    def add(function):
        @check(f"Firefox: {title}")
        async def run(world: World):
            if not (shutil.which("firefox-esr") or shutil.which("firefox")):
                return "left out: there is no Firefox; `scripts/setup --tests` installs it on Debian"
            async with Firefox() as browser:
                return await function(world, browser)

        return run

    return add


@firefox_check("a page connects, receives audio, publishes the microphone and types")
async def library(world: World, browser: Firefox):
    page = await open_page(browser, world)
    support = await page.run("return await patchbay.checkSupport()")
    expect_equal([support["audio"], support["listening"]], [True, True], f"support: {support}")
    listener = await world.join("firefox", "listener")
    await join_page(page, world, "firefox")
    await world.join("firefox", "speaker", "--play", str(SPEECH))
    await page.until("room.stats().framesReceived > 50")
    await page.run("await room.localParticipant.setMicrophoneEnabled(true)")
    await page.until("room.localParticipant.microphoneEnabled && room.localParticipant.tracks.size === 1")
    expect_equal(await page.run("return (await room.sendText('from Firefox')).id.slice(0, 3)"), "TX_")
    # Without a sound output, as in a container, Firefox does not start audio: the page gets an error, and the microphone waits.
    blockage = await page.run("return room.audioBlockage")
    expect(blockage in (None, "gesture", "no_output"), blockage)
    if blockage is None:
        await page.until("room.stats().framesSent > 20 && room.stats().buffered >= 0")
    await page.run("room.disconnect()")
    await world.end(listener)
    expect(any('"track.published"' in line and '"page"' in line for line in listener.lines), "the listener saw no track of the page")
    return None if blockage is None else "this machine has no sound output, without which Firefox plays nothing: what is heard was not checked"


@firefox_check("the playground opens, says what is refused, and calls by text")
async def playground(world: World, browser: Firefox):
    page = await open_playground(browser, world)
    await shows(page, "Start call")
    await click(page, "start-view label", "Token")
    await fill(page, "start-view textarea", "nonsense")
    await click(page, "start-view button", "Start call")
    await shows(page, "This is not a token")
    assistant = await Assistant.join(world, "play")
    await fill(page, "start-view textarea", await world.token("--room", "play", "--identity", "page"))
    await click(page, "start-view button", "Start call")
    await shows(page, "Connected", "call-status")
    await assistant.heard("I can be read.")
    await shows(page, "I can be read.", "transcript-view")
    await fill(page, "message-form input", "I type")
    await page.run("document.querySelector('message-form form').requestSubmit()")
    expect_equal((await assistant.client.event("text"))["text"], "I type")
    await click(page, "call-controls button", "Leave")
    await shows(page, "You left the call.")
    faults = [line for line in page.console if line.startswith("error") and "favicon" not in line and "establish a connection" not in line]
    expect(not faults, faults)


@firefox_check("the dashboard and the sessions open")
async def pages(world: World, browser: Firefox):
    await world.join("lobby", "alice")
    page = await browser.open(f"{world.files.origin}/dashboard")
    await shows(page, "lobby", "room-list")
    page = await browser.open(f"{world.files.origin}/sessions")
    await shows(page, "Log in to see your sessions")


@firefox_check("without an Opus encoder the widget says the reason, and the conversation goes on by text")
async def widget(world: World, browser: Firefox):
    page = await open_widget(browser, world)
    await page.run(NO_ENCODER)
    assistant = await Assistant.join(world)
    await page.run(START)
    await page.until("/cannot encode Opus audio/.test(text('.notices'))")
    await page.run("[...shadow.querySelectorAll('.notice button')].find(({ textContent }) => textContent === 'Type instead').click()")
    await page.until("widget.state === 'transcript'")
    await page.run("part('.composer input').value = 'I type'; part('.composer').requestSubmit()")
    expect_equal((await assistant.client.event("text"))["text"], "I type")
