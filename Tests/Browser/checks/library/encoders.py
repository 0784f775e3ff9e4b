"""Browsers without an Opus encoder, or without any audio: listening and text work, and the reason is shown."""

from checks.pages.playground import open_playground, start, token
from devtools import Browser
from harness import SPEECH, World, check, click, expect, expect_equal, expect_quiet_console, fill, join_page, open_page, shows
from states import inspect
from widget_page import START, Assistant, open_widget

NO_ENCODER = "delete window.AudioEncoder; "
# The class exists but does not support Opus.
NO_OPUS = "AudioEncoder.isConfigSupported = async () => ({ supported: false }); "
NO_CODECS = NO_ENCODER + "delete window.AudioDecoder; "
COUNT_QUESTIONS = """
    window.questions = 0
    const original = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
    navigator.mediaDevices.getUserMedia = (constraints) => (questions++, original(constraints));
"""
ENABLE = "try { await room.localParticipant.setMicrophoneEnabled(true) } catch ({ name, code, message }) { return [name, code, message] }"


@check("without an Opus encoder a page listens and types, and is told why it is not heard")
async def listens(world: World):
    async with Browser() as browser:
        for number, lacking in enumerate((NO_ENCODER, NO_OPUS)):
            page = await open_page(browser, world)
            await page.run(lacking + COUNT_QUESTIONS)
            support = await page.run("return await patchbay.checkSupport()")
            expect_equal([support["audio"], support["listening"], support["code"]], [False, True, "no_encoder"])
            room = f"listening-{number}"
            await join_page(page, world, room)
            await page.run("window.stopRecording = recordTap('speaker')")
            await world.join(room, "speaker", "--play", str(SPEECH))
            await page.until("room.stats().framesReceived > 50 && room.stats().buffered > 0")
            await page.until("(window.heard = stopRecording()).some((sample) => Math.abs(sample) > 0.01)")
            expect_equal(await page.run(ENABLE), ["MicrophoneError", "unsupported", support["reason"]])
            expect_equal(await page.run("return (await room.sendText('I type')).id.slice(0, 3)"), "TX_")
            expect_equal(await page.run("return [questions, room.audioBlocked]"), [0, False])
            expect_quiet_console(page)


@check("without any codec for Opus a page reads and types")
async def reads(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await page.run(NO_CODECS + COUNT_QUESTIONS)
        support = await page.run("return await patchbay.checkSupport()")
        expect_equal([support["audio"], support["listening"], support["code"]], [False, False, "no_decoder"])
        await join_page(page, world, "reading")
        await world.join("reading", "speaker", "--play", str(SPEECH))
        await page.until("room.remoteParticipants.get('speaker')?.tracks.size === 1")
        expect_equal(await page.run(ENABLE), ["MicrophoneError", "unsupported", support["reason"]])
        expect_equal(await page.run("return (await room.sendText('I type')).id.slice(0, 3)"), "TX_")
        expect_equal(await page.run("return [questions, room.audioBlockage, room.stats().framesReceived]"), [0, "unsupported", 0])
        expect_quiet_console(page)


@check("playground: without an Opus encoder a call listens and types, and the reason stays in sight")
async def playground(world: World):
    lacks = ((NO_ENCODER, "This browser cannot send your voice", "You listen and type."), (NO_CODECS, "This browser has no sound in calls", "You read and type."))
    async with Browser() as browser:
        for lacking, title, hint in lacks:
            page = await open_playground(browser, world, lacking + COUNT_QUESTIONS)
            await shows(page, title, "problem-list")
            await shows(page, hint, "start-view")
            await inspect(page, f"playground-{'reading' if 'Decoder' in lacking else 'listening'}-start")
            assistant = await Assistant.join(world, "play")
            await start(page, token("play"))
            await shows(page, "Connected", "call-status")
            await shows(page, title, "problem-list")
            await assistant.heard("I can be read.")
            await shows(page, "I can be read.", "transcript-view")
            await fill(page, "message-form input", "I type")
            await page.run("document.querySelector('message-form form').requestSubmit()")
            expect_equal((await assistant.client.event("text"))["text"], "I type")
            controls = await page.run("return [document.querySelector('call-controls button').disabled, questions, document.querySelectorAll('.problem').length]")
            expect_equal(controls, [True, 0, 1])
            await inspect(page, f"playground-{'reading' if 'Decoder' in lacking else 'listening'}-call")
            await click(page, "call-controls button", "Leave")
            await shows(page, "You left the call.")
            await assistant.client.leave()
            expect_quiet_console(page)


@check("without an Opus encoder the widget says the reason in its language, and goes on by text")
async def widget(world: World):
    cases = (
        (NO_ENCODER, {}, "You are not heard: this browser cannot encode Opus audio.", "Type instead"),
        (NO_CODECS, {"lang": "de"}, "Dieser Browser kann Opus weder abspielen noch senden.", "Stattdessen schreiben"),
        (NO_OPUS, {"presentation": "talk"}, "You are not heard: this browser cannot encode Opus audio.", "Type instead"),
    )
    async with Browser() as browser:
        for number, (lacking, attributes, text, label) in enumerate(cases):
            room = f"widget-{number}"
            page = await open_widget(browser, world, room, **attributes)
            await page.run(lacking + COUNT_QUESTIONS)
            assistant = await Assistant.join(world, room)
            await page.run(START)
            await page.until("/Opus/.test(text('.notice p'))")
            expect((await page.run("return text('.notice p')")).startswith(text), await page.run("return text('.notice p')"))
            buttons = await page.run("return [...shadow.querySelectorAll('.notice button')].filter((one) => one.checkVisibility()).map(({ textContent }) => textContent)")
            expect_equal(buttons, [label])
            await inspect(page, f"widget-unsupported-{number}")
            await page.run("part('.notice button').click()")
            await page.until("widget.state === 'transcript'")
            await page.run("part('.composer input').value = 'I type'; part('.composer').requestSubmit()")
            expect_equal((await assistant.client.event("text"))["text"], "I type")
            await assistant.heard("I can be read.")
            await page.until("/I can be read/.test(text('.lines'))")
            expect_equal(await page.run("return questions"), 0)
            await page.run("part('.stop').click()")
            await assistant.client.leave()
            expect_quiet_console(page)
