"""A worker that greets each user: python greeter_worker.py, with PATCHBAY_URL, PATCHBAY_API_KEY, PATCHBAY_API_SECRET.

Send it to a room with `patchbay dispatch create --room lobby --assistant greeter`.
"""

import asyncio
import logging
import os

import numpy as np

from patchbay import AudioFrame, AudioSource, LocalAudioTrack, TrackPublishOptions, TrackSource
from patchbay.agents import JobContext, Worker

worker = Worker(os.environ["PATCHBAY_URL"], "greeter")


def chime() -> AudioFrame:
    """One second of a chime, where an assistant would synthesize speech."""
    times = np.arange(48_000) / 48_000
    samples = 8_000 * np.exp(-4 * times) * np.sin(2 * np.pi * 660 * times)
    return AudioFrame.from_samples(samples.astype(np.int16), 48_000)


@worker.entrypoint
async def greet(context: JobContext) -> None:
    """Runs once for each room, and leaves when it returns."""
    source = AudioSource(48_000, 1)
    track = LocalAudioTrack.create_audio_track("voice", source)
    options = TrackPublishOptions(source=TrackSource.SOURCE_ASSISTANT, mode="ahead")
    await context.room.local_participant.publish_track(track, options)
    await source.capture_frame(chime())
    await source.wait_for_playout()
    await context.room.local_participant.send_text(f"Hello, {context.user.name if context.user else 'nobody'}.")


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(worker.run())
