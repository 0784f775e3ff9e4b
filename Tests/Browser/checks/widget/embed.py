"""The site of docs/EMBED.md: its configuration, its backend in Node, its page and its policy."""

import asyncio
import json
import os
import re
import socket
import ssl
import urllib.request

from devtools import Browser
from harness import REPOSITORY, World, check, expect, expect_equal, expect_quiet_console
from widget_page import START

EXAMPLE = "https://voice.example.org:7880"


def blocks(language: str) -> list[str]:
    text = (REPOSITORY / "docs/EMBED.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def validate(gateway: str, token: str) -> dict:
    request = urllib.request.Request(f"{gateway}/v1/rtc/validate", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=10) as response:
        return json.load(response)


@check("the site of the documentation: configuration, backends, page and policy")
async def site(world: World):
    port = free_port()
    # The development certificate in place of the example's.
    configuration = re.sub(r"^(cert|key|port): .*\n", "", blocks("yaml")[0], flags=re.MULTILINE)
    world.path("patchbay.yaml").write_text(configuration.replace("https://www.example.org", f"http://localhost:{port}"))
    await world.restart_gateway("--config", str(world.path("patchbay.yaml")), has_data=False)
    gateway = world.gateway.replace("wss", "https")
    backend, script = blocks("js")
    for name, content in (("server.mjs", backend), ("index.html", blocks("html")[0].replace(EXAMPLE, gateway)), ("assistant.js", script)):
        world.path(name).write_text(content)
    secret = re.search(r"my-site: (\S+)", configuration)[1]
    settings = {"PATCHBAY_URL": world.gateway, "PATCHBAY_API_KEY": "my-site", "PATCHBAY_API_SECRET": secret}
    server = await asyncio.create_subprocess_exec("node", "server.mjs", cwd=world.folder, env={**os.environ, **settings, "PORT": str(port)})
    try:
        async with Browser() as browser:
            page = await browser.open("about:blank")
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                await asyncio.sleep(0.1)
            await page.send("Page.navigate", url=f"http://localhost:{port}/")
            await page.until("document.querySelector('patchbay-assistant')?.state === 'collapsed'")
            await page.run(
                """
                window.widget = document.querySelector('patchbay-assistant')
                window.part = (selector) => [...widget.shadowRoot.querySelectorAll(selector)].find((element) => element.checkVisibility())
                """)
            expect_equal(await page.run("return part('.launcher-label').textContent"), "Talk to Robin")
            await page.run(START)
            # The token dispatches an assistant, for which nobody works here.
            await page.until("widget.state === 'expanded' && part('.status-text').textContent === 'No assistant is available'")
            scripts = await page.run(
                "return performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => name.startsWith(gateway + '/web/'))",
                gateway=gateway)
            expect(len(scripts) <= 3, f"the widget loads {len(scripts)} scripts: {scripts}")
            expect_quiet_console(page)
    finally:
        server.terminate()
        await server.wait()
    python = await asyncio.create_subprocess_exec(
        "python3", "-c", blocks("python")[0] + '\nprint(json.dumps(conversation("ann")))', env={**os.environ, **settings}, stdout=asyncio.subprocess.PIPE)
    given = json.loads((await python.communicate())[0])
    expect_equal(given["url"], world.gateway)
    expect_equal((await asyncio.to_thread(validate, gateway, given["token"]))["identity"], "ann")
