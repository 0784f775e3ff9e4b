"""Workers: offers, jobs, cancellations, drains and lost channels."""

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from patchbay import ConnectError, RequestRefusedError, Room
from patchbay.agents import JobContext, Turn, Worker, WorkerOptions
from patchbay.api import APIError, PatchbayAPI
from patchbay.errors import PatchbayError
from patchbay.testing import BrokenNetwork, Gateway, RoomUnderTest
from tests.helpers import eventually

EXAMPLES = Path(__file__).parents[2] / "examples"
_numbers = itertools.count(1)


def new_worker(gateway: Gateway, *, url: str | None = None, capacity: int = 4, drain: float = 5.0) -> Worker:
    options = WorkerOptions(capacity=capacity, drain_timeout=drain, ca_file=gateway.ca_file)
    name = f"helper-{next(_numbers)}"
    return Worker(url or gateway.url, name, gateway.api_key, gateway.api_secret, options)


@asynccontextmanager
async def running(
    worker: Worker, entrypoint: Callable[[JobContext], Awaitable[None]]
) -> AsyncIterator[asyncio.Task[None]]:
    worker.entrypoint(entrypoint)
    task = asyncio.create_task(worker.run(handle_signals=False))
    try:
        await asyncio.wait_for(worker.registered.wait(), 10)
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def dispatch(gateway: Gateway, room: str, worker: Worker, metadata: str = "") -> str:
    async with PatchbayAPI(gateway.http_url, gateway.api_key, gateway.api_secret, ca_file=gateway.ca_file) as api:
        return (await api.agent_dispatch.create_dispatch(room, worker._assistant_id, metadata)).id


async def dispatched(gateway: Gateway, room: str, assistant: str) -> bool:
    async with PatchbayAPI(gateway.http_url, gateway.api_key, gateway.api_secret, ca_file=gateway.ca_file) as api:
        try:
            await api.agent_dispatch.create_dispatch(room, assistant)
        except APIError as error:
            if error.code != "assistant_not_found":
                raise
            return False
        return True


async def status_of(gateway: Gateway, room: str) -> list[str]:
    async with PatchbayAPI(gateway.http_url, gateway.api_key, gateway.api_secret, ca_file=gateway.ca_file) as api:
        return [job.status for job in await api.agent_dispatch.list_dispatch(room)]


async def until_status(gateway: Gateway, room: str, *statuses: str) -> None:
    async with asyncio.timeout(10):
        while await status_of(gateway, room) != list(statuses):
            await asyncio.sleep(0.05)


async def test_an_entry_point_gets_a_connected_room_and_ends_the_job(room: RoomUnderTest) -> None:
    user = await room.join("alice")
    worker = new_worker(room.gateway)
    seen: list[tuple[str, str, str | None]] = []

    async def talk(context: JobContext) -> None:
        seen.append((context.room.name, context.job.metadata, context.user.identity if context.user else None))
        await context.room.local_participant.send_text("hello")
        context.report_turn(Turn(1, end_of_turn_ms=250, voice_to_voice_ms=400))

    async with running(worker, talk):
        await dispatch(room.gateway, room.name, worker, "{}")
        await until_status(room.gateway, room.name, "succeeded")
        assert seen == [(room.name, "{}", "alice")]
        # The gateway may know it first.
        await eventually(lambda: worker.jobs == [])
        # The next job of the same worker.
        second = f"{room.name}-b"
        await dispatch(room.gateway, second, worker)
        await until_status(room.gateway, second, "succeeded")
    await user.disconnect()


async def test_a_worker_does_several_rooms_at_once_and_no_more_than_its_capacity(room: RoomUnderTest) -> None:
    worker = new_worker(room.gateway, capacity=2)
    release = asyncio.Event()
    rooms: list[str] = []

    async def talk(context: JobContext) -> None:
        rooms.append(context.room.name)
        await release.wait()

    names = [f"{room.name}-{number}" for number in range(3)]
    users = [await room.join("alice")]
    async with running(worker, talk):
        for name in names:
            await dispatch(room.gateway, name, worker)
        await eventually(lambda: len(rooms) == 2)
        await asyncio.sleep(0.3)
        assert len(worker.jobs) == 2
        release.set()
        await eventually(lambda: len(rooms) == 3)
    await users[0].disconnect()


async def test_a_cancelled_job_cancels_its_entry_point(room: RoomUnderTest) -> None:
    user = await room.join("alice")
    worker = new_worker(room.gateway)
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def talk(context: JobContext) -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    async with running(worker, talk):
        job = await dispatch(room.gateway, room.name, worker)
        await asyncio.wait_for(started.wait(), 10)
        gateway = room.gateway
        async with PatchbayAPI(gateway.http_url, gateway.api_key, gateway.api_secret, ca_file=gateway.ca_file) as api:
            await api.agent_dispatch.delete_dispatch(job, room.name)
        await asyncio.wait_for(cancelled.wait(), 10)
        await eventually(lambda: worker.jobs == [])
        await eventually(lambda: list(user.remote_participants) == [])


async def test_an_entry_point_that_raises_fails_its_job_and_not_the_worker(room: RoomUnderTest) -> None:
    await room.join("alice")
    worker = new_worker(room.gateway)
    attempts: list[int] = []

    async def talk(context: JobContext) -> None:
        attempts.append(context.job.attempt)
        if len(attempts) == 1:
            raise ValueError("the model is missing")

    async with running(worker, talk):
        await dispatch(room.gateway, room.name, worker)
        await until_status(room.gateway, room.name, "succeeded")
        assert len(attempts) == 2


async def test_a_job_ends_when_the_last_user_has_left(room: RoomUnderTest) -> None:
    user = await room.join("alice")
    worker = new_worker(room.gateway)
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def talk(context: JobContext) -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    async with running(worker, talk):
        await dispatch(room.gateway, room.name, worker)
        await asyncio.wait_for(started.wait(), 10)
        await user.disconnect()
        await asyncio.wait_for(cancelled.wait(), 10)
        await until_status(room.gateway, room.name, "succeeded")


async def test_jobs_survive_the_loss_of_the_channel(room: RoomUnderTest) -> None:
    await room.join("alice")
    async with BrokenNetwork(room.url) as network:
        worker = new_worker(room.gateway, url=network.url)
        started, release = asyncio.Event(), asyncio.Event()

        async def talk(context: JobContext) -> None:
            started.set()
            await release.wait()

        async with running(worker, talk):
            await dispatch(room.gateway, room.name, worker)
            await asyncio.wait_for(started.wait(), 10)
            connections = network.connections
            network.cut()
            await eventually(lambda: network.connections > connections)
            await asyncio.sleep(0.5)
            assert len(worker.jobs) == 1
            assert await status_of(room.gateway, room.name) == ["running"]
            release.set()
            await until_status(room.gateway, room.name, "succeeded")


async def test_jobs_survive_a_restart_of_the_gateway() -> None:
    gateway = Gateway()
    await asyncio.to_thread(gateway.start)
    worker = new_worker(gateway)
    started, release = asyncio.Event(), asyncio.Event()

    async def talk(context: JobContext) -> None:
        started.set()
        await release.wait()

    try:
        token = gateway.token("alice", "restarted")
        async with Room.connect(gateway.url, token, gateway.options()) as user, running(worker, talk):
            await dispatch(gateway, "restarted", worker)
            await asyncio.wait_for(started.wait(), 10)
            await asyncio.to_thread(gateway.stop, kill=True)
            await asyncio.to_thread(gateway.start)
            await eventually(lambda: user.connection_state == "connected", timeout=20)
            await until_status(gateway, "restarted", "running")
            assert [job.room for job in worker.jobs] == ["restarted"]
            await eventually(lambda: [*user.remote_participants] == [f"assistant:{worker._assistant_id}"])
            release.set()
            await until_status(gateway, "restarted", "succeeded")
    finally:
        await asyncio.to_thread(gateway.close)


async def test_a_drained_worker_ends_after_its_last_job(room: RoomUnderTest) -> None:
    await room.join("alice")
    worker = new_worker(room.gateway)
    started, release = asyncio.Event(), asyncio.Event()

    async def talk(context: JobContext) -> None:
        started.set()
        await release.wait()

    async with running(worker, talk) as task:
        await dispatch(room.gateway, room.name, worker)
        await asyncio.wait_for(started.wait(), 10)
        worker.drain()
        await asyncio.sleep(0.2)
        assert not task.done()
        release.set()
        await asyncio.wait_for(task, 10)
    await until_status(room.gateway, room.name, "succeeded")


async def test_sigterm_drains_the_process(room: RoomUnderTest) -> None:
    user = await room.join("alice")
    environment = os.environ | {
        "SSL_CERT_FILE": room.gateway.ca_file,
        "PATCHBAY_URL": room.url,
        "PATCHBAY_API_KEY": room.gateway.api_key,
        "PATCHBAY_API_SECRET": room.gateway.api_secret,
    }
    process = await asyncio.create_subprocess_exec(sys.executable, str(EXAMPLES / "greeter_worker.py"), env=environment)
    try:
        # Until the worker has registered, its assistant is unknown.
        async with asyncio.timeout(20):
            while not await dispatched(room.gateway, room.name, "greeter"):
                await asyncio.sleep(0.1)
        await eventually(lambda: "assistant:greeter" in user.remote_participants)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 10) == 0
    finally:
        if process.returncode is None:
            process.kill()


async def test_workers_that_cannot_work_say_why(gateway: Gateway) -> None:
    with pytest.raises(PatchbayError, match="entry point"):
        await new_worker(gateway).run(handle_signals=False)
    with pytest.raises(ValueError, match="1000"):
        new_worker(gateway, capacity=0)

    async def talk(context: JobContext) -> None: ...

    forged = Worker(gateway.url, "helper", gateway.api_key, "another secret", WorkerOptions(ca_file=gateway.ca_file))
    forged.entrypoint(talk)
    with pytest.raises(ConnectError) as refused:
        await forged.run(handle_signals=False)
    assert refused.value.code == "bad_signature"
    undefined = Worker(
        gateway.url,
        "undefined",
        gateway.api_key,
        gateway.api_secret,
        WorkerOptions(ca_file=gateway.ca_file, needs_definition=True),
    )
    undefined.entrypoint(talk)
    with pytest.raises(RequestRefusedError) as missing:
        await undefined.run(handle_signals=False)
    assert missing.value.code == "not_found"
