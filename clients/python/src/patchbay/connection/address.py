"""The parts of a gateway's URL."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from ..errors import ConnectError, ConnectFailure

DEFAULT_PORT = 443  # RFC 6455 section 3


@dataclass(frozen=True, slots=True)
class GatewayAddress:
    """Host and port of a gateway."""

    host: str
    port: int
    prefix: str = ""

    @classmethod
    def parse(cls, url: str) -> GatewayAddress:
        """Reads `wss://host[:port]` or `https://host[:port]`; the port is 443 by default.

        Raises:
            ConnectError: the URL has another form.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host:
            raise _bad_url(f"{url!r} is not a gateway URL; write it as wss://host:port")
        if parts.scheme not in ("wss", "https"):
            raise _bad_url(f"{url!r} is not encrypted, but the gateway accepts TLS only; write wss://")
        if parts.query or parts.fragment or parts.username:
            raise _bad_url(f"{url!r} has more than host, port and path; pass token and options as arguments")
        return cls(host, port or DEFAULT_PORT, parts.path.rstrip("/"))

    @property
    def authority(self) -> str:
        """`host:port` as URLs contain it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def http_url(self) -> str:
        """The base of the HTTP routes."""
        return f"https://{self.authority}{self.prefix}"

    def websocket_url(self, path: str, query: dict[str, str]) -> str:
        """The URL of a WebSocket with this path below the gateway's URL."""
        items = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
        return f"wss://{self.authority}{self.prefix}{path}{'?' + items if items else ''}"

    def __str__(self) -> str:
        return f"{self.host} port {self.port}"


def _bad_url(message: str) -> ConnectError:
    return ConnectError(ConnectFailure.BAD_URL, message)
