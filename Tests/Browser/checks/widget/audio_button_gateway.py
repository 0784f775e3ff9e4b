"""The audio button with a real gateway: its example page, and a second provider of speech."""

import asyncio
import contextlib
import sys

from accounts import PASSWORD, User, with_store
from devtools import Browser
from harness import MARKUP, REPOSITORY, World, check, click, expect, expect_equal, expect_quiet_console, fetch, fill
from states import inspect


@contextlib.asynccontextmanager
async def speech_server():
    """Runs an OpenAI-compatible server; yields its base URL."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "ignore", str(REPOSITORY / "Tests/Interop/providers/emulator.py"), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    try:
        yield f"http://127.0.0.1:{int(await asyncio.wait_for(process.stdout.readline(), 60))}/v1"
    finally:
        process.stdin.close()
        await process.wait()


@check("a second provider speaks clips with its own voices, and fails without harm")
async def second_provider(world: World):
    async with speech_server() as url:
        await with_store(world, speech={"url": url, "model": "tts", "provider": "cloud", "voices": ["anna", "emil"]})
        user = User(world)
        providers = user.ask("GET", "/v1/speech/providers")["providers"]
        expect_equal([one["id"] for one in providers], ["embedded", "cloud"])
        expect_equal(providers[1]["voices"], [{"id": "anna", "name": "Anna"}, {"id": "emil", "name": "Emil"}])
        async with Browser() as browser:
            page = await browser.open(world.files.origin + "/web/audio-button/examples.html")
            await fill(page, "input[name=email]", "ann@example.org")
            await fill(page, "input[name=password]", PASSWORD)
            await click(page, "#login button")
            await page.until("document.querySelectorAll('patchbay-audio-button').length === 4")
            await fill(page, "#provider", "cloud")
            await page.run("document.querySelector('#provider').dispatchEvent(new Event('change')); window.button = document.querySelector('patchbay-audio-button')")
            await page.until("button.state === 'idle' && button.voice === 'anna'")
            await page.run("button.shadowRoot.querySelector('button').click()")
            await page.until("button.state === 'completed'", timeout=60)
            expect_equal(await page.run("return [button.clip.provider, button.clip.voiceName, button.clip.words]"), ["cloud", "Anna", None])
            expect(await page.run("return button.clip.durationMs > 1000 && (await button.clip.blob()).size > 2000"), "the audio")
            expect_quiet_console(page)
        # If the server refuses, the clip fails at once; the reason does not name the server.
        await with_store(world, speech={"url": url, "model": "fault-401", "provider": "cloud"})
        user.token = fetch(world, "POST", "/v1/auth/token", {"email": user.email, "password": PASSWORD})["access_token"]
        clip = user.ask("POST", "/v1/speech", {"text": "Refused", "provider": "cloud"})
        for _ in range(200):
            if clip["status"] == "failed":
                break
            await asyncio.sleep(0.1)
            clip = user.ask("GET", f"/v1/speech/{clip['id']}")
        expect_equal([clip["status"], clip.get("message")], ["failed", "the speech provider rejected the text or the voice"])


@check("the example of the audio button: a list whose texts a real gateway speaks once")
async def example(world: World):
    User(world)
    async with Browser() as browser:
        page = await browser.open(world.files.origin + "/web/audio-button/examples.html")
        await inspect(page, "audio-button-login", shown="form")
        await fill(page, "input[name=email]", "ann@example.org")
        await fill(page, "input[name=password]", "wrong horse battery")
        await click(page, "#login button")
        await page.until("document.querySelector('#refusal').textContent !== ''")
        await fill(page, "input[name=password]", PASSWORD)
        await click(page, "#login button")
        ready = "[...document.querySelectorAll('patchbay-audio-button')]"
        # Buttons that are not seen yet ask nothing.
        await page.until(f"{ready}.length === 4 && {ready}[0].state === 'idle'")
        await page.run("window.button = document.querySelector('patchbay-audio-button'); window.press = () => button.shadowRoot.querySelector('button').click(); press()")
        await page.until("button.state === 'completed'", timeout=60)
        expect(await page.run("return button.clip.durationMs > 1000 && button.clip.words.length > 5 && button.clip.voiceName === 'Alloy'"), "the clip")
        await page.run("press()")
        await page.until("document.querySelector('#player').currentTime > 0.2 && /Alloy/.test(document.querySelector('#now').textContent)", timeout=30)
        await inspect(page, "audio-button-example", shown="#list")
        await fill(page, "#voice", "nova")
        await page.run("document.querySelector('#voice').dispatchEvent(new Event('change'))")
        await page.until("button.state === 'idle'")
        await fill(page, "#writing input", MARKUP)
        await click(page, "#writing button")
        await page.run(f"{ready}.at(-1).scrollIntoView({{ block: 'center' }})")
        await page.until(f"{ready}.length === 5 && {ready}.at(-1).state === 'idle'")
        await page.run("button.scrollIntoView({ block: 'center' })")
        await fill(page, "#voice", "alloy")
        await page.run("document.querySelector('#voice').dispatchEvent(new Event('change'))")
        await page.until("button.state === 'completed'")
        expect_equal(await page.run("return window.hacked ?? null"), None)
        # No other user finds it.
        other = User(world, "bob@example.org")
        text = await page.run("return button.text")
        expect_equal(fetch(world, "POST", "/v1/speech/lookup", {"text": text}, other.token), [])
        expect(all("text=" not in path for path in world.files.asked), "a text is in a URL")
        faults = [line for line in page.console if line.startswith(("error", "exception")) and "401" not in line and "Failed to load resource" not in line]
        expect_equal(faults, [])
