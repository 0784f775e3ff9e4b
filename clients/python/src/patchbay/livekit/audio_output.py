"""What an agent says: the audio sink of a session, which reports what the listener has heard."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

from livekit import rtc
from livekit.agents.voice import io

from ..audio.output import MarkStatus
from ..errors import TrackEndedError
from ..limits import AHEAD_LEAD_SECONDS
from ..rtc.participant import Participant
from ..rtc.room import Room
from ..rtc.track import TrackPublishOptions, TrackSource
from ..spoken.ledger import Finished, Progressed, Report, SpeechLedger, Started
from ..spoken.segment import Segment
from .speech_track import SpeechTrack, timed_texts

logger = logging.getLogger("patchbay")

# A clear by another participant resolves marks shortly before its event, which has the exact position, arrives.
_EVENT_SECONDS = 2.0


class AudioOutput(io.AudioOutput):
    """An `ahead` track as `session.output.audio`.

    Frames may be captured as fast as they are synthesized. Progress, position and `synchronized_transcript` come from
    the playout of the listener, not from what was sent. The transcript needs the text: pass this output to a
    `TextOutput`. Words that the speech synthesis times are exact, others are estimated from the speech so far.

    Args:
        room: a connected room.
        sample_rate: Hz of the speech; by default that of the first frame. LiveKit Agents resamples what differs, which
            loses the times of words.
        num_channels: 1 or 2.
        track_name: name of the track.
        lead_ms: how far speech may be sent ahead of playout; beyond it `capture_frame` waits.
        on_stopped: called when speech ends early and not by `clear_buffer`: a listener has cleared it, or it was lost.
            The session does not notice that by itself, so pass a function that interrupts it.
    """

    def __init__(
        self,
        room: Room,
        *,
        sample_rate: int | None = None,
        num_channels: int = 1,
        track_name: str = "assistant",
        lead_ms: int = int(AHEAD_LEAD_SECONDS * 1_000),
        on_stopped: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(label="Patchbay", capabilities=io.AudioOutputCapabilities(pause=True), sample_rate=sample_rate)
        self.ledger = SpeechLedger()
        self.on_stopped = on_stopped
        # Called when more is known of a segment whose transcript is published.
        self.on_words: Callable[[Segment], None] | None = None
        self.room = room
        options = TrackPublishOptions(source=TrackSource.SOURCE_ASSISTANT, mode="ahead", lead_ms=lead_ms)
        self._track = SpeechTrack(room, track_name, num_channels, options)
        self._changed = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self._clearing: set[asyncio.Task[None]] = set()
        self._callbacks: dict[str, Callable[..., None]] = {
            "playout_finished": self._on_finished,
            "playout_cleared": self._on_cleared,
        }
        for name, callback in self._callbacks.items():
            room.on(name, callback)

    @property
    def track_sid(self) -> str:
        """The sid of the track; empty before it is published."""
        return self._track.sid

    async def start(self, sample_rate: int | None = None) -> None:
        """Publishes the track, if it was not. The first frame does so, too."""
        self._sample_rate = self._sample_rate or sample_rate or 24_000
        await self._track.publish(self._sample_rate)
        if self._following is None:
            self._following = asyncio.create_task(self._follow())

    async def aclose(self) -> None:
        """Unpublishes the track; speech that was not heard completely is interrupted."""
        for name, callback in self._callbacks.items():
            self.room.off(name, callback)
        if self._following is not None:
            self._following.cancel()
        await asyncio.gather(*self._clearing, return_exceptions=True)
        self.ledger.end_audio()
        self._report(self.ledger.stopped(list(self.ledger.pending), None, time.time()))
        await self._track.aclose()

    # The session's side.

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Adds a frame; waits while the lead is used up.

        Raises:
            AudioFormatError: the frame has another rate or other channels than the track.
            TrackEndedError: the track was unpublished, or the room has ended.
        """
        await self._until(lambda: not self.ledger.is_full)
        await super().capture_frame(frame)
        segment = self.ledger.begin_audio()
        await self.start(frame.sample_rate)
        if not segment.takes_audio:
            return
        segment.add_times(timed_texts(frame))

        def did_add(timestamp: int, seconds: float) -> None:
            segment.timeline.add(timestamp, seconds)
            self._changed.set()

        try:
            await self._track.capture(frame, did_add)
        except TrackEndedError:
            self._stop()
            raise
        self._did_learn(segment)

    def flush(self) -> None:
        """The segment is complete."""
        super().flush()
        if (segment := self.ledger.end_audio()) is None:
            return
        if self._track.is_published and not segment.is_stopped:
            self._track.source.flush()
        # A session that interrupts flushes and clears at once; only what is not cleared was complete.
        asyncio.get_running_loop().call_soon(self._settle, segment)
        self._report(self.ledger.take_finished())

    def clear_buffer(self) -> None:
        """Stops playout; `on_playback_finished` follows as soon as it is known what was heard."""
        segments = self.ledger.begin_clear()
        if segments:
            self._track.cancel_capture()
            task = asyncio.create_task(self._clear(segments))
            self._clearing.add(task)
            task.add_done_callback(self._clearing.discard)

    def pause(self) -> None:
        """Pauses playout: the track is muted, and what the listener has buffered still plays."""
        super().pause()
        self._track.set_paused(True)

    def resume(self) -> None:
        """Continues playout where it was paused."""
        super().resume()
        self._track.set_paused(False)

    # Playout.

    async def _follow(self) -> None:
        while True:
            await self._until(lambda: self.ledger.next_mark() is not None)
            if (target := self.ledger.next_mark()) is not None:
                await self._follow_to(target)

    async def _follow_to(self, target: int) -> None:
        """Waits until a position was played, or playout has ended before."""
        status = await self._track.mark(target)
        if status is MarkStatus.PLAYED:
            self._report(self.ledger.reached(target, time.time()))
            return
        if status is MarkStatus.CLEARED:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EVENT_SECONDS):
                    await self._until(lambda: self.ledger.next_mark() != target)
        if self.ledger.next_mark() == target:
            self._stop()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def _clear(self, segments: list[Segment]) -> None:
        played_ts: int | None = None
        try:
            if self._track.is_published and (played := await self._track.clear()) is not None:
                played_ts = played.played_ts
        finally:
            self._report(self.ledger.stopped(segments, played_ts, time.time()))

    def _stop(self, played_ts: int | None = None) -> None:
        """Playout ends early, and not by the session."""
        segments = self.ledger.begin_clear()
        if not segments:
            return
        self._track.cancel_capture()
        if self.on_stopped is not None:
            try:
                self.on_stopped()
            except Exception:
                logger.exception("on_stopped raised an exception")
        if self._track.is_published and played_ts is None:
            # What is left would be heard although it counts as not heard.
            self._track.source.clear_queue("lost")
        self._report(self.ledger.stopped(segments, played_ts, time.time()))

    def _settle(self, segment: Segment) -> None:
        self.ledger.settle(segment)
        self._report(self.ledger.take_finished())
        self._did_learn(segment)

    def _did_learn(self, segment: Segment) -> None:
        if self.on_words is not None:
            self.on_words(segment)

    def _report(self, reports: Iterable[Report]) -> None:
        self._changed.set()
        for report in reports:
            try:
                self._emit(report)
            except Exception:
                # LiveKit's emitter logs what listeners raise, except for a TypeError.
                logger.exception("a listener of the audio output raised an exception")

    def _emit(self, report: Report) -> None:
        match report:
            case Started():
                self.on_playback_started(created_at=report.at)
            case Progressed():
                self.on_playback_progressed(started_at=report.at, offset=report.offset, duration=report.duration)
            case Finished():
                self.on_playback_finished(
                    playback_position=report.position,
                    interrupted=report.interrupted,
                    synchronized_transcript=report.transcript,
                )

    # Events.

    def _on_finished(
        self, _: Participant | None, track_sid: str, played_ts: int | None, played_ms: float, estimated: bool
    ) -> None:
        if track_sid == self.track_sid and played_ts is not None:
            self._report(self.ledger.reached(played_ts, time.time()))

    def _on_cleared(self, track_sid: str, by: str, *details: Any) -> None:
        if track_sid == self.track_sid and by != self.room.local_participant.identity:
            self._stop(details[-1])
