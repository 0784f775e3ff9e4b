"""The page /dashboard: figures and plots from /metrics, rooms, muting and removing, and where it gets its tokens."""

import asyncio
import contextlib
import re
import time
import urllib.error
import wave
from pathlib import Path

from devtools import Browser, Page
from harness import LONG_SPEECH, MARKUP, World, check, click, expect, expect_equal, expect_quiet_console, fetch, fill, mint, shows
from states import expect_no_faults, inspect, inspect_problems

ROOM = 'büro <b>&"'


async def open_dashboard(browser: Browser, world: World, address: str = "") -> Page:
    page = await browser.open(f"{world.files.origin}/dashboard{address}")
    await page.until("document.querySelector('figure-strip dl') !== null")
    return page


async def load(page: Page, world: World, address: str = ""):
    await page.send("Page.navigate", url="about:blank")
    await page.send("Page.navigate", url=f"{world.files.origin}/dashboard{address}")
    await page.until("document.querySelector('figure-strip dl') !== null")


async def figure(page: Page, label: str) -> str:
    return await page.run("return [...document.querySelectorAll('.strip div')].find((one) => one.firstChild.textContent === label).lastChild.textContent", label=label)


def monologue(world: World, times: int = 10) -> Path:
    """The same speech many times."""
    path = world.path("monologue.wav")
    with wave.open(str(LONG_SPEECH)) as once, wave.open(str(path), "wb") as long:
        long.setparams(once.getparams())
        samples = once.readframes(once.getnframes())
        for _ in range(times):
            long.writeframes(samples)
    return path


def without_development(world: World):
    """As a gateway without --dev: no tokens without a secret."""
    world.files.hidden.add("/v1/dev/administrator")


@check("dashboard: with --dev, rooms, speakers, plots and a room's log appear, and muting and removing work")
async def watching(world: World):
    # Without accounts, anybody may join a room whose name is that of a call.
    await world.restart_gateway("--shards", "2", has_data=False)
    alice = await world.join("lobby", "alice")
    eve = await world.join("lobby", "eve", "--play", str(monologue(world)))
    await world.join("lobby", MARKUP, "--name", MARKUP)
    await world.join("call-CA_1", "carol")
    dora = await world.join(ROOM, "dora")
    async with Browser() as browser:
        page = await open_dashboard(browser, world)
        await page.until("document.querySelectorAll('.rooms li').length === 3")
        await page.until("[...document.querySelectorAll('.rooms .pill')].some((one) => one.checkVisibility() && one.textContent === 'Talking')")
        await page.until("[...document.querySelectorAll('.strip div')].some((one) => one.textContent === 'Participants5')")
        expect_equal([await figure(page, label) for label in ("Rooms", "Calls", "Participants")], ["3", "1", "5"])
        # At most one question of each kind in 2 s; fewer from a busy browser.
        took, asked = await page.run(
            """
            const counts = { '/metrics': 0, '/v1/rooms': 0 }
            const original = fetch
            window.fetch = (path, options) => { if (path in counts) counts[path]++; return original(path, options) }
            const began = performance.now()
            const took = () => performance.now() - began
            while (took() < 8000 || Math.min(...Object.values(counts)) < 2) await new Promise((resolve) => setTimeout(resolve, 100))
            return [took(), Object.values(counts)]
            """)
        expect(max(asked) <= took / 2000 + 1, f"{asked} questions within {took:.0f} ms")
        sent = await page.run("return [...document.querySelectorAll('line-plot')].map((one) => one.querySelector('canvas').getAttribute('aria-label'))")
        expect(any(text.startswith("Frames sent. Shard 0: now") and "Shard 1: now" in text for text in sent), sent)
        expect(any(re.search(r"now [1-9]", text) for text in sent if text.startswith("Frames received")), sent)
        drawn = await page.run(
            """
            const canvas = document.querySelector('line-plot canvas')
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data
            return pixels.some((value, index) => index % 4 === 3 && value > 200)
            """)
        expect(drawn, "nothing is drawn")
        await inspect(page, "dashboard-rooms")
        await click(page, ".rooms a", "lobby")
        await shows(page, "participant.joined", "room-panel")
        expect_equal(await page.run("return [document.activeElement.tagName, document.activeElement.textContent]"), ["H2", "lobby"])
        names = await page.run("return [[...document.querySelectorAll('.person-name')].map((one) => one.textContent), document.querySelectorAll('room-panel img').length, window.hacked === undefined]")
        expect_equal(names, [["alice", "eve", MARKUP], 0, True])
        await page.until("[...document.querySelectorAll('.person meter')].some((one) => one.checkVisibility() && one.value > 0)")
        await inspect(page, "dashboard-room")
        await inspect_problems(page, "dashboard", "room")
        await click(page, "button[aria-label^='Mute eve']")
        await shows(page, "Unmute", ".tracks")
        await shows(page, "track.muted", "room-events")
        await page.until("[...document.querySelectorAll('.person .pill')].every((one) => !one.checkVisibility())")
        await click(page, ".tracks button", "Unmute")
        await shows(page, "track.unmuted", "room-events")
        await page.until("[...document.querySelectorAll('.people button')].every((one) => !one.disabled && !one.ariaDisabled)")
        await click(page, ".people button.danger")
        expect_equal(await page.run("return [document.activeElement.textContent, document.querySelector('dialog h2').textContent]"), ["Cancel", "Remove alice?"])
        await inspect(page, "dashboard-remove")
        await click(page, "dialog button", "Remove")
        await page.until("document.querySelectorAll('.people > li').length === 2")
        await shows(page, "PARTICIPANT_REMOVED", "room-events")
        await asyncio.wait_for(alice.wait(), 10)
        expect(eve.returncode is None, "the wrong participant was removed")
        # A name that needs escaping.
        await page.run("location.hash = '#/'")
        await click(page, ".rooms a", "büro")
        await shows(page, "dora", ".people")
        expect_equal(await page.run("return document.querySelector('room-panel h2').textContent"), ROOM)
        dora.kill()
        await shows(page, "Gone", ".person .pill")
        await expect_no_faults(page, "a lost participant", None)
        # It ends while it is shown.
        await page.run("location.hash = '#/rooms/call-CA_1'")
        await shows(page, "carol", ".people")
        delete = await world.start("room", "delete", "--dev", "--url", world.gateway, "call-CA_1")
        await delete.wait()
        expect_equal(delete.returncode, 0, "\n".join(delete.lines))
        await shows(page, "This room has ended", "room-panel")
        await inspect(page, "dashboard-room-ended", schemes=("light",))
        expect_equal(await page.run("return [sessionStorage.length, localStorage.length]"), [0, 0])
        faults = [line for line in page.console if line.startswith("exception") or "Content Security" in line]
        expect(not faults, faults)


@check("dashboard: without --dev, tokens and keys are asked for, checked, and explained if they are refused")
async def access(world: World):
    without_development(world)
    await world.join("lobby", "alice")
    await world.join("other", "bob")
    expires = int(time.time()) + 600
    async with Browser() as browser:
        page = await open_dashboard(browser, world)
        await shows(page, "Rooms need an administrator")
        await page.until("document.querySelector('.plot-grid').checkVisibility()")
        # Figures need no token.
        await shows(page, "2", ".strip div:nth-child(4)")
        await inspect(page, "dashboard-token")
        for token, text in (
            ("nonsense", "This is not a token"), (mint(exp=expires - 1200, video={"roomList": True}), "The token has expired"),
            (mint(exp=expires, video={"room": "lobby", "roomJoin": True}), "The token does not administer anything"),
            (mint(exp=expires, video={"roomList": True})[:-4] + "AAAA", "The key is not valid here"),
        ):
            await fill(page, "access-form textarea", token)
            await click(page, "access-form button[type=submit]")
            await shows(page, text, "access-form")
        await inspect(page, "dashboard-token-refused")
        await inspect_problems(page, "dashboard", "access", "gateway")
        await fill(page, "access-form textarea", await world.token("--list", "--admin", "--room", "lobby"))
        await click(page, "access-form button[type=submit]")
        await page.until("document.querySelectorAll('.rooms li').length === 2")
        await click(page, ".rooms a", "lobby")
        await shows(page, "alice", ".people")
        # A token is for one room; others need their own.
        await page.run("location.hash = '#/rooms/other'")
        await shows(page, "patchbay token --admin --room other", "room-panel")
        await inspect(page, "dashboard-room-locked")
        await fill(page, "room-panel textarea", await world.token("--admin", "--room", "third"))
        await click(page, "room-panel button[type=submit]")
        await shows(page, "This token is for the room “third”", "room-panel")
        await fill(page, "room-panel textarea", await world.token("--admin", "--room", "other"))
        await click(page, "room-panel button[type=submit]")
        await shows(page, "bob", ".people")
        await click(page, "gateway-status button", "Forget token")
        await shows(page, "Rooms need an administrator")
        # A key signs for every room.
        await click(page, "access-form label", "Key")
        await inspect(page, "dashboard-key", schemes=("light",))
        await fill(page, "access-form input[type=text]", "devkey")
        await fill(page, "access-form input[type=password]", "wrong")
        await click(page, "access-form button[type=submit]")
        await shows(page, "The key is not valid here", "access-form")
        await fill(page, "access-form input[type=password]", "secret")
        await click(page, "access-form button[type=submit]")
        await page.until("document.querySelectorAll('.rooms li').length === 2")
        for room, identity in (("lobby", "alice"), ("other", "bob")):
            await page.run("location.hash = `#/rooms/${room}`", room=room)
            await shows(page, identity, ".people")
        faults = [line for line in page.console if line.startswith("exception") or "Content Security" in line]
        expect(not faults, faults)


@check("dashboard: hidden metrics, an empty gateway, a restart and an expired token say what to do")
async def states(world: World):
    async with Browser() as browser:
        page = await open_dashboard(browser, world)
        await shows(page, "No rooms are open")
        await inspect(page, "dashboard-empty")
        # Each second the rooms are asked for; the focus stays.
        await page.run("document.querySelector('.empty a').focus(); window.link = document.activeElement")
        await asyncio.sleep(2.5)
        expect(await page.run("return document.activeElement === link && link.isConnected"), "the link to the playground lost the focus")
        # Without metrics, the plots use the gateway's own history, for tokens that may read it.
        world.files.hidden.add("/metrics")
        await page.until("performance.getEntriesByType('resource').filter(({ name }) => /history\\?after=[1-9]/.test(name)).length >= 2", timeout=60)
        await shows(page, "Frames received", "plot-board")
        world.files.hidden.add("/v1/operations/history")
        await shows(page, "This address has no metrics", timeout=30)
        await shows(page, "public_metrics: true")
        await shows(page, "No rooms are open")
        await inspect(page, "dashboard-no-metrics")
        world.files.hidden.clear()
        await shows(page, "Frames received", "plot-board")
        # The gateway restarts: figures stay, and go on afterwards.
        await world.end(world.server)
        await shows(page, "The gateway cannot be reached", timeout=30)
        await inspect(page, "dashboard-unreachable")
        await world.start_gateway()
        world.files.gateway = world.gateway
        await world.join("lobby", "alice")
        await shows(page, "lobby", "room-list", timeout=60)
        await page.until("document.querySelector('main > problem-list').hidden")
        rates = await page.run(
            """
            const { history } = await import('/web/dashboard/model/store.js')
            return history.rates('patchbay_joins_total', history.firstTime, history.lastTime, 20).map(({ value }) => value).filter((value) => value !== null)
            """)
        expect(all(0 <= rate < 5 for rate in rates), rates)
    without_development(world)
    async with Browser() as browser:
        page = await open_dashboard(browser, world)
        await shows(page, "Rooms need an administrator")
        await fill(page, "access-form textarea", mint(exp=int(time.time()) + 6, video={"roomList": True}))
        await click(page, "access-form button[type=submit]")
        await shows(page, "lobby", "room-list")
        await shows(page, "The token has expired", "access-form", timeout=30)
        await inspect(page, "dashboard-token-expired", schemes=("light",))


OPERATIONS = {
    "at": 1_760_000_000_000, "participants_total": 140, "workers_total": 2,
    "participants": [{"room": "lobby", "identity": f"user-{number}", "kind": "standard", "quality": "poor", "rtt_ms": 400 - number, "jitter_ms": 4, "loss_percent": 2.5} for number in range(40)],
    "workers": [
        {"id": "DV_1", "assistant": "shop", "capacity": 4, "load": 0.92, "jobs": 4, "draining": False, "responsive": True},
        {"id": "DV_2", "assistant": "shop", "capacity": 4, "load": 0.2, "jobs": 1, "draining": True, "responsive": True},
    ],
    "lost_workers": [{"at": 1_759_999_900_000, "id": "DV_0", "assistant": MARKUP, "jobs": 2}],
    "assistants": [{"assistant": "shop", "at": 1_759_999_990_000, "turns": 200, "interrupted": 4, "stages": [{"stage": "voice_to_voice", "median_ms": 420, "p95_ms": 1900}]}],
    "errors": [{"at": 1_759_999_980_000, "count": 12, "level": "error", "logger": "patchbay.webhooks", "message": "webhook given up", "details": "endpoint=" + MARKUP}],
    "refusals": [{"at": 1_759_999_970_000, "count": 3, "reason": "token_expired", "status": 401, "route": "GET /v1/rtc", "address": "10.0.0.1", "room": "lobby"}],
    "ended_rooms": [{"at": 1_759_999_960_000, "count": 1, "name": "مرحبا", "sid": "RM_1", "reason": "ROOM_DELETED", "seconds": 700}],
    "ended_sessions": [{"at": 1_759_999_950_000, "count": 1, "session": "s", "room": "session-s", "assistant": "shop", "seconds": 30}],
}


@check("dashboard: in an incident, the worst participants, workers, errors and ends are shown, and rows do not move under the pointer")
async def operations(world: World):
    await world.join("lobby", "alice")
    async with Browser() as browser:
        page = await open_dashboard(browser, world)
        # Operations of the gateway itself. In a narrow window the panels are closed at first.
        await page.run("for (const panel of document.querySelectorAll('operations-board details')) panel.open = true")
        await shows(page, "alice", "operations-board")
        refused = mint(exp=int(time.time()) - 600, sub="eve", video={"roomJoin": True, "room": "vault"})
        with contextlib.suppress(urllib.error.HTTPError):
            fetch(world, "GET", "/v1/rooms", None, refused)
        await shows(page, "401 token_expired", "operations-board")
        # The gateway's history of the last hour fills the plots at once.
        await page.until("(await import('/web/dashboard/model/store.js')).history.firstTime < performance.timeOrigin")
        world.files.answers["/v1/operations"] = (200, OPERATIONS)
        await shows(page, "The worst 40 of 140.", "operations-board")
        for text in ("Busy", "Draining", "Lost 100 s ago", "1.9 s", "webhook given up", "12 times", "lasted 12 min", MARKUP):
            await shows(page, text, "operations-board")
        expect_equal(await page.run("return [document.querySelectorAll('operations-board img').length, window.hacked === undefined]"), [0, True])
        await inspect(page, "dashboard-operations", shown="operations-board")
        # The order changes, but not under the pointer until it leaves.
        first = "return document.querySelector('[data-table=participants] tbody strong').textContent"
        table = "document.querySelector('[data-table=participants] tbody')"
        await page.run(f"{table}.firstChild.scrollIntoView({{ block: 'center', behavior: 'instant' }})")
        x, y = await page.run(f"const {{ left, top }} = {table}.firstChild.getBoundingClientRect(); return [left + 4, top + 4]")
        await page.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        turned = OPERATIONS | {"participants": OPERATIONS["participants"][:0:-1], "participants_total": 141}
        world.files.answers["/v1/operations"] = (200, turned)
        await shows(page, "of 141.", "operations-board")
        expect_equal(await page.run(first), "user-0")
        expect_equal(await page.run(f"return [{table}.children.length, {table}.firstChild.hasAttribute('data-gone')]"), [40, True])
        await page.send("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
        await page.until(f"{table}.querySelector('strong').textContent === 'user-39'")
        expect_equal(await page.run(f"return {table}.children.length"), 39)
        # Focus holds the rows, too, and is kept.
        await page.run(f"{table}.querySelector('a').focus(); window.focused = document.activeElement")
        world.files.answers["/v1/operations"] = (200, OPERATIONS)
        await shows(page, "of 140.", "operations-board")
        expect_equal([await page.run("return document.activeElement === focused"), await page.run(first)], [True, "user-39"])
        await page.run("document.activeElement.blur()")
        await page.until("document.querySelector('[data-table=participants] tbody strong').textContent === 'user-0'")
        expect_quiet_console(page)
    # A token that may only list rooms sees no operations.
    world.files.answers.clear()
    without_development(world)
    async with Browser() as browser:
        page = await open_dashboard(browser, world)
        await shows(page, "Rooms need an administrator")
        await fill(page, "access-form textarea", mint(exp=int(time.time()) + 600, video={"roomList": True}))
        await click(page, "access-form button[type=submit]")
        await shows(page, "patchbay token --list --create", "operations-board")
        await inspect(page, "dashboard-operations-locked", schemes=("light",))
        expect_equal(await page.run("return [...document.querySelectorAll('operations-board table')].filter((one) => one.checkVisibility()).length"), 0)
        faults = [line for line in page.console if line.startswith("exception") or "Content Security" in line]
        expect(not faults, faults)


def node(name: str, **values) -> dict:
    return {"name": name, "build": "1.2.0", "draining": False, "load": 0.31, "rooms": 12, "participants": 30, "coordinator": False} | values


NODES = [node("n1", coordinator=True, load=0.58), node("n2", load=0.94, rooms=40, participants=85, build="1.3.0"), node("n3", draining=True), node("n10 " + MARKUP)]
GONE = (404, {"code": "node_not_found", "message": "no node of this name runs"})


def history(participants: int) -> dict:
    """The last five minutes of a node."""
    now = int(time.time() * 1000)
    values = {
        "patchbay_participants": lambda number: participants, "patchbay_rooms": lambda number: participants // 2, "patchbay_connections": lambda number: participants,
        "process_cpu_seconds_total": lambda number: number * 3, "process_resident_memory_bytes": lambda number: 200 << 20, "process_start_time_seconds": lambda number: now // 1000 - 7200,
    }
    series = [{"name": name, "labels": [], "values": [read(number) for number in range(31)]} for name, read in values.items()]
    frames = {"name": "patchbay_frames_received_total", "labels": [{"name": "shard", "value": "0"}], "values": [number * participants * 500 for number in range(31)]}
    return {"interval_ms": 10_000, "times": [now - 10_000 * (30 - number) for number in range(31)], "series": [*series, frames]}


def run_cluster(world: World, *names: str):
    """Answers as the nodes of a cluster do, of which the first one answers requests that name none."""
    world.files.answers.clear()
    nodes = [one for one in NODES if one["name"] in names]
    for one in [{"name": "n2"}, *nodes]:
        name, view = one["name"], OPERATIONS | {"nodes": nodes, "node": one["name"], "workers": OPERATIONS["workers"] if one.get("coordinator") else [], "lost_workers": []}
        is_running = one in nodes
        world.files.answers[f"/v1/operations?node={name}"] = (200, view) if is_running else GONE
        world.files.answers[f"/v1/operations/history?after=N&node={name}"] = (200, history(one["participants"])) if is_running else GONE
        if is_running and name == names[0]:
            world.files.answers["/v1/operations"] = (200, view)


@check("dashboard: in a cluster the nodes are shown, and one of them is chosen for figures, plots and operations")
async def nodes(world: World):
    chosen = "return [document.querySelector('nodes-board input:checked').value, location.search]"
    everything = [one["name"] for one in NODES]
    async with Browser() as browser:
        page = await open_dashboard(browser, world)
        await shows(page, "No rooms are open")
        expect(await page.run("return document.querySelector('nodes-board').hidden && document.querySelectorAll('.strip div:not([hidden])').length === 10"), "nodes without a cluster")
        run_cluster(world, *everything)
        await shows(page, "Coordinator", "nodes-board")
        expect_equal(await page.run(chosen), ["n1", ""])
        await page.until("[...document.querySelectorAll('.strip div')].some((one) => one.textContent === 'Participants30')")
        expect_equal([await figure(page, "Rooms"), await page.run("return document.querySelectorAll('.strip div:not([hidden])').length")], ["15", 8])
        rows = await page.run("return [...document.querySelectorAll('nodes-board tbody tr')].map((one) => one.innerText.replaceAll(/\\s+/g, ' ').trim())")
        expect_equal(rows[:3], ["n1 Ready Coordinator · Version 1.2.0 58 % 12 30", "n2 Busy Version 1.3.0 94 % 40 85", "n3 Draining Version 1.2.0 31 % 12 30"])
        expect_equal(await page.run("return [document.querySelectorAll('nodes-board img').length, window.hacked === undefined]"), [0, True])
        await inspect(page, "dashboard-nodes", shown="nodes-board")
        # Another node: the address names it, and its own samples are shown. From then on nobody asks the first one.
        await click(page, "nodes-board label", "n2")
        await page.until("[...document.querySelectorAll('.strip div')].some((one) => one.textContent === 'Participants85')")
        expect_equal(await page.run(chosen), ["n2", "?node=n2"])
        await shows(page, "Node n2 · Version 1.3.0", "gateway-status")
        await page.run("for (const panel of document.querySelectorAll('operations-board details')) panel.open = true")
        await shows(page, "Workers are connected to the coordinator, n1.", "operations-board")
        sent = await page.run("return (await import('/web/dashboard/model/store.js')).history.rates('patchbay_frames_received_total/0', 0, Date.now(), 1)[0].value")
        expect(sent > 0, f"{sent} frames per second")
        world.files.asked.clear()
        await asyncio.sleep(3)
        expect(not [path for path in world.files.asked if path == "/metrics" or "node=n1" in path], world.files.asked)
        # The address is kept in links to rooms, and the way back leads to the node before.
        await page.run("location.hash = '#/rooms/lobby'")
        expect_equal(await page.run("return location.search"), "?node=n2")
        await page.run("history.go(-2)")
        await page.until("document.querySelector('nodes-board input:checked')?.value === 'n1' && location.search === ''")
        # A node that ends is still named, and the others are there to choose.
        await load(page, world, "?node=n2")
        await page.until("[...document.querySelectorAll('.strip div')].some((one) => one.textContent === 'Participants85')")
        run_cluster(world, "n1", "n3")
        await shows(page, "No node named n2 runs", "nodes-board")
        await shows(page, "Not running", "gateway-status", timeout=60)
        expect_equal(await figure(page, "Participants"), "85", "the last figures stay")
        await inspect(page, "dashboard-node-ended", shown="nodes-board", schemes=("light",))
        await click(page, "nodes-board label", "n1")
        await page.until("[...document.querySelectorAll('.strip div')].some((one) => one.textContent === 'Participants30')")
        await shows(page, "Live", "gateway-status")
        # It was shown because it answered first; now another one does.
        await load(page, world)
        await shows(page, "Ready", "nodes-board")
        run_cluster(world, "n3")
        world.files.answers["/v1/operations?node=n1"] = GONE
        await page.until("document.querySelector('nodes-board input:checked')?.value === 'n3'")
        await shows(page, "Draining", "gateway-status")
        # Nothing of it stays when the gateway is in no cluster, whatever the address says.
        world.files.answers.clear()
        await load(page, world, "?node=n2")
        await shows(page, "No rooms are open")
        expect(await page.run("return document.querySelector('nodes-board').hidden"), "nodes without a cluster")
        faults = [line for line in page.console if line.startswith("exception") or "Content Security" in line]
        expect(not faults, faults)


@check("dashboard: thousands of rooms and an hour of samples stay responsive")
async def many(world: World):
    async with Browser() as browser:
        page = await open_dashboard(browser, world)
        await shows(page, "No rooms are open")
        took = await page.run(
            """
            const { store, history } = await import('/web/dashboard/model/store.js')
            const { select } = await import('/web/dashboard/model/figures.js')
            const { parseMetrics } = await import('/web/dashboard/model/prometheus.js')
            const text = await (await fetch('/metrics')).text()
            const sample = select(parseMetrics(text))
            // Eight shards, an hour.
            const values = new Map()
            for (const [key, value] of sample) for (let shard = 0; shard < (key.includes('/0') ? 8 : 1); shard++) values.set(key.replace('/0', `/${shard}`), value)
            const to = Date.now()
            history.clear()
            for (let number = 0; number < 1800; number++) {
              for (const [key, value] of values) {
                const [name, label, bound] = key.split('/')
                const wave = 2 + Math.sin(number / 150 + Number(label || 0)) + 0.3 * Math.sin(number / 11)
                if (bound) values.set(key, value + 10 * wave * (bound === '+Inf' ? 1 : Math.min(1, 0.6 + 8 * Number(bound) / wave)))
                else if (name.endsWith('_total') && name !== 'process_cpu_seconds_total') values.set(key, value + (name.includes('frames') ? 400 : 3) * wave * (name.includes('dropped') ? 0.002 : 1))
              }
              history.push(to - 3_600_000 + 2000 * (number + 1), values)
            }
            const rooms = Array.from({ length: 5000 }, (_, number) => ({ sid: `RM_${number}`, name: `room-${number}`, metadata: '', created_at: Date.now() / 1000 - 60 * number, max_participants: 0, num_participants: number % 7, num_tracks: 1, num_speakers: number % 100 === 0 ? 1 : 0 }))
            const original = fetch
            window.fetch = async (path, options) => path === '/v1/rooms' ? new Response(JSON.stringify({ rooms })) : original(path, options)
            let before = performance.now()
            store.dispatch('rooms.loaded', { rooms })
            const list = performance.now() - before
            store.dispatch('span', { span: 60 })
            before = performance.now()
            store.dispatch('metrics.sampled', { version: '1' })
            const plots = performance.now() - before
            return [list, plots, values.size]
            """)
        expect(took[0] < 1000 and took[1] < 1000, f"list {took[0]:.0f} ms, plots {took[1]:.0f} ms")
        shown = await page.run("return [document.querySelectorAll('.rooms li').length, document.querySelector('room-list .hint').textContent]")
        expect_equal(shown, [100, "5000 open, the first 100 are shown"])
        await inspect(page, "dashboard-many")
        print(f"               list of 5,000 rooms {took[0]:.0f} ms, an hour of {took[2]} series {took[1]:.0f} ms")
        expect_quiet_console(page)
