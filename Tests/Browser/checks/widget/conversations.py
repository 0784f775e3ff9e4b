"""The widget: conversations, quick commands, onboarding and cards."""

import asyncio

from devtools import Browser
from harness import World, check, expect, expect_equal, expect_quiet_console
from widget_page import START, Assistant, begin, definition, open_widget, recorded_packets


@check("the widget loads nothing before it is wanted, and turning it off does not end a call")
async def initialization(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, is_loaded=False, should_initialize="false")
        await asyncio.sleep(0.5)
        shown = "return [widget.state, [...shadow.querySelectorAll('*')].filter((one) => one.checkVisibility()).length, widget.getBoundingClientRect().height]"
        expect_equal(await page.run(shown), ["idle", 0, 0])
        expect_equal(await page.run("widget.start(); return [await widget.sendText('x'), widget.state]"), [False, "idle"])
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
        expect_equal(await page.run(shown), ["idle", 0, 0])
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
        await page.press("Tab")
        expect_equal(await page.run(focused), "launcher", "focus")
        await page.press("Enter")
        await page.until("widget.state === 'expanded'")
        expect_equal(await page.run(focused), "End the conversation", "focus")
        expect_equal(await page.run("return asked"), [{"assistant": "shop", "voice": "nova"}])
        # Words appear as they are heard.
        await assistant.state("speaking")
        await assistant.say("One two three four five six seven eight.", packets, seconds=6)
        await page.until("shadow.querySelectorAll('.word[data-heard]').length >= 3")
        expect_equal(await page.run("return [widget.agentStatus, text('.status-text'), text('.caption-speaker')]"), ["waiting", "Speak to interrupt", "Robin"])
        loud = await page.run("return Number(part('.waveform').children[2].style.getPropertyValue('--level'))")
        expect(loud > 0.05, f"the waveform shows {loud}")
        await page.until("shadow.querySelectorAll('.word[data-heard]').length === 8")
        await assistant.state("thinking")
        await page.until("text('.status-text') === 'Looking it up…' && widget.agentStatus === 'thinking'")
        await assistant.state("listening")
        # Mute.
        await page.press("Tab", shift=True)
        expect_equal(await page.run(focused), "Mute", "focus")
        await page.press("Enter")
        await page.until("/muted/.test(text('.status-text'))")
        await assistant.client.event("track.muted")
        expect_equal(await page.run(focused), "Unmute", "focus")
        # The transcript and its text input.
        await page.press("Tab")
        await page.press("Tab")
        expect_equal(await page.run(focused), "Transcript and text", "focus")
        await page.press("Enter")
        await page.until("widget.state === 'transcript'")
        expect_equal(await page.run(focused), "Message", "focus")
        await page.send("Input.insertText", text="Where is my order?")
        await page.press("Enter")
        expect_equal((await assistant.client.event("text"))["text"], "Where is my order?")
        await page.until("[...shadow.querySelectorAll('.lines li')].map(({ dataset }) => dataset.kind).join() === 'assistant,user'")
        expect_equal(await page.run("return part('.composer input').value"), "")
        await page.press("Escape")
        await page.until("widget.state === 'expanded'")
        await page.run("part('.stop').focus()")
        await page.press("Enter")
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
        expect_equal((await assistant.client.event("text"))["text"], "What is new?")
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
