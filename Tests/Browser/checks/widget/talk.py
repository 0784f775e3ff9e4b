"""The talk view, with a scripted and with the embedded assistant."""

import asyncio

from devtools import Browser
from harness import World, check, expect, expect_equal, expect_quiet_console
from keyboard import Keyboard
from states import inspect
from widget_page import START, Assistant, definition, emulate, open_widget, recorded_packets, silence

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
    async with Browser(microphone=silence(world.path("silence.wav")), repeat=True) as browser:
        page = await open_widget(browser, world, presentation="talk")
        assistant = await Assistant.join(world)
        await page.run("part('.launcher').focus(); window.clips = []; const { animate } = Element.prototype; Element.prototype.animate = function (frames, options) { clips.push([frames[0].clipPath ?? frames[0].opacity, options.duration, options.easing]); return animate.call(this, frames, options) }")
        await page.run(START)
        await page.until("widget.state === 'expanded'")
        modal, label, voices, voice = await page.run(
            "const talk = part('.talk'); return [talk.matches(':modal'), shadow.activeElement.getAttribute('aria-label'), [...part('select').options].map(({ value }) => value), part('select').value]")
        expect_equal([modal, label], [True, "Stop the conversation"])
        wave = "const { animationName, animationDuration, animationDelay } = getComputedStyle(part('.stop .waveform').children[2]); return [animationName, animationDuration, animationDelay, text('.stop'), getComputedStyle(part('.stop')).backgroundColor === getComputedStyle(part('.talk')).color]"
        expect_equal(await page.run(wave), ["waveform", "1.2s", "0.2s", "Stop", True])
        expect_equal([voices, voice], [["", "alloy", "echo", "fable", "onyx", "nova", "shimmer"], ""])
        # Outside of a modal dialog nothing is read.
        await page.until("!!part('.talk [aria-live=polite] p')")
        (circle, *options), *others = await page.run("return clips")
        expect_equal([circle.startswith("circle(28px"), options, others], [True, [550, "cubic-bezier(0, 0, 0.2, 1)"], []])
        ambience = "(({ opacity, scale }, shape) => [opacity, scale, getComputedStyle(shape).animationDuration, shape.getAnimations()[0].playbackRate].join(' '))(getComputedStyle(part('.ambience')), part('.shape'))"
        await assistant.state("thinking")
        await page.until("part('.typing-dots')?.children.length === 3")
        await page.until(f"{ambience} === '0.55 0.9 8s 1'")
        await assistant.state("speaking")
        await assistant.say("One two three four five six seven eight.", packets, seconds=6)
        await page.until("shadow.querySelectorAll('.word[data-heard]').length >= 4")
        await page.until("part('.ambience').hasAttribute('data-active')")
        expect_equal(await page.run("return part('.talk .caption').getBoundingClientRect().x - part('.talk .stage').getBoundingClientRect().x"), 0, "at the start")
        expect_equal(await page.run("return getComputedStyle(part('.word[data-heard]')).animationName"), "sweep")
        await page.until(f"{ambience} === '1 1.15 8s 3.2'")
        await page.until(f"{ambience} === '0.55 0.9 8s 1'")
        # A sentence that is added leaves the words before it as they are.
        for rev, (id, text, kept) in enumerate((("w1", "One two.", 0), ("w1", "One two. Three.", 2), ("w2", "One two. Three.", 0))):
            await page.run("window.words = [...shadow.querySelectorAll('.talk .word')]")
            await assistant.client.request("transcript.segment", id=id, rev=rev, role="assistant", text=text, final=False)
            await page.until(f"shadow.querySelectorAll('.talk .word').length === {len(text.split())} && words[0].isConnected === {'true' if kept else 'false'}")
            expect_equal(await page.run("return words.filter((word) => word.isConnected).length"), kept)
        expect_equal(await page.run("const { animationName, animationDuration } = getComputedStyle(part('.talk .caption-text')); return [animationName, animationDuration]"), ["message", "0.35s"])
        await page.run("part('select').value = 'onyx'; part('select').dispatchEvent(new Event('change'))")
        expect_equal(await page.run("return [localStorage.getItem('patchbay.assistant.voice'), text('.voice-menu .hint')]"), ["onyx", "From the next conversation on"])
        expect_equal(await page.run("const [own] = part('select').options; return own.textContent"), "Assistant’s own")
        await page.press("Escape")
        await page.until("widget.state === 'collapsed' && !part('.talk')")
        expect_equal(await page.run("return [clips.at(-1)[0].startsWith('circle(28px'), ...clips.at(-1).slice(1)]"), [False, 400, "cubic-bezier(0.4, 0, 1, 1)"])
        expect_equal(await page.run("return shadow.activeElement.className"), "launcher", "focus")
        # Opened again, it covers the screen, and no circle is left of the last time.
        for _ in range(2):
            await page.run(START)
            await page.until("widget.state === 'expanded'")
            await asyncio.sleep(0.8)
            expect_equal(await page.run("return getComputedStyle(part('.talk')).clipPath"), "none")
            await page.run("part('.stop').click()")
            await page.until("widget.state === 'collapsed' && !part('.talk')")
        # The assistant's own voice can be chosen again.
        for chosen in ("", "onyx"):
            await page.run(START)
            await page.until("widget.state === 'expanded'")
            await page.run("part('select').value = chosen; part('select').dispatchEvent(new Event('change')); part('.stop').click()", chosen=chosen)
            await page.until("widget.state === 'collapsed' && !part('.talk')")
            expect_equal(await page.run("return shadow.querySelector('.voice-menu select').value"), chosen)
        # With reduced motion: it fades, and the shapes are still.
        await emulate(page, motion="reduce")
        await page.run(START)
        await page.until("widget.state === 'expanded'")
        expect_equal((await page.run("return asked")).pop(), {"assistant": "shop", "voice": "onyx"})
        expect_equal(await page.run("return clips.slice(10).map(([from]) => from)"), [0], "fades")
        await assistant.say("Nine ten eleven twelve.", packets, id="b", seconds=4)
        await page.until("shadow.querySelectorAll('.word[data-heard]').length >= 2")
        still = "return [part('.ambience').style.getPropertyValue('--level'), getComputedStyle(part('.shape')).animationName, part('.ambience').hasAttribute('data-active'), getComputedStyle(part('.ambience')).opacity]"
        expect_equal(await page.run(still), ["0.000", "none", False, "0.15"])
        expect_equal((await page.run(wave))[0], "none")
        expect_equal(await page.run("const { animationName, transitionProperty, transitionDuration } = getComputedStyle(part('.word')); return [animationName, transitionProperty, transitionDuration]"), ["none", "opacity", "0.25s"])
        await page.run("widget.tokenProvider = null")
        expect_quiet_console(page)


@check("the talk view says what the microphone is for before the browser asks, and lets its user type instead")
async def permission(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, presentation="talk")
        await page.run(
            """
            window.asks = 0
            const { mediaDevices, permissions } = navigator
            const ask = mediaDevices.getUserMedia.bind(mediaDevices)
            mediaDevices.getUserMedia = (wish) => (asks++, ask(wish))
            permissions.query = async () => ({ state: 'prompt' })
            """)
        keys = Keyboard(page)
        assistant = await Assistant.join(world)
        await keys.go("Talk to Robin")
        await keys.press("Enter")
        await keys.expect_focus("Microphone Access Required")
        expect_equal(await page.run("return [asks, !!part('.talk .caption'), !!part('.talk .chip')]"), [0, False, False])
        await inspect(page, "talk-microphone-needed")
        await keys.act("Not now")
        await page.until("widget.state === 'transcript' && !part('.problem') && shadow.activeElement === part('.composer input')")
        await keys.type("Hello")
        await keys.press("Enter")
        expect_equal((await assistant.client.event("text"))["text"], "Hello")
        expect_equal(await page.run("return asks"), 0)
        await keys.act("Enable Microphone")
        await assistant.client.event("track.published")
        expect_equal(await page.run("return asks"), 1)
        # Ended while it is shown, and accepted.
        await page.run("part('.stop').click()")
        await page.until("widget.state === 'collapsed' && !part('.talk')")
        for answer in ("Escape", "Enter"):
            await keys.press("Enter")
            await keys.expect_focus("Microphone Access Required")
            if answer == "Escape":
                await keys.press("Escape")
                await keys.expect_focus("Talk to Robin")
            else:
                await keys.act("Enable Microphone")
                await assistant.client.event("track.published")
                await page.until("!part('.problem') && widget.state === 'expanded'")
        # A browser that does not tell: where microphones have no names, its user is told first.
        await page.run("part('.stop').click(); navigator.permissions.query = async () => { throw new TypeError('unknown') }; window.label = ''; navigator.mediaDevices.enumerateDevices = async () => [{ kind: 'audioinput', label }]")
        await page.until("widget.state === 'collapsed' && !part('.talk')")
        await page.run(START)
        await page.until("text('.talk .problem h2') === 'Microphone Access Required'")
        await page.run("part('.stop').click(); label = 'Built-in'")
        await page.until("widget.state === 'collapsed' && !part('.talk')")
        await page.run(START)
        await page.until("asks === 3")
        expect_quiet_console(page)


@check("the talk view has its own palette, its icon a tooltip that fades, its buttons are large, and fonts follow the browser's size")
async def look(world: World):
    without_color = definition()
    without_color["widget"] = {key: value for key, value in without_color["widget"].items() if key != "visualizer_color"}
    colors = "const style = getComputedStyle(part('.talk')); return [style.backgroundColor, style.color, getComputedStyle(part('.shape')).backgroundImage.includes(blob)]"
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(200, without_color), presentation="talk", icon_only="")
        # The page's own root size does not count.
        await page.run("document.documentElement.style.fontSize = '10px'")
        expect_equal(await page.run("return [text('.launcher-tooltip'), getComputedStyle(part('.launcher')).animationName, widget.settings.visualizer]"), ["Tap to talk", "glow", "sky"])
        disc = "const icon = part('.launcher-icon'); return [part('.launcher').offsetWidth, part('.launcher').offsetHeight, icon.offsetWidth, getComputedStyle(icon).backgroundColor === getComputedStyle(part('.root')).color]"
        expect_equal(await page.run(disc), [50, 50, 50, True])
        await page.run("const [fading] = part('.launcher-tooltip').getAnimations(); fading.currentTime = 12_990; fading.finish()")
        await page.until("getComputedStyle(part('.launcher-tooltip')).visibility === 'hidden'")
        await page.run("window.felt = []; navigator.vibrate = (pattern) => felt.push(pattern)")
        await page.run("document.querySelector('#button').focus()")
        await page.press("Tab")
        await page.press("Enter")
        await page.until("widget.state === 'expanded'")
        assistant = await Assistant.join(world)
        await assistant.state("listening")
        await page.until("!!part('.chip')")
        await emulate(page)
        expect_equal(await page.run(colors, blob="rgba(157, 222, 255, 0.7)"), ["rgb(255, 255, 255)", "rgb(0, 0, 0)", True])
        await emulate(page, theme="dark")
        expect_equal(await page.run(colors, blob="rgba(69, 177, 255, 0.25)"), ["rgb(29, 29, 33)", "rgb(255, 255, 255)", True])
        small = await page.run("return [...shadow.querySelectorAll('.talk button, .talk select')].filter((one) => one.checkVisibility() && one.offsetHeight < 44).map((one) => one.className)")
        expect_equal(small, [], "smaller than 44 px")
        expect_equal(await page.run("return getComputedStyle(part('.status-text')).fontSize"), "16px")
        await inspect(page, "talk-own-palette")
        await page.run("part('.stop').click()")
        await page.until("widget.state === 'collapsed' && !part('.talk')")
        expect_equal(await page.run("return felt"), [[20], [10]])
        expect_quiet_console(page)


@check("in the talk view a blocked microphone and a lost gateway have their own screens")
async def talk_errors(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, presentation="talk")
        await page.run("window.original = navigator.mediaDevices.getUserMedia; navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError') }")
        await page.run(START)
        await page.until("text('.talk .problem h2') === 'Microphone Access Required'")
        expect_equal(await page.run("return [!!part('.talk .caption'), part('.talk .steps').children.length]"), [False, 3])
        await page.run("[...shadow.querySelectorAll('.talk .problem button')].find(({ textContent }) => textContent === 'Not now').click()")
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
