"""A caller that speaks recordings and records what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from os import PathLike, fspath
from typing import Self, TypeVar

from ..audio.frame import AudioFrame, read_wav
from ..audio.source import AudioSource
from ..audio.stream import AudioStream
from ..rtc.options import RoomOptions
from ..rtc.participant import RemoteParticipant
from ..rtc.room import Room
from ..rtc.track import LocalAudioTrack, RemoteAudioTrack, RemoteTrackPublication
from .recording import HeardFrame, Recording

_POLL_SECONDS = 0.02

T = TypeVar("T")


async def _until(find: Callable[[], T | None], timeout: float, missing: Callable[[], str]) -> T:
    """Polls until there is something, or raises a TimeoutError that says what is missing."""
    try:
        async with asyncio.timeout(timeout):
            while (found := find()) is None:
                await asyncio.sleep(_POLL_SECONDS)
            return found
    except TimeoutError:
        raise TimeoutError(f"{missing()}, after {timeout:g} s") from None


class Caller:
    """A participant as a person with a telephone: it hears all tracks at their pace, and reports what it has heard.

    Attributes:
        room: the connection.
        heard: everything it has heard.
    """

    def __init__(self, room: Room) -> None:
        self.room = room
        self.heard = Recording()
        self._sources: dict[tuple[int, int], AudioSource] = {}
        self._ears: dict[str, asyncio.Task[None]] = {}
        room.on("track_subscribed", self._listen)

    @classmethod
    async def connect(cls, url: str, token: str, options: RoomOptions | None = None) -> Self:
        """Joins a room and listens."""
        room = Room()
        caller = cls(room)
        await room.connect(url, token, options)
        return caller

    async def speak(self, audio: AudioFrame | str | PathLike[str]) -> float:
        """Speaks in real time, and returns when everything was said.

        Args:
            audio: a WAV file, or samples.

        Returns:
            The time of its beginning, by the event loop's clock.
        """
        frame = audio if isinstance(audio, AudioFrame) else read_wav(fspath(audio))
        source = await self._source(frame.sample_rate, frame.num_channels)
        started = asyncio.get_running_loop().time()
        await source.capture_frame(frame)
        await source.wait_for_playout()
        return started

    async def wait_for_track(self, identity: str, *, timeout: float = 10.0) -> RemoteTrackPublication:
        """Waits until a participant has published a track.

        Raises:
            TimeoutError: it has not.
        """

        def published() -> RemoteTrackPublication | None:
            participant = self.room.remote_participants.get(identity)
            return next(iter(participant.track_publications.values()), None) if participant else None

        def missing() -> str:
            others = ", ".join(sorted(self.room.remote_participants)) or "nobody else"
            return f"{identity} has published no track; in the room: {others}"

        return await _until(published, timeout, missing)

    async def wait_for_sound(
        self, seconds: float = 0.1, *, since: float | None = None, timeout: float = 10.0
    ) -> Recording:
        """Waits until it has heard this much sound, and returns what was heard.

        Raises:
            TimeoutError: it has not.
        """

        def heard() -> Recording | None:
            found = self._since(since)
            return found if found.sound_seconds >= seconds else None

        def missing() -> str:
            return f"heard {self._since(since).sound_seconds:.2f} s of sound instead of {seconds:.2f} s"

        return await _until(heard, timeout, missing)

    async def wait_for_silence(self, seconds: float = 0.5, *, timeout: float = 30.0) -> Recording:
        """Waits until it has heard something, and then nothing for this long.

        Raises:
            TimeoutError: it has heard nothing at all, or no such silence.
        """
        loop = asyncio.get_running_loop()

        def silent() -> Recording | None:
            last = self.heard.last_sound_at
            return self.heard if last is not None and loop.time() - last >= seconds else None

        def missing() -> str:
            return "heard nothing" if self.heard.last_sound_at is None else f"heard no {seconds:.2f} s of silence"

        return await _until(silent, timeout, missing)

    async def hang_up(self) -> None:
        """Leaves the room."""
        await self.room.disconnect()
        for task in list(self._ears.values()):
            task.cancel()
        await asyncio.gather(*self._ears.values(), return_exceptions=True)

    def _since(self, at: float | None) -> Recording:
        return self.heard if at is None else self.heard.since(at)

    async def _source(self, sample_rate: int, channels: int) -> AudioSource:
        source = self._sources.get((sample_rate, channels))
        if source is None:
            source = AudioSource(sample_rate, channels)
            self._sources[sample_rate, channels] = source
            track = LocalAudioTrack.create_audio_track("microphone", source)
            await self.room.local_participant.publish_track(track)
        return source

    def _listen(
        self, track: RemoteAudioTrack, publication: RemoteTrackPublication, participant: RemoteParticipant
    ) -> None:
        self._ears[track.sid] = asyncio.create_task(self._record(track, participant.identity))

    async def _record(self, track: RemoteAudioTrack, identity: str) -> None:
        loop = asyncio.get_running_loop()
        async for event in AudioStream(track):
            self.heard.frames.append(HeardFrame(loop.time(), identity, event.timestamp, event.frame))
