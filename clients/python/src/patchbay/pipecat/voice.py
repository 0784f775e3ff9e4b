"""One published track of the bot: writes its audio, and releases frames when it was heard."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from loguru import logger
from pipecat.frames.frames import Frame

from ..audio.frame import AudioFrame
from ..audio.played import PlayedTo
from ..audio.source import AudioSource
from ..connection.operation import Operation
from ..errors import PatchbayError
from ..heard import Held, HeldFrames
from ..protocol.media_time import TICKS_PER_SECOND, from_seconds
from ..rtc.room import Room
from ..rtc.track import LocalTrackPublication
from .params import DRAIN_SECONDS_MAX, HEARD_SECONDS_MAX, QUEUED_SECONDS_MAX, WRITE_SECONDS_MAX
from .playout_watch import PlayoutWatch, TrackClock

Release = Callable[[Held[Frame]], Awaitable[None]]


class Voice:
    """A track of mode `ahead` with the frames that wait for its playout.

    Args:
        room: the room it is published in.
        publication: the published track.
        lead: seconds that may be written ahead of playout.
        release: passes a frame on.
    """

    def __init__(self, room: Room, publication: LocalTrackPublication, lead: float, release: Release) -> None:
        self._publication = publication
        self._source: AudioSource = publication.track.audio_source
        self._lead = from_seconds(lead)
        self._release = release
        self._clock = TrackClock(self._source.timestamp)
        self.held: HeldFrames[Frame] = HeldFrames(TrackClock.START)
        self.context_id: str | None = None
        self._heard_at = _now()
        self._keep_until = 0
        self._interruptions = 0
        self._before: HeldFrames[Frame] | None = None
        self._clearing: asyncio.Future[int] | None = None
        self._estimated = 0
        self._dropped = 0
        self._changed = asyncio.Event()
        self._progress = asyncio.Event()
        self._releasing = asyncio.Lock()
        self._marks: set[asyncio.Task[None]] = set()
        self._pump = asyncio.create_task(self._run())
        self._playout = PlayoutWatch(room, publication, self._clock, self._heard, self._lost)

    @property
    def sid(self) -> str:
        """The sid of the track."""
        return self._publication.sid

    def timestamp(self, position: int) -> int:
        """A position on the track's clock of 32 bits."""
        return self._clock.timestamp(position)

    def changed(self) -> None:
        """Frames were added: releases what is due."""
        self._changed.set()

    # Writing.

    async def write(self, audio: bytes, rate: int, channels: int, *, speech: bool, keep: bool) -> bool:
        """Writes audio when the lead permits; false if it was dropped.

        Args:
            audio: 16-bit samples.
            rate: their rate.
            channels: 1 or 2.
            speech: whether it is synthesized speech, of the current context.
            keep: whether an interruption keeps it.
        """
        interruptions = self._interruptions
        await self._wait_for_lead(interruptions, keep)
        if self._interruptions != interruptions and not keep:
            return False
        if self._source.queued_duration > self._lead / TICKS_PER_SECOND + QUEUED_SECONDS_MAX:
            self._dropped += 1
            if self._dropped == 1:
                logger.warning(f"{QUEUED_SECONDS_MAX} s of audio wait for a track on hold; new audio is dropped")
            return False
        self._dropped = 0
        frame = AudioFrame(audio, rate, channels, len(audio) // (2 * channels))
        start = self._clock.position(await self._source.capture_frame(frame))
        ticks = frame.samples_per_channel * TICKS_PER_SECOND // rate
        self.held.wrote(start, ticks, self.context_id if speech else None)
        if keep:
            self._keep_until = self.held.written
        self.changed()
        return True

    def end_speech(self, context_id: str) -> None:
        """All audio of a context was written."""
        self._source.flush()
        self.held.context_written(context_id)

    def flush(self) -> None:
        """The bot stops speaking: sends an incomplete frame."""
        self._source.flush()

    async def drain(self) -> None:
        """Waits until everything was heard; gives up without progress."""
        self._source.flush()
        self.held.all_written()
        while not self.held.is_empty:
            heard = self.held.heard
            self.changed()
            await self._wait_for_progress(DRAIN_SECONDS_MAX)
            if self.held.heard == heard and not self.held.is_empty:
                await self._release_all(self.held.give_up(self.held.written))
                return

    async def close(self) -> None:
        """Ends the voice. What waits is not released."""
        self._playout.close()
        tasks = [self._pump, *self._marks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Interruptions.

    def begin_interruption(self) -> bool:
        """Stops playout at once; false if uninterruptible speech plays on, and everything stays as it is."""
        if self._keep_until > self.held.heard:
            self.held.forget_unwritten()
            return False
        self._interruptions += 1
        self._estimated, self._before = self._estimate(), self.held
        if self.held.written > self.held.heard or self._source.queued_duration > 0:
            self._clearing = asyncio.ensure_future(
                self._clear(self._source.clear_queue("interruption"), self._estimated)
            )
        # What arrives from now on belongs to the next turn, and waits until the interruption has been passed on.
        self.held = self._before.renew(self._clock.position(self._source.timestamp))
        self._heard_at = _now()
        self._progress.set()
        return True

    async def release_heard(self) -> None:
        """Releases what was heard before the interruption, as soon as that is known."""
        before, clearing = self._before, self._clearing
        if before is None:
            return
        heard = before.heard
        if clearing is not None:
            await asyncio.wait([clearing], timeout=HEARD_SECONDS_MAX)
            heard = clearing.result() if clearing.done() else self._estimated
        async with self._releasing:
            await self._release_all(before.interrupt(heard))

    async def end_interruption(self) -> None:
        """The interruption was passed on: forgets what was not heard."""
        before, self._before, self._clearing = self._before, None, None
        if before is not None:
            await self._release_all_locked(before.survivors())
        self.changed()

    async def _clear(self, clearing: Operation[PlayedTo], estimate: int) -> int:
        """The position that was heard. An estimate, if the gateway does not know it."""
        try:
            played = await clearing
        except PatchbayError as error:
            logger.warning(f"what the listener heard is estimated, for the clear failed: {error}")
            return estimate
        return 0 if played.played_ts is None else self._clock.position(played.played_ts)

    def _estimate(self) -> int:
        passed = from_seconds(_now() - self._heard_at) if self._playout.is_playing else 0
        return min(self.held.heard + passed, self.held.written)

    # Playout.

    def _heard(self, position: int) -> None:
        if position > self.held.heard:
            self.held.heard_to(min(position, self.held.written + 1))
            self._heard_at = _now()
            self._progress.set()
            self.changed()

    def _lost(self, position: int | None) -> None:
        items = self.held.give_up(self.held.written if position is None else position)
        self._spawn(self._release_all_locked(items))
        self._progress.set()

    # Releasing.

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            for position in self.held.take_marks():
                self._spawn(self._playout.watch(position))
            async with self._releasing:
                if self._before is None:
                    await self._release_all(self.held.take_due())

    async def _release_all_locked(self, items: list[Held[Frame]]) -> None:
        async with self._releasing:
            await self._release_all(items)

    async def _release_all(self, items: list[Held[Frame]]) -> None:
        for item in items:
            await self._release(item)

    def _spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._marks.add(task)
        task.add_done_callback(self._marks.discard)

    # Waiting.

    async def _wait_for_lead(self, interruptions: int, keep: bool) -> None:
        ends = _now() + WRITE_SECONDS_MAX
        while self.held.written - self.held.heard > self._lead:
            if self._interruptions != interruptions and not keep:
                return
            if (remaining := ends - _now()) <= 0:
                return
            await self._wait_for_progress(remaining)

    async def _wait_for_progress(self, seconds: float) -> None:
        self._progress.clear()
        try:
            await asyncio.wait_for(self._progress.wait(), seconds)
        except TimeoutError:
            return


def _now() -> float:
    return asyncio.get_running_loop().time()
