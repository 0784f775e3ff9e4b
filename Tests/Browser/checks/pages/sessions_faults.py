"""The page /sessions with storage that is blocked, and while what it shows is loading, growing or replaced."""


from accounts import CONVERSATION, User, log_in, logged_in, with_store
from devtools import Browser, Page
from harness import World, check, click, expect_equal, expect_quiet_console, shows

BLOCKED = "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError') } })"
# Recordings that arrive when a check releases them, and that the browser plays without a sound.
RECORDINGS = """
    window.held = {}
    window.fetched = []
    const original = fetch
    window.fetch = (path, options) => {
      const [, session, rest] = path.match(/^\\/v1\\/sessions\\/([^/]+)\\/recordings(.*)/) ?? []
      if (!session) return original(path, options)
      if (!rest) return Promise.resolve(Response.json(['a.ogg']))
      fetched.push(session)
      return new Promise((resolve) => (held[session] = () => resolve(new Response('recording'))))
    }
    window.Audio = class {
      paused = true
      seeking = false
      currentTime = 0
      duration = 60
      set src(url) { setTimeout(() => this.onloadedmetadata()) }
      play() { this.paused = false; return Promise.resolve() }
      pause() { this.paused = true }
      removeAttribute() {}
      load() {}
    }
    window.playback = (await import('/web/sessions/views/playback.js')).playback
"""


async def show_session(page: Page, session: str):
    await page.run("location.hash = `#/sessions/${id}`", id=session)
    await shows(page, "Play recording", "session-player")


@check("sessions: with storage that the browser blocks, people log in and out")
async def blocked(world: World):
    await with_store(world)
    User(world)
    async with Browser() as browser:
        page = await browser.open(f"{world.files.origin}/sessions", BLOCKED)
        await shows(page, "Log in to see your sessions")
        await log_in(page)
        await shows(page, "No sessions yet")
        await page.run("dispatchEvent(new Event('pagehide')); dispatchEvent(new Event('pageshow'))")
        await click(page, "account-menu button", "Log out")
        await shows(page, "Log in to see your sessions")
        expect_quiet_console(page)


@check("sessions: a reload keeps the sessions that “Show more” has loaded")
async def more(world: World):
    async with Browser() as browser:
        page = await browser.open(world.page)
        await page.run(
            """
            const { initialState, reduce } = await import('/web/sessions/model/state.js')
            const sessions = (...ids) => ids.map((id) => ({ id }))
            const known = reduce(initialState, { type: 'list.loaded', sessions: sessions('d', 'c'), next: 'page 2' })
            const whole = reduce(known, { type: 'list.more', sessions: sessions('b', 'a'), next: 'page 3' })
            window.reloaded = (next, ...ids) => {
              const { list } = reduce(whole, { type: 'list.loaded', sessions: sessions(...ids), next })
              return [list.sessions.map(({ id }) => id).join(''), list.next]
            }
            """)
        expect_equal(await page.run("return reloaded('page 2', 'd', 'c')"), ["dcba", "page 3"])
        # One began, or ended up on the first page because others were deleted.
        expect_equal(await page.run("return reloaded('page 2', 'e', 'd')"), ["edcba", "page 3"])
        expect_equal(await page.run("return reloaded('page 2', 'd', 'b')"), ["dba", "page 3"])
        # Nothing is known to follow.
        expect_equal(await page.run("return reloaded('page 2', 'g', 'f')"), ["gf", "page 2"])
        expect_equal(await page.run("return reloaded(null, 'b', 'a')"), ["ba", None])
        expect_equal(await page.run("return reloaded(null)"), ["", None])


@check("sessions: a long transcript is updated without touching the page’s other timers, in the time zone of the settings")
async def growing(world: World):
    await with_store(world)
    ann = User(world, time_zone="Europe/Vienna")
    session = ann.talk(*CONVERSATION)
    async with Browser() as browser:
        page = await logged_in(browser, world)
        await page.run(
            """
            const { store } = await import('/web/sessions/model/store.js')
            const frames = new Set()
            window.foreign = []
            const { requestAnimationFrame: request, clearTimeout: clear } = window
            // Handles of frames that no timer has.
            window.requestAnimationFrame = (task) => { const handle = 1e9 + request(task); frames.add(handle); return handle }
            window.cancelAnimationFrame = (handle) => {}
            window.clearTimeout = (id) => { if (frames.has(id)) foreign.push(id); clear.call(window, id) }
            const original = fetch
            window.fetch = async (path, options) => {
              const response = await original(path, options)
              if (path !== `/v1/sessions/${id}`) return response
              const record = await response.json()
              const turn = { ...record.turns[0], timestamp: '2026-11-21T14:00:00.000Z' }
              const turns = Array.from({ length: 900 }, (_, n) => ({ ...turn, id: `${n}` }))
              return Response.json({ ...record, turns })
            }
            window.changeTimeZone = (time_zone) => {
              const { user } = store.state
              store.dispatch('user', { user: { ...user, settings: { ...user.settings, time_zone } } })
            }
            location.hash = `#/sessions/${id}`
            """, id=session)
        await page.until("document.querySelectorAll('.turns li').length === 900")
        times = "[...new Set([...document.querySelectorAll('.turns time')].map(({ textContent }) => textContent))].join()"
        time_in = "new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', timeZone }).format(new Date('2026-11-21T14:00:00.000Z'))"
        for zone in ("Europe/Vienna", "Asia/Tokyo"):
            await page.run("changeTimeZone(zone)", zone=zone)
            await page.until(f"{times} === {time_in.replace('timeZone', f'timeZone: {zone!r}')}")
        expect_equal(await page.run("return foreign"), [], "frames that were cleared as timers")
        expect_quiet_console(page)


@check("sessions: a recording that loads late plays only where its player is shown, and is not loaded twice")
async def late_recording(world: World):
    await with_store(world)
    ann = User(world)
    first, second = (ann.talk(*CONVERSATION) for _ in range(2))
    async with Browser() as browser:
        page = await logged_in(browser, world)
        await page.run(RECORDINGS)
        await show_session(page, first)
        await click(page, "session-player button", "Play recording")
        await page.run("location.hash = '#/settings'")
        await shows(page, "Settings")
        await page.until("fetched.length === 1")
        await page.run("held[id]()", id=first)
        await page.until("playback.state === 'ready'")
        expect_equal(await page.run("return playback.isPlaying"), False, "playing in the settings")
        # The first session is still loading when the second is opened and played.
        await page.run("location.hash = '#/'")
        await shows(page, "newest first")
        await show_session(page, first)
        await page.run("fetched.length = 0")
        await click(page, "session-player button", "Play recording")
        await page.until("fetched.length === 1")
        await show_session(page, second)
        await click(page, "session-player button", "Play recording")
        await page.until("fetched.length === 2")
        await page.run("held[id]()", id=second)
        await shows(page, "Pause", "session-player")
        await page.run("held[id](); await new Promise((resolve) => setTimeout(resolve, 100))", id=first)
        for label in ("Pause", "Play", "Pause"):
            await click(page, "session-player button", label)
        await shows(page, "Play", "session-player")
        expect_equal(await page.run("return fetched"), [first, second], "recordings that were loaded")
        expect_quiet_console(page)
