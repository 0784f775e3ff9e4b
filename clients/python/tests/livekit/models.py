"""Models for the example: `AGENT_MODELS=tests.livekit.models`."""

from tests.livekit.scripted import ScriptedLLM, ScriptedSTT, ScriptedTTS

GREETING = (
    "Good morning. How may I help you today, or would you rather wait until tomorrow? "
    "There is a train at eight, another one at nine, and a bus that leaves whenever its driver has had his coffee."
)

STT = ScriptedSTT
TTS = ScriptedTTS


def LLM() -> ScriptedLLM:  # noqa: N802
    return ScriptedLLM([GREETING, "Very well."])
