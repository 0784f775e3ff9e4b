"""Rooms: LiveKit's `rtc` module for this gateway."""

from ..audio.codec.resampler import AudioResampler
from ..audio.frame import AudioFrame, combine_audio_frames, read_wav
from ..audio.output import MarkStatus
from ..audio.played import HeardSegment, PlayedTo
from ..audio.source import AudioSource
from ..audio.stream import AudioFrameEvent, AudioStream, OpusStream
from ..connection.disconnection import Disconnection, DisconnectReason
from ..connection.operation import Operation
from ..errors import (
    AudioError,
    AudioFormatError,
    ConnectError,
    NotConnectedError,
    PatchbayError,
    RequestError,
    RequestRefusedError,
    RequestTimeoutError,
    RoomEndedError,
    RpcError,
    TrackEndedError,
)
from ..protocol.frames import Frame, FrameFlags
from ..protocol.transcript import TranscriptSegment, TranscriptWord
from . import events
from .data import DataPacket, DataPacketKind, SipDTMF, TextMessage
from .local_participant import LocalParticipant
from .options import RoomOptions
from .participant import Participant, ParticipantKind, RemoteParticipant
from .room import Room
from .rpc import RpcInvocationData
from .track import (
    LocalAudioTrack,
    LocalTrackPublication,
    RemoteAudioTrack,
    RemoteTrackPublication,
    TrackKind,
    TrackMode,
    TrackPublication,
    TrackPublishOptions,
    TrackSource,
)

__all__ = [
    "AudioError",
    "AudioFormatError",
    "AudioFrame",
    "AudioFrameEvent",
    "AudioResampler",
    "AudioSource",
    "AudioStream",
    "ConnectError",
    "DataPacket",
    "DataPacketKind",
    "DisconnectReason",
    "Disconnection",
    "Frame",
    "FrameFlags",
    "HeardSegment",
    "LocalAudioTrack",
    "LocalParticipant",
    "LocalTrackPublication",
    "MarkStatus",
    "NotConnectedError",
    "Operation",
    "OpusStream",
    "Participant",
    "ParticipantKind",
    "PatchbayError",
    "PlayedTo",
    "RemoteAudioTrack",
    "RemoteParticipant",
    "RemoteTrackPublication",
    "RequestError",
    "RequestRefusedError",
    "RequestTimeoutError",
    "Room",
    "RoomEndedError",
    "RoomOptions",
    "RpcError",
    "RpcInvocationData",
    "SipDTMF",
    "TextMessage",
    "TrackEndedError",
    "TrackKind",
    "TrackMode",
    "TrackPublication",
    "TrackPublishOptions",
    "TrackSource",
    "TranscriptSegment",
    "TranscriptWord",
    "combine_audio_frames",
    "events",
    "read_wav",
]
