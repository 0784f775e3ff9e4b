"""Client library of the Patchbay voice gateway (README.md shows how to use it)."""

from . import rtc
from .rtc import *  # noqa: F403
from .version import __version__

__all__ = ["__version__"]
__all__ += rtc.__all__
