"""Says what it hears: python echo_agent.py wss://127.0.0.1:7880 TOKEN (the authority's file in SSL_CERT_FILE)."""

import asyncio
import sys

from patchbay import AudioSource, AudioStream, LocalAudioTrack, RemoteAudioTrack, Room, RoomOptions


async def echo(track: RemoteAudioTrack, source: AudioSource) -> None:
    async for event in AudioStream(track):
        await source.capture_frame(event.frame)


async def main(url: str, token: str, options: RoomOptions | None = None) -> None:
    source, tasks = AudioSource(48_000, 1, queue_size_ms=0), set()
    async with Room.connect(url, token, options) as room:

        @room.on("track_subscribed")
        def heard(track: RemoteAudioTrack, *_: object) -> None:
            tasks.add(asyncio.create_task(echo(track, source)))

        await room.local_participant.publish_track(LocalAudioTrack.create_audio_track("echo", source))
        await room.wait_disconnected()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
