"""The echo agent of the examples, in a real gateway over TLS."""

import asyncio
import os
import sys
from pathlib import Path

import numpy as np

from patchbay import AudioFrame
from patchbay.audio.decoding import TrackDecoder
from patchbay.audio.frame import Samples
from patchbay.audio.speech_encoder import SpeechEncoder
from patchbay.protocol.frames import Frame
from patchbay.protocol.numbering import TrackNumbering
from patchbay.testing import RoomUnderTest
from tests.helpers import sweep

EXAMPLES = Path(__file__).parents[2] / "examples"


def opus_round_trip(samples: Samples) -> Samples:
    """What a listener gets of samples that went through the library's encoder and decoder."""
    encoder = SpeechEncoder(48_000, 1, TrackNumbering(0, 0))
    decoder = TrackDecoder(48_000, 1)
    encoded = encoder.push(AudioFrame.from_samples(samples, 48_000), 0.0) + encoder.flush(0.0)
    decoded: list[Samples] = []
    for number, frame in enumerate(encoded):
        wire = Frame(1, number, frame.timestamp, frame.packet)
        decoded += [piece.samples for piece in decoder.decode(wire)]
    return np.concatenate(decoded)


async def test_the_echo_is_the_library_s_own_opus_round_trip_sample_by_sample(room: RoomUnderTest) -> None:
    environment = os.environ | {"SSL_CERT_FILE": room.gateway.ca_file}
    agent = await asyncio.create_subprocess_exec(
        sys.executable, str(EXAMPLES / "echo_agent.py"), room.url, room.token("echo"), env=environment
    )
    try:
        caller = await room.call()
        await caller.wait_for_track("echo")
        said = sweep(2.0)
        await caller.speak(said)
        heard = await caller.wait_for_silence(1.0)
    finally:
        agent.terminate()
        await agent.wait()
    expected = opus_round_trip(opus_round_trip(said.samples))
    assert np.array_equal(heard.of("echo").samples[: len(expected)], expected)
