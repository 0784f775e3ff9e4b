"""Does jobs: joins their rooms and runs the entry point in each."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from ..api.rooms import Job
from ..errors import ConnectError
from ..rtc.options import RoomOptions
from ..rtc.participant import ParticipantKind, RemoteParticipant
from ..rtc.room import Room
from .attendance import Attendance
from .job import JobContext, Turn
from .job_table import JobTable

logger = logging.getLogger("patchbay")

# Participants that are no users.
_DEPENDENT = (ParticipantKind.AGENT, ParticipantKind.EGRESS)

Entrypoint = Callable[[JobContext], Awaitable[None]]


class JobRunner:
    """The jobs in progress, each in a task of its own.

    Args:
        table: knows which jobs are held and which were cancelled.
        options: how rooms are joined.
        finish: reports the end of a job, with an error if it failed.
        report: takes the latencies of turns.
        changed: is told when a job has ended.
    """

    def __init__(
        self,
        table: JobTable,
        options: RoomOptions,
        finish: Callable[[Job, str | None], Awaitable[None]],
        report: Callable[[Turn], None],
        changed: Callable[[], None],
    ) -> None:
        self._table = table
        self._options = options
        self._finish = finish
        self._report = report
        self._changed = changed
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, entrypoint: Entrypoint, job: Job, url: str, token: str, definition: dict[str, Any] | None) -> None:
        """Begins a job that was accepted."""
        work = self._do(entrypoint, job, url, token, definition)
        self._tasks[job.id] = asyncio.create_task(work, name=f"patchbay job {job.id}")

    def cancel(self, job_id: str) -> None:
        """Ends a job that is not this worker's any more."""
        task = self._tasks.get(job_id)
        if self._table.cancel(job_id) and task is not None:
            task.cancel()

    async def wait(self, timeout: float) -> None:
        """Waits until all jobs have ended."""
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()), timeout=timeout)

    async def stop(self) -> None:
        """Ends all jobs; the gateway gives them to other workers."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _do(
        self, entrypoint: Entrypoint, job: Job, url: str, token: str, definition: dict[str, Any] | None
    ) -> None:
        """Does a job and reports its end."""
        try:
            async with Room.connect(url, token, self._options) as room:
                context = JobContext(job, room, definition, self._report)
                try:
                    await _until_the_room_ends(entrypoint, context)
                except asyncio.CancelledError:
                    # A job that was not cancelled goes to another worker, because this one ends.
                    if not self._table.is_cancelled(job.id):
                        await asyncio.shield(asyncio.ensure_future(self._finish(job, "the worker has stopped")))
                    raise
                except Exception as failure:
                    logger.exception("job %s in the room %s failed", job.id, job.room)
                    # Before the agent leaves the room, which would mean that the job has succeeded.
                    await self._finish(job, f"{type(failure).__name__}: {failure}")
                else:
                    await self._finish(job, None)
        except ConnectError as error:
            logger.warning("job %s: the room %s cannot be joined: %s", job.id, job.room, error)
            await self._finish(job, str(error))
        finally:
            self._table.end(job.id)
            self._tasks.pop(job.id, None)
            self._changed()


async def _until_the_room_ends(entrypoint: Entrypoint, context: JobContext) -> None:
    """Runs the entry point until it returns, the room ends, or nobody is left to talk to."""
    work = asyncio.ensure_future(entrypoint(context))
    ended = asyncio.create_task(context.room.wait_disconnected())
    alone = asyncio.create_task(_until_alone(context.room))
    tasks = (work, ended, alone)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _until_alone(room: Room) -> None:
    """Waits until the room has no user, and none is expected."""
    loop = asyncio.get_running_loop()
    attendance = Attendance(loop.time())
    changed = asyncio.Event()

    def joined(participant: RemoteParticipant) -> None:
        if participant.kind not in _DEPENDENT:
            attendance.join(participant.identity)
            changed.set()

    def left(participant: RemoteParticipant) -> None:
        attendance.leave(participant.identity, participant.disconnect_reason, loop.time())
        changed.set()

    room.on("participant_connected", joined)
    room.on("participant_disconnected", left)
    for participant in room.remote_participants.values():
        joined(participant)
    try:
        while not attendance.is_over(loop.time()):
            changed.clear()
            deadline = attendance.deadline
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), None if deadline is None else deadline - loop.time())
    finally:
        room.off("participant_connected", joined)
        room.off("participant_disconnected", left)
