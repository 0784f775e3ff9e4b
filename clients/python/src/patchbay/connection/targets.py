"""Where a socket connects again after a loss."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ConnectError
from .address import GatewayAddress

NODES_MAX = 8
"""Other nodes that are kept."""

NODE_TIMEOUT = 5.0
"""Seconds that an attempt to reconnect may take if another node can be tried next."""


class ReconnectTargets:
    """The addresses of the attempts, each in turn.

    They are the node where the connection was, the other nodes of the cluster that the latest `hello` named, and the
    address with which the connection was opened.
    """

    def __init__(self, first: GatewayAddress) -> None:
        self._first = self._current = first
        self._others: list[GatewayAddress] = []
        self._is_asked_to_leave = False

    @property
    def addresses(self) -> list[GatewayAddress]:
        """All addresses, in the order of attempts."""
        others = [address for address in [*self._others, self._first] if address != self._current]
        addresses = [*others, self._current] if self._is_asked_to_leave else [self._current, *others]
        return list(dict.fromkeys(addresses))

    def address(self, attempt: int) -> GatewayAddress:
        """The address of an attempt: 1 for the first one since the loss, 0 for the connection before it."""
        addresses = self.addresses
        return addresses[(attempt - 1) % len(addresses)] if attempt > 0 else self._current

    def is_current(self, address: GatewayAddress) -> bool:
        """Whether the lost connection was at this address."""
        return address == self._current

    def leave(self) -> None:
        """The gateway has asked for it, because the room or the node is about to leave: that node is tried last."""
        self._is_asked_to_leave = True

    def connected(self, address: GatewayAddress, nodes: Sequence[object]) -> None:
        """`hello` has arrived.

        Args:
            address: where it came from.
            nodes: the URLs of other nodes that it names. Those that are not `wss://host[:port]` are ignored: the
                token is never sent unencrypted.
        """
        self._current = address
        self._is_asked_to_leave = False
        self._others = [node for node in map(_parsed, nodes) if node is not None][:NODES_MAX]


def _parsed(url: object) -> GatewayAddress | None:
    if not isinstance(url, str) or not url.startswith("wss://"):
        return None
    try:
        return GatewayAddress.parse(url)
    except ConnectError:
        return None
