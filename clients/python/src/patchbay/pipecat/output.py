"""The end of the pipeline that speaks: releases frames when the listener has heard the audio before them."""

from __future__ import annotations

import asyncio
from typing import Any

from pipecat.frames.frames import (
    BotSpeakingFrame,
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EndFrame,
    Frame,
    InterruptionFrame,
    LLMAssistantPushAggregationFrame,
    LLMFullResponseEndFrame,
    OutputAudioRawFrame,
    OutputDTMFFrame,
    OutputDTMFUrgentFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
    StartFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.transports.base_output import BaseOutputTransport

from ..errors import PatchbayError
from ..heard import Held
from .arrivals import SpeechBeginsFrame, hold_on_arrival, speech_arrives
from .connection import Connection
from .consumption import wait_until_consumed
from .params import SPEAKING_SECONDS, PatchbayParams
from .transcripts import SpokenTranscript
from .voice import Voice


class PatchbayOutputTransport(BaseOutputTransport):
    """Speaks on tracks of mode `ahead`, one for each destination.

    Words, ends of responses and `Bot*SpeakingFrame`s leave the transport when the listener has heard the audio before
    them. An interruption waits until it is known what was heard, and follows the heard words.
    """

    def __init__(self, connection: Connection, params: PatchbayParams, **kwargs: Any) -> None:
        super().__init__(params, **kwargs)
        self._connection = connection
        self._parameters = params
        self._voices: dict[str | None, Voice] = {}
        self._speaking: set[str | None] = set()
        self._speaking_task: asyncio.Task[None] | None = None
        self._transcript = SpokenTranscript(connection) if params.transcripts_out else None
        self._acquired = False

    # The life of the transport.

    async def start(self, frame: StartFrame) -> None:
        """Joins the room and publishes the tracks."""
        await super().start(frame)
        if self._acquired or not await self._connection.acquire(self):
            return
        self._acquired = True
        try:
            if self._parameters.audio_out_enabled:
                await self._publish(None, self._parameters.track_name)
                self._speaking_task = self.create_task(self._tell_speaking())
            await self.set_transport_ready(frame)
        except PatchbayError as error:
            await self.push_error(
                f"the bot cannot speak in the room: {error}", exception=error, force_treat_as_permanent=True
            )

    async def register_audio_destination(self, destination: str) -> None:
        """Publishes a track for a destination."""
        if self._acquired and self._parameters.audio_out_enabled:
            await self._publish(destination, destination)

    async def stop(self, frame: EndFrame) -> None:
        """Waits until everything was heard, and leaves the room."""
        await super().stop(frame)
        for voice in self._voices.values():
            await voice.drain()
        await self._leave()

    async def cancel(self, frame: CancelFrame) -> None:
        """Stops speaking and leaves the room."""
        await super().cancel(frame)
        await self._leave()

    async def cleanup(self) -> None:
        """Leaves the room, however the pipeline ended."""
        await super().cleanup()
        await self._leave()

    async def _publish(self, destination: str | None, name: str) -> None:
        parameters = self._parameters
        lead = parameters.lead_secs
        if parameters.audio_out_mixer:
            lead = min(lead, parameters.mixer_lead_secs)
        publication = await self._connection.publish(name, self.sample_rate, parameters.audio_out_channels, lead)

        async def release(item: Held[Frame]) -> None:
            await self._release(destination, item)

        self._voices[destination] = Voice(self._connection.room, publication, lead, release)

    async def _leave(self) -> None:
        if not self._acquired:
            return
        self._acquired = False
        try:
            if self._speaking_task is not None:
                await self.cancel_task(self._speaking_task)
                self._speaking_task = None
            while self._voices:
                _, voice = self._voices.popitem()
                await voice.close()
                await self._connection.unpublish(voice.sid)
            if self._transcript is not None:
                await self._transcript.close()
        finally:
            await self._connection.release()

    # Frames that arrive.

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Holds words as they arrive; everything else takes Pipecat's way through the queue of audio."""
        if isinstance(frame, InterruptionFrame):
            await self._interrupt(frame, direction)
            return
        voice = self._voices.get(frame.transport_destination)
        if voice is None or direction is not FrameDirection.DOWNSTREAM:
            await super().process_frame(frame, direction)
        elif isinstance(frame, TTSAudioRawFrame):
            if begins := speech_arrives(voice.held, frame, self.get_clock().get_time()):
                await super().process_frame(begins, direction)
            await super().process_frame(frame, direction)
        elif hold_on_arrival(voice.held, frame, self.get_clock().get_time()):
            await FrameProcessor.process_frame(self, frame, direction)
            voice.changed()
        else:
            if isinstance(frame, TTSStoppedFrame):
                voice.held.speech_ends(frame.context_id or "")
            elif isinstance(frame, LLMFullResponseEndFrame | LLMAssistantPushAggregationFrame):
                # In order with the audio, and not by the clock, which does not stop on hold.
                frame.pts = None
            await super().process_frame(frame, direction)

    # Frames that leave.

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Holds what follows audio that was written and not heard."""
        voice = self._voices.get(frame.transport_destination)
        if isinstance(frame, SpeechBeginsFrame) or (voice is not None and voice.hold(frame, direction)):
            return
        await super().push_frame(frame, direction)

    async def _release(self, destination: str | None, item: Held[Frame]) -> None:
        frame = item.frame
        if isinstance(frame, BotStartedSpeakingFrame):
            self._speaking.add(destination)
        elif isinstance(frame, BotStoppedSpeakingFrame):
            self._speaking.discard(destination)
            if not item.upstream:
                # A system frame would overtake the last word.
                await wait_until_consumed(self)
        elif isinstance(frame, TTSTextFrame) and frame.text != item.text:
            # Aggregators prefer the raw text.
            frame.text, frame.raw_text = item.text, None
        elif isinstance(frame, OutputTransportMessageFrame):
            await self._connection.send_message(frame.message)
        elif isinstance(frame, OutputDTMFFrame):
            await self._connection.press(frame)
        direction = FrameDirection.UPSTREAM if item.upstream else FrameDirection.DOWNSTREAM
        await super().push_frame(frame, direction)
        if self._transcript is not None and (voice := self._voices.get(destination)) is not None:
            ends = None if item.position is None else voice.timestamp(item.position)
            self._transcript.heard(frame, voice.sid, ends)

    async def _tell_speaking(self) -> None:
        while True:
            await asyncio.sleep(SPEAKING_SECONDS)
            if self._speaking:
                down, up = BotSpeakingFrame(), BotSpeakingFrame()
                down.broadcast_sibling_id, up.broadcast_sibling_id = up.id, down.id
                await super().push_frame(down)
                await super().push_frame(up, FrameDirection.UPSTREAM)

    # Interruptions.

    async def _interrupt(self, frame: InterruptionFrame, direction: FrameDirection) -> None:
        voice = self._voices.get(frame.transport_destination)
        if voice is None:
            await super().process_frame(frame, direction)
            return
        interrupted = voice.begin_interruption()
        try:
            # Pipecat's own queues are emptied first: what arrives from now on belongs to the next turn.
            await FrameProcessor.process_frame(self, frame, direction)
            await self._handle_frame(frame)
            if interrupted:
                await voice.release_heard()
            # A system frame would overtake the words.
            await wait_until_consumed(self)
            await super().push_frame(frame, direction)
        finally:
            if interrupted:
                await voice.end_interruption()
        if interrupted and self._transcript is not None:
            self._transcript.finish()

    # What the queue of audio writes.

    async def write_transport_frame(self, frame: Frame) -> None:
        """The audio that follows in the queue belongs to another context."""
        voice = self._voices.get(frame.transport_destination)
        if voice is not None and isinstance(frame, SpeechBeginsFrame):
            voice.context_id = frame.context_id

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Writes a chunk; waits while the lead is used up, but never as long as Pipecat's limit."""
        voice = self._voices.get(frame.transport_destination)
        if voice is None:
            return False
        try:
            return await voice.write(
                frame.audio,
                frame.sample_rate,
                frame.num_channels,
                speech=isinstance(frame, TTSAudioRawFrame),
                keep=not frame.interruptible,
            )
        except PatchbayError as error:
            await self.push_error(f"audio could not be sent: {error}", exception=error)
            return False

    async def send_message(self, frame: OutputTransportMessageFrame | OutputTransportMessageUrgentFrame) -> None:
        """Sends an urgent message. Others are sent when the audio before them was heard."""
        if isinstance(frame, OutputTransportMessageUrgentFrame) or not self._voices:
            await self._connection.send_message(frame.message)

    def _supports_native_dtmf(self) -> bool:
        return True

    async def _write_dtmf_native(self, frame: OutputDTMFFrame | OutputDTMFUrgentFrame) -> None:
        if isinstance(frame, OutputDTMFUrgentFrame) or not self._voices:
            await self._connection.press(frame)
