"""Models for the example: `AGENT_MODELS=tests.livekit.models`."""

from tests.livekit.scripted import ScriptedLLM, ScriptedSTT, ScriptedTTS

GREETING = "Good morning. How may I help you today, or would you rather wait until tomorrow?"

STT = ScriptedSTT
TTS = ScriptedTTS


def LLM() -> ScriptedLLM:  # noqa: N802
    return ScriptedLLM([GREETING, "Very well."])
