"""One published track of the bot: writes its audio, and releases frames when it was heard."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from loguru import logger
from pipecat.frames.frames import (
    BotSpeakingFrame,
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EndFrame,
    Frame,
    OutputAudioRawFrame,
    StopFrame,
    SystemFrame,
    TTSStoppedFrame,
)
from pipecat.processors.frame_processor import FrameDirection

from ..audio.frame import AudioFrame
from ..audio.played import PlayedTo
from ..connection.operation import Operation
from ..errors import PatchbayError
from ..heard import Held, HeldFrames, HeldKind
from ..protocol.media_time import TICKS_PER_SECOND, from_seconds
from ..rtc.room import Room
from ..rtc.track import LocalTrackPublication
from .params import DRAIN_SECONDS_MAX, HEARD_SECONDS_MAX, QUEUED_SECONDS_MAX, WRITE_SECONDS_MAX
from .playout_watch import PlayoutWatch, TrackClock
from .releases import Release, Releases


@dataclass(slots=True)
class _Interruption:
    """Speech that was stopped, until the interruption has been passed on."""

    before: HeldFrames[Frame]
    estimated: int
    heard: asyncio.Task[None] | None = None


class Voice:
    """A track of mode `ahead` with the frames that wait for its playout.

    Args:
        room: the room it is published in.
        publication: the published track.
        lead: seconds that may be written ahead of playout.
        release: passes a frame on.

    Attributes:
        held: the frames that wait.
        context_id: the context whose speech is written now.
    """

    def __init__(self, room: Room, publication: LocalTrackPublication, lead: float, release: Release) -> None:
        self._publication = publication
        self._source = publication.track.audio_source
        self._lead = from_seconds(lead)
        self._clock = TrackClock(self._source.timestamp)
        self.held: HeldFrames[Frame] = HeldFrames(TrackClock.START)
        self.context_id: str | None = None
        self._keep_until = 0
        self._interruptions = 0
        self._interruption: _Interruption | None = None
        self._drops = False
        self._progress = asyncio.Event()
        self._releases = Releases(release, self._take_due)
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
        self._releases.changed()

    def hold(self, frame: Frame, direction: FrameDirection) -> bool:
        """Holds a frame that follows audio, or drops it; false if it is to be passed on at once."""
        upstream = direction is FrameDirection.UPSTREAM
        if isinstance(frame, BotStartedSpeakingFrame | BotStoppedSpeakingFrame):
            started = isinstance(frame, BotStartedSpeakingFrame)
            if not started:
                self._source.flush()
            # The bot speaks as soon as something of it is heard.
            self.held.add_after_written(frame, HeldKind.STATE, ticks=int(started), upstream=upstream)
        elif upstream or isinstance(frame, SystemFrame | EndFrame | StopFrame):
            # `BotSpeakingFrame`s follow writing; the transport pushes its own, which follow playout.
            return isinstance(frame, BotSpeakingFrame)
        else:
            if isinstance(frame, TTSStoppedFrame):
                self._source.flush()
                self.held.context_written(frame.context_id or "")
            kind = HeldKind.AUDIO if isinstance(frame, OutputAudioRawFrame) else HeldKind.FOLLOWER
            self.held.add_after_written(frame, kind, keep=not frame.interruptible)
        self.changed()
        return True

    # Writing.

    async def write(self, audio: bytes, rate: int, channels: int, *, speech: bool, keep: bool) -> bool:
        """Writes audio when the lead permits, after 5 s at the latest; false if it was dropped.

        Args:
            audio: 16-bit samples.
            rate: their rate.
            channels: 1 or 2.
            speech: whether it is synthesized speech, of the current context.
            keep: whether an interruption keeps it.

        Raises:
            AudioFormatError: the track has another rate or other channels.
            TrackEndedError: the track was unpublished, or the room has ended.
        """
        interruptions = self._interruptions
        await self._wait_for_lead(interruptions, keep)
        if self._interruptions != interruptions and not keep:
            return False
        if self._source.queued_duration > self._lead / TICKS_PER_SECOND + QUEUED_SECONDS_MAX:
            if not self._drops:
                logger.warning(f"{QUEUED_SECONDS_MAX} s of audio wait for a track on hold; new audio is dropped")
            self._drops = True
            return False
        self._drops = False
        frame = AudioFrame(audio, rate, channels, len(audio) // (2 * channels))
        start = self._clock.position(await self._source.capture_frame(frame))
        ticks = frame.samples_per_channel * TICKS_PER_SECOND // rate
        self.held.wrote(start, ticks, self.context_id if speech else None)
        if keep:
            self._keep_until = self.held.written
        self.changed()
        return True

    async def drain(self) -> None:
        """Waits until everything was heard and released; gives up after 10 s without progress."""
        self._source.flush()
        self.held.all_written()
        while not self.held.is_empty:
            heard = self.held.heard
            self.changed()
            await self._wait_for_progress(DRAIN_SECONDS_MAX)
            if self.held.heard == heard and not self.held.is_empty:
                await self._releases.release(self.held.give_up(self.held.written))
                return
        await self._releases.settle()

    async def close(self) -> None:
        """Ends the voice. What waits is not released."""
        self._playout.close()
        await self._releases.close()

    # Interruptions.

    def begin_interruption(self) -> bool:
        """Stops playout at once; false if uninterruptible speech plays on, and everything stays as it is."""
        if self._keep_until > self.held.heard:
            self.held.forget_unwritten()
            return False
        self._interruptions += 1
        before = self.held
        estimated = min(before.heard + from_seconds(self._playout.seconds_since_report), before.written)
        self._interruption = interruption = _Interruption(before, estimated)
        if before.written > before.heard or self._source.queued_duration > 0:
            clearing = self._source.clear_queue("interruption")
            interruption.heard = self._releases.spawn(self._clear(clearing, interruption))
        # What arrives from now on belongs to the next turn, and waits until the interruption has been passed on.
        self.held = before.renew(self._clock.position(self._source.timestamp))
        self._progress.set()
        return True

    async def release_heard(self) -> None:
        """Releases what was heard before the interruption: as soon as that is known, and after 150 ms at the latest."""
        if (interruption := self._interruption) is None:
            return
        if interruption.heard is not None:
            await asyncio.wait([interruption.heard], timeout=HEARD_SECONDS_MAX)
        await self._releases.release(interruption.before.interrupt(interruption.estimated))

    async def end_interruption(self) -> None:
        """The interruption was passed on, or abandoned: forgets what was not heard."""
        interruption, self._interruption = self._interruption, None
        self.changed()
        if interruption is not None:
            await self._releases.release(interruption.before.survivors())

    async def _clear(self, clearing: Operation[PlayedTo], interruption: _Interruption) -> None:
        try:
            played = await clearing
        except PatchbayError as error:
            logger.warning(f"what the listener heard is estimated, for the clear failed: {error}")
            return
        interruption.estimated = 0 if played.played_ts is None else self._clock.position(played.played_ts)

    # Playout.

    def _heard(self, position: int) -> None:
        if position > self.held.heard:
            self.held.heard_to(min(position, self.held.written + 1))
            self._progress.set()
            self.changed()

    def _lost(self, position: int | None) -> None:
        items = self.held.give_up(self.held.written if position is None else position)
        self._releases.spawn(self._releases.release(items))
        self._progress.set()

    def _take_due(self) -> list[Held[Frame]]:
        for position in self.held.take_marks():
            self._releases.spawn(self._playout.watch(position))
        return [] if self._interruption is not None else self.held.take_due()

    # Waiting.

    async def _wait_for_lead(self, interruptions: int, keep: bool) -> None:
        now = asyncio.get_running_loop().time
        ends = now() + WRITE_SECONDS_MAX
        while self.held.written - self.held.heard > self._lead and (remaining := ends - now()) > 0:
            if self._interruptions != interruptions and not keep:
                return
            await self._wait_for_progress(remaining)

    async def _wait_for_progress(self, seconds: float) -> None:
        self._progress.clear()
        try:
            await asyncio.wait_for(self._progress.wait(), seconds)
        except TimeoutError:
            return
