"""Parameters of the transport, and its limits."""

from __future__ import annotations

from pipecat.transports.base_transport import TransportParams

RTVI_TOPIC = "rtvi-ai"
"""The topic of RTVI messages, as data of the room."""

HEARD_SECONDS_MAX = 0.15
"""How long an interruption waits for the gateway's answer; then the position is estimated."""

CONSUME_SECONDS_MAX = 0.15
"""How long an interruption waits until the processors behind the transport have taken the heard words."""

WRITE_SECONDS_MAX = 5.0
"""How long one write waits while the lead is used up, for example on hold. Pipecat gives a transport up after 10 s."""

QUEUED_SECONDS_MAX = 60.0
"""Audio that waits here while the call is held or the connection lost; beyond it new audio is dropped."""

DRAIN_SECONDS_MAX = 10.0
"""How long the end of the pipeline waits for playout without progress."""

SPEAKING_SECONDS = 0.2
"""How often `BotSpeakingFrame` is pushed, as in Pipecat."""


class PatchbayParams(TransportParams):
    """Pipecat's parameters, and those of the gateway.

    Attributes:
        speakers: who is heard: `mix` all participants, keep them `separate` (one `UserAudioRawFrame` stream each, with
            `user_id`), or the identity of one.
        lead_secs: how far speech is sent ahead of playout. With a mixer, which produces sound all the time, at most
            `mixer_lead_secs`.
        mixer_lead_secs: the lead with `audio_out_mixer`: speech begins this much later.
        transcripts_out: whether the words that the bot speaks are published as segments of transcript.
        transcripts_in: whether segments of transcript of others become `TranscriptionFrame`s. For rooms whose users are
            transcribed elsewhere.
        track_name: of the published track; destinations are published under their own names.
    """

    audio_out_end_silence_secs: int = 0
    speakers: str = "mix"
    lead_secs: float = 10.0
    mixer_lead_secs: float = 0.6
    transcripts_out: bool = True
    transcripts_in: bool = False
    track_name: str = "voice"
