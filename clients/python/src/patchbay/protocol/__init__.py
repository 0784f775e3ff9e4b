"""The wire format, without sockets or clocks (docs/protocol)."""
