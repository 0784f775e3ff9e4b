"""LiveKit Agents in a room of this gateway (`pip install patchbay[livekit]`, docs/from-livekit.md)."""

try:
    import livekit.agents  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "patchbay.livekit needs livekit-agents 1.8 or later; install it with `pip install 'patchbay[livekit]'`",
        name=error.name,
    ) from error

from .audio_input import AudioInput
from .audio_output import AudioOutput
from .room_io import RoomIO
from .text_output import TextOutput

__all__ = ["AudioInput", "AudioOutput", "RoomIO", "TextOutput"]
