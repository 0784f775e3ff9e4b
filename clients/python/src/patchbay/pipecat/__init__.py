"""A transport for Pipecat whose context contains what the listener heard (`pip install patchbay[pipecat]`)."""

try:
    import pipecat as _pipecat  # noqa: F401
except ImportError as error:
    raise ImportError("patchbay.pipecat needs Pipecat; install it with `pip install 'patchbay[pipecat]'`") from error

from .params import PatchbayParams
from .transport import PatchbayTransport

__all__ = ["PatchbayParams", "PatchbayTransport"]
