"""Connects a session with a room: audio, transcripts, text input and the agent's state."""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import Any

from livekit.agents import AgentSession, AgentStateChangedEvent, UserInputTranscribedEvent

from ..errors import PatchbayError
from ..protocol.transcript import TranscriptSegment
from ..rtc.data import TextMessage
from ..rtc.room import Room
from .audio_input import AudioInput
from .audio_output import AudioOutput
from .text_output import TextOutput, TranscriptPublisher

logger = logging.getLogger("patchbay")

# Messages of users that are answered at once; a further one is dropped.
_TEXTS_MAX = 16


class RoomIO:
    """The counterpart of LiveKit's `RoomIO`. Start it before the session.

    It sets input and output of the session, interrupts the session when a listener stops the agent, publishes the
    agent's state and transcripts of what users say, and answers text messages (topic `lk.chat`).

    Args:
        session: a session that was not started.
        room: a connected room.
        participant_identity: the participant to hear; by default the first one that publishes a track.
    """

    def __init__(self, session: AgentSession[Any], room: Room, *, participant_identity: str | None = None) -> None:
        self.audio_input = AudioInput(room, participant_identity=participant_identity)
        self.audio_output = AudioOutput(room, on_stopped=self._interrupt)
        self.text_output = TextOutput(self.audio_output)
        self._session = session
        self._room = room
        self._publisher = TranscriptPublisher(room)
        self._user_segments = itertools.count(1)
        self._user_segment = ""
        self._state: asyncio.Task[None] | None = None
        self._texts: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Connects session and room."""
        session = self._session
        session.input.audio = self.audio_input
        session.output.audio = self.audio_output
        session.output.transcription = self.text_output
        session.on("agent_state_changed", self._on_state)
        session.on("user_input_transcribed", self._on_transcribed)
        self._room.on("text_received", self._on_text)
        if session.tts is not None:
            await self.audio_output.start(session.tts.sample_rate)

    async def aclose(self) -> None:
        """Ends audio and transcripts. Close the session before."""
        self._session.off("agent_state_changed", self._on_state)
        self._session.off("user_input_transcribed", self._on_transcribed)
        self._room.off("text_received", self._on_text)
        tasks = [*self._texts, *([self._state] if self._state else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.audio_input.aclose()
        await self._publisher.aclose()
        await self.text_output.aclose()
        await self.audio_output.aclose()

    def _interrupt(self) -> None:
        self._session.interrupt(force=True)

    def _on_state(self, event: AgentStateChangedEvent) -> None:
        if self._state is not None:
            self._state.cancel()
        self._state = asyncio.create_task(self._publish_state(event.new_state))

    async def _publish_state(self, state: str) -> None:
        try:
            await self._room.local_participant.set_agent_state(state)
        except PatchbayError as error:
            logger.debug("the agent's state could not be published: %r", error)

    def _on_transcribed(self, event: UserInputTranscribedEvent) -> None:
        identity = self.audio_input.participant_identity
        if identity is None or identity not in self._room.remote_participants:
            return
        if not self._user_segment:
            own = self._room.local_participant.sid
            self._user_segment = f"user-{own}-{next(self._user_segments)}"
        segment = TranscriptSegment(
            self._user_segment,
            event.transcript,
            role="user",
            participant=identity,
            final=event.is_final,
            language=str(event.language or ""),
        )
        self._publisher.put(segment.id, lambda: segment)
        if event.is_final:
            self._user_segment = ""

    def _on_text(self, message: TextMessage) -> None:
        if message.topic != "lk.chat":
            return
        if len(self._texts) >= _TEXTS_MAX:
            logger.warning("a text message was dropped: %d are being answered", _TEXTS_MAX)
            return
        task = asyncio.create_task(self._answer(message.text))
        self._texts.add(task)
        task.add_done_callback(self._texts.discard)

    async def _answer(self, text: str) -> None:
        try:
            await self._session.interrupt()
            self._session.generate_reply(user_input=text)
        except RuntimeError as error:
            # The session is not running, or its speech allows no interruption.
            logger.warning("a text message was not answered: %s", error)
