"""The idle screen of the talk view: suggestions, text and the microphone, in the flow of the page."""

from devtools import Browser
from harness import World, check, expect, expect_equal, expect_quiet_console
from keyboard import Keyboard
from states import inspect
from widget_page import Assistant, definition, emulate, open_widget


@check("the talk view's idle screen has suggestions, text and a microphone from which the talk opens, by mouse and keyboard")
async def idle(world: World):
    async with Browser() as browser:
        described = definition(history_url="https://example.org/history", feedback_url="https://example.org/feedback")
        page = await open_widget(browser, world, described=(200, described), presentation="talk", idle_screen="")
        await page.run("widget.style.display = 'block'")
        expect_equal(await page.run("return [widget.state, !!part('.idle'), !!part('.launcher'), text('.idle-tooltip')]"), ["collapsed", True, False, "Tap to talk"])
        await page.run("const [fading] = part('.idle-tooltip').getAnimations(); fading.currentTime = 12_990; fading.finish()")
        await page.until("getComputedStyle(part('.idle-tooltip')).visibility === 'hidden'")
        shapes = "const style = getComputedStyle(part('.idle .ambience')); return [style.opacity, style.scale, part('.idle').querySelectorAll('.shape').length]"
        expect_equal(await page.run(shapes), ["0.24", "1", 3])
        expect_equal(await page.run("return [...part('.idle').querySelectorAll('.chip')].map(({ textContent }) => textContent)"), ["Where is my order?", "What is new?", "Opening hours"])
        expect_equal(await page.run("return [...part('.idle').querySelectorAll('.chip > .icon')].filter((one) => one.checkVisibility()).length"), 3)
        small = await page.run("return [...part('.idle').querySelectorAll('a, button, select, input')].filter((one) => one.checkVisibility() && (one.offsetHeight < 44 || one.offsetWidth < 44)).map((one) => one.className)")
        expect_equal(small, [], "smaller than 44 px")
        await inspect(page, "talk-idle")
        keys = Keyboard(page)
        await page.run("window.clips = []; const { animate } = Element.prototype; Element.prototype.animate = function (frames, options) { clips.push(frames[0].clipPath); return animate.call(this, frames, options) }")
        await keys.go("Talk to Robin")
        x, y = await page.run("const { x, y, width, height } = part('.idle-microphone').getBoundingClientRect(); return [x + width / 2, y + height / 2]")
        await keys.press("Enter")
        await page.until("widget.state === 'expanded'")
        expect_equal(await page.run("return clips[0]"), f"circle(28px at {x:g}px {y:g}px)", "opens from the microphone")
        await page.press("Escape")
        await page.until("widget.state === 'collapsed' && !part('.talk')")
        await keys.expect_focus("Talk to Robin")
        # A suggestion or a typed text starts a talk with it.
        for text, action in (("What is new?", None), ("Do you gift-wrap?", "Ask anything")):
            assistant = await Assistant.join(world)
            if action:
                await keys.go(action, back=True)
                await keys.type(text)
                await keys.press("Enter")
            else:
                await page.run("[...part('.idle').querySelectorAll('.chip')].find(({ textContent }) => textContent === wanted).click()", wanted=text)
            expect_equal((await assistant.client.event("text"))["text"], text)
            await page.run("part('.stop').click()")
            await page.until("widget.state === 'collapsed' && !part('.talk')")
            await assistant.client.leave()
        await emulate(page, motion="reduce")
        expect_equal(await page.run("return [getComputedStyle(part('.idle .shape')).animationName, getComputedStyle(part('.idle-microphone')).animationName]"), ["none", "none"])
        expect_equal(await page.run("return [getComputedStyle(part('.idle .ambience')).opacity, getComputedStyle(shadow.querySelector('.idle-tooltip')).animationName]"), ["0.15", "tooltip"])
        # Not wanted, it takes no place.
        await page.run("widget.setAttribute('should-initialize', ' False ')")
        await page.until("widget.state === 'idle' && widget.offsetHeight === 0")
        await page.run("widget.setAttribute('should-initialize', 'true')")
        await page.until("widget.state === 'collapsed' && widget.offsetHeight >= 480")
        # Without the attribute, the button is shown again.
        await page.run("widget.removeAttribute('idle-screen')")
        expect(await page.run("return !part('.idle') && !!part('.launcher')"), "the button is not back")
        expect_quiet_console(page)
