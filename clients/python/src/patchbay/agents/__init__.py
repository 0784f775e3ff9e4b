"""Assistants: processes that take jobs from the gateway and speak in its rooms."""

from ..api.rooms import Job
from .job import JobContext, Turn
from .worker import Worker, WorkerOptions

__all__ = ["Job", "JobContext", "Turn", "Worker", "WorkerOptions"]
