"""Tests with a real gateway and a caller. `patchbay.testing.fixtures` has fixtures for pytest."""

from .caller import Caller
from .certificates import Certificates, development_certificates
from .gateway import Gateway, GatewayError, find_binary
from .proxy import BrokenNetwork
from .recording import HeardFrame, Recording
from .room import RoomUnderTest

__all__ = [
    "BrokenNetwork",
    "Caller",
    "Certificates",
    "Gateway",
    "GatewayError",
    "HeardFrame",
    "Recording",
    "RoomUnderTest",
    "development_certificates",
    "find_binary",
]
