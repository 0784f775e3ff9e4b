"""The examples of Web/README.md, run one after the other in one page, with an assistant on the other side."""

import asyncio
import json
import re

from checks.library.room import join_agent, speech
from browser_process import PageError
from devtools import Browser
from harness import REPOSITORY, World, check, expect, expect_equal

IMPORT = re.compile(r"^import \{(.*?)\} from '(.*?)'", re.MULTILINE)


def blocks(language: str) -> list[str]:
    text = (REPOSITORY / "Web/README.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def as_function_body(example: str) -> str:
    """An example may import and declare; the next ones see its names."""
    body = IMPORT.sub(r"const {\1} = await import('\2')", example)
    names = re.findall(r"^const (?:(\w+)|\{([^}=]*)\}) =", body, re.MULTILINE)
    declared = [name.strip() for single, several in names for name in (single or several).split(",") if name.strip()]
    return body + "\n" + "".join(f"window.{name} = {name}\n" for name in declared)


@check("the examples of the documentation run")
async def examples(world: World):
    page_text, scripts = blocks("html")[0], blocks("js")
    token = await world.token("--room", "examples", "--identity", "page")
    world.path("call.html").write_text(page_text)
    world.path("call.js").write_text(scripts[0] + "\nObject.assign(window, { Room, room, url, token, button })\n")
    world.path("call.json").write_text(json.dumps({"url": world.gateway, "token": token}))
    agent = await join_agent(world, "examples", "assistant")
    track = await agent.publish(name="voice", source="assistant", mode="ahead")

    async def answer_calls():
        while True:
            request = await agent.event("rpc.request", timeout=120)
            await agent.request("rpc.response", request_id=request["request_id"], payload="sunny")

    answering = asyncio.create_task(answer_calls())
    answering.add_done_callback(lambda task: task.cancelled() or task.exception())
    async with Browser() as browser:
        page = await browser.open(world.files.origin + "/files/call.html")
        await page.until("window.room !== undefined")
        await page.run("button.click()")
        await page.until("document.querySelector('#status').textContent === 'connected'")
        await agent.event("track.published")
        await agent.request("transcript.segment", id="s", role="assistant", text="Hello there", track=track["sid"], start_ts=0, end_ts=480000)
        await agent.send_bundled(speech(track, 10))
        for number, script in enumerate(scripts[1:], start=2):
            try:
                await page.run(as_function_body(script))
            except PageError as error:
                raise AssertionError(f"example {number} failed: {error}\n{script}") from None
        expect_equal((await agent.event("playout.cleared"))["reason"], "button")
        expect_equal((await agent.event("text"))["text"], "What is the weather in Bern?")
        await agent.event("participant.left", participant="page")
        expect_equal(await page.run("return document.querySelector('#status').textContent"), "The call has ended.")
        for line in ("log: sunny", "log: ConnectError", "log: 10 960"):
            if line == "log: 10 960":
                expect(any(re.match(r"log: \d+ 960", entry) for entry in page.console), page.console)
            else:
                expect(any(entry.startswith(line) for entry in page.console), f"{line} not in {page.console}")
        faults = [entry for entry in page.console if entry.startswith("exception")]
        expect(not faults, faults)
        text = await page.run("return document.querySelector('#transcript').textContent")
        expect_equal(text, "Hello there")
    answering.cancel()
