"""Uses a page with the keyboard alone."""

import asyncio

from devtools import Page
from harness import expect, expect_equal

# More stops than any page has.
MOST_STOPS = 250
KEYS = "const keys = await import('/tests/keyboard.js'); "


class Keyboard:
    """Every stop on the way must show that it has the focus, and no action may lose it."""

    def __init__(self, page: Page):
        self.page = page

    async def press(self, *keys: str, shift: bool = False):
        for key in keys:
            await self.page.press(key, shift=shift)

    async def type(self, text: str):
        """Replaces the text of the focused input."""
        await self.page.send("Input.dispatchKeyEvent", type="rawKeyDown", key="a", windowsVirtualKeyCode=65, modifiers=2, commands=["selectAll"])
        await self.page.send("Input.dispatchKeyEvent", type="keyUp", key="a", windowsVirtualKeyCode=65, modifiers=2)
        await self.page.send("Input.insertText", text=text)

    async def focused(self) -> str | None:
        """The name of the focused element."""
        return await self.page.run(KEYS + "return keys.focusedName()")

    async def expect_focus(self, name: str):
        """Waits until something with this name has the focus."""
        try:
            await self.page.until(f"(await import('/tests/keyboard.js')).focusedName()?.includes({name!r})", timeout=10)
        except AssertionError:
            raise AssertionError(f"the focus is on {await self.focused()!r} instead of {name!r}") from None

    async def go(self, name: str, back: bool = False):
        """Presses Tab until an element whose name begins with this has the focus."""
        passed = []
        for _ in range(MOST_STOPS):
            await self.press("Tab", shift=back)
            found, fault = await self.page.run(KEYS + "const at = keys.focused(); return at ? [keys.name(at), keys.fault(at)] : [null, null]")
            expect(not fault, f"{found!r} {fault}")
            if found and found.startswith(name):
                return
            if found in passed and len(passed) > 2 * len(set(passed)):
                break
            passed.append(found)
        raise AssertionError(f"Tab does not reach {name!r}, but {list(dict.fromkeys(passed))}")

    async def act(self, name: str, key: str = "Enter", back: bool = False):
        """Goes to a control and presses a key; afterwards something visible must have the focus."""
        await self.go(name, back)
        await self.press(key)
        await self.expect_kept(name)

    async def expect_kept(self, name: str):
        # What the action changes may follow later.
        await asyncio.sleep(0.25)
        try:
            await self.page.until("(await import('/tests/keyboard.js')).focused()?.checkVisibility()", timeout=5)
        except AssertionError:
            raise AssertionError(f"{name!r} loses the focus") from None

    async def tour(self) -> list[str]:
        """Goes around with Tab, then with Shift+Tab: reaches every control, and gets stuck nowhere. Returns their names."""
        return [await self._around(back) for back in (False, True)][0]

    async def _around(self, back: bool) -> list[str]:
        await self.page.run(KEYS + "keys.begin(back)", back=back)
        # There and back again: browsers show only a focus that a key has moved.
        await self.press("Tab", shift=back)
        await self.press("Tab", shift=not back)
        names = []
        while stop := await self.page.run(KEYS + "return keys.step()"):
            expect(not stop["fault"], f"{stop['name']!r} {stop['fault']}")
            names.append(stop["name"])
            expect(len(names) < MOST_STOPS, "the tour does not end")
            await self.press("Tab", shift=back)
        expect_equal(await self.page.run(KEYS + "return keys.missed()"), [], f"Tab does not reach, after {names}")
        return names
