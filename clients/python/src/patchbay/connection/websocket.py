"""Opens WebSockets to the gateway and translates what goes wrong into `ConnectError`."""

from __future__ import annotations

import contextlib
import errno
import json
import socket
import ssl
from functools import lru_cache

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidProxy,
    InvalidStatus,
    NegotiationError,
    ProxyError,
)

from ..errors import ConnectError, ConnectFailure
from ..version import __version__
from .address import GatewayAddress

SUBPROTOCOL = "patchbay.v1"
USER_AGENT = f"patchbay-python/{__version__}"

# How many received messages may wait before the socket is not read any more. The reader takes them at once.
_RECEIVED_MAX = 256
# The gateway's messages have no limit of their own: `hello` describes all participants with their metadata.
_MESSAGE_BYTES_MAX = 64 * 1024 * 1024
_WRITE_LIMIT = 64 * 1024


@lru_cache(maxsize=8)
def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """A context that trusts the system's authorities and those in a PEM file.

    Raises:
        ConnectError: the file cannot be read.
    """
    try:
        context = ssl.create_default_context()
        if ca_file is not None:
            context.load_verify_locations(ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ConnectError(
            ConnectFailure.UNTRUSTED,
            f"the certificates in {ca_file} cannot be read: {error}; pass a PEM file of the gateway's authority",
        ) from error
    return context


async def open_websocket(
    address: GatewayAddress, url: str, token: str, context: ssl.SSLContext, timeout: float
) -> ClientConnection:
    """Opens a WebSocket.

    Raises:
        ConnectError: it could not be opened. The caller applies the timeout.
    """
    if not token or not all(0x21 <= ord(character) <= 0x7E for character in token):
        raise ConnectError(
            ConnectFailure.REFUSED,
            "the token is empty or contains invalid characters; get a new one",
            status=401,
            code="malformed_token",
        )
    try:
        return await connect(
            url,
            ssl=context,
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
            additional_headers={"Authorization": f"Bearer {token}"},
            user_agent_header=USER_AGENT,
            compression=None,
            open_timeout=timeout,
            ping_interval=None,
            close_timeout=2,
            max_size=_MESSAGE_BYTES_MAX,
            max_queue=_RECEIVED_MAX,
            write_limit=_WRITE_LIMIT,
        )
    except InvalidStatus as error:
        raise _refused(address, error) from error
    except TimeoutError as error:
        raise timed_out(address, timeout) from error
    except ssl.SSLCertVerificationError as error:
        raise ConnectError(
            ConnectFailure.UNTRUSTED,
            f"the certificate of {address} is not trusted: {error.verify_message}; pass the PEM file of the "
            "authority that signed it as RoomOptions.ca_file, or in the environment variable SSL_CERT_FILE",
        ) from error
    except ssl.SSLError as error:
        raise ConnectError(
            ConnectFailure.UNTRUSTED, f"no TLS with {address}: {error.reason or error}; check the port"
        ) from error
    except socket.gaierror as error:
        raise ConnectError(
            ConnectFailure.UNREACHABLE,
            f"the host {address.host} is not known; check the URL, and that this machine has a name server",
        ) from error
    except (InvalidHandshake, NegotiationError, InvalidProxy, ProxyError) as error:
        raise ConnectError(
            ConnectFailure.REFUSED, f"{address} does not speak this protocol: {error}; check host and port"
        ) from error
    except (OSError, ConnectionClosed, EOFError) as error:
        raise ConnectError(ConnectFailure.UNREACHABLE, f"no gateway answers at {address}: {_reason(error)}") from error


def timed_out(address: GatewayAddress, seconds: float) -> ConnectError:
    """The gateway did not answer in time."""
    return ConnectError(
        ConnectFailure.TIMEOUT,
        f"no answer from {address} within {seconds:g} s; check host, port and firewall",
    )


def _refused(address: GatewayAddress, error: InvalidStatus) -> ConnectError:
    response = error.response
    status, code = response.status_code, response.headers.get("X-Patchbay-Error")
    message = ""
    with contextlib.suppress(ValueError, AttributeError):
        message = str(json.loads(response.body or b"{}").get("message", ""))
    text = f"{address} refused the connection: {_advice(status, code)} (HTTP {status}{', ' + code if code else ''})"
    return ConnectError(ConnectFailure.REFUSED, f"{text}: {message}" if message else text, status=status, code=code)


def _advice(status: int, code: str | None) -> str:
    by_code = {
        "token_expired": "the token has expired; get a new one",
        "token_not_yet_valid": "the token is not valid yet; compare the clocks",
        "unknown_issuer": "the gateway does not know the API key that signed the token",
        "bad_signature": "the token's signature is wrong; check the API secret",
        "room_not_found": "the room does not exist, and joining does not create it",
    }
    by_status = {
        400: "the server does not speak this protocol",
        401: "the token was not accepted; get a new one",
        403: "the token does not allow this; request one with the missing grant",
        404: "there is no such WebSocket; leave the path out of the URL",
        409: "the room is full",
        426: "the server does not speak this protocol",
        429: "too many failed attempts from this address; wait a minute",
        503: "the gateway is shutting down; connect to another one",
    }
    return by_code.get(code or "") or by_status.get(status, "try again later")


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError):
        if error.errno == errno.ECONNREFUSED or "Connect call failed" in str(error):
            return "the connection was refused; check host and port, and that the gateway runs"
        if error.errno in (errno.EMFILE, errno.ENFILE):
            return "this process has no file descriptors left; raise `ulimit -n`"
        if error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
            return "there is no route to the host; check the host and this machine's network"
    return "the connection ended during the handshake; try again, or check the port"
