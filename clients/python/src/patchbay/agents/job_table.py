"""The jobs of one worker. Decides what to answer to offers; reads no clock and no socket."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..api.rooms import Job


@dataclass(slots=True)
class HeldJob:
    """A job that was accepted and has not ended."""

    job: Job
    cancelled: str | None = None
    error: str | None = None


@dataclass(slots=True)
class JobTable:
    """Capacity, load and drain.

    Attributes:
        capacity: jobs at once.
        load: 0 to 1, as the program reports it; the gateway offers less to loaded workers.
        draining: no more jobs are taken.

    """

    capacity: int
    load: float = 0.0
    draining: bool = False
    _held: dict[str, HeldJob] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._held

    def may_accept(self, job: Job) -> bool:
        """Whether to accept an offer. One that is held already is accepted again, which only renews its token."""
        return job.id in self._held or (not self.draining and len(self._held) < self.capacity)

    def accept(self, job: Job) -> bool:
        """Holds a job; false if it is held already."""
        if job.id in self._held:
            return False
        self._held[job.id] = HeldJob(job)
        return True

    def cancel(self, job_id: str, reason: str) -> bool:
        """The gateway has cancelled a job; false if it is not held."""
        held = self._held.get(job_id)
        if held is None:
            return False
        held.cancelled = reason
        return True

    def end(self, job_id: str) -> HeldJob | None:
        """A job has ended."""
        return self._held.pop(job_id, None)

    @property
    def jobs(self) -> list[Job]:
        """What is held."""
        return [held.job for held in self._held.values()]

    def status(self) -> dict[str, object]:
        """The data of `worker.status`."""
        return {"load": self.load, "jobs": len(self._held), "draining": self.draining}
