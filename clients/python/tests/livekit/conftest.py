import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

FOLDER = "/patchbay/livekit/"


@pytest_asyncio.fixture(autouse=True)
async def nothing_leaks() -> AsyncIterator[None]:
    """No task of the outputs and inputs outlives its test."""
    yield
    await asyncio.sleep(0)
    tasks = [task for task in asyncio.all_tasks() if FOLDER in repr(task)]
    assert not tasks
