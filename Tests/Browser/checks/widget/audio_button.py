"""The audio button with a simulated gateway: its states, and its handling of clicks, keys, refusals and lost connections."""

import asyncio

from devtools import Browser, Page
from harness import MARKUP, World, check, expect, expect_equal, expect_quiet_console
from keyboard import Keyboard
from states import inspect

ARABIC = "مرحبا بالعالم"


async def open_buttons(browser: Browser, world: World, *texts: str, **attributes) -> Page:
    """Opens a page with a list of buttons in `buttons`. `speech` is its gateway, and `label(n)` the text of the n-th button."""
    page = await browser.open(world.page)
    await page.run(
        """
        const { speech, answerFetch } = await import('/tests/speech.js')
        window.speech = speech
        window.original = fetch
        answerFetch()
        document.documentElement.style.colorScheme = 'light dark'
        document.body.style.cssText = 'background: Canvas; color: CanvasText'
        const { PatchbayAudioButton } = await import('/web/patchbay-audio-button.js')
        window.wishes = []
        PatchbayAudioButton.tokenProvider = async ({ rejected }) => (wishes.push(rejected), rejected ? 'good' : window.firstToken ?? 'good')
        const list = document.createElement('ul')
        window.told = []
        window.played = []
        list.addEventListener('patchbay-audio-state', ({ detail, target }) => told.push([target.text, detail.state, detail.problem?.code ?? null]))
        list.addEventListener('play', ({ detail }) => played.push(detail.clip))
        window.buttons = texts.map((text) => {
          const button = document.createElement('patchbay-audio-button')
          for (const [name, value] of Object.entries({ text, ...attributes })) button.setAttribute(name, value)
          const item = document.createElement('li')
          item.append(text.slice(0, 40), ' ', button)
          list.append(item)
          return button
        })
        window.part = (index, selector) => [...buttons[index].shadowRoot.querySelectorAll(selector)].find((one) => one.checkVisibility())
        window.label = (index) => part(index, 'button').textContent
        window.press = (index) => part(index, 'button').click()
        window.list = list
        """, texts=texts, attributes=attributes)
    return page


async def add(page: Page, state: str | None = "idle"):
    """Shows the list and waits until all buttons have a state."""
    await page.run("document.querySelector('main').append(list)")
    if state:
        await page.until(f"buttons.every(({{ state }}) => state === {state!r})")


@check("the audio button in every state, language and direction, with any text")
async def states(world: World):
    async with Browser() as browser:
        texts = ("Idle " + "long " * 30, "Generating", "Ready", "Failed", MARKUP, ARABIC, "Unreachable")
        page = await open_buttons(browser, world, *texts)
        await page.run(
            """
            speech.clips.set('Generating', { id: 'g', status: 'generating', progress: 42 })
            for (const text of ['Ready', markup, arabic]) speech.clips.set(text, { id: `r ${text.length}`, status: 'ready' })
            speech.hold = ['lookup']
            """, markup=MARKUP, arabic=ARABIC)
        await add(page, "checking")
        expect_equal(await page.run("return [label(0), part(0, 'button').disabled]"), ["Checking…", True])
        await inspect(page, "audio-button-checking", shown="ul")
        await page.run("speech.hold = []")
        await page.until("buttons.map(({ state }) => state).join() === 'idle,generating,completed,idle,completed,completed,idle'")
        await page.run("press(3)")
        await page.until("buttons[3].state === 'generating'")
        await page.run("Object.assign(speech.clips.get('Failed'), { status: 'failed', message: 'the generator took too long' })")
        await page.until("buttons[3].state === 'failed'")
        await page.run("speech.refusal = [400, 'unknown_provider', 'provider must be one of embedded']; press(6)")
        await page.until("buttons[6].state === 'failed'")
        await page.run("speech.refusal = null")
        expect_equal(
            await page.run("return [0, 1, 2, 3, 6].map(label)"), ["Generate", "Cancel", "Play", "Retry", "Retry"])
        expect_equal(await page.run("return [part(1, '.percent').textContent, part(1, '[role=progressbar]').ariaValueNow]"), ["42%", "42"])
        expect_equal(await page.run("return [3, 6].map((index) => part(index, '.problem').textContent)"), ["Failed the generator took too long", "Failed Provider not configured"])
        name = await page.run("return part(0, 'button').ariaLabel")
        expect(name.startswith("Generate: Idle long") and name.endswith("…") and len(name) < 80, name)
        expect_equal(await page.run("return [part(4, 'button').ariaLabel, window.hacked ?? null]"), [f"Play: {MARKUP[:60].rstrip()}…", None])
        await inspect(page, "audio-button", shown="ul")
        for language, label, percent in (("de", "Abbrechen", "42\u00a0%"), ("fr", "Annuler", None), ("es-MX", "Cancelar", None), ("pl", "Cancel", "42%")):
            await page.run("document.documentElement.lang = language", language=language)
            await page.until(f"label(1) === {label!r}")
            if percent:
                expect_equal(await page.run("return part(1, '.percent').textContent"), percent)
        await page.run("document.documentElement.lang = 'de'; document.documentElement.dir = 'rtl'")
        await inspect(page, "audio-button-rtl", shown="ul")
        await page.run("document.documentElement.lang = 'en'; document.documentElement.dir = ''; for (const button of buttons) button.setAttribute('theme', 'dark')")
        expect_equal(await page.run("return getComputedStyle(part(0, '.root')).colorScheme"), "dark")
        expect_quiet_console(page)


@check("the audio button generates, cancels, plays and tries again")
async def lifecycle(world: World):
    async with Browser() as browser:
        page = await open_buttons(browser, world, "Hello")
        await add(page)
        await page.run("press(0)")
        await page.until("label(0) === 'Cancel' && !!buttons[0].shadowRoot.querySelector('[role=status]').textContent")
        await page.run("Object.assign(speech.clips.get('Hello'), { status: 'generating', progress: 50 })")
        await page.until("buttons[0].progress === 50")
        await page.run("press(0)")
        await page.until("buttons[0].state === 'idle' && speech.clips.size === 0")
        # The gateway completes the clip before the cancellation arrives.
        await page.run("press(0)")
        await page.until("speech.clips.size === 1")
        await page.run("speech.hold = ['delete']; speech.clips.get('Hello').status = 'ready'; press(0)")
        await asyncio.sleep(0.8)
        expect_equal(await page.run("return buttons[0].state"), "idle")
        # A new request waits for the cancellation.
        await page.run("speech.asked.length = 0; press(0)")
        await asyncio.sleep(0.3)
        expect_equal(await page.run("return speech.asked"), [])
        await page.run("speech.hold = []")
        await page.until("speech.asked.includes('generate Hello')")
        await page.run("speech.clips.get('Hello').status = 'ready'")
        await page.until("buttons[0].state === 'completed' && label(0) === 'Play'")
        expect_equal(await page.run("return played.length"), 0)
        await page.run("press(0)")
        described = await page.run("const { id, createdAt, blob, ...clip } = played[0]; return { ...clip, size: (await played[0].blob()).size, at: createdAt.toISOString(), isKept: played[0] === buttons[0].clip }")
        expect_equal(described, {
            "provider": "embedded", "voice": "nova", "voiceName": "Nova", "text": "Hello", "mimeType": "audio/wav", "durationMs": 250,
            "words": [{"text": "Hello", "startMs": 0, "endMs": 200}], "size": 4044, "at": "2026-01-02T03:04:05.678Z", "isKept": True})
        # The clip no longer exists: it is generated again.
        await page.run("speech.clips.clear(); buttons[0].remove(); document.querySelector('li').append(buttons[0])")
        await page.run("speech.clips.set('Hello', { id: 'x', status: 'ready' }); buttons[0].text = ''")
        await page.until("buttons[0].state === 'failed' && /no text/.test(part(0, '.problem').textContent)")
        await page.run("buttons[0].text = 'Hello'")
        await page.until("buttons[0].state === 'completed'")
        await page.run("speech.clips.clear(); buttons[0].clip.blob().catch(({ code }) => (window.gone = code))")
        await page.until("buttons[0].state === 'failed' && gone === 'not_found'")
        await page.run("press(0)")
        await page.until("buttons[0].state === 'generating'")
        await page.run("buttons[0].cancel(); buttons[0].cancel(); buttons[0].generate()")
        await page.until("buttons[0].state === 'generating'")
        expect_quiet_console(page)


@check("the audio button says what is refused, and survives a lost connection in every state")
async def faults(world: World):
    async with Browser() as browser:
        page = await open_buttons(browser, world, "Hello")
        await page.run("speech.unreachable = true")
        await add(page, "failed")
        expect_equal(await page.run("return part(0, '.problem').textContent"), "Failed The gateway cannot be reached.")
        await page.run("speech.unreachable = false; press(0)")
        await page.until("buttons[0].state === 'idle'")
        for refusal, text in (
            ([429, "too_many_clips", "x"], "Too many of your texts are waiting. Try again later."), ([503, "speech_unavailable", "x"], "This gateway cannot generate audio."),
            ([507, "store_full", "the store is full"], "the store is full"), ([400, "invalid_value", "x"], "This text cannot be spoken with this voice."),
        ):
            await page.run("speech.refusal = refusal; press(0)", refusal=refusal)
            await page.until(f"buttons[0].state === 'failed' && part(0, '.problem').textContent === 'Failed {text}'")
        await page.run("speech.refusal = null; press(0)")
        await page.until("speech.clips.size === 1")
        # A job continues while the gateway cannot be reached.
        await page.run("speech.unreachable = true; Object.assign(speech.clips.get('Hello'), { status: 'generating', progress: 70 })")
        await asyncio.sleep(1.5)
        expect_equal(await page.run("return buttons[0].state"), "generating")
        await page.run("speech.unreachable = false")
        await page.until("buttons[0].progress === 70")
        # The same user cancels the job elsewhere.
        await page.run("speech.clips.clear()")
        await page.until("buttons[0].state === 'idle'")
        await page.run("speech.clips.set('Hello', { id: 'r', status: 'ready' }); press(0)")
        await page.until("buttons[0].state === 'completed'")
        await page.run("speech.unreachable = true; buttons[0].clip.blob().catch(() => {})")
        await page.until("buttons[0].state === 'failed'")
        await page.run("speech.unreachable = false; press(0)")
        await page.until("buttons[0].state === 'completed' && played.length === 1")
        # An expired token, and a page without a token.
        await page.run("speech.tokens = new Set(['newer']); buttons[0].tokenProvider = async ({ rejected }) => (rejected ? 'newer' : 'old')")
        await page.until("buttons[0].state === 'completed'")
        await page.run("buttons[0].tokenProvider = async () => 'old'")
        await page.until("buttons[0].state === 'failed' && /not signed in any more/.test(part(0, '.problem').textContent)")
        await page.run("buttons[0].tokenProvider = 7; customElements.get('patchbay-audio-button').tokenProvider = null")
        await page.until("buttons[0].state === 'failed' && /has not signed you in/.test(part(0, '.problem').textContent)")
        expect_quiet_console(page)


@check("the audio button is removed in every state, and a long list asks only for what is seen")
async def lists(world: World):
    async with Browser() as browser:
        page = await open_buttons(browser, world, *(f"Text {number}" for number in range(60)))
        await page.run("for (const item of list.children) item.style.blockSize = '80px'")
        await add(page, None)
        await page.until("buttons[0].state === 'idle'")
        asked = await page.run("return speech.asked.length")
        expect(1 <= asked < 30, f"{asked} of 60 buttons asked")
        expect_equal(await page.run("return wishes"), [None], "all share one token")
        await page.run("buttons[59].scrollIntoView()")
        await page.until("buttons[59].state === 'idle'")
        await page.run("press(59)")
        await page.until("speech.clips.size === 1")
        await page.run("told.length = 0; speech.clips.get('Text 59').status = 'ready'; buttons[59].remove()")
        await asyncio.sleep(1)
        expect_equal(await page.run("return told"), [], "a removed button says nothing")
        await page.run("list.lastElementChild.append(buttons[59])")
        await page.until("buttons[59].state === 'completed'")
        # The text changes while a job runs: the job is left alone.
        await page.run("buttons[58].scrollIntoView(); press(58)")
        await page.until("speech.clips.size === 2")
        await page.run("buttons[58].text = 'Other'")
        await page.until("buttons[58].state === 'idle'")
        expect_equal(await page.run("return [...speech.clips.keys()]"), ["Text 59", "Text 58"])
        await page.run("buttons[58].text = 'Text 58'")
        await page.until("buttons[58].state === 'generating'")
        expect_quiet_console(page)


@check("the audio button is operated by keyboard, and neither a double click nor a held key cancels")
async def keyboard(world: World):
    async with Browser() as browser:
        page = await open_buttons(browser, world, "Hello", "World")
        await add(page)
        keys = Keyboard(page)
        names = await keys.tour()
        expect({"Generate: Hello", "Generate: World"} <= set(names), names)
        await keys.act("Generate: Hello")
        await keys.expect_focus("Cancel: Hello")
        await keys.press("Enter")
        await keys.expect_focus("Generate: Hello")
        await keys.press(" ")
        await keys.expect_focus("Cancel: Hello")
        await page.run("speech.clips.get('Hello').status = 'ready'")
        await keys.expect_focus("Play: Hello")
        await keys.press("Enter")
        await page.until("played.length === 1")
        repeats = await page.run(
            """
            const event = new KeyboardEvent('keydown', { key: 'Enter', repeat: true, bubbles: true, cancelable: true, composed: true })
            part(1, 'button').dispatchEvent(event)
            part(1, 'button').dispatchEvent(new MouseEvent('click', { detail: 1, bubbles: true, composed: true }))
            part(1, 'button').dispatchEvent(new MouseEvent('click', { detail: 2, bubbles: true, composed: true }))
            return [event.defaultPrevented, buttons[1].state]
            """)
        expect_equal(repeats, [True, "generating"])
        expect_quiet_console(page)
