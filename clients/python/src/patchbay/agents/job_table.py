"""The jobs of one worker. Decides what to answer to offers; reads no clock and no socket."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..api.rooms import Job


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
    _held: dict[str, Job] = field(default_factory=dict)
    _cancelled: set[str] = field(default_factory=set)

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
        self._held[job.id] = job
        return True

    def cancel(self, job_id: str) -> bool:
        """The gateway has cancelled a job, or given it to another worker; false if it is not held."""
        if job_id not in self._held:
            return False
        self._cancelled.add(job_id)
        return True

    def is_cancelled(self, job_id: str) -> bool:
        """Whether a job was cancelled that has not ended yet."""
        return job_id in self._cancelled

    def end(self, job_id: str) -> None:
        """A job has ended."""
        self._held.pop(job_id, None)
        self._cancelled.discard(job_id)

    @property
    def jobs(self) -> list[Job]:
        """What is held."""
        return list(self._held.values())

    def status(self) -> dict[str, object]:
        """The data of `worker.status`."""
        return {"load": self.load, "jobs": len(self._held), "draining": self.draining}
