"""The checks of accessibility themselves: they find what they are there for."""

from devtools import Browser
from harness import World, check, expect, expect_equal
from keyboard import Keyboard
from states import expect_no_faults, load_axe

# The page's policy permits no styles in markup.
APPLY_STYLES = "for (const element of root.querySelectorAll('[data-style]')) element.style.cssText = element.dataset.style"

# A fault, and the markup that has it.
FAULTS = {
    "button-name": "<button></button>",
    "color-contrast": "<p data-style='color: #999'>Faint</p>",
    "target-size": "<button data-style='padding: 0; border: 0; width: 16px; height: 16px; overflow: hidden'>a</button>" * 2,
    "label-content-name-mismatch": "<button aria-label='Close'>Delete everything</button>",
    "region": "</main><p>Outside of every landmark</p>",
    "heading-order": "<h4>Too deep</h4>",
    "wider than the window": "<p data-style='width: 3000px'>Long</p>",
    "outside of the window": "<p data-style='position: fixed; left: -20px'>Cut off</p>",
}


@check("faults of accessibility are found, in pages and in shadow roots")
async def faults(world: World):
    async with Browser() as browser:
        for fault, markup in FAULTS.items():
            page = await browser.open(world.page)
            await load_axe(page)
            await expect_no_faults(page, "the page without faults", None)
            for is_shadow in (False, True):
                if is_shadow and "</main>" in markup:
                    continue
                await page.run(
                    """
                    document.body.innerHTML = `<main><h1>Test</h1>${isShadow ? '<div></div>' : markup}`
                    if (isShadow) document.querySelector('div').attachShadow({ mode: 'open' }).innerHTML = markup
                    const root = isShadow ? document.querySelector('div').shadowRoot : document
                    """ + APPLY_STYLES, markup=markup, isShadow=is_shadow)
                try:
                    await expect_no_faults(page, "the page", None)
                except AssertionError as found:
                    expect(fault in str(found), f"{fault}: {found}")
                else:
                    raise AssertionError(f"{fault} is not found{' in a shadow root' if is_shadow else ''}")


@check("faults of the keyboard are found: no focus to be seen, stops that cannot be reached, and lost focus")
async def keyboard_faults(world: World):
    cases = {
        "shows no focus": "<button data-style='outline: none'>One</button><button>Two</button>",
        "behind something else": "<button>One</button><button>Two</button><p data-style='position: fixed; inset: 0; margin: 0; background: white'>Over it</p>",
        "does not reach": "<button>One</button><button onfocus='this.previousSibling.focus()'>Two</button><button>Three</button>",
    }
    async with Browser() as browser:
        page = await browser.open(world.page)
        keys = Keyboard(page)
        for fault, markup in cases.items():
            await page.run(
                """
                document.querySelector('main').innerHTML = markup.replace(/ onfocus='.*?'/, '')
                const trap = markup.includes('onfocus') && document.querySelectorAll('button')[1]
                if (trap) trap.onfocus = () => trap.previousSibling.focus()
                const root = document
                """ + APPLY_STYLES, markup=markup)
            try:
                await keys.tour()
            except AssertionError as found:
                expect(fault in str(found), f"{fault}: {found}")
            else:
                raise AssertionError(f"{fault}: not found")
        await page.run("document.querySelector('main').innerHTML = '<button>Go</button>'")
        await page.run("document.querySelector('button').onclick = ({ target }) => target.remove()")
        try:
            await keys.act("Go")
        except AssertionError as found:
            expect_equal(str(found), "'Go' loses the focus")
        else:
            raise AssertionError("lost focus is not found")
