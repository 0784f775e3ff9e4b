"""The playground while devices, others in the room and late responses change what it shows."""

import asyncio
import time

from checks.pages.playground import STORE, open_playground, start, token
from devtools import Browser, Page
from harness import World, check, click, expect_equal, expect_quiet_console, fetch, mint, shows
from widget_page import Assistant

NO_ANSWER = "navigator.mediaDevices.getUserMedia = () => new Promise(() => {})"


async def begin(page: Page, world: World) -> Assistant:
    """A call with an assistant, and with the microphone on."""
    assistant = await Assistant.join(world, "play")
    await start(page, token("play"))
    await shows(page, "Mute", "call-controls button")
    return assistant


@check("playground: a speaker that was unplugged does not prevent calls, and nothing moves with reduced motion")
async def unplugged(world: World):
    async with Browser() as browser:
        page = await open_playground(browser, world)
        assistant = await Assistant.join(world, "play")
        await page.run(
            STORE + """
            store.dispatch('devices.chosen', { kind: 'speaker', id: 'gone' })
            navigator.mediaDevices.dispatchEvent(new Event('devicechange'))
            """)
        await page.until("(await import('/web/playground/model/store.js')).store.state.devices.speaker === ''")
        await start(page, token("play"))
        await shows(page, "Connected", "call-status")
        await page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        moving = await page.run(
            """
            const pill = Object.assign(document.createElement('span'), { className: 'pill' })
            pill.dataset.tone = 'busy'
            document.body.append(pill)
            return getComputedStyle(pill, '::before').animationName
            """)
        expect_equal(moving, "none")
        await assistant.client.leave()


@check("playground: who is muted by an administrator sees it, and the call goes on without its assistant until it is left")
async def others(world: World):
    async with Browser() as browser:
        page = await open_playground(browser, world)
        assistant = await begin(page, world)
        track = (await assistant.client.event("track.published", participant="page"))["track"]["sid"]
        access = mint(sub="admin", exp=int(time.time()) + 600, video={"roomAdmin": True, "room": "play"})
        for way in ("administrator", "user"):
            fetch(world, "PATCH", f"/v1/rooms/play/tracks/{track}", {"muted": True}, access)
            await shows(page, "You, muted", "voice-wave")
            if way == "user":
                await click(page, "call-controls button", "Mute")
            else:
                fetch(world, "PATCH", f"/v1/rooms/play/tracks/{track}", {"muted": False}, access)
            await page.until("document.querySelector('.wave-name').textContent === 'You'")
        await assistant.client.leave()
        await shows(page, "not in the call", "call-status")
        await click(page, "call-controls button", "Leave")
        await shows(page, "You left the call.")
        expect_quiet_console(page)


@check("playground: what is typed while a message is being sent is kept, and the microphone of a call that has ended is not awaited")
async def meanwhile(world: World):
    async with Browser() as browser:
        page = await open_playground(browser, world)
        assistant = await begin(page, world)
        await page.run(
            """
            const { prototype } = (await import('/web/patchbay.js')).Room
            prototype.sendText = () => new Promise((resolve, reject) => {
              Object.assign(window, { sent: resolve, refused: () => reject(new Error('refused.')) })
            })
            window.input = document.querySelector('message-form input')
            window.submit = (text) => { input.value = text; input.form.requestSubmit(); return input.value }
            window.settled = () => new Promise((resolve) => setTimeout(resolve))
            """)
        shown = await page.run("const shown = submit('first'); input.value = 'second'; sent(); await settled(); return [shown, input.value]")
        expect_equal(shown, ["", "second"])
        expect_equal(await page.run("submit('first'); input.value = 'second'; refused(); await settled(); return input.value"), "second")
        expect_equal(await page.run("submit('first'); refused(); await settled(); return input.value"), "first")
        await click(page, "call-controls button", "Leave")
        await shows(page, "You left the call.")
        await page.run(NO_ANSWER)
        await click(page, "problem-list button", "Call again")
        await shows(page, "Waiting…", "call-controls button")
        await click(page, "call-controls button", "Leave")
        await shows(page, "You left the call.")
        # Longer than the page waits before it explains the browser's question.
        await asyncio.sleep(1)
        shown = await page.run("return [...document.querySelectorAll('problem-list h2')].map(({ textContent }) => textContent)")
        expect_equal(shown, ["Call ended"])
        await assistant.client.leave()


@check("playground: late look-ups of assistants are ignored, and requests share the renewal of a login")
async def late(world: World):
    async with Browser() as browser:
        page = await open_playground(browser, world)
        found = await page.run(
            """
            const { lookUpAssistant } = await import('/web/playground/model/commands.js')
            const { store } = await import('/web/playground/model/store.js')
            const responses = {}
            window.fetch = (path) => new Promise((resolve) => (responses[path.split('/').pop()] = resolve))
            const lookUps = ['old', 'new'].map((id) => lookUpAssistant(id))
            for (const id of ['new', 'old']) responses[id](Response.json({ id }))
            await Promise.all(lookUps)
            return store.state.start.assistant.id
            """)
        expect_equal(found, "new")
        renewals = await page.run(
            """
            const { Caller } = await import('/web/playground/model/caller.js')
            let renewals = 0
            window.fetch = async (path, { headers }) => {
              if (path === '/v1/auth/refresh') return Response.json({ access_token: 'new', refresh_token: `${++renewals}` })
              const isExpired = headers.Authorization !== 'Bearer new'
              return Response.json(isExpired ? { code: 'token_expired', message: '' } : { settings: {} }, { status: isExpired ? 401 : 200 })
            }
            const account = new Caller({ access_token: 'old', refresh_token: '0' })
            await Promise.all([account.user(), account.setVoice('nova')])
            return renewals
            """)
        expect_equal(renewals, 1, "renewals")
