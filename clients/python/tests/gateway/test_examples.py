"""The examples run as they are. The echo agent and the greeter have tests of their own."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from patchbay.api import APIError, PatchbayAPI
from patchbay.testing import Caller, RoomUnderTest
from tests.helpers import eventually, tone
from tests.model_server import Requests, model_server

PACKAGE = Path(__file__).parents[2]
EXAMPLES = PACKAGE / "examples"
RECORDING = PACKAGE.parents[1] / "demo" / "ps-goforward.wav"


def environment(room: RoomUnderTest, **more: str) -> dict[str, str]:
    return (
        os.environ
        | more
        | {
            "SSL_CERT_FILE": room.gateway.ca_file,
            "PATCHBAY_URL": room.url,
            "PATCHBAY_API_KEY": room.gateway.api_key,
            "PATCHBAY_API_SECRET": room.gateway.api_secret,
        }
    )


@pytest_asyncio.fixture
async def model() -> AsyncIterator[tuple[str, Requests]]:
    def answer(path: str) -> tuple[str, bytes]:
        if path.endswith("audio/speech"):
            return "audio/pcm", bytes(tone(4.0, 24_000).data)
        return "application/json", json.dumps({"choices": [{"message": {"content": "one two three four"}}]}).encode()

    async with model_server(answer) as served:
        yield served


async def running(example: str, arguments: list[str], variables: dict[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, str(EXAMPLES / example), *arguments, env=variables, stdout=asyncio.subprocess.PIPE
    )


async def repeated(attempt: Callable[[], Awaitable[object]]) -> None:
    """Until the example's worker has registered, its assistant is unknown."""
    async with asyncio.timeout(20):
        while True:
            try:
                await attempt()
                return
            except APIError as error:
                if error.code != "assistant_not_found":
                    raise
            await asyncio.sleep(0.1)


async def test_the_backend_shows_what_was_kept_of_its_session(room: RoomUnderTest) -> None:
    process = await running("backend_session.py", ["ann@backend.example", "correct horse"], environment(room))
    output, _ = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0
    assert "user: Please book a table for two." in output.decode()
    assert "summary: " in output.decode()


async def test_the_chat_agent_s_context_ends_with_what_was_heard(
    room: RoomUnderTest, caller: Caller, model: tuple[str, Requests]
) -> None:
    base_url, requests = model
    variables = environment(room, OPENAI_BASE_URL=base_url, OPENAI_API_KEY="none")
    process = await running("chat_agent.py", [], variables)
    gateway = room.gateway
    try:
        async with PatchbayAPI(gateway.http_url, gateway.api_key, gateway.api_secret, ca_file=gateway.ca_file) as api:
            await repeated(lambda: api.agent_dispatch.create_dispatch(room.name, "chat"))
        await caller.wait_for_track("assistant:chat")
        await caller.room.local_participant.send_text("Count.")
        # Each of the four words takes a second.
        await caller.wait_for_sound(2.4)
        await caller.room.local_participant.send_text("Stop. What did I hear?")
        await eventually(lambda: len([path for path, _ in requests if path.endswith("completions")]) == 2)
        context = [body["messages"] for path, body in requests if path.endswith("completions")][1]
        assert [message["content"] for message in context[1:]] == ["Count.", "one two", "Stop. What did I hear?"]
    finally:
        # The job ends with the last user, and a drained worker with its last job.
        await caller.hang_up()
        process.terminate()
        await asyncio.wait_for(process.wait(), 10)


async def test_the_test_of_the_echo_agent_passes_in_a_folder_of_its_own(tmp_path: Path) -> None:
    for example in ("echo_agent.py", "test_echo_agent.py"):
        shutil.copy(EXAMPLES / example, tmp_path)
    shutil.copy(RECORDING, tmp_path / "hello.wav")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pytest", "-q", cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, output.decode()
    assert "1 passed" in output.decode()


@pytest.mark.parametrize("example", ["echo_agent.py", "test_echo_agent.py"])
def test_the_readme_shows_the_example_as_it_is(example: str) -> None:
    shown = (PACKAGE / "README.md").read_text().partition(f"(examples/{example})")[2]
    block = shown.partition("```python\n")[2].partition("```")[0]
    assert block
    assert block in (EXAMPLES / example).read_text()


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_each_example_fits_on_a_screen(example: Path) -> None:
    assert len(example.read_text().splitlines()) <= 85
