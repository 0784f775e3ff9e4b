"""What a page can change of the widget's look: colours, theme, visualizer, and the assistant's logo."""

from devtools import Browser
from harness import World, check, expect, expect_equal, expect_quiet_console
from states import inspect
from widget_page import START, begin, definition, emulate, open_widget

# Custom property: where it is seen, as which property.
COLORS = {
    "surface": (".panel", "backgroundColor"), "text": (".header h2", "color"), "text-quiet": (".status", "color"), "transcript": (".transcript", "backgroundColor"),
    "user-bubble": (".lines li[data-kind=user] p", "backgroundColor"), "user-text": (".lines li[data-kind=user] p", "color"),
    "agent-bubble": (".lines li[data-kind=assistant] p", "backgroundColor"), "agent-text": (".lines li[data-kind=assistant] p", "color"),
    "mute": (".mute", "backgroundColor"), "mute-icon": (".mute", "color"), "input": (".composer input", "backgroundColor"),
}
# Hues in degrees that the three colours of a preset lie between.
HUES = {"verdant": (75, 150), "twilight": (210, 270), "bloom": (-45, 30), "mystic": (165, 195), "flare": (-5, 40), "glacier": (185, 235)}


@check("each colour of the widget can be set by a custom property of the page")
async def colors(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world)
        assistant = await begin(page, world)
        await page.run("part('[aria-label=\"Transcript and text\"]').click()")
        await assistant.heard("Where is my order?")
        await assistant.client.request("transcript.segment", id="a", role="assistant", text="It comes on Friday.", final=True)
        await page.until("shadow.querySelectorAll('.lines li').length === 2")
        await page.run("document.activeElement.blur()")
        shade = "return getComputedStyle(part(selector))[property]"
        names = [*COLORS, "mute-active"]
        for number, name in enumerate(names):
            if name == "mute-active":
                await page.run("await widget.toggleMute()")
            selector, property = COLORS.get(name, (".mute", "backgroundColor"))
            wanted = f"rgb({number + 1}, 100, 200)"
            expect(await page.run(shade, selector=selector, property=property) != wanted, name)
            await page.run("widget.style.setProperty(name, value)", name=f"--patchbay-{name}", value=wanted)
            expect_equal(await page.run(shade, selector=selector, property=property), wanted, name)
        # What is none of a colour's values leaves the rest as it is.
        await page.run("widget.style.setProperty('--patchbay-input', 'nonsense')")
        expect_equal(await page.run(shade, selector=".header h2", property="color"), "rgb(2, 100, 200)")
        expect_quiet_console(page)


@check("theme and visualizer of the widget are the page's, otherwise the assistant's, and the presets have their hues")
async def presets(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(200, definition(theme="light", visualizer_color="flare", start_state="expanded")))
        shown = "return [getComputedStyle(part('.root')).colorScheme, part('.root').dataset.color]"
        expect_equal(await page.run(shown), ["light", "flare"])
        for theme, visualizer, expected in (
            ("dark", "mystic", ["dark", "mystic"]), ("auto", "glacier", ["light dark", "glacier"]), ("neon", '"><img>', ["light", "flare"]), ("", "", ["light", "flare"]),
        ):
            await page.run("widget.setAttribute('theme', theme); widget.setAttribute('visualizer', visualizer)", theme=theme, visualizer=visualizer)
            expect_equal(await page.run(shown), expected, f"{theme}, {visualizer}")
        await page.run("widget.removeAttribute('theme')")
        for color, (low, high) in HUES.items():
            for theme in ("light", "dark"):
                await page.run("widget.setAttribute('visualizer', color); widget.setAttribute('theme', theme)", color=color, theme=theme)
                hues = await page.run(
                    """
                    const { color, caretColor, columnRuleColor } = getComputedStyle(part('.visualizer'))
                    return [color, caretColor, columnRuleColor].map((shade) => {
                      const [r, g, b] = shade.match(/[0-9.]+/g).map(Number)
                      const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)]
                      const sector = most === r ? (g - b) / (most - least) : most === g ? 2 + (b - r) / (most - least) : 4 + (r - g) / (most - least)
                      return (sector * 60 + 45 + 360) % 360 - 45
                    })
                    """)
                expect(all(low <= hue <= high for hue in hues), f"{color}, {theme}: {hues} are not between {low} and {high}")
        expect_quiet_console(page)


@check("the assistant's logo is on the button, and an icon where it cannot be loaded")
async def logo(world: World):
    world.path("logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="9" fill="#7c3aed"/><circle cx="20" cy="20" r="9" fill="#fff"/></svg>')
    good, missing = world.url(world.path("logo.svg")), world.url(world.path("missing.svg"))
    shown = "[!!part('.launcher img'), !!part('.launcher .icon'), part('.launcher img')?.naturalWidth > 0]"
    async with Browser() as browser:
        for icon_only in (False, True):
            page = await open_widget(browser, world, described=(200, definition(logo_url=good)), **({"icon_only": ""} if icon_only else {}))
            await page.until(f"JSON.stringify({shown}) === '[true,false,true]'")
            await inspect(page, f"widget-collapsed-logo{'-icon' if icon_only else ''}")
            await page.run("widget.tokenProvider = async () => { throw new Error('closed') }")
            await page.run(START)
            await page.until("widget.state === 'error'")
            if icon_only:
                expect_equal(await page.run(f"return {shown}.slice(0, 2)"), [False, True], "the red icon")
                await inspect(page, "widget-error-connection-icon")
            await page.run("widget.remove()")
        page = await open_widget(browser, world, described=(200, definition(logo_url=missing)))
        await page.until(f"JSON.stringify({shown}.slice(0, 2)) === '[false,true]'")
