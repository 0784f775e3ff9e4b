"""States of pages: whether everybody can use them, and their screenshots."""

import asyncio
import base64
import functools
import importlib.util
import os
from pathlib import Path

from devtools import Page
from harness import expect

SIZES = {"desktop": (1280, 800, False), "phone": (390, 844, True)}
SCHEMES = ("light", "dark")
# Pages must work down to this width (WCAG 2.2, 1.4.10).
NARROW = 320


async def inspect(
    page: Page, name: str, sizes: tuple[str, ...] = tuple(SIZES), schemes: tuple[str, ...] = SCHEMES, shown: str = "header",
):
    """Expects that axe-core finds no fault in a state, and that nothing sticks out: light and dark, on a desktop and on a phone.

    Saves screenshots, `NAME-SIZE-SCHEME.png`, in the folder that PATCHBAY_SCREENS names, if any: `sizes` and `schemes` choose some of
    them, and the page is scrolled to the element `shown`.
    """
    folder = os.environ.get("PATCHBAY_SCREENS")
    await load_axe(page)
    for size, (width, height, is_mobile) in SIZES.items():
        await page.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_mobile)
        for scheme in SCHEMES:
            await page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            # In the other scheme of a size, only colours differ.
            rules = None if (size == "desktop") == (scheme == "light") else ["color-contrast", "link-in-text-block"]
            await expect_no_faults(page, f"{name}, {size}, {scheme}", rules)
            if folder and size in sizes and scheme in schemes:
                await page.run("document.querySelector(shown)?.scrollIntoView({ block: 'center', behavior: 'instant' })", shown=shown)
                await asyncio.sleep(0.3)
                picture = await page.send("Page.captureScreenshot", format="png")
                (Path(folder) / f"{name}-{size}-{scheme}.png").write_bytes(base64.b64decode(picture["data"]))
    await page.send("Emulation.setDeviceMetricsOverride", width=NARROW, height=640, deviceScaleFactor=1, mobile=True)
    await expect_no_faults(page, f"{name}, {NARROW} px", ["target-size"])
    await page.send("Emulation.clearDeviceMetricsOverride")
    await page.send("Emulation.setEmulatedMedia", features=[])


async def inspect_problems(page: Page, name: str, *keys: str):
    """Inspects each problem that a page can tell, those of different kinds at once. `keys`: only of these kinds.

    Meanwhile the page's own actions wait, because a page withdraws a problem that has ended: the gateway is not really unreachable.
    """
    rounds = await page.run(
        """
        const details = { message: 'The gateway says why', retryAfter: 90, deadline: Date.now(), number: 4100, isNew: true }
        window.problemStore = (await import(`/web/${name}/model/store.js`)).store
        const { catalogue } = await import(`/web/${name}/model/problems.js`)
        window.problems = Object.entries(catalogue).filter(([key]) => keys.length === 0 || keys.includes(key))
          .map(([key, kinds]) => Object.keys(kinds).map((code) => ({ key, code, ...details })))
        window.waiting = []
        window.act = problemStore.dispatch.bind(problemStore)
        problemStore.dispatch = (type, values) => void waiting.push([type, { at: Date.now(), ...values }])
        return Math.max(...problems.map((kinds) => kinds.length))
        """, name=name, keys=keys)
    for number in range(rounds):
        shown, wanted = await page.run(
            """
            const added = problems.filter((kinds) => kinds[number])
            for (const kinds of added) act('problem.add', kinds[number])
            return [[...document.querySelectorAll('.problem')].filter((one) => one.checkVisibility()).length, added.length]
            """, number=number)
        expect(shown >= wanted, f"{shown} of {wanted} problems are shown")
        await inspect(page, f"{name}-problems-{'-'.join((*keys, str(number + 1)))}")
    await page.run(
        """
        for (const [{ key }] of problems) act('problem.remove', { key })
        delete problemStore.dispatch
        for (const [type, values] of waiting) act(type, values)
        """)


async def expect_no_faults(page: Page, where: str, rules: list[str] | None):
    faults = await page.run("return (await import('/tests/accessibility.js')).faults(rules)", rules=rules)
    expect(not faults, f"{where}:\n  " + "\n  ".join(faults))


async def load_axe(page: Page):
    """Over the DevTools protocol, because the policy of the pages permits no foreign script."""
    if await page.run("return typeof axe === 'undefined'"):
        await page.send("Runtime.evaluate", expression=axe_core() + ";0")


@functools.cache
def axe_core() -> str:
    found = importlib.util.find_spec("axe_playwright_python")
    expect(found, "axe-core is missing: run scripts/setup-interop")
    return (Path(found.origin).parent / "axe.min.js").read_text()
