"""The transport: what a bot's program creates."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from loguru import logger
from pipecat.frames.frames import ClientConnectedFrame
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.transports.base_transport import BaseTransport

from ..connection.disconnection import DisconnectReason
from ..limits import EVENTS_MAX
from ..protocol.transcript import TranscriptSegment
from ..rtc.data import DataPacket, SipDTMF
from ..rtc.options import RoomOptions
from ..rtc.participant import Participant, RemoteParticipant
from ..rtc.room import Room
from ..rtc.track import RemoteAudioTrack, RemoteTrackPublication
from .connection import Connection
from .input import PatchbayInputTransport
from .output import PatchbayOutputTransport
from .params import RTVI_TOPIC, PatchbayParams

EVENTS = (
    "on_connected",
    "on_disconnected",
    "on_client_connected",
    "on_client_disconnected",
    "on_first_participant_joined",
    "on_participant_connected",
    "on_participant_disconnected",
    "on_audio_track_subscribed",
    "on_audio_track_unsubscribed",
    "on_data_received",
    "on_dtmf_event",
    "on_transcription_received",
)


class PatchbayTransport(BaseTransport):
    """A room of the gateway as a transport of Pipecat.

    transport = PatchbayTransport(url, token, PatchbayParams(audio_in_enabled=True, audio_out_enabled=True))
    pipeline = Pipeline([transport.input(), stt, user, llm, tts, transport.output(), assistant])

    Place the assistant's aggregator behind `output()`: it then gets the words as they are heard, and its context ends
    with the last one when the user interrupts.

    Events: `on_connected`, `on_disconnected(reason)`, `on_client_connected(participant)`,
    `on_client_disconnected(participant)`; under LiveKit's names `on_first_participant_joined(identity)`,
    `on_participant_connected(identity)`, `on_participant_disconnected(identity)`,
    `on_audio_track_subscribed(identity)`, `on_audio_track_unsubscribed(identity)`,
    `on_data_received(data, identity, topic)`, `on_dtmf_event(digit, identity)`; and
    `on_transcription_received(segment, identity)`.

    Args:
        url: `wss://host[:port]`.
        token: a room token.
        params: what is heard and said, and how.
        options: how to connect.
        room: a room that is joined already, such as that of a worker's job. It is not left at the end.
        input_name: the name of the input processor.
        output_name: the name of the output processor.
    """

    def __init__(
        self,
        url: str = "",
        token: str = "",
        params: PatchbayParams | None = None,
        *,
        options: RoomOptions | None = None,
        room: Room | None = None,
        input_name: str | None = None,
        output_name: str | None = None,
    ) -> None:
        super().__init__(input_name=input_name, output_name=output_name)
        self.room = room or Room()
        self._params = params or PatchbayParams()
        self._connection = Connection(self.room, url, token, options, self._stop_observing)
        self._input: PatchbayInputTransport | None = None
        self._output: PatchbayOutputTransport | None = None
        self._actions: asyncio.Queue[Callable[[], Awaitable[object]]] = asyncio.Queue(EVENTS_MAX)
        self._acting: asyncio.Task[None] | None = None
        self._first_joined = False
        self._told_connected = False
        for name in EVENTS:
            self._register_event_handler(name)
        self._callbacks: dict[str, Callable[..., None]] = {
            "connection_state_changed": self._connection_state_changed,
            "disconnected": self._disconnected,
            "participant_connected": self._participant_connected,
            "participant_disconnected": self._participant_disconnected,
            "track_subscribed": self._track_subscribed,
            "track_unsubscribed": self._track_unsubscribed,
            "data_received": self._data_received,
            "sip_dtmf_received": self._dtmf_received,
            "transcription_received": self._transcription_received,
            "playout_cleared": self._playout_cleared,
        }
        self._observe()

    def input(self) -> FrameProcessor:
        """The processor that hears."""
        if self._input is None:
            self._input = PatchbayInputTransport(self._connection, self._params, name=self._input_name)
        return self._input

    def output(self) -> FrameProcessor:
        """The processor that speaks."""
        if self._output is None:
            self._output = PatchbayOutputTransport(self._connection, self._params, name=self._output_name)
        return self._output

    def get_client_id(self, client: Any) -> str:
        """The identity of a participant, as passed to the events of clients."""
        return client.identity if isinstance(client, Participant) else str(client)

    # Events of the room, in order: each one is handled before the next.

    def _observe(self) -> None:
        for name, callback in self._callbacks.items():
            self.room.on(name, callback)
        if self.room.isconnected():
            self._connection_state_changed("connected")
            for participant in self.room.remote_participants.values():
                self._participant_connected(participant)

    def _stop_observing(self) -> None:
        for name, callback in self._callbacks.items():
            self.room.off(name, callback)

    def _do(self, action: Callable[[], Awaitable[object]]) -> None:
        try:
            self._actions.put_nowait(action)
        except asyncio.QueueFull:
            logger.warning(f"{self}: {EVENTS_MAX} events wait for their handlers; the newest is dropped")
            return
        if self._acting is None or self._acting.done():
            self._acting = asyncio.create_task(self._act())

    async def _act(self) -> None:
        while not self._actions.empty():
            action = self._actions.get_nowait()
            try:
                await action()
            except Exception:
                logger.exception(f"{self}: an event of the room was not handled")

    def _tell(self, name: str, *arguments: Any) -> None:
        self._do(lambda: self._call_event_handler(name, *arguments))

    def _connection_state_changed(self, state: str) -> None:
        if state == "connected" and not self._told_connected:
            self._told_connected = True
            self._tell("on_connected")

    def _disconnected(self, reason: DisconnectReason) -> None:
        self._tell("on_disconnected", reason)

    def _participant_connected(self, participant: RemoteParticipant) -> None:
        if self._input is not None:
            self._do(lambda: self._pushed(ClientConnectedFrame()))
        if not self._first_joined:
            self._first_joined = True
            self._tell("on_first_participant_joined", participant.identity)
        self._tell("on_participant_connected", participant.identity)
        self._tell("on_client_connected", participant)

    def _participant_disconnected(self, participant: RemoteParticipant) -> None:
        self._tell("on_participant_disconnected", participant.identity)
        self._tell("on_client_disconnected", participant)

    def _track_subscribed(
        self, track: RemoteAudioTrack, _: RemoteTrackPublication, participant: RemoteParticipant
    ) -> None:
        if self._input is not None:
            self._input.listen(track, participant.identity)
        self._tell("on_audio_track_subscribed", participant.identity)

    def _track_unsubscribed(
        self, track: RemoteAudioTrack, _: RemoteTrackPublication, participant: RemoteParticipant
    ) -> None:
        if (hearing := self._input) is not None:
            self._do(lambda: hearing.ignore(track))
        self._tell("on_audio_track_unsubscribed", participant.identity)

    def _data_received(self, packet: DataPacket) -> None:
        identity = packet.participant.identity if packet.participant else ""
        if packet.topic == RTVI_TOPIC and (hearing := self._input) is not None:
            self._do(lambda: hearing.receive(packet))
        self._tell("on_data_received", packet.data, identity, packet.topic or "")

    def _dtmf_received(self, dtmf: SipDTMF) -> None:
        if (hearing := self._input) is not None:
            self._do(lambda: hearing.press(dtmf))
        self._tell("on_dtmf_event", dtmf.digit, dtmf.participant.identity if dtmf.participant else "")

    def _transcription_received(
        self, segments: list[TranscriptSegment], participant: Participant | None, _: object
    ) -> None:
        identity = participant.identity if participant else ""
        if identity == self.room.local_participant.identity:
            # The gateway's revisions of what the bot said.
            return
        for segment in segments:
            self._transcribed(segment, identity)

    def _transcribed(self, segment: TranscriptSegment, identity: str) -> None:
        if (hearing := self._input) is not None:
            self._do(lambda: hearing.transcribe(segment, identity))
        self._tell("on_transcription_received", segment, identity)

    def _playout_cleared(self, sid: str, by: str, *_: object) -> None:
        mine = sid in self.room.local_participant.track_publications
        if mine and by != self.room.local_participant.identity and (hearing := self._input) is not None:
            self._do(hearing.interrupt)

    async def _pushed(self, frame: ClientConnectedFrame) -> None:
        if self._input is not None:
            await self._input.push_frame(frame)
