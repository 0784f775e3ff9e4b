"""An agent of LiveKit Agents in a room: python livekit_agent.py wss://127.0.0.1:7880 TOKEN, with OPENAI_API_KEY.

Needs `pip install 'patchbay[livekit]' livekit-plugins-openai`, or any other plugins for the three models. The token
has the kind `agent`; the authority's file is in SSL_CERT_FILE. An interrupted answer ends, in the context of the model,
with the last word that the user has heard.
"""

import asyncio
import importlib
import os
import sys
from typing import Any

from livekit.agents import Agent, AgentSession, ConversationItemAddedEvent
from livekit.agents.llm import ChatMessage

from patchbay import Room
from patchbay.livekit import RoomIO


def models() -> dict[str, Any]:
    """Speech recognition, language model and speech synthesis, from the plugin that AGENT_MODELS names."""
    plugin = importlib.import_module(os.environ.get("AGENT_MODELS", "livekit.plugins.openai"))
    return {"stt": plugin.STT(), "llm": plugin.LLM(), "tts": plugin.TTS()}


async def main(url: str, token: str) -> None:
    session: AgentSession[None] = AgentSession(vad=None, turn_handling={"turn_detection": "stt"}, **models())

    @session.on("conversation_item_added")
    def added(event: ConversationItemAddedEvent) -> None:
        if isinstance(event.item, ChatMessage):
            print(f"{event.item.role}: {event.item.text_content}", flush=True)

    async with Room.connect(url, token) as room:
        io = RoomIO(session, room)
        await io.start()
        await session.start(Agent(instructions="You are a friendly assistant. Answer in one or two sentences."))
        await session.generate_reply(instructions="Greet the user.")
        await room.wait_disconnected()
        await session.aclose()
        await io.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
