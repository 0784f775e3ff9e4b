"""Client library of the Patchbay voice gateway (README.md shows how to use it)."""

from .audio.codec.resampler import AudioResampler
from .audio.frame import AudioFrame, combine_audio_frames, read_wav
from .audio.output import MarkStatus
from .audio.played import HeardSegment, PlayedTo
from .audio.source import AudioSource
from .audio.stream import AudioFrameEvent, AudioStream, OpusStream
from .connection.disconnection import Disconnection, DisconnectReason
from .connection.operation import Operation
from .errors import (
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
from .protocol.frames import Frame, FrameFlags
from .protocol.transcript import TranscriptSegment, TranscriptWord
from .rtc import events
from .rtc.data import DataPacket, DataPacketKind, SipDTMF, TextMessage
from .rtc.local_participant import LocalParticipant
from .rtc.options import RoomOptions
from .rtc.participant import Participant, ParticipantKind, RemoteParticipant
from .rtc.room import Room
from .rtc.rpc import RpcInvocationData
from .rtc.track import (
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
from .version import __version__

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
    "__version__",
    "combine_audio_frames",
    "events",
    "read_wav",
]
