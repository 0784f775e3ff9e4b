"""Bad cases: each has a reason that a page can show."""

import asyncio
import time

from devtools import Browser
from harness import World, check, expect, expect_equal, expect_quiet_console, join_page, mint, open_page


@check("a refused token shows the reason")
async def refused_token(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        expired = mint(exp=int(time.time()) - 120, sub="page", video={"roomJoin": True, "room": "r"})
        cases = {expired: "token_expired", expired[:-4] + "AAAA": "bad_signature", "nonsense": "malformed_token", "a b": "malformed_token"}
        has_route = None
        for token, code in cases.items():
            error = await page.run(
                "try { await join(url, token) } catch (error) { return {...error, message: error.message, isOne: error instanceof patchbay.ConnectError} }",
                url=world.gateway, token=token)
            expect(error and error["isOne"], f"{code}: {error}")
            if token != "a b":
                has_route = error["code"] != "connection_failed" if has_route is None else has_route
            if has_route or token == "a b":
                expect_equal((error["code"], error["status"]), (code, 401))
            else:
                expect_equal(error["code"], "connection_failed")
            expect(error["message"], "no message")
            expect_equal(await page.run("return room.state"), "disconnected")
        return None if has_route else "this gateway has no /v1/rtc/validate: the reason was not checked"


@check("the reason of a failed upgrade is asked for")
async def validation(world: World):
    cases = {
        "409.room_full": ["room_full", 409, "a sentence"], "404.room_not_found": ["room_not_found", 404, "a sentence"],
        "429.too_many_attempts": ["too_many_attempts", 429, "a sentence"],
        # A token that is fine, and a gateway without the route.
        "200": ["connection_failed", 0, "The gateway cannot be reached."], "404.not_found": ["connection_failed", 0, "The gateway cannot be reached."],
    }
    async with Browser() as browser:
        page = await open_page(browser, world)
        for token, expected in cases.items():
            found = await page.run("try { await join(null, token) } catch ({code, status, message}) { return [code, status, message] }", token=token)
            expect_equal(found, expected, token)


@check("a gateway that cannot be reached is reported as such, and a connection can be cancelled")
async def unreachable(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        attempt = "try { await join(url, 'a.b.c') } catch (error) { return error.code }"
        expect_equal(await page.run(attempt, url="wss://127.0.0.1:9"), "connection_failed")
        expect_equal(await page.run(attempt, url="ftp://127.0.0.1"), "unsupported_url")
        token = await world.token("--room", "r", "--identity", "page")
        code = await page.run(
            """
            const attempt = join(url, token).then(() => 'joined', (error) => error.code)
            await new Promise((resolve) => setTimeout(resolve, 0))
            room.disconnect()
            return [await attempt, room.state]
            """, url=world.gateway, token=token)
        expect_equal(code, ["cancelled", "disconnected"])


@check("why the browser does not even try to connect is told apart: the token, the URL, and a page over HTTPS")
async def not_tried(world: World):
    async with Browser() as browser:
        page = await browser.open(f"{world.gateway.replace('wss', 'https')}/")
        cases = await page.run(
            """
            const { Room } = await import('/web/patchbay.js')
            const attempt = (url, token) => new Room().connect(url, token).then(() => null, ({ code, status, message }) => [code, status, message])
            const found = [await attempt('ws://gateway.invalid', 'a.b.c'), await attempt(null, 'a b')]
            for (const name of ['SyntaxError', 'NotAllowedError']) {
              window.WebSocket = class { constructor() { throw new DOMException('as the browser says.', name) } }
              found.push(await attempt(null, 'a.b.c'))
            }
            return found
            """)
        codes = [case[:2] for case in cases]
        expect_equal(codes, [["insecure_url", 0], ["malformed_token", 401], ["unsupported_url", 0], ["connection_failed", 0]])
        expect("wss://" in cases[0][2] and "as the browser says." in cases[3][2], cases)


@check("a denied microphone and a token without permission to speak are told apart")
async def permission_denied(world: World):
    enable = "try { await room.localParticipant.setMicrophoneEnabled(true) } catch (error) { return [error.name, error.code, error.message.length > 20] }"
    async with Browser(permission=False) as browser:
        page = await open_page(browser, world)
        await browser.send("Browser.setPermission", permission={"name": "microphone"}, setting="denied", origin=world.page.removesuffix("/blank"))
        await join_page(page, world, "denied")
        expect_equal(await page.run(enable), ["MicrophoneError", "permission_denied", True])
        expect_equal(await page.run("return [room.localParticipant.microphoneEnabled, room.state]"), [False, "connected"])
    async with Browser() as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "denied", "silent", "--can-publish", "false")
        expect_equal(await page.run(enable), ["MicrophoneError", "failed", True])
        expect_equal(await page.run("return room.localParticipant.microphoneEnabled"), False)


@check("no microphone: the reason is told, and the room stays usable")
async def no_microphone(world: World):
    async with Browser(permission=False, has_device=False) as browser:
        page = await open_page(browser, world)
        await browser.send("Browser.grantPermissions", permissions=["audioCapture"], origin=world.page.removesuffix("/blank"))
        await join_page(page, world, "deaf")
        code = await page.run("try { await room.localParticipant.setMicrophoneEnabled(true) } catch (error) { return error.code }")
        expect_equal(code, "not_found")
        expect_equal(await page.run("return (await room.sendText('still here')).id.slice(0, 3)"), "TX_")


@check("an unplugged microphone is reported and unpublished")
async def microphone_ends(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        listener = await world.join("unplugged", "listener")
        await join_page(page, world, "unplugged")
        await page.run(
            """
            const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
            navigator.mediaDevices.getUserMedia = async (constraints) => (window.stream = await open(constraints))
            await room.localParticipant.setMicrophoneEnabled(true)
            stream.getAudioTracks()[0].dispatchEvent(new Event('ended'))
            """)
        await page.until("happened.some(({ name }) => name === 'microphoneEnded')")
        expect_equal(await page.run("return room.localParticipant.microphoneEnabled"), False)
        for _ in range(50):
            if any('"track.unpublished"' in line for line in listener.lines):
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError("the track stays published")
        await page.run("await room.localParticipant.setMicrophoneEnabled(true)")


@check("a suspended AudioContext is reported, and plays after a click")
async def suspended_context(world: World):
    async with Browser(autoplay=False) as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "suspended")
        await page.until("happened.some(({ name }) => name === 'audioBlocked')")
        expect_equal(await page.run("return [room.audioBlocked, await room.startAudio().catch((error) => error.message.length > 20)]"), [True, True])
        await page.run("document.getElementById('button').onclick = () => room.startAudio()")
        x, y = await page.run("const { x, y } = document.getElementById('button').getBoundingClientRect(); return [x + 5, y + 5]")
        await page.click(x, y)
        await page.until("happened.some(({ name }) => name === 'audioStarted')")
        expect_equal(await page.run("return room.audioBlocked"), False)
        expect_quiet_console(page)


@check("markup in names and texts stays text")
async def markup(world: World):
    name = '<img src=x onerror="window.hacked = 1"><b>Bob</b>'
    async with Browser() as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "markup")
        await world.join("markup", name, "--name", name)
        await page.until("room.remoteParticipants.size === 1")
        shown = await page.run(
            """
            const [participant] = room.remoteParticipants.values()
            const line = document.body.appendChild(document.createElement('p'))
            line.textContent = participant.name
            return [participant.name, participant.identity, line.children.length, window.hacked === undefined]
            """)
        expect_equal(shown, [name, name, 0, True])
        expect_quiet_console(page)


@check("a second tab with the same identity ends the first, with the reason")
async def duplicate_identity(world: World):
    async with Browser() as browser:
        first, second = await open_page(browser, world), await open_page(browser, world)
        await join_page(first, world, "twice")
        await join_page(second, world, "twice")
        await first.until("room.state === 'disconnected'")
        end = await first.run("return happened.find(({ name }) => name === 'disconnected').data")
        expect_equal((end["code"], end["reason"], end["retryable"]), (4104, "DUPLICATE_IDENTITY", False))
        expect("tab" in end["message"], end)
        expect_equal(await second.run("return room.state"), "connected")
