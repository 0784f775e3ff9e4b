"""The published tracks of this client, across clears and reconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from ..audio.played import PlayedTo
from ..audio.source import MarkStatus, TrackFormat
from ..audio.speech_encoder import EncodedFrame
from ..connection.reconnecting import Phase, ReconnectingSocket
from ..connection.requests import Requests
from ..errors import NotConnectedError, RequestError, RequestRefusedError, TrackEndedError
from ..limits import MARK_NAME_BYTES_MAX, MARKS_MAX
from ..protocol.frames import Frame, FrameFlags
from ..protocol.media_time import epoch_distance
from ..protocol.models import TrackInfo, integer, mapping, number
from ..protocol.numbering import TrackNumbering
from ..protocol.transcript import TranscriptSegment
from . import events
from .track import LocalAudioTrack, LocalTrackPublication, TrackPublishOptions

JSON = dict[str, Any]


class PublishedTrack:
    """One published track: what its source sends to, and how it is published again."""

    def __init__(
        self,
        publication: LocalTrackPublication,
        options: TrackPublishOptions,
        request: JSON,
        owner: LocalTracks,
    ) -> None:
        self.publication = publication
        self.request = request
        self.format: TrackFormat = options.format
        self._owner = owner
        self.pending_clears = 0
        self.paused = False
        self.is_published = True
        self.marks: dict[str, asyncio.Future[MarkStatus]] = {}
        # Clears by this client that an event has reported, oldest first, for those whose reply was lost.
        self.reported_clears: list[JSON] = []

    @property
    def sid(self) -> str:
        """The track's sid."""
        return self.publication.sid

    @property
    def ready(self) -> bool:
        """Whether a frame can be sent now."""
        if self._owner.socket.phase is not Phase.OPEN or not self.is_published or self.pending_clears:
            return False
        if not self.format.ahead:
            return True
        info = self.publication.info
        return self._owner.socket.outbox.has_room and not (self.paused or info.muted or self._owner.held)

    @property
    def discards(self) -> bool:
        """Live audio without a connection is worthless."""
        return not self.format.ahead and not self.ready

    def send(self, frame: EncodedFrame, numbering: TrackNumbering) -> None:
        """Sends a frame. It is numbered without a connection, too, so that subscribers see the gap."""
        sequence = numbering.next_sequence()
        if not self.ready:
            return
        info = self.publication.info
        self._owner.socket.outbox.add_frame(
            Frame(
                info.alias,
                sequence,
                frame.timestamp,
                frame.packet,
                FrameFlags(frame.flags),
                frame.level,
                frame.voice,
                info.epoch,
            ),
            ahead=self.format.ahead,
        )
        self._owner.socket.wake()

    def begin_clear(self) -> None:
        """Stops sending: the next frame belongs to the epoch that the clear begins."""
        self.pending_clears += 1
        self._owner.socket.outbox.drop_ahead(self.publication.info.alias)

    async def clear(self, reason: str | None) -> PlayedTo:
        """Clears the track and returns what was heard, also across a resume."""
        try:
            return await self._clear({"track": self.sid} | ({"reason": reason} if reason else {}))
        finally:
            self.pending_clears -= 1
            self.publication.track.audio_source.wake()

    async def mark(self, timestamp: int, name: str) -> MarkStatus:
        """Waits until the track was played up to a position."""
        if len(self.marks) >= MARKS_MAX:
            raise RequestRefusedError("limit_exceeded", f"{MARKS_MAX} marks are pending", retryable=True)
        key = self._owner.mark_name(name)
        future: asyncio.Future[MarkStatus] = asyncio.get_running_loop().create_future()
        self.marks[key] = future
        try:
            joins = await self._owner.wait_connected()
            while True:
                try:
                    data = {"track": self.sid, "ts": timestamp, "name": key}
                    await self._owner.requests.request("playout.mark", data)
                    break
                except NotConnectedError:
                    if await self._owner.wait_connected() != joins:
                        return MarkStatus.DROPPED
            return await future
        finally:
            self.marks.pop(key, None)

    def did_clear(self, epoch: int) -> bool:
        """The track continues in a new epoch; false if that is known."""
        info = self.publication.info
        if epoch_distance(info.epoch, epoch) <= 0:
            return False
        info.epoch = epoch
        self._owner.socket.outbox.drop_ahead(info.alias)
        return True

    def end(self, status: MarkStatus = MarkStatus.DROPPED) -> None:
        """The track has ended."""
        self.is_published = False
        self.drop_marks(status)
        self.publication.track.control = None
        self.publication.track.audio_source.unbind()

    def drop_marks(self, status: MarkStatus) -> None:
        """Resolves all marks."""
        for future in self.marks.values():
            if not future.done():
                future.set_result(status)

    async def _clear(self, request: JSON) -> PlayedTo:
        joins = await self._owner.wait_connected()
        while True:
            try:
                data = await self._owner.requests.request("playout.clear", request)
                self._forget(integer(data, "epoch"))
            except NotConnectedError:
                if await self._owner.wait_connected() != joins:
                    raise NotConnectedError(
                        "the room was joined anew during the clear, so it is not known what was heard; what was "
                        "queued in the gateway is gone"
                    ) from None
                # The resume has replayed the event if the gateway had carried out the clear.
                if not self.reported_clears:
                    continue
                data = self.reported_clears.pop(0)
            self.did_clear(integer(data, "epoch"))
            return PlayedTo(
                played_ms=number(data, "played_ms"),
                discarded_ms=number(data, "discarded_ms"),
                played_ts=data.get("played_ts"),
                estimated=bool(data.get("estimated")),
            )

    def _forget(self, epoch: int) -> None:
        self.reported_clears = [data for data in self.reported_clears if data.get("epoch") != epoch]


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
        self.wait_connected = wait_connected
        self.held = False
        self._emit = emit
        self._tracks: list[PublishedTrack] = []
        self._republishing: set[asyncio.Task[None]] = set()
        self._marks = 0

    @property
    def publications(self) -> Iterable[LocalTrackPublication]:
        """What is published."""
        return [track.publication for track in self._tracks]

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
        track.muted = muted
        await self.requests.request("track.mute", {"track": track.sid, "muted": muted})

    # Events.

    def handle_event(self, kind: str, data: JSON, own_identity: str) -> None:
        """Handles what an event says about own tracks."""
        published = self._find(str(data.get("track")))
        if published is None:
            return
        source = published.publication.track.audio_source
        match kind:
            case "playout.cleared":
                mine = data.get("by") == own_identity and published.pending_clears > 0
                if mine:
                    published.reported_clears.append(data)
                if published.did_clear(integer(data, "epoch")) and not mine:
                    source.was_cleared()
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

    def restore(self, own: list[TrackInfo], *, resumed: bool) -> None:
        """Compares with what the gateway has after a reconnect, and publishes what it has not."""
        by_sid = {info.sid: info for info in own}
        for published in list(self._tracks):
            info = by_sid.pop(published.sid, None) if resumed else None
            if info is None:
                published.is_published = False
                published.drop_marks(MarkStatus.DROPPED)
                task = asyncio.create_task(self._republish(published))
                self._republishing.add(task)
                task.add_done_callback(self._republishing.discard)
            elif published.publication.track.muted and not info.muted:
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
        publication.info = info
        publication.track.sid = info.sid
        published.is_published = True
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
