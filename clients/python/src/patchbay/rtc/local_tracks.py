"""The published tracks of this client, across clears and reconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from ..audio.output import MarkStatus
from ..connection.reconnecting import ReconnectingSocket
from ..connection.requests import Requests
from ..errors import NotConnectedError, RequestError, RequestRefusedError, TrackEndedError
from ..limits import MARK_NAME_BYTES_MAX
from ..protocol.models import TrackInfo, mapping
from ..protocol.transcript import TranscriptSegment
from . import events
from .published_track import PublishedTrack
from .track import LocalAudioTrack, LocalTrackPublication, TrackPublishOptions

JSON = dict[str, Any]


class LocalTracks:
    """All published tracks of a room."""

    def __init__(
        self,
        requests: Requests,
        socket: ReconnectingSocket,
        wait_connected: Callable[[], Awaitable[int]],
        emit: Callable[[events.RoomEvent], None],
    ) -> None:
        self.requests = requests
        self.socket = socket
        self._wait_connected = wait_connected
        self.held = False
        self._emit = emit
        self._tracks: list[PublishedTrack] = []
        self._republishing: set[asyncio.Task[None]] = set()
        self._marks = 0

    @property
    def publications(self) -> Iterable[LocalTrackPublication]:
        """What is published."""
        return [track.publication for track in self._tracks]

    async def wait_connected(self) -> int:
        """Waits for the connection, and returns how often the room was joined without resuming."""
        return await self._wait_connected()

    def mark_name(self, name: str) -> str:
        """A unique name for a mark: names of programs need not be."""
        self._marks += 1
        return f"{self._marks}:{name}".encode()[:MARK_NAME_BYTES_MAX].decode(errors="ignore")

    async def publish(self, track: LocalAudioTrack, options: TrackPublishOptions) -> LocalTrackPublication:
        """Publishes a track and connects its source with it."""
        request: JSON = {
            "name": track.name,
            "source": str(options.source),
            "mode": "ahead" if options.format.ahead else "live",
            "dtx": options.dtx,
            "fec": options.fec,
            "channels": track.audio_source.num_channels,
        }
        reply = await self.requests.request("track.publish", request, late=self._undo_publish)
        info = TrackInfo.parse(mapping(reply, "track"))
        publication = LocalTrackPublication(info, track)
        published = PublishedTrack(publication, options, request, self)
        try:
            track.audio_source.bind(published)
        except BaseException:
            self.requests.notify("track.unpublish", {"track": info.sid})
            raise
        track.sid, track.control = info.sid, self
        self._tracks.append(published)
        self._emit(events.LocalTrackPublished(publication))
        return publication

    async def unpublish(self, sid: str) -> None:
        """Unpublishes a track."""
        published = self._find(sid)
        if published is None:
            raise TrackEndedError
        try:
            await self.requests.request("track.unpublish", {"track": sid})
        finally:
            self._remove(published)

    async def set_muted(self, track: LocalAudioTrack, muted: bool) -> None:
        """Mutes or unmutes a track; a reconnect repeats it."""
        before, track.muted = track.muted, muted
        try:
            await self.requests.request("track.mute", {"track": track.sid, "muted": muted})
        except RequestRefusedError:
            track.muted = before
            raise

    # Events.

    def handle_event(self, kind: str, data: JSON, own_identity: str) -> None:
        """Handles what an event says about own tracks."""
        published = self._find(str(data.get("track")))
        if published is None:
            return
        source = published.publication.track.audio_source
        match kind:
            case "playout.cleared":
                published.handle_cleared(data, mine=data.get("by") == own_identity)
            case "playout.finished":
                source.did_finish(data.get("played_ts"))
            case "playout.backlog":
                published.paused = data.get("state") in ("high", "full")
            case "track.unpublished":
                self._remove(published)
        source.wake()

    def did_mark(self, data: JSON) -> None:
        """Resolves a mark."""
        published = self._find(str(data.get("track")))
        future = published.marks.get(str(data.get("name"))) if published else None
        if future is not None and not future.done():
            status = str(data.get("status"))
            future.set_result(MarkStatus(status) if status in set(MarkStatus) else MarkStatus.DROPPED)

    def set_held(self, mine: bool, held: bool) -> None:
        """This client was put on hold, or taken off."""
        if mine:
            self.held = held
            self.wake()

    def will_speak(self, segment: TranscriptSegment) -> None:
        """Remembers which words belong to which speech, to tell after a clear which were heard."""
        ahead = [track for track in self._tracks if track.format.ahead]
        for track in self._tracks:
            if segment.track == track.sid or (
                segment.track is None and segment.role == "assistant" and [track] == ahead
            ):
                track.publication.track.audio_source.will_speak(segment)

    def wake(self) -> None:
        """Sources may send again."""
        for published in self._tracks:
            published.publication.track.audio_source.wake()

    # Reconnects.

    def restore(self, own: list[TrackInfo], *, resumed: bool, whole: bool) -> None:
        """Compares with what the gateway has after a reconnect, and publishes what it has not.

        Args:
            own: this client's tracks as the gateway knows them.
            resumed: whether these are the tracks from before the reconnect.
            whole: whether `hello` and the events that follow describe the whole state.
        """
        if whole:
            # Events say so again if it is still the case.
            self.held = False
        by_sid = {info.sid: info for info in own}
        for published in list(self._tracks):
            info = by_sid.pop(published.sid, None) if resumed else None
            if info is None:
                published.forget_session()
                task = asyncio.create_task(self._republish(published))
                self._republishing.add(task)
                task.add_done_callback(self._republishing.discard)
                continue
            if whole:
                published.did_move(info)
            if published.publication.track.muted and not info.muted:
                # Only ever mutes: a muted track is not opened by accident.
                self.requests.notify("track.mute", {"track": info.sid, "muted": True})
        for sid in by_sid:
            # The caller of `publish_track` has got an error.
            self.requests.notify("track.unpublish", {"track": sid})

    def end(self) -> None:
        """The room has ended."""
        for task in self._republishing:
            task.cancel()
        tracks, self._tracks = self._tracks, []
        for published in tracks:
            published.end()

    async def _republish(self, published: PublishedTrack) -> None:
        publication, previous = published.publication, published.sid
        try:
            reply = await self.requests.request("track.publish", published.request)
            info = TrackInfo.parse(mapping(reply, "track"))
        except NotConnectedError:
            return
        except RequestError:
            self._remove(published)
            return
        published.did_republish(info)
        if publication.track.muted:
            self.requests.notify("track.mute", {"track": info.sid, "muted": True})
        self._emit(events.LocalTrackRepublished(publication, previous))
        publication.track.audio_source.wake()

    def _undo_publish(self, reply: JSON) -> None:
        self.requests.notify("track.unpublish", {"track": str(mapping(reply, "track").get("sid"))})

    def _find(self, sid: str) -> PublishedTrack | None:
        return next((track for track in self._tracks if track.sid == sid), None)

    def _remove(self, published: PublishedTrack) -> None:
        if published in self._tracks:
            self._tracks.remove(published)
            published.end()
            self._emit(events.LocalTrackUnpublished(published.publication))
