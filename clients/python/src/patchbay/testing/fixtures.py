"""Fixtures for pytest and pytest-asyncio (`pip install patchbay[testing]`).

Enable them in a test file or the topmost conftest.py: `pytest_plugins = ["patchbay.testing.fixtures"]`.

| fixture | what |
|---|---|
| `gateway` | a running gateway, one for all tests; `gateway_settings` configures it |
| `room` | the name of a new room, with tokens for it |
| `caller` | a participant in `room` that speaks WAV files and records what it hears |
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio

from .caller import Caller
from .gateway import Gateway, GatewayError
from .room import RoomUnderTest


@pytest.fixture(scope="session")
def gateway_settings() -> dict[str, Any]:
    """Arguments of `Gateway`; override it in a conftest.py, for example with `{"store": True}`."""
    return {}


@pytest.fixture(scope="session")
def gateway(gateway_settings: dict[str, Any]) -> Iterator[Gateway]:
    """A gateway that runs during all tests."""
    running, fault = Gateway(**gateway_settings), ""
    try:
        running.start()
    except GatewayError as error:
        fault = str(error)
    if not fault:
        yield running
    running.close()
    if fault:
        # The sentence says what to do, and a traceback would hide it.
        pytest.fail(fault, pytrace=False)


@pytest_asyncio.fixture
async def room(gateway: Gateway) -> AsyncIterator[RoomUnderTest]:
    """A new room."""
    async with AsyncExitStack() as stack:
        yield RoomUnderTest(gateway, stack)


@pytest_asyncio.fixture
async def caller(room: RoomUnderTest) -> Caller:
    """A caller in `room`."""
    return await room.call()
