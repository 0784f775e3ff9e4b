"""A worker with an OpenAI-compatible model: answers text with speech, and forgets what the user did not hear.

python chat_agent.py, with PATCHBAY_URL, PATCHBAY_API_KEY, PATCHBAY_API_SECRET, and OPENAI_BASE_URL, OPENAI_API_KEY. A
user who talks or writes while the agent speaks interrupts it; the context then ends with the words that were heard.
"""

import asyncio
import os

import httpx

from patchbay import (
    AudioFrame,
    AudioSource,
    LocalAudioTrack,
    PlayedTo,
    TrackPublishOptions,
    TranscriptSegment,
    events,
)
from patchbay.agents import JobContext, Worker

RATE = 24_000
worker = Worker(os.environ["PATCHBAY_URL"], "chat")
model = httpx.AsyncClient(
    base_url=os.environ["OPENAI_BASE_URL"], headers={"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
)


async def complete(context: list[dict[str, str]]) -> str:
    answer = await model.post("chat/completions", json={"model": "small", "messages": context}, timeout=30)
    return str(answer.raise_for_status().json()["choices"][0]["message"]["content"])


async def synthesize(text: str) -> AudioFrame:
    body = {"model": "tts", "voice": "alloy", "input": text, "response_format": "pcm"}
    pcm = (await model.post("audio/speech", json=body, timeout=30)).raise_for_status().content
    return AudioFrame(pcm, RATE, 1, len(pcm) // 2)


def heard(text: str, played: PlayedTo, whole: AudioFrame) -> str:
    """The words that were heard, in proportion to time: this model's speech has no word times."""
    words = text.split()
    return " ".join(words[: int(len(words) * played.played_ms / (whole.duration * 1_000))])


@worker.entrypoint
async def chat(job: JobContext) -> None:
    agent, source = job.room.local_participant, AudioSource(RATE, 1)
    options = TrackPublishOptions(mode="ahead")
    await agent.publish_track(LocalAudioTrack.create_audio_track("voice", source), options)
    context = [{"role": "system", "content": "You are a friendly assistant."}]
    spoken: AudioFrame | None = None
    number = 0
    async for event in job.room.events:
        talks = isinstance(event, events.TalkStarted) and event.participant is not agent
        writes = isinstance(event, events.TextReceived)
        if (talks or writes) and spoken and source.queued_duration > 0:
            played = await source.clear_queue("interrupted")
            context[-1]["content"] = heard(context[-1]["content"], played, spoken)
        if isinstance(event, events.TextReceived):
            context.append({"role": "user", "content": event.message.text})
            answer = await complete(context)
            context.append({"role": "assistant", "content": answer})
            spoken, number = await synthesize(answer), number + 1
            await source.capture_frame(spoken)
            await agent.publish_transcription(TranscriptSegment(f"answer-{number}", answer, final=True))


if __name__ == "__main__":
    asyncio.run(worker.run())
