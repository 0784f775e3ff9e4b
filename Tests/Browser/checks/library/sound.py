"""Volumes, and browsers without a sound output."""

from checks.pages.dashboard import monologue
from checks.pages.playground import open_playground, token
from devtools import Browser, Page
from harness import World, check, click, expect, expect_equal, expect_quiet_console, fill, join_page, open_page, shows
from widget_page import Assistant, open_widget

# As Firefox behaves without a sound output: contexts stay suspended, whatever the user does. `hasOutput`: one was connected.
NO_OUTPUT = """
    const Original = AudioContext
    window.AudioContext = class extends Original {
      constructor(...all) { super(...all); super.suspend() }
      get state() { return window.hasOutput ? super.state : 'suspended' }
      resume() { return window.hasOutput ? super.resume() : new Promise(() => {}) }
    }
"""
# `hear()` begins anew: `loudest` is the loudest sample since, and `spoken` counts the 20 ms in which the speaker was speaking.
HEAR = """
    window.hear = () => {
      window.stopHearing?.()
      Object.assign(window, { loudest: 0, spoken: 0 })
      window.stopHearing = room.tap(null, (samples) => {
        if (room.level('speaker') > -40) spoken++
        for (const sample of samples) loudest = Math.max(loudest, Math.abs(sample))
      })
    }
"""


async def press(page: Page, element: str):
    """A real click on an element, which counts as a user's gesture."""
    x, y = await page.run(
        f"const element = {element}; element.scrollIntoView({{ block: 'center', behavior: 'instant' }}); "
        "const { x, y, width, height } = element.getBoundingClientRect(); return [x + width / 2, y + height / 2]")
    await page.click(x, y)


def button(text: str, root: str = "document") -> str:
    return f"[...{root}.querySelectorAll('button')].find((one) => one.checkVisibility() && one.textContent.trim() === {text!r})"


@check("a volume may be set before the call, and stays when a participant joins again and in the next call")
async def volume(world: World):
    speech = str(monologue(world, times=30))
    async with Browser() as browser:
        page = await open_page(browser, world)

        async def expect_silence():
            await page.run("hear()")
            await page.until("spoken > 25")
            expect_equal(await page.run("return loudest"), 0, "the loudest sample")

        async def call():
            access = await world.token("--room", "volume", "--identity", "page")
            await page.run("await room.connect(url, token)", url=world.gateway, token=access)

        await page.run(HEAR + "window.room = new patchbay.Room(); room.setVolume(0)")
        await call()
        speaker = await world.join("volume", "speaker", "--play", speech)
        await expect_silence()
        await page.run("room.setVolume(1); hear()")
        await page.until("loudest > 0.02")
        await page.run("room.setVolume(0, 'speaker')")
        await expect_silence()
        await world.end(speaker)
        await page.until("!room.remoteParticipants.has('speaker')")
        await world.join("volume", "speaker", "--play", speech)
        await page.until("room.remoteParticipants.has('speaker')")
        await expect_silence()
        await page.run("room.disconnect()")
        await call()
        await expect_silence()
        await page.run("room.setVolume(1, 'speaker'); hear()")
        await page.until("loudest > 0.02")
        expect_equal(await page.run("try { room.setVolume(NaN) } catch ({ name }) { return name }"), "TypeError")
        expect_quiet_console(page)


@check("without a sound output, the reason is told after a click, and the microphone is sent once there is one")
async def no_output(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await page.run(NO_OUTPUT)
        await join_page(page, world, "quiet")
        await page.until("happened.some(({ name, data }) => name === 'audioBlocked' && data === 'gesture')")
        await page.run("await room.localParticipant.setMicrophoneEnabled(true); button.onclick = () => room.startAudio().catch(({ message }) => (window.refusal = message))")
        await press(page, "button")
        await page.until("window.refusal")
        expect("no sound output" in await page.run("return refusal"), await page.run("return refusal"))
        told = await page.run("return [happened.filter(({ name }) => name === 'audioBlocked').map(({ data }) => data), room.audioBlocked, room.audioBlockage, room.stats().framesSent]")
        expect_equal(told, [["gesture", "no_output"], True, "no_output", 0])
        # Without a click, nothing is learned.
        await page.run("await room.startAudio().catch(() => {})")
        expect_equal(await page.run("return room.audioBlockage"), "no_output")
        await page.run("window.hasOutput = true")
        await press(page, "button")
        await page.until("happened.some(({ name }) => name === 'audioStarted') && room.stats().framesSent > 10")
        expect_equal(await page.run("return [room.audioBlocked, room.audioBlockage]"), [False, None])
        expect_quiet_console(page)


@check("without a sound output, the playground and the widget say that the user is not heard, and what to do")
async def not_heard(world: World):
    async with Browser() as browser:
        page = await open_playground(browser, world)
        await page.run(NO_OUTPUT)
        assistant = await Assistant.join(world, "play")
        await click(page, "start-view label", "Token")
        await fill(page, "start-view textarea", token("play"))
        await press(page, button("Start call"))
        await shows(page, "There is no sound output", "problem-list")
        await page.run("window.hasOutput = true")
        await press(page, button("Turn on sound"))
        await page.until("document.querySelector('problem-list').hidden")
        await assistant.client.receive_frames(10)
        await click(page, "call-controls button", "Leave")
        page = await open_widget(browser, world)
        await page.run(NO_OUTPUT)
        assistant = await Assistant.join(world)
        await press(page, "part('.launcher')")
        await page.until("/There is no sound output/.test(text('.notice p'))")
        await assistant.state("listening")
        await page.until("text('.status-text') === 'Type your message'")
        await page.run("window.hasOutput = true")
        await press(page, button("Turn on sound", "shadow"))
        await page.until("!part('.notice') && /Listening/.test(text('.status-text'))")
        await assistant.client.receive_frames(10)
        expect_quiet_console(page)
