"""A bot on Pipecat with OpenAI-compatible services: its context ends with the words that the user heard.

python pipecat_bot.py URL TOKEN, with OPENAI_API_KEY and, for services of your own, OPENAI_BASE_URL. A user who talks
while the bot speaks interrupts it; typed text (topic lk.chat) is answered, too.
"""

import asyncio
import os
import sys

from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import LLMMessagesAppendFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.openai.stt import OpenAISTTService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.workers.runner import WorkerRunner

from patchbay import TextMessage
from patchbay.pipecat import PatchbayParams, PatchbayTransport


async def main(url: str, token: str) -> None:
    key, base_url = os.environ["OPENAI_API_KEY"], os.environ.get("OPENAI_BASE_URL")
    transport = PatchbayTransport(url, token, PatchbayParams(audio_in_enabled=True, audio_out_enabled=True))
    friendly = OpenAILLMService.Settings(system_instruction="You are a friendly assistant. Answer in one sentence.")
    aggregators = LLMContextAggregatorPair(
        LLMContext(), user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )
    pipeline = Pipeline(
        [
            transport.input(),
            OpenAISTTService(api_key=key, base_url=base_url),
            aggregators.user(),
            OpenAILLMService(api_key=key, base_url=base_url, settings=friendly),
            OpenAITTSService(api_key=key, base_url=base_url),
            transport.output(),
            aggregators.assistant(),  # behind output(): it gets the words as they are heard
        ]
    )
    worker = PipelineWorker(pipeline)

    @transport.room.on("text_received")
    def on_text(message: TextMessage) -> None:
        written = LLMMessagesAppendFrame([{"role": "user", "content": message.text}], run_llm=True)
        tasks.add(asyncio.create_task(worker.queue_frames([written])))

    @transport.event_handler("on_client_disconnected")
    async def on_left(transport: PatchbayTransport, _: object) -> None:
        if not transport.room.remote_participants:
            await worker.cancel()

    tasks: set[asyncio.Task[None]] = set()
    runner = WorkerRunner()
    await runner.add_workers(worker)
    await runner.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
