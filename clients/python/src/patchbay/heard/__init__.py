"""Holds what belongs to speech until the listener has heard it. Pure: positions and times are arguments."""

from .held import Held, HeldKind, heard_words
from .held_frames import HeldFrames
from .spoken_context import SpokenContext

__all__ = ["Held", "HeldFrames", "HeldKind", "SpokenContext", "heard_words"]
