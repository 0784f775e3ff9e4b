"""The version of this package, which is that of the gateway it was released with."""

__version__ = "0.1.0"
