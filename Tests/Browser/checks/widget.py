"""The drop-in widget and the talk view: every state, by keyboard, and with everything that can go wrong."""

import asyncio
import json
import time

from devtools import Browser, Page
from harness import World, check, expect, expect_equal, expect_quiet_console, mint
from widget_page import Assistant, definition, open_widget, recorded_packets

START = "part('.launcher').click()"


def faults(page: Page) -> list[str]:
    """Errors of scripts and policies; refused requests are part of some checks."""
    return [line for line in page.console if line.startswith(("error", "exception")) and "Failed to load resource" not in line]


async def begin(page: Page, world: World, room: str = "widget") -> Assistant:
    """Starts a conversation with a click on the button, and lets the assistant join."""
    assistant = await Assistant.join(world, room)
    await page.run(START)
    await page.until("widget.state === 'expanded'")
    await assistant.state("listening")
    await page.until("/Listening/.test(text('.status-text'))")
    return assistant


async def press(page: Page, key: str, code: int, modifiers: int = 0):
    for kind in ("rawKeyDown", "keyUp"):
        await page.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers)
    if key == "Enter":
        await page.send("Input.dispatchKeyEvent", type="char", key=key, text="\r")


async def emulate(page: Page, *, theme: str = "light", motion: str = "no-preference"):
    features = [{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": motion}]
    await page.send("Emulation.setEmulatedMedia", features=features)


@check("the widget's state machine")
async def machine(world: World):
    async with Browser() as browser:
        page = await browser.open(world.page)
        titles = await page.run("window.cases = (await import('/tests/widget-machine.js')).cases; return Object.keys(cases)")
        failures = []
        for title in titles:
            fault = await page.run("try { cases[title]() } catch (error) { return error.message }", title=title)
            if fault:
                failures.append(f"{title}: {fault}")
        expect(not failures, "\n".join(failures))
        return f"{len(titles)} cases"


@check("the widget loads nothing before it is wanted, and turning it off does not end a call")
async def initialization(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, is_loaded=False, should_initialize="false")
        await asyncio.sleep(0.5)
        expect_equal((await page.run("return [widget.state, part('.launcher').disabled, text('.launcher-hint')]")), ["idle", True, "Waits until this page turns it on"])
        expect_equal(await page.run("return performance.getEntriesByType('resource').length - requested"), 0, "requests")
        await page.run("widget.setAttribute('should-initialize', 'true')")
        await page.until("widget.state === 'collapsed'")
        expect_equal(sorted(world.files.asked), ["/v1/assistants/shop", "/v1/voices"], "requests")
        await begin(page, world)
        await page.run("widget.setAttribute('should-initialize', 'false')")
        await asyncio.sleep(0.5)
        expect_equal(await page.run("return [widget.state, text('.status-text')]"), ["expanded", "Listening. Go ahead and speak"])
        await page.run("part('.stop').click()")
        await page.until("widget.state === 'idle'")
        expect_equal(await page.run("return states"), ["loading", "collapsed", "connecting", "expanded", "idle"])
        expect_quiet_console(page)


@check("a conversation in the widget, by keyboard: status, words as they are heard, transcript, text, end")
async def conversation(world: World):
    packets = await recorded_packets(world)
    async with Browser() as browser:
        page = await open_widget(browser, world)
        focused = "return shadow.activeElement?.getAttribute('aria-label') ?? shadow.activeElement?.className"
        assistant = await Assistant.join(world)
        await page.run("document.querySelector('#button').focus()")
        await press(page, "Tab", 9)
        expect_equal(await page.run(focused), "launcher", "focus")
        await press(page, "Enter", 13)
        await page.until("widget.state === 'expanded'")
        expect_equal(await page.run(focused), "End the conversation", "focus")
        expect_equal(await page.run("return asked"), [{"assistant": "shop", "voice": "nova"}])
        # Words appear as they are heard.
        await assistant.state("speaking")
        await assistant.say("One two three four five six seven eight.", packets, seconds=4)
        await page.until("shadow.querySelectorAll('.word[data-heard]').length === 3")
        expect_equal(await page.run("return [widget.agentStatus, text('.status-text'), text('.caption-speaker')]"), ["waiting", "Speak to interrupt", "Robin"])
        loud = await page.run("return Number(part('.waveform').children[2].style.getPropertyValue('--level'))")
        expect(loud > 0.05, f"the waveform shows {loud}")
        await page.until("shadow.querySelectorAll('.word[data-heard]').length === 8")
        await assistant.state("thinking")
        await page.until("text('.status-text') === 'Looking it up…' && widget.agentStatus === 'thinking'")
        await assistant.state("listening")
        # Mute.
        await press(page, "Tab", 9, modifiers=8)
        expect_equal(await page.run(focused), "Mute", "focus")
        await press(page, "Enter", 13)
        await page.until("/muted/.test(text('.status-text'))")
        await assistant.client.event("track.muted")
        expect_equal(await page.run(focused), "Unmute", "focus")
        # The transcript and its text input.
        await press(page, "Tab", 9)
        await press(page, "Tab", 9)
        expect_equal(await page.run(focused), "Transcript and text", "focus")
        await press(page, "Enter", 13)
        await page.until("widget.state === 'transcript'")
        expect_equal(await page.run(focused), "Message", "focus")
        await page.send("Input.insertText", text="Where is my order?")
        await press(page, "Enter", 13)
        expect_equal((await assistant.client.event("text"))["text"], "Where is my order?")
        await page.until("[...shadow.querySelectorAll('.lines li')].map(({ dataset }) => dataset.kind).join() === 'assistant,user'")
        expect_equal(await page.run("return part('.composer input').value"), "")
        await press(page, "Escape", 27)
        await page.until("widget.state === 'expanded'")
        await page.run("part('.stop').focus()")
        await press(page, "Enter", 13)
        await page.until("widget.state === 'collapsed'")
        expect_equal(await page.run(focused), "launcher", "focus")
        await assistant.client.event("participant.left", participant="page")
        expect_quiet_console(page)


@check("a quick command begins a conversation and is said once the assistant is there")
async def quick_command(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(200, definition(start_state="expanded")))
        expect_equal(await page.run("return widget.state"), "expanded")
        await page.run("[...shadow.querySelectorAll('.chip')].find(({ textContent }) => textContent === 'What is new?').click()")
        await page.until("widget.state === 'expanded' && /Waiting for Robin/.test(text('.status-text'))")
        assistant = await Assistant.join(world)
        await page.until("text('.caption-text') === 'What is new?'")
        expect_equal(await page.run("return !!part('.chip')"), False)


@check("the onboarding is asked for once, until it was heard")
async def onboarding(world: World):
    async with Browser() as browser:
        described = (200, definition(onboarding=("Welcome.",)))
        page = await open_widget(browser, world, described=described)
        assistant = await begin(page, world)
        await assistant.message("onboarding.start")
        await assistant.state("speaking")
        await page.until("[...shadow.querySelectorAll('button')].some((button) => button.textContent === 'Skip introduction' && button.checkVisibility())")
        await assistant.tell("onboarding.finished", completed=False)
        await page.run("part('.stop').click()")
        await page.until("widget.state === 'collapsed'")
        # It was interrupted, so the next conversation plays it.
        await page.run(START)
        await assistant.message("onboarding.start")
        await assistant.tell("onboarding.finished", completed=True)
        await page.until("localStorage.getItem('patchbay.assistant.onboarding.shop') !== null")
        # Also for another page.
        await page.run("part('.stop').click()")
        other = await open_widget(browser, world, described=described)
        await other.run(START)
        await other.until("/Listening/.test(text('.status-text')) || /Speak/.test(text('.status-text'))")
        await asyncio.sleep(1)
        starts = [data for name, data in assistant.client.events if name == "data" and "onboarding.start" in data["payload"]]
        expect_equal(len(starts), 2, "requests for the onboarding")


@check("tools that fail have a card with “Try again”, drafts can be edited and sent")
async def cards(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world)
        assistant = await begin(page, world)
        await assistant.tell("tool.started", id="t1", name="find_order")
        await page.until("text('.status-text') === 'Working on it: find order…'")
        # Of an assistant that shows no card of its own.
        await assistant.tell("tool.failed", id="t1", name="find_order", message="No answer.", retry=True)
        await page.until("text('.card h3') === 'find order' && text('.card .card-body') === 'No answer.'")
        await page.run("part('.card .primary').click()")
        expect_equal((await assistant.client.event("text"))["text"], "Try again: find order")
        # Of the embedded assistant, whose card replaces the widget's.
        await assistant.tell("tool.failed", id="t2", name="find_order", message="No answer.", retry=True)
        await assistant.tell("card", id="t2", kind="error", title="Orders", body="No answer.", actions=[{"id": "retry", "title": "Try again"}])
        await page.until("text('.card h3') === 'Orders'")
        expect_equal(await page.run("return shadow.querySelectorAll('.card').length"), 1)
        await page.run("part('.card .primary').click()")
        expect_equal(await assistant.message("card.action"), {"card": "t2", "action": "retry"})
        await page.until("!part('.card')")
        actions = [{"id": "discard", "title": "Discard"}, {"id": "send", "title": "Send"}]
        await assistant.tell("card", id="d", kind="draft", title="To Ann", body="Dear Ann", actions=actions)
        await page.until("part('.card textarea')?.value === 'Dear Ann'")
        await page.run("part('.card textarea').value = 'Dear Ann, hello'; part('.card .primary').click()")
        expect_equal(await assistant.message("card.action"), {"card": "d", "action": "send", "fields": {"body": "Dear Ann, hello"}})
        await page.until("!part('.card')")
        await assistant.tell("card", id="e", kind="draft", title="To Bob", body="Dear Bob", actions=actions)
        await page.until("text('.card h3') === 'To Bob'")
        await page.run("part('[aria-label=\"Dismiss this card\"]').click()")
        await page.until("!part('.card')")
        # The page keeps what could not be sent.
        await assistant.tell("card", id="f", kind="draft", title="To Eve", body="Dear Eve", actions=actions)
        await page.until("text('.card h3') === 'To Eve'")
        await page.run("const { prototype } = (await import('/web/patchbay.js')).Room; prototype.sendCardAction = async () => { throw new Error('refused.') }; part('.card .primary').click()")
        await page.until("part('.card-note') && !part('.card .primary').disabled && /refused/.test(text('.notice p'))")
        expect_quiet_console(page)


@check("the widget shows markup as text, and texts in their own direction")
async def foreign_texts(world: World):
    markup = '<img src=x onerror="window.broken = 1"><b>Robin</b>'
    described = definition(start_text=markup, thinking_text=markup, logo_url="https://127.0.0.1:9/logo.png", history_url="javascript:window.broken = 1") | {
        "name": markup, "quick_commands": [markup, "مرحبا"]}
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(200, described))
        expect_equal(await page.run("return text('.launcher-label')"), markup)
        assistant = await begin(page, world)
        await assistant.heard(markup)
        await assistant.tell("card", id="c", kind="info", title=markup, body=markup, actions=[{"id": "a", "title": markup}])
        await assistant.tell("tool.failed", id="t", name="x", message=markup, retry=False)
        await page.until("shadow.querySelectorAll('.card').length === 2")
        await page.run("part('[aria-label=\"Transcript and text\"]').click()")
        await page.until(f"text('.lines p span') === {json.dumps(markup)}")
        await assistant.heard("مرحبا كيف حالك", id="rtl")
        await page.until("shadow.querySelectorAll('.lines li').length === 2")
        directions = await page.run("return [...shadow.querySelectorAll('.lines p')].map((line) => getComputedStyle(line).direction)")
        expect_equal(directions, ["ltr", "rtl"])
        await page.run("part('.lines') && part('.composer input').focus()")
        found = await page.run("return [window.broken, shadow.querySelectorAll('b').length, shadow.querySelectorAll('img[onerror]').length, !!part('.links a')]")
        expect_equal(found, [None, 0, 0, False])
        expect(await page.run("return !!part('.logo-letter')"), "no letter in place of the logo that cannot be loaded")
        violations = [line for line in faults(page) if "logo.png" not in line]
        expect(not violations, violations)


@check("without a microphone the widget says what to do, and the conversation goes on by text")
async def no_microphone(world: World):
    refuse = "navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', name) }"
    async with Browser() as browser:
        page = await open_widget(browser, world)
        assistant = await Assistant.join(world)
        await page.run("window.original = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);" + refuse, name="NotAllowedError")
        await page.run(f"part('.launcher').focus(); {START}")
        await page.until("text('.problem h2') === 'The microphone is blocked'")
        steps = await page.run("return [...part('.steps').children].map(({ textContent }) => textContent)")
        expect(len(steps) == 3 and "Allow" in steps[1], steps)
        await page.until("shadow.activeElement === part('.problem h2')")
        await page.run("navigator.mediaDevices.getUserMedia = window.original; part('.problem .primary').click()")
        await page.until("!part('.problem') && widget.state === 'expanded'")
        await assistant.client.event("track.published")
        await page.run("part('.stop').click()")
        await page.run(refuse, name="NotFoundError")
        await page.run(START)
        await page.until("/No microphone was found/.test(text('.notice p'))")
        await page.run("[...shadow.querySelectorAll('.notice button')].find(({ textContent }) => textContent === 'Type instead').click()")
        await page.until("widget.state === 'transcript'")
        expect_equal(await page.run("return part('.lines, .empty').closest('.transcript').querySelector('.lines').getAttribute('aria-live')"), "polite")
        await page.run("part('.composer input').value = 'Hello'; part('.composer').requestSubmit()")
        expect_equal((await assistant.client.event("text"))["text"], "Hello")
        expect_quiet_console(page)


@check("what goes wrong is told with what to do, and can be tried again")
async def errors(world: World):
    problem = "return [widget.state, text('.problem h2'), [...part('.problem .actions').children].map(({ textContent }) => textContent)]"
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(404, {"code": "assistant_not_found", "message": "unknown"}))
        expect_equal(await page.run(problem), ["error", "This assistant does not exist", ["Try again"]])
        world.files.answers["/v1/assistants/shop"] = (200, definition())
        await page.run("part('.problem .primary').click()")
        await page.until("widget.state === 'collapsed'")
        # The gateway is gone.
        await page.run("window.provider = widget.tokenProvider; widget.tokenProvider = async () => ({ url: 'wss://127.0.0.1:9', token: 'a.b.c' })")
        await page.run(START)
        await page.until("widget.state === 'error'")
        expect_equal(await page.run(problem), ["error", "No connection", ["Try again", "Close"]])
        # The token has expired; the page's provider is asked again.
        expired = mint(sub="page", exp=int(time.time()) - 600, video={"roomJoin": True, "room": "widget"})
        await page.run("widget.tokenProvider = async () => ({ url, token }); part('.problem .primary').click()", url=world.gateway, token=expired)
        await page.until("text('.problem h2') === 'Your access has expired'")
        await page.run("widget.tokenProvider = async () => { throw new Error('<b>Log in</b>') }; part('.problem .primary').click()")
        await page.until("/<b>Log in<.b>/.test(text('.problem p'))")
        await page.run("widget.tokenProvider = async () => undefined; part('.problem .primary').click()")
        await page.until("text('.problem h2') === 'This page gives no access'")
        await page.run("part('.problem button').click()")
        await page.until("widget.state === 'collapsed'")
        # In a call: removed, and the gateway ends.
        await page.run("widget.tokenProvider = provider")
        await begin(page, world)
        world.server.kill()
        await world.server.wait()
        await page.until("/Reconnecting/.test(text('.status-text')) && /continues as soon as/.test(text('.notice p'))")
        await page.run("part('.stop').click()")
        await page.until("widget.state === 'collapsed'")
        # Without an assistant, and without a gateway that answers.
        await page.run("widget.removeAttribute('assistant-id')")
        await page.until("text('.problem h2') === 'No assistant is chosen'")
        world.files.answers["/v1/assistants/other"] = (503, {"code": "store_busy", "message": "too many requests"})
        await page.run("widget.setAttribute('assistant-id', 'other')")
        await page.until("text('.problem h2') === 'The assistant cannot be loaded'")
        unknown = [line for line in faults(page) if "127.0.0.1:9" not in line and "WebSocket" not in line]
        expect(not unknown, unknown)


@check("an error of the icon is red, has a name, and opens its message")
async def icon_error(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(404, {"code": "assistant_not_found", "message": "unknown"}), icon_only="")
        label, color = await page.run("return [part('.launcher').getAttribute('aria-label'), getComputedStyle(part('.launcher-icon')).backgroundColor]")
        expect(label.startswith("This assistant does not exist. "), label)
        expect_equal(color, "rgb(179, 38, 30)")
        expect_equal(await page.run("return !!part('.problem')"), False)
        await page.run("part('.launcher').click()")
        expect_equal(await page.run("return [text('.problem h2'), part('.launcher').getAttribute('aria-expanded')]"), ["This assistant does not exist", "true"])


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
        await press(page, "Escape", 27)
        await page.until("widget.state === 'collapsed' && !part('.talk')")
        expect_equal(await page.run("return shadow.activeElement.className"), "launcher", "focus")
        # With reduced motion: no circle, still shapes.
        await emulate(page, motion="reduce")
        await page.run(START)
        await page.until("widget.state === 'expanded'")
        expect_equal((await page.run("return asked"))[1], {"assistant": "shop", "voice": "onyx"})
        expect_equal(len(await page.run("return clips")), 2, "circles")
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
        await press(page, "Escape", 27)
        await page.until("widget.state === 'collapsed'")


@check("all texts of the widget have enough contrast, all controls a name, and a phone's width is enough")
async def accessibility(world: World):
    async with Browser() as browser:
        measured = 0
        for color in ("verdant", "twilight", "bloom", "mystic", "flare", "glacier"):
            presentation = "talk" if color in ("twilight", "flare") else "widget"
            page = await open_widget(browser, world, color, described=(200, definition(visualizer_color=color)), presentation=presentation)
            await page.send("Emulation.setDeviceMetricsOverride", width=320, height=640, deviceScaleFactor=1, mobile=False)
            await page.run("window.audit = await import('/tests/accessibility.js')")
            assistant = await begin(page, world, color)
            actions = [{"id": "a", "title": "Discard"}, {"id": "b", "title": "Send"}]
            for view in ("expanded", "transcript"):
                if view == "expanded":
                    await assistant.heard("Where is my order?")
                    await assistant.tell("tool.failed", id="t", name="find", message="No answer.", retry=True)
                    await assistant.tell("card", id="d", kind="draft", title="To Ann", body="Dear Ann", actions=actions)
                    await page.until("shadow.querySelectorAll('.card').length === 2")
                else:
                    await page.run("part('[aria-label=\"Transcript and text\"]').click()")
                    await page.until("widget.state === 'transcript'")
                for theme in ("light", "dark"):
                    await emulate(page, theme=theme, motion="reduce")
                    await asyncio.sleep(0.1)
                    count, found = await page.run("return [audit.count(shadow), audit.faults(shadow)]")
                    expect(not found, f"{color}, {view}, {theme}:\n" + "\n".join(found))
                    measured += count
            await page.run("widget.remove()")
        return f"{measured} texts and controls"


@check("the page of examples works with a gateway for development, and its examples can be copied")
async def examples_page(world: World):
    agent = await world.start("agent", "start", "--dev", "--url", world.gateway)
    async with Browser() as browser:
        page = await browser.open(world.files.origin + "/web/widget/examples.html")
        await page.until("document.querySelector('#widget').state === 'collapsed' && document.querySelector('#talk').state === 'collapsed'")
        expect_equal(await page.run("return document.querySelector('#later').state"), "idle")
        await page.run("document.querySelector('#consent').click()")
        await page.until("document.querySelector('#later').state === 'collapsed'")
        await page.run("navigator.clipboard.writeText = async (text) => (window.copied = text); document.querySelector('section button').click()")
        await page.until("/web\\/patchbay-assistant.js/.test(window.copied) && !copied.includes('voice.example')")
        # A conversation with the embedded assistant, without a login.
        await page.run("window.widget = document.querySelector('#widget'); window.text = (selector) => widget.shadowRoot.querySelector(selector).textContent")
        for _ in range(60):
            await page.run("widget.start()")
            await page.until("widget.state !== 'connecting'", timeout=40)
            await asyncio.sleep(2)
            if not await page.run("return /Waiting/.test(text('.panel .status-text'))"):
                break
            await page.run("widget.stop()")
        await page.until("widget.shadowRoot.querySelectorAll('.panel .word[data-heard]').length > 2", timeout=60)
        await page.until("/Listening/.test(text('.panel .status-text'))", timeout=60)
        await page.run("const { shadowRoot } = widget; shadowRoot.querySelector('[aria-label=\"Transcript and text\"]').click(); shadowRoot.querySelector('.composer input').value = 'What is your name?'; shadowRoot.querySelector('.composer').requestSubmit()")
        await page.until("/voice assistant/.test(text('.panel .lines'))", timeout=60)
        await page.run("widget.stop()")
        expect_quiet_console(page)
    expect_equal(agent.returncode, None, "the assistant's exit code")


@check("a widget that is on the page before its script keeps its token provider, and moving it keeps the call")
async def upgrade(world: World):
    async with Browser() as browser:
        world.files.answers["/v1/assistants/shop"] = (200, definition())
        token = mint(sub="page", exp=int(time.time()) + 600, video={"roomJoin": True, "room": "upgrade"})
        page = await browser.open(world.page)
        await page.run(
            """
            window.widget = document.createElement('patchbay-assistant')
            widget.setAttribute('assistant-id', 'shop')
            widget.tokenProvider = async () => ({ url, token })
            document.body.append(widget)
            await import('/web/patchbay-assistant.js')
            """, url=world.gateway, token=token)
        await page.until("widget.state === 'collapsed'")
        assistant = await Assistant.join(world, "upgrade")
        await page.run("widget.start()")
        await page.until("widget.state === 'expanded'")
        await page.run("document.body.prepend(widget)")
        await asyncio.sleep(0.3)
        expect_equal(await page.run("return widget.state"), "expanded")
        await page.run("widget.remove()")
        await assistant.client.event("participant.left", participant="page")
        expect_quiet_console(page)


CONFIGURATION = """
assistants:
  - id: default
    name: Robin
    greetings: ["Hello."]
    onboarding: ["This is the introduction."]
    quick_commands: ["What is your name?"]
    widget: {start_text: Call Robin, visualizer_color: glacier}
"""


@check("the embedded assistant greets, introduces itself once and answers a quick command in the talk view")
async def embedded(world: World):
    world.path("patchbay.yaml").write_text(CONFIGURATION)
    server = await world.start("serve", "--dev", "--config", str(world.path("patchbay.yaml")), "--port", "0", "--shards", "1", wait_for="listening on ")
    gateway = server.ready_line.split("listening on ")[1].strip()
    world.files.gateway = gateway.replace("wss", "https")
    await world.start("agent", "start", "--dev", "--url", gateway)
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
