"""One published track of this client: what its source sends to."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from ..audio.output import MarkStatus, TrackFormat
from ..audio.played import PlayedTo
from ..audio.speech_encoder import EncodedFrame
from ..connection.reconnecting import Phase, ReconnectingSocket
from ..connection.requests import Requests
from ..errors import NotConnectedError, RequestRefusedError
from ..limits import MARKS_MAX
from ..protocol.frames import Frame, FrameFlags
from ..protocol.media_time import epoch_distance
from ..protocol.models import TrackInfo, integer, number
from ..protocol.numbering import TrackNumbering
from .track import LocalTrackPublication, TrackPublishOptions

JSON = dict[str, Any]


class TrackOwner(Protocol):
    """The connection of a published track."""

    requests: Requests
    socket: ReconnectingSocket
    held: bool

    async def wait_connected(self) -> int:
        """Waits for the connection, and returns how often the room was joined without resuming."""

    def mark_name(self, name: str) -> str:
        """A unique name for a mark."""


class PublishedTrack:
    """One published track: what its source sends to, and how it is published again."""

    def __init__(
        self,
        publication: LocalTrackPublication,
        options: TrackPublishOptions,
        request: JSON,
        owner: TrackOwner,
    ) -> None:
        self.publication = publication
        self.request = request
        self.format: TrackFormat = options.format
        self._owner = owner
        self.pending_clears = 0
        self.paused = False
        self._published = asyncio.Event()
        self._published.set()
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
        if self._owner.socket.phase is not Phase.OPEN or not self._published.is_set() or self.pending_clears:
            return False
        if not self.format.ahead:
            return True
        # The gateway drops what arrives after a request to mute, before its event does.
        muted = self.publication.info.muted or self.publication.track.muted
        return self._owner.socket.outbox.has_room and not (self.paused or muted or self._owner.held)

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
            return await self._clear({"reason": reason} if reason else {})
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
            joins = await self._wait_published()
            while True:
                try:
                    data = {"track": self.sid, "ts": timestamp, "name": key}
                    await self._owner.requests.request("playout.mark", data)
                    break
                except NotConnectedError:
                    if await self._wait_published() != joins:
                        return MarkStatus.DROPPED
            return await future
        finally:
            self.marks.pop(key, None)

    def handle_cleared(self, data: JSON, *, mine: bool) -> None:
        """An event says that the track was cleared, by this client or another one."""
        if not self.did_clear(integer(data, "epoch")):
            # The reply was faster.
            return
        if self.pending_clears and (mine or _is_loss(data)):
            self.reported_clears.append(data)
        elif not self.pending_clears:
            self.publication.track.audio_source.was_cleared()

    def forget_session(self) -> None:
        """The room was joined anew: the track has to be published again."""
        self._published.clear()
        self.paused = False
        self.reported_clears.clear()
        self.drop_marks(MarkStatus.DROPPED)

    def did_republish(self, info: TrackInfo) -> None:
        """The track is published again, under another sid."""
        self.publication.info = info
        self.publication.track.sid = info.sid
        self._published.set()

    def did_move(self, info: TrackInfo) -> None:
        """The track continues on another node, whose queue is empty."""
        self.paused = False
        self.publication.info.muted = info.muted
        if self.publication.info.epoch == info.epoch:
            return
        self.publication.info.epoch = info.epoch
        self._owner.socket.outbox.drop_ahead(info.alias)
        if not self.pending_clears:
            self.publication.track.audio_source.was_cleared()

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
        self.drop_marks(status)
        self.publication.track.control = None
        self.publication.track.audio_source.unbind()
        # Marks and clears that wait for it fail.
        self._published.set()

    def drop_marks(self, status: MarkStatus) -> None:
        """Resolves all marks."""
        for future in self.marks.values():
            if not future.done():
                future.set_result(status)

    async def _wait_published(self) -> int:
        """Waits until the gateway knows the track, and returns how often the room was joined without resuming."""
        joins = await self._owner.wait_connected()
        await self._published.wait()
        return joins

    async def _clear(self, request: JSON) -> PlayedTo:
        joins = await self._wait_published()
        while True:
            try:
                data = await self._owner.requests.request("playout.clear", {"track": self.sid} | request)
                self._forget(integer(data, "epoch"))
            except NotConnectedError:
                if await self._wait_published() != joins:
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


def _is_loss(data: JSON) -> bool:
    """Whether a clear was none, but the loss of the node that kept the queue."""
    return data.get("by") == "" and data.get("reason") in ("node_lost", "moved")
