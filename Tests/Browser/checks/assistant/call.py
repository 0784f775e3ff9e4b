"""A call with the embedded assistant: it understands the microphone, and the page shows and plays its answer."""

import asyncio
import re
import signal

from devtools import Browser, Page
from harness import SPEECH, World, check, expect, expect_equal, expect_quiet_console, join_page, open_page

# The recognizer writes the number as a word or in digits, depending on where its window ended.
WORDS = r"go forward (ten|10) meters"


def words(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


async def dispatch(world: World, page: Page, room: str):
    """Sends the embedded assistant to the page's room."""
    for _ in range(60):
        process = await world.start("dispatch", "create", "--dev", "--url", world.gateway, "--room", room, "--assistant", "default")
        await process.wait()
        await process.reader
        if process.returncode == 0:
            break
        await asyncio.sleep(1)
    await page.until("[...room.remoteParticipants.values()].some(({kind}) => kind === 'agent')", timeout=60)


@check("the assistant understands the microphone, and its answer is heard and highlighted")
async def conversation(world: World):
    agent = await world.start("agent", "start", "--dev", "--url", world.gateway)
    async with Browser(microphone=SPEECH) as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "assistant", "page", "--name", "Ann")
        await dispatch(world, page, "assistant")
        await page.run(
            """
            window.states = []
            window.highlights = {}
            window.loudest = 0
            room.on('agentState', (participant, state) => states.push(state))
            room.on('playout', ({ segment, spokenChars }) => (highlights[segment.id] = [segment.text, spokenChars]))
            room.tap(null, (samples) => (loudest = Math.max(loudest, ...samples)))
            """)
        await page.until("states.includes('listening') && room.transcript.some(({role}) => role === 'assistant')", timeout=60)
        await page.until("room.localParticipant.tracks.size === 0 && !room.remoteParticipants.values().next().value.speaking", timeout=60)
        await page.run("await room.localParticipant.setMicrophoneEnabled(true)")
        await page.until("room.transcript.some(({role, final}) => role === 'user' && final)", timeout=60)
        heard = words(" ".join(await page.run("return room.transcript.filter(({role, final}) => role === 'user' && final).map(({text}) => text)")))
        expect(re.search(WORDS, heard), f"understood: {heard}")
        await page.until("room.transcript.some(({role, text}) => role === 'assistant' && /(ten|10) meters/i.test(text))", timeout=30)
        await page.until("Object.values(highlights).some(([text, chars]) => /(ten|10) meters/i.test(text) && chars >= [...text].length - 1)", timeout=30)
        expect(await page.run("return loudest") > 0.02, "the answer is silent")
        for state in ("speaking", "thinking", "listening"):
            expect(state in await page.run("return states"), f"no state {state}")
        expect_quiet_console(page)
    expect_equal(agent.returncode, None, "the assistant's exit code")


@check("after the demonstration, one button of its page is a call with the assistant")
async def demonstration(world: World):
    demo = await world.start("demo", "--stay", "--out", str(world.path("demo.ogg")), wait_for="https://localhost:", timeout=150)
    async with Browser(microphone=SPEECH) as browser:
        page = await browser.open(demo.ready_line.strip())
        button = "[...document.querySelectorAll('button')].find((button) => button.offsetParent && button.textContent.trim() === 'Start call')"
        await page.until(f"{button} && !{button}.disabled")
        await page.run(f"{button}.click()")
        await page.until(f"/I can't {WORDS}/i.test(document.body.innerText)", timeout=60)
        expect_quiet_console(page)
    await world.end(demo, signal.SIGINT)
    expect_equal(demo.returncode, 0, "the demonstration's exit code")
