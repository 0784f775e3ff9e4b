"""The widget in the language of its page or of its assistant."""

import asyncio

from devtools import Browser
from harness import World, check, expect_equal, expect_quiet_console
from states import expect_no_faults, load_axe
from widget_page import START, Assistant, definition, emulate, open_widget

LANGUAGES = ("en", "de", "fr", "es")


@check("the widget follows the language of its page, through shadow roots, and when it changes during a call")
async def following(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(200, definition(start_text="", thinking_text="Looking it up…", interrupt_text="")))
        expect_equal(await page.run("return [text('.launcher-label'), part('.root').lang]"), ["Talk to Robin", "en"])
        await page.run("document.documentElement.lang = 'de-AT'")
        await page.until("text('.launcher-label') === 'Mit Robin sprechen' && part('.root').lang === 'de-AT'")
        # Its own attribute, then that of a host around its shadow root.
        await page.run("widget.lang = 'fr'")
        await page.until("text('.launcher-label') === 'Parler à Robin'")
        await page.run(
            """
            const host = (window.host = document.createElement('div'))
            host.lang = 'es'
            host.attachShadow({ mode: 'open' }).append(document.createElement('section'))
            document.body.append(host)
            widget.removeAttribute('lang')
            host.shadowRoot.firstChild.append(widget)
            """)
        await page.until("text('.launcher-label') === 'Hablar con Robin'")
        await page.run("host.shadowRoot.firstChild.lang = 'it'")
        await page.until("text('.launcher-label') === 'Talk to Robin'")
        await page.run("host.shadowRoot.firstChild.removeAttribute('lang'); host.lang = 'de'")
        await page.until("text('.launcher-label') === 'Mit Robin sprechen'")
        # In a call: labels, status, cards and lines change; announcements are not repeated.
        assistant = await Assistant.join(world)
        await page.run(START)
        await page.until("widget.state === 'expanded'")
        await assistant.state("listening")
        await page.until("text('.status-text') === 'Hört zu. Sprechen Sie einfach'")
        expect_equal(await page.run("return part('.stop').getAttribute('aria-label')"), "Gespräch beenden")
        await assistant.heard("Wo ist meine Bestellung?")
        await assistant.tell("tool.failed", id="t", name="find_order", message="No answer.", retry=True)
        await page.until("text('.card .primary') === 'Erneut versuchen' && text('.card-kind') === 'Fehlgeschlagen'")
        await page.run("part('[aria-label=\"Mitschrift und Texteingabe\"]').click()")
        await page.until("text('.lines .speaker') === 'Sie' && part('.composer input').placeholder === 'Nachricht schreiben'")
        await page.run("for (const line of shadow.querySelectorAll('.root > .visually-hidden p')) line.remove(); host.lang = 'fr'")
        await page.until("text('.card .primary') === 'Réessayer' && text('.lines .speaker') === 'Vous' && part('.composer input').placeholder === 'Écrire un message'")
        expect_equal(await page.run("return [part('.root').lang, widget.state, shadow.querySelectorAll('.root > .visually-hidden p').length]"), ["fr", "transcript", 0])
        # The assistant's own text keeps its language; the chosen action is said in the user's.
        await assistant.state("thinking")
        await page.until("text('.status-text') === 'Looking it up…' && part('.status-text').lang === 'en'")
        await page.run("part('.card .primary').click()")
        expect_equal((await assistant.client.event("text"))["text"], "Réessayer: find order")
        await page.run("widget.remove(); host.lang = 'de'")
        await asyncio.sleep(0.2)
        expect_equal(await page.run("return widget.state"), "idle")
        expect_quiet_console(page)


@check("a widget on a page without a language speaks the assistant's")
async def assistants_language(world: World):
    async with Browser() as browser:
        page = await open_widget(
            browser, world, is_loaded=False, described=(200, definition(start_text="") | {"language": "de-CH"}), should_initialize="false", lang="")
        expect_equal(await page.run("return [shadow.querySelector('.launcher-label').textContent, shadow.querySelector('.root').lang]"), ["Voice assistant", "en"])
        await page.run("widget.setAttribute('should-initialize', 'true')")
        await page.until("text('.launcher-label') === 'Mit Robin sprechen' && part('.root').lang === 'de-CH'")
        world.files.answers["/v1/assistants/other"] = (404, {"code": "assistant_not_found", "message": "unknown"})
        await page.run("widget.lang = 'es'; widget.setAttribute('assistant-id', 'other')")
        await page.until("text('.problem h2') === 'Este asistente no existe' && text('.problem button') === 'Reintentar'")
        expect_equal(await page.run("return shadow.querySelector('[role=alert]').textContent.startsWith('Este asistente no existe. ')"), True)


@check("in every language the widget fits a phone of 320 px")
async def width(world: World):
    async with Browser() as browser:
        for language in LANGUAGES:
            presentation = "talk" if language in ("de", "es") else "widget"
            page = await open_widget(
                browser, world, language, described=(200, definition(start_text="")), presentation=presentation, lang=language)
            await page.send("Emulation.setDeviceMetricsOverride", width=320, height=640, deviceScaleFactor=1, mobile=False)
            await emulate(page, motion="reduce")
            await load_axe(page)
            await page.run("navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError') }")
            assistant = await Assistant.join(world, language)

            async def examine(name: str):
                await asyncio.sleep(0.1)
                await expect_no_faults(page, f"{language}, {name}", None)

            await examine("launcher")
            await page.run(START)
            await page.until("part('.problem .steps')?.children.length === 3")
            await examine("a blocked microphone")
            await page.run("part('.problem .actions').lastChild.click()")
            await page.until("widget.state === 'transcript'")
            await assistant.heard("Where is my order?")
            await assistant.tell("tool.failed", id="t", name="find_order", message="No answer.", retry=True)
            await page.until("!!part('.card')")
            await page.run("part('select') && (part('select').value = 'onyx', part('select').dispatchEvent(new Event('change')))")
            await examine("transcript")
            await page.run("widget.tokenProvider = async () => ({ url: 'wss://127.0.0.1:9', token: 'a.b.c' }); part('.stop').click()")
            await page.until("widget.state === 'collapsed'")
            await page.run(START)
            await page.until("widget.state === 'error'")
            await examine("an error")
            await page.run("widget.remove()")
