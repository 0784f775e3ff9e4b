"""The page /sessions: reading, hearing, exporting and deleting sessions."""

import asyncio
import datetime
import json
import ssl
import sys

from accounts import CONVERSATION, User, logged_in, with_store
from checks.library.room import speech
from devtools import Browser
from harness import MARKUP, REPOSITORY, SPEECH, World, check, click, expect, expect_equal, expect_quiet_console, shows
from states import inspect

sys.path.append(str(REPOSITORY / "Tests/Interop"))
from patchbay_client import Client  # noqa: E402

HEBREW = "שלום, אני צריך לקבוע תור למחר בשעה 10:00 ב-Harbour Hotel."


@check("sessions: pages of the list, transcript, summary, export in every format, and deleting one or all")
async def reading(world: World):
    await with_store(world)
    ann = User(world, time_zone="Europe/Vienna")
    for number in range(52):
        ann.talk(("user", f"Note number {number}."))
    best = ann.talk(*CONVERSATION)
    ann.summarized(best)
    running = ann.talk(("user", "Are you there?"), ends=False)
    async with Browser() as browser:
        page = await logged_in(browser, world)
        await page.until("document.querySelectorAll('.sessions li').length === 50")
        await inspect(page, "sessions-list")
        await click(page, "session-list button", "Show more")
        await page.until("document.querySelectorAll('.sessions li').length === 54")
        expect(await page.run("return document.activeElement.closest('li') !== null"), "the focus is not on the first new session")
        expect_equal(await page.run("return [...document.querySelectorAll('session-list > button')].filter((one) => !one.hidden).length"), 0)
        await page.run("location.hash = `#/sessions/${id}`", id=best)
        await shows(page, "I will remind you to call your sister at six.", "session-transcript")
        expect_equal(await page.run("return [document.activeElement.tagName, document.activeElement.closest('session-view') !== null]"), ["H2", True])
        expect(await page.run("return document.querySelectorAll('.actions li').length > 0 && document.querySelectorAll('.tags li').length > 0"), "no action items or tags")
        await inspect(page, "sessions-session")
        # Exports are files.
        await page.run(
            """
            window.saved = []
            const original = URL.createObjectURL
            URL.createObjectURL = (blob) => (saved.push([blob.type, blob.size]), original(blob))
            HTMLAnchorElement.prototype.click = function () { saved.at(-1).push(this.download) }
            """)
        for number, label in enumerate(("Text", "PDF", "JSON", "WebVTT", "SubRip")):
            await click(page, "session-view summary", "Export")
            if number == 0:
                await inspect(page, "sessions-export", schemes=("light",))
            await click(page, ".menu-items button", label)
            await page.until(f"saved.length === {number + 1} && saved.at(-1).length === 3")
        saved = await page.run("return saved")
        expect([name.rpartition(".")[2] for _, _, name in saved] == ["txt", "pdf", "json", "vtt", "srt"], saved)
        expect(all(size > 100 for _, size, _ in saved), saved)
        # A session that runs grows by itself.
        await page.run("location.hash = `#/sessions/${id}`", id=running)
        await shows(page, "Are you there?", "session-transcript")
        await inspect(page, "sessions-running", schemes=("light",))
        ann.turn(running, "assistant", "Yes, I am here.", datetime.datetime.now(datetime.timezone.utc))
        # The slower the gateway answers, the less often it is asked.
        await shows(page, "Yes, I am here.", "session-transcript", timeout=90)
        ann.ask("POST", "/v1/sessions/end", {"session_id": running})
        await page.until("document.querySelector('.summary-text') !== null", timeout=30)
        # Deleting asks first.
        await click(page, "session-view button", "Delete…")
        await page.until("document.querySelector('dialog[open]') !== null")
        expect_equal(await page.run("return document.activeElement.textContent"), "Cancel")
        await inspect(page, "sessions-delete")
        await page.press("Escape")
        await page.until("document.querySelector('dialog') === null")
        await click(page, "session-view button", "Delete…")
        await click(page, "dialog button", "Delete session")
        await page.until("document.querySelectorAll('.sessions li').length > 0 && location.hash === '#/'")
        expect_equal(len(ann.ask("GET", "/v1/sessions?limit=200")), 53)
        await page.run("location.hash = `#/sessions/${id}`", id=running)
        await shows(page, "It was deleted, has expired, or belongs to another account.")
        await inspect(page, "sessions-missing", schemes=("light",))
        await page.run("location.hash = '#/'")
        await click(page, "session-list button", "Delete all")
        await click(page, "dialog button", "Delete all sessions")
        await shows(page, "No sessions yet")
        expect_equal(ann.ask("GET", "/v1/sessions"), [])
        await inspect(page, "sessions-empty")
        expect([line for line in page.console if line.startswith("exception")] == [], page.console)


@check("sessions: a recording is loaded with its token, a line seeks, and the current line is highlighted")
async def hearing(world: World):
    await with_store(world, record_sessions=True)
    ann = User(world)
    ticket = ann.start()
    session, room = ticket["session_id"], ticket["room_name"]
    url = ["--url", world.gateway]
    agent = await Client.connect(
        world.gateway, await world.token("--room", room, "--identity", "assistant", "--kind", "agent"), tls=ssl._create_unverified_context())
    phone = await world.start("join", "--dev", *url, "--token", ticket["livekit_token"], "--play", str(SPEECH), "--events", wait_for='"hello"')
    heard = (await agent.event("track.published", timeout=20))["track"]
    await agent.request("transcript.segment", id="u1", role="user", track=heard["sid"], text="Go forward ten meters.", start_ts=0, end_ts=96_000, final=True)
    await asyncio.sleep(2.5)
    track = await agent.publish(name="voice", source="assistant", mode="ahead")
    for number, text in enumerate(["I go forward ten meters.", "I have arrived, and I am waiting for you.", HEBREW]):
        start = 96_000 * number
        await agent.send_bundled(speech(track, 2, start=start, sequence=100 * number))
        # While it is heard.
        await asyncio.sleep(1)
        await agent.request(
            "transcript.segment", id=f"a{number}", role="assistant", track=track["sid"], text=text, start_ts=start, end_ts=start + 90_000, final=True)
        await agent.event("playout.finished", timeout=20)
    await world.end(phone)
    ann.ask("POST", "/v1/sessions/end", {"session_id": session})
    record = ann.summarized(session)
    expect_equal(len({turn.get("audio_ref") for turn in record["turns"]}), 2, "recordings")
    async with Browser() as browser:
        page = await logged_in(browser, world, address=f"#/sessions/{session}")
        await shows(page, "Play recording")
        await inspect(page, "sessions-recorded")
        # By keyboard: the second line of the assistant.
        await page.run("document.querySelector('.turns button.at').focus()")
        await page.press("ArrowDown")
        await page.press("ArrowDown")
        await page.press("Enter")
        await page.until("document.querySelector('session-player button').textContent === 'Pause'")
        await page.until("[...document.querySelectorAll('.turns li')].findIndex((one) => one.hasAttribute('aria-current')) === 2")
        # So slowly that the recording does not end while the page is inspected.
        rate = "const { playback } = await import('/web/sessions/views/playback.js'); playback.setRate(rate)"
        await page.run(rate, rate=0.1)
        await inspect(page, "sessions-playing")
        await page.run(rate, rate=1)
        at = await page.run("const { playback } = await import('/web/sessions/views/playback.js'); return [playback.time, playback.duration, playback.positions]")
        expect(at[0] >= at[2][2] and 5 < at[1] < 20, at)
        # The recordings are where the turns are: the tag says when each began.
        expect(2 < at[2][1] < 6 and 1.5 < at[2][2] - at[2][1] < 3.5, f"the turns begin at {at[2]}")
        await page.until("[...document.querySelectorAll('.turns li')].findIndex((one) => one.hasAttribute('aria-current')) === 3", timeout=15)
        await page.run(rate, rate=0.1)
        first = await page.run("const { playback } = await import('/web/sessions/views/playback.js'); playback.seek(0); return playback.time")
        expect_equal(first, 0)
        await page.until("[...document.querySelectorAll('.turns li')].findIndex((one) => one.hasAttribute('aria-current')) <= 0")
        await click(page, "session-player button", "Pause")
        expect_equal(await page.run("return document.querySelector('session-player button').textContent"), "Play")
        await page.run(rate, rate=1)
        expect_equal(await page.run("return [...document.querySelectorAll('.turns p')].at(-1).dir"), "auto")
        expect_equal(await page.run("return getComputedStyle([...document.querySelectorAll('.turns p')].at(-1)).direction"), "rtl")
        # A file that is no audio.
        await page.run("window.fetch = ((original) => async (path, options) => path.includes('/recordings/') ? new Response('rubbish') : original(path, options))(fetch)")
        await page.run("location.hash = '#/'")
        await shows(page, "newest first")
        await page.run("location.hash = `#/sessions/${id}`", id=session)
        await shows(page, "Play recording")
        await click(page, "session-player button")
        await shows(page, "This browser cannot play Ogg Opus")
        await inspect(page, "sessions-recording-failed", schemes=("light",))
        expect_quiet_console(page)


@check("sessions: a transcript of 1 MB stays responsive, and markup and right-to-left text are shown as text")
async def long_transcript(world: World):
    await with_store(world)
    ann = User(world)
    session = ann.talk(("user", MARKUP), ("assistant", HEBREW), ("user", "x" * 3000))
    record = ann.ask("GET", f"/v1/sessions/{session}")
    words = "The quick brown fox jumps over the lazy dog, and the assistant says so. "
    turns = record["turns"] + [
        {"id": f"00000000-0000-0000-0000-{number:012}", "timestamp": "2026-11-21T14:00:00.000Z", "speaker": ("user", "assistant")[number % 2], "text": words}
        for number in range(14_500)]
    record = record | {"turns": turns, "summary": {
        "id": session, "title": MARKUP, "summary_text": HEBREW, "action_items": [MARKUP], "tags": [MARKUP], "created_at": "2026-11-21T14:00:00.000Z"}}
    expect(sum(len(turn["text"]) for turn in turns) > 1_000_000, "not 1 MB")
    world.path("long.json").write_text(json.dumps(record))
    async with Browser() as browser:
        page = await logged_in(browser, world)
        await page.until("document.querySelectorAll('.sessions li').length === 1")
        await page.run(
            """
            const original = fetch
            const whole = await (await fetch('/files/long.json')).text()
            window.fetch = async (path, options) => path === `/v1/sessions/${id}` ? new Response(whole) : original(path, options)
            // Called once for each slice: the browser can paint and react in between.
            window.slices = []
            let count = 0
            new MutationObserver(() => {
              slices.push(document.querySelectorAll('.turns li').length - count)
              count += slices.at(-1)
            }).observe(document.querySelector('session-view'), { childList: true, subtree: true })
            window.began = performance.now()
            location.hash = `#/sessions/${id}`
            """, id=session)
        await shows(page, "quick brown fox", "session-transcript")
        first = await page.run("return performance.now() - began")
        await page.until("document.querySelectorAll('.turns li').length === 14503", timeout=60)
        whole, largest = await page.run("return [performance.now() - began, Math.max(...slices)]")
        expect(0 < largest <= 250, f"{largest} lines were made without a pause")
        # Scrolling to the end lays out what is there, and no more.
        laid_out = await page.run(
            """
            Array.from(document.querySelectorAll('.turns li')).at(-1).scrollIntoView()
            await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))
            return Array.from(document.querySelectorAll('.turns li')).filter((line) => line.checkVisibility({ contentVisibilityAuto: true })).length
            """)
        expect(0 < laid_out < 1000, f"{laid_out} lines are laid out")
        expect_equal(await page.run("return [window.hacked === undefined, document.querySelectorAll('.turns img, .turns b').length, document.querySelector('.turns p').textContent]"), [True, 0, MARKUP])
        expect_equal(await page.run("return [document.querySelector('session-view h2').textContent, document.querySelector('.tags li').textContent, document.querySelector('.actions li').textContent]"), [MARKUP] * 3)
        expect_equal(await page.run("return ['.summary-text', '.turns li:nth-child(2) p'].map((selector) => getComputedStyle(document.querySelector(selector)).direction)"), ["rtl", "rtl"])
        await page.run("document.querySelector('session-view').scrollTop = 0; scrollTo(0, 0)")
        expect(await page.run("const pane = document.querySelector('session-view'); return pane.scrollWidth <= pane.clientWidth"), "a long word widens the page")
        # In the other lines, which are all the same, nothing else can be found.
        await page.run("for (const group of document.querySelectorAll('.turn-group:nth-of-type(n + 3)')) group.remove()")
        await inspect(page, "sessions-long")
        expect_quiet_console(page)
        print(f"               first lines after {first:.0f} ms, all 14,503 after {whole:.0f} ms, {largest} at once, {laid_out} laid out")
