"""The talk view, with a scripted and with the embedded assistant."""

import asyncio

from devtools import Browser
from harness import World, check, expect, expect_equal, expect_quiet_console
from widget_page import START, Assistant, emulate, open_widget, recorded_packets

CONFIGURATION = """
assistants:
  - id: default
    name: Robin
    greetings: ["Hello."]
    onboarding: ["This is the introduction."]
    quick_commands: ["What is your name?"]
    widget: {start_text: Call Robin, visualizer_color: glacier}
"""


@check("the talk view opens from its button, reveals words with the voice, keeps the voice and closes with Escape")
async def talk(world: World):
    packets = await recorded_packets(world)
    async with Browser() as browser:
        page = await open_widget(browser, world, presentation="talk")
        assistant = await Assistant.join(world)
        await page.run("part('.launcher').focus(); window.clips = []; const { animate } = Element.prototype; Element.prototype.animate = function (frames, options) { clips.push(frames[0].clipPath); return animate.call(this, frames, options) }")
        await page.run(START)
        await page.until("widget.state === 'expanded'")
        modal, label, voices, voice = await page.run(
            "const talk = part('.talk'); return [talk.matches(':modal'), shadow.activeElement.getAttribute('aria-label'), [...part('select').options].map(({ value }) => value), part('select').value]")
        expect_equal([modal, label], [True, "End the conversation"])
        expect_equal([voices, voice], [["alloy", "echo", "fable", "onyx", "nova", "shimmer"], "nova"])
        expect(len(await page.run("return clips")) == 1 and "circle(28px" in (await page.run("return clips"))[0], "no circle")
        await assistant.state("speaking")
        await assistant.say("One two three four five six seven eight.", packets, seconds=4)
        await page.until("shadow.querySelectorAll('.word[data-heard]').length === 4")
        await page.until("part('.ambience').hasAttribute('data-active')", timeout=3)
        await page.until("!part('.ambience').hasAttribute('data-active')", timeout=10)
        await page.run("part('select').value = 'onyx'; part('select').dispatchEvent(new Event('change'))")
        expect_equal(await page.run("return [localStorage.getItem('patchbay.assistant.voice'), text('.voice-menu .hint')]"), ["onyx", "From the next conversation on"])
        await page.press("Escape")
        await page.until("widget.state === 'collapsed' && !part('.talk')")
        expect_equal(await page.run("return shadow.activeElement.className"), "launcher", "focus")
        # Opened again, it covers the screen, and no circle is left of the last time.
        for _ in range(2):
            await page.run(START)
            await page.until("widget.state === 'expanded'")
            await asyncio.sleep(0.8)
            expect_equal(await page.run("return getComputedStyle(part('.talk')).clipPath"), "none")
            await page.run("part('.stop').click()")
            await page.until("widget.state === 'collapsed' && !part('.talk')")
        # With reduced motion: no circle, still shapes.
        await emulate(page, motion="reduce")
        await page.run(START)
        await page.until("widget.state === 'expanded'")
        expect_equal((await page.run("return asked")).pop(), {"assistant": "shop", "voice": "onyx"})
        expect_equal(len(await page.run("return clips")), 6, "circles")
        await assistant.say("Nine ten eleven twelve.", packets, id="b", seconds=2)
        await page.until("shadow.querySelectorAll('.word[data-heard]').length === 2")
        still = "return [part('.ambience').style.getPropertyValue('--level'), getComputedStyle(part('.shape')).animationName, part('.ambience').hasAttribute('data-active')]"
        expect_equal(await page.run(still), ["0.000", "none", False])
        await page.run("widget.tokenProvider = null")
        expect_quiet_console(page)


@check("in the talk view a blocked microphone and a lost gateway have their own screens")
async def talk_errors(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, presentation="talk")
        await page.run("window.original = navigator.mediaDevices.getUserMedia; navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError') }")
        await page.run(START)
        await page.until("text('.talk .problem h2') === 'The microphone is blocked'")
        expect_equal(await page.run("return [!!part('.talk .caption'), part('.talk .steps').children.length]"), [False, 3])
        await page.run("[...shadow.querySelectorAll('.talk .problem button')].find(({ textContent }) => textContent === 'Type instead').click()")
        await page.until("widget.state === 'transcript' && shadow.activeElement === part('.composer input')")
        await page.run("part('.stop').click(); widget.tokenProvider = async () => ({ url: 'wss://127.0.0.1:9', token: 'a.b.c' })")
        await page.until("widget.state === 'collapsed' && !part('.talk')")
        await page.run(START)
        await page.until("text('.talk .problem h2') === 'No connection'")
        await page.press("Escape")
        await page.until("widget.state === 'collapsed'")


@check("the embedded assistant greets, introduces itself once and answers a quick command in the talk view")
async def embedded(world: World):
    world.path("patchbay.yaml").write_text(CONFIGURATION)
    await world.restart_gateway("--config", str(world.path("patchbay.yaml")))
    await world.start("agent", "start", "--dev", "--url", world.gateway)
    heard = "[...shadow.querySelectorAll('.lines li')].map((line) => line.lastChild.firstChild.textContent)"
    async with Browser() as browser:
        page = await browser.open(world.page)
        await page.run(
            """
            await import('/web/patchbay-assistant.js')
            window.widget = document.createElement('patchbay-assistant')
            widget.setAttribute('assistant-id', 'default')
            widget.setAttribute('presentation', 'talk')
            document.body.append(widget)
            window.shadow = widget.shadowRoot
            """)
        await page.until("widget.state === 'collapsed'")
        expect_equal(await page.run("return [shadow.querySelector('.launcher-label').textContent, shadow.querySelector('.root').dataset.color]"), ["Call Robin", "glacier"])
        for _ in range(60):
            # The worker may still be loading its models; a room that opens before it is there has no assistant.
            await page.run("widget.start()")
            await page.until("widget.state === 'expanded'", timeout=40)
            await asyncio.sleep(3)
            if await page.run("return !/Waiting/.test(shadow.querySelector('.talk .status-text').textContent)"):
                break
            await page.run("widget.stop()")
        await page.run("shadow.querySelector('[aria-label=\"Transcript and text\"]').click()")
        await page.until("localStorage.getItem('patchbay.assistant.onboarding.default') !== null", timeout=60)
        lines = await page.run(f"return {heard}")
        expect("This is the introduction." in " ".join(lines), lines)
        # The second conversation has none.
        await page.run("widget.stop()")
        await page.until("widget.state === 'collapsed'")
        await page.run("widget.start()")
        await page.until("shadow.querySelectorAll('.chip').length === 1 && shadow.querySelector('.chip').checkVisibility()", timeout=40)
        await page.run("shadow.querySelector('.chip').click(); shadow.querySelector('[aria-label=\"Transcript and text\"]').click()")
        await page.until(f"/I am Robin, a voice assistant/.test({heard}.join(' '))", timeout=60)
        lines = await page.run(f"return {heard}")
        expect("This is the introduction." not in " ".join(lines), lines)
        expect_quiet_console(page)
