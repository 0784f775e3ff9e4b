"""A process of an assistant: takes jobs over the assistant's channel and joins their rooms."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import ssl
from dataclasses import dataclass
from typing import Any, TypeVar

from ..api.access_token import credentials
from ..api.assistants import assistant_token
from ..api.records import decode
from ..api.rooms import Job
from ..connection.disconnection import Disconnection
from ..connection.socket_owner import SocketSettings
from ..errors import ConnectError, NotConnectedError, PatchbayError, RequestError, RoomEndedError
from ..limits import JOBS_MAX
from ..protocol.models import mapping, text
from ..rtc.options import RoomOptions
from .channel import Channel
from .job import TurnReports
from .job_table import JobTable
from .runner import Entrypoint, JobRunner

logger = logging.getLogger("patchbay")

E = TypeVar("E", bound=Entrypoint)

_STATUS_SECONDS = 1.0
_RESTART_SECONDS = 5.0
_ERROR_BYTES_MAX = 1_000
_FINISH_SECONDS = 2.0


@dataclass(slots=True)
class WorkerOptions:
    """How a worker works.

    Attributes:
        capacity: rooms at once, 1 to 1,000.
        drain_timeout: seconds that SIGTERM waits for jobs to end.
        ca_file: a PEM file with an additional trusted authority.
        ssl_context: a context of your own, instead of `ca_file`.
        needs_definition: whether the worker speaks as the gateway defines the assistant, and is refused if it does not.
    """

    capacity: int = 10
    drain_timeout: float = 600.0
    ca_file: str | None = None
    ssl_context: ssl.SSLContext | None = None
    needs_definition: bool = False


class Worker:
    """Takes jobs of one assistant.

        worker = Worker("wss://voice.example.org", "helper", api_key, api_secret)

        @worker.entrypoint
        async def talk(context):
            ...

        asyncio.run(worker.run())

    The entry point runs once for each job, with a connected room. The job ends when it returns, and its task is
    cancelled when the room ends, or when the last user has left: 20 s later if the user's connection was lost, or if
    nobody has come. An exception makes the gateway offer the job to another worker.

    Args:
        url: the gateway.
        assistant_id: the assistant whose jobs to take.
        api_key, api_secret: sign the worker's tokens; from the environment by default, as in `AccessToken`.
        options: how to work.
    """

    def __init__(
        self,
        url: str,
        assistant_id: str,
        api_key: str | None = None,
        api_secret: str | None = None,
        options: WorkerOptions | None = None,
    ) -> None:
        self._url = url
        self._assistant_id = assistant_id
        self._key, self._secret = credentials(api_key, api_secret)
        self._options = options or WorkerOptions()
        if not 1 <= self._options.capacity <= JOBS_MAX:
            raise ValueError(f"a worker has a capacity of 1 to {JOBS_MAX}")
        self._table = JobTable(self._options.capacity)
        rooms = RoomOptions(ca_file=self._options.ca_file, ssl_context=self._options.ssl_context)
        self._status_changed = asyncio.Event()
        self._turns = TurnReports()
        self._runner = JobRunner(self._table, rooms, self._finish, self._turns.add, self._status_changed.set)
        self._refusal: PatchbayError | None = None
        self._entrypoint: Entrypoint | None = None
        self._channel: Channel | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._draining = asyncio.Event()
        self._channel_over = asyncio.Event()
        self.registered = asyncio.Event()

    def entrypoint(self, function: E) -> E:
        """Registers the function that does a job."""
        self._entrypoint = function
        return function

    @property
    def load(self) -> float:
        """0 to 1: the gateway offers less to a loaded worker, and nothing at 1."""
        return self._table.load

    @load.setter
    def load(self, load: float) -> None:
        self._table.load = min(max(load, 0.0), 1.0)
        self._status_changed.set()

    @property
    def jobs(self) -> list[Job]:
        """The jobs in progress."""
        return self._table.jobs

    def drain(self) -> None:
        """Takes no more jobs, and ends once those in progress have ended. SIGTERM and SIGINT do so, too."""
        self._table.draining = True
        self._draining.set()
        self._status_changed.set()

    async def run(self, *, handle_signals: bool = True) -> None:
        """Works until it was drained. A gateway that cannot be reached is tried again without end.

        Raises:
            ConnectError: the gateway refuses the worker, so that trying again is no use.
            RequestRefusedError: the gateway refuses the registration.
        """
        if self._entrypoint is None:
            raise PatchbayError("the worker has no entry point; decorate a function with @worker.entrypoint")
        loop = asyncio.get_running_loop()
        handled = [signal.SIGTERM, signal.SIGINT] if handle_signals else []
        for number in handled:
            loop.add_signal_handler(number, self.drain)
        status = asyncio.create_task(self._report_status())
        try:
            await self._keep_channel()
        finally:
            for number in handled:
                loop.remove_signal_handler(number)
            status.cancel()
            await self._stop()

    # The channel.

    async def _keep_channel(self) -> None:
        """Keeps a channel open until the worker has drained."""
        drained = asyncio.create_task(self._drained())
        try:
            while not drained.done():
                settings = SocketSettings(self._options.ca_file, self._options.ssl_context)
                self._channel = Channel(self._url, self._new_token, settings, self)
                self._channel_over.clear()
                try:
                    await self._channel.open()
                except ConnectError as error:
                    if not error.retryable:
                        raise
                    logger.warning("%s; trying again in %g s", error, _RESTART_SECONDS)
                    await asyncio.wait({drained}, timeout=_RESTART_SECONDS)
                    continue
                over = asyncio.create_task(self._channel_over.wait())
                await asyncio.wait({drained, over}, return_when=asyncio.FIRST_COMPLETED)
                over.cancel()
                if self._refusal is not None:
                    raise self._refusal
        finally:
            drained.cancel()

    async def _drained(self) -> None:
        await self._draining.wait()
        await self._runner.wait(self._options.drain_timeout)

    def _new_token(self) -> str:
        return assistant_token(self._assistant_id, self._key, self._secret)

    def channel_opened(self) -> None:
        """Registers, with the jobs that this worker still does."""
        self._spawn(self._register())

    def channel_event(self, kind: str, data: dict[str, Any]) -> None:
        """Handles offers and cancellations."""
        if kind == "job.offered":
            job = decode(Job, mapping(data, "job"))
            if self._table.may_accept(job):
                self._spawn(self._accept(job))
            else:
                self._notify("job.decline", {"job": job.id})
        elif kind == "job.cancelled":
            job_id = str(data.get("job"))
            logger.info("job %s was cancelled: %s", job_id, data.get("reason", ""))
            self._runner.cancel(job_id)

    def channel_ended(self, disconnection: Disconnection) -> None:
        """The channel gave up, or was refused: `run` opens another one, or ends."""
        self.registered.clear()
        error = disconnection.error
        if error is not None and not error.retryable:
            self._refusal = error
        self._channel_over.set()

    async def _register(self) -> None:
        assert self._channel is not None
        held = [
            {"id": job.id, "room": job.room, "assistant": job.assistant, "metadata": job.metadata}
            | {"reason": job.reason, "status": job.status, "attempt": job.attempt}
            | ({"call": job.call} if job.call else {})
            for job in self._table.jobs
        ]
        data = {
            "assistant_id": self._assistant_id,
            "capacity": self._options.capacity,
            "load": self._table.load,
            "jobs": held,
            "needs_definition": self._options.needs_definition,
        }
        while True:
            try:
                reply = await self._channel.requests.request("worker.register", data)
                break
            except (NotConnectedError, RoomEndedError):
                # The next channel registers.
                return
            except RequestError as error:
                if not error.retryable:
                    self._refusal = error
                    self._channel_over.set()
                    return
                logger.warning("%s; trying again in %g s", error, _RESTART_SECONDS)
                await asyncio.sleep(_RESTART_SECONDS)
        kept = set(reply.get("jobs") or [])
        for job in self._table.jobs:
            if job.id not in kept:
                self._runner.cancel(job.id)
        self.registered.set()
        self._status_changed.set()
        logger.info("registered as a worker of %s with a capacity of %d", self._assistant_id, self._options.capacity)

    async def _report_status(self) -> None:
        """Reports each second, and when the number of jobs changes."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._status_changed.wait(), _STATUS_SECONDS)
            self._status_changed.clear()
            if not self.registered.is_set() or self._channel is None or self._channel.socket.refusal is not None:
                continue
            self._notify("worker.status", self._table.status() | self._turns.take())

    # Jobs.

    async def _accept(self, job: Job) -> None:
        assert self._channel is not None
        if not self._table.accept(job):
            return
        self._status_changed.set()
        try:
            reply = await self._channel.requests.request("job.accept", {"job": job.id})
            accepted = decode(Job, mapping(reply, "job")) if isinstance(reply.get("job"), dict) else job
            url, token = text(reply, "livekit_url"), text(reply, "livekit_token")
        except PatchbayError as error:
            logger.info("job %s was not accepted: %s", job.id, error)
            self._table.end(job.id)
            return
        if self._table.is_cancelled(job.id):
            self._table.end(job.id)
            return
        assert self._entrypoint is not None
        self._runner.start(self._entrypoint, accepted, url, token, reply.get("assistant"))

    async def _finish(self, job: Job, error: str | None) -> None:
        """Reports the end of a job. Without a channel the gateway learns it from the room."""
        data = {"job": job.id} | ({"error": _shortened(error)} if error else {})
        if self._channel is not None:
            with contextlib.suppress(PatchbayError):
                await self._channel.requests.request("job.finish", data, timeout=_FINISH_SECONDS)

    def _notify(self, kind: str, data: dict[str, Any]) -> None:
        if self._channel is not None:
            self._channel.requests.notify(kind, data)

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _stop(self) -> None:
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._runner.stop()
        if self._channel is not None:
            # Lets the last reports leave.
            await asyncio.sleep(0.05)
            await self._channel.close()


def _shortened(text_: str) -> str:
    return text_.encode(errors="replace")[:_ERROR_BYTES_MAX].decode(errors="ignore")
