"""Limits of the protocol and of this library's queues. Each queue names what happens when it is full."""

from __future__ import annotations

# The protocol (docs/protocol/connecting.md, "Hello").

OPUS_PACKET_BYTES_MAX = 1_488
FRAME_BYTES_MAX = 1_500
BUNDLE_BYTES_MAX = 16_384
BUNDLE_FRAMES_MAX = 50
CONTROL_BYTES_MAX = 65_536
RPC_PAYLOAD_BYTES_MAX = 15_360
MARK_NAME_BYTES_MAX = 256

# Requests and events.

REQUESTS_MAX = 1_024
"""Pending requests of a connection; a further one fails with `TooManyRequestsError`."""

EVENTS_MAX = 1_024
"""Events that wait for a reader or for callbacks; beyond it the oldest is dropped and counted."""

RPC_HANDLERS_MAX = 100
"""Calls of registered RPC methods that run at once; a further one is answered with an error."""

CONTROL_MESSAGES_MAX = 2_048
"""Control messages that wait for the socket; beyond it the connection counts as lost."""

# Audio that is sent.

LIVE_FRAMES_MAX = 128
"""Frames of live tracks that wait for the socket (2.5 s at 20 ms); beyond it the oldest is dropped."""

AHEAD_FRAMES_MAX = 3_000
"""Frames of ahead tracks that wait for the socket (60 s at 20 ms); beyond it `capture_frame` waits."""

LIVE_LEAD_SECONDS = 0.04
"""How far live audio may be sent ahead of real time, so that jitter of the source adds no delay."""

AHEAD_LEAD_SECONDS = 30.0
"""How far ahead audio is sent ahead of playout by default; the gateway refuses more than 60 s."""

SEGMENTS_MAX = 256
"""Transcript segments of one utterance that a source keeps; beyond it the oldest is dropped."""

SPEECH_SEGMENTS_MAX = 256
"""Segments of an agent's speech that wait for their playout; beyond it `capture_frame` waits."""

MARKS_MAX = 1_000
"""Pending marks of a track; a further one fails with `RequestRefusedError`."""

# Audio that is received.

STREAM_FRAMES_MAX = 512
"""Frames of a track that wait in one stream (10 s at 20 ms); beyond it the oldest is dropped."""

UNCLAIMED_FRAMES_MAX = 100
"""Frames kept for the first stream of a track (2 s at 20 ms); beyond it all are dropped."""

CONCEALED_SECONDS_MAX = 0.2
"""How much lost audio the decoder replaces; the rest is silence."""

# Workers.

JOBS_MAX = 1_000
"""Jobs of one worker at once, the gateway's limit for `capacity`."""

TURNS_PER_REPORT_MAX = 32
"""Turns in one report of a worker, the gateway's limit."""

TURNS_MAX = 256
"""Turns that a worker keeps while it cannot report them; beyond it the oldest is dropped and counted."""
